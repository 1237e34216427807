//! Releases that a lock holds for the sake of what is not required any more.

use std::collections::BTreeSet;

use pkgres_manifest::{Lockfile, PackageName, Version};

use super::{LockReport, Staleness};

/// Leaves out that releases are gone which nothing reaches any more: they go with what led to them.
pub(super) fn leave_out_unreached(lock: &Lockfile, report: &mut LockReport) {
    let stale = report.stale.iter();
    let removed = stale.filter_map(|entry| match entry {
        Staleness::RequirementRemoved { root, package } => Some((root.clone(), package.clone())),
        _ => None,
    });
    let removed: BTreeSet<(PackageName, PackageName)> = removed.collect();
    if removed.is_empty() {
        return;
    }
    let mut open: Vec<(&PackageName, &Version)> = Vec::new();
    for (root, requirements) in &lock.roots {
        let left = requirements.iter().filter(|(package, _)| {
            let requirement = (root.clone(), (*package).clone());
            !removed.contains(&requirement)
        });
        open.extend(left.map(|(package, bound)| (package, &bound.version)));
    }
    let mut reached = BTreeSet::new();
    while let Some((name, version)) = open.pop() {
        if reached.insert((name, version))
            && let Some(locked) = lock.packages.get(&(name.clone(), version.clone()))
        {
            open.extend(locked.requires.iter());
        }
    }
    report.stale.retain(|entry| match entry {
        Staleness::Gone {
            package, version, ..
        } => reached.contains(&(package, version)),
        _ => true,
    });
}
