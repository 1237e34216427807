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
    pub packages: BTreeMap<PackageName, Moving>,
}

/// Which of the locked releases of a package are to move, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// The versions that are to move; whatever is locked of the package if none is named. Others of
    /// a package that is locked side by side stay where they are if that is possible.
    pub from: BTreeSet<Version>,
    /// Where they are to go.
    pub to: Target,
}

impl Moving {
    /// Whether this version is to move.
    pub(crate) fn moves(&self, version: &Version) -> bool {
        self.from.is_empty() || self.from.contains(version)
    }
}

/// All locked releases of a package move.
impl From<Target> for Moving {
    fn from(to: Target) -> Self {
        let from = BTreeSet::new();
        Self { from, to }
    }
}

/// Where a package is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To the best version for which there is a resolution. Of several packages the first by name
    /// has the first choice.
    Newest,
    /// To this version, which then is a candidate even if it was yanked or is a prerelease.
    Exactly(Version),
}

impl Update {
    /// What is still locked: bindings of the named packages are only candidates, and what was asked
    /// for is preferred.
    pub(crate) fn let_go(&self, mut locked: Locked) -> Locked {
        let mut let_go = BTreeSet::new();
        let mut stays = |name: &PackageName, version: &Version| {
            let moves = self.moves(name, version);
            if moves {
                let_go.insert((name.clone(), version.clone()));
            }
            !moves
        };
        let of_roots = locked.roots.values_mut();
        for bindings in of_roots.chain(locked.packages.values_mut()) {
            bindings.retain(&mut stays);
        }
        (locked.model).retain(|_, (name, version)| stays(name, version));
        (locked.preferred).retain(|(name, version)| !self.moves(name, version));
        locked.kept.extend(let_go);
        for (name, moving) in &self.packages {
            if let Target::Exactly(version) = &moving.to {
                locked.preferred.insert((name.clone(), version.clone()));
            }
        }
        locked
    }

    /// Whether a locked release is to move.
    pub(crate) fn moves(&self, name: &PackageName, version: &Version) -> bool {
        let moving = self.packages.get(name);
        moving.is_some_and(|moving| moving.moves(version))
    }
}
