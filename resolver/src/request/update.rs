//! Which packages are to move away from what is locked.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, Version};

use super::Locked;

/// Packages that are to move away from what is locked.
///
/// What is not named stays where it is if that is possible; with no package named, only what has to
/// move for the lock to be valid again does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Update {
    /// The packages, and where they are to go.
    pub packages: BTreeMap<PackageName, Target>,
}

/// Where a package is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To the best version for which there is a resolution. Of several packages the first by name
    /// has the first choice.
    Newest,
    /// To this version, which then is a candidate even if it was withdrawn or is a prerelease.
    Exactly(Version),
}

impl Update {
    /// What is still locked: bindings of the named packages are only candidates, and what was asked
    /// for is preferred.
    pub(crate) fn let_go(&self, mut locked: Locked) -> Locked {
        let mut let_go = BTreeSet::new();
        let mut stays = |name: &PackageName, version: &Version| {
            let is_named = self.packages.contains_key(name);
            if is_named {
                let_go.insert((name.clone(), version.clone()));
            }
            !is_named
        };
        let of_roots = locked.roots.values_mut();
        for bindings in of_roots.chain(locked.packages.values_mut()) {
            bindings.retain(&mut stays);
        }
        (locked.model).retain(|_, (name, version)| stays(name, version));
        (locked.preferred).retain(|(name, _)| !self.packages.contains_key(name));
        locked.kept.extend(let_go);
        for (name, target) in &self.packages {
            if let Target::Exactly(version) = target {
                locked.preferred.insert((name.clone(), version.clone()));
            }
        }
        locked
    }
}
