//! Updates: what is named moves, and as little else as possible.
//!
//! A package has one release, unless the lock has several of it side by side, or nothing would be
//! possible otherwise: then those packages may have several, and no others. First it is found out
//! which versions the named packages can have at all, wherever the others go. Then everything else that
//! is locked has to stay. As long as that is impossible, what the proof holds on to is let go. In
//! the end each package that was let go is tried again: what can stay with all others that stay,
//! stays. So no package moves that could have stayed where it was while the same others stayed; and
//! since to let fewer packages go never makes more possible, no smaller part of what moved would
//! have been enough either.
//!
//! Where a package has several releases, each of them is the best that its requirements can be bound
//! to, and which of the locked ones these are is left open: that no smaller part could have moved is
//! proved of packages, and not of their releases.

mod report;
mod updating;

pub(crate) use report::Told;
pub use report::{HeldBack, Moved, UpdateReport};
pub(crate) use updating::{Ended, Updating};

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, Version};

use crate::request::Locked;

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
        for bindings in locked
            .roots
            .values_mut()
            .chain(locked.packages.values_mut())
        {
            bindings.retain(|name, version| {
                let is_named = self.packages.contains_key(name);
                if is_named {
                    let_go.insert((name.clone(), version.clone()));
                }
                !is_named
            });
        }
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
