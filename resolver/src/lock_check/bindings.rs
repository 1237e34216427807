//! What a lockfile binds requirements to, by numbers.

use pkgres_manifest::{PackageName, Spec, Version};
use rustc_hash::FxHashMap;

use super::LockCheck;
use crate::index::to_u32;
use crate::universe::{EffectiveRequirement, PackageId, PackageRequirement, ReleaseId};

/// What the requirements of releases are bound to.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// Where the bindings of each release begin.
    starts: FxHashMap<ReleaseId, u32>,
    /// In the order of the requirements of each release.
    bound: Vec<(PackageId, u32)>,
    /// What is made use of again for each release.
    requirements: Vec<PackageRequirement>,
    specs: FxHashMap<(u32, u32), Spec>,
}

impl Bindings {
    /// What the requirement of this number, which is on `target`, is bound to; nothing if the lock
    /// does not bind it, or binds it to a release that it has not.
    pub(super) fn of(&self, release: ReleaseId, number: usize, target: PackageId) -> Option<u32> {
        let start = *self.starts.get(&release)? as usize;
        let (package, index) = *self.bound.get(start + number)?;
        let is_locked = self.starts.contains_key(&ReleaseId { package, index });
        (package == target && is_locked).then_some(index)
    }
}

impl LockCheck {
    /// Whether each requirement of a release is bound to a release that it allows, and, if it is
    /// said how many packages the lock binds, nothing else is. If so, it is known from then on what
    /// it binds them to.
    pub(super) fn bind<'lock>(
        &mut self,
        release: ReleaseId,
        count: Option<usize>,
        locked: impl Fn(&PackageName) -> Option<&'lock Version>,
    ) -> bool {
        let universe = &mut self.universe;
        let Bindings {
            starts,
            bound,
            requirements,
            specs,
        } = &mut self.bindings;
        // Packages are met by this.
        universe.requirements(release, requirements);
        let universe = &*universe;
        let start = bound.len();
        let mut is_right = true;
        universe.visit_requirements(
            release,
            specs,
            |EffectiveRequirement { package, spec, .. }| {
                let version = locked(universe.catalog.name(package));
                let index = match version {
                    // A root is what it is now, whatever its version was when the lock was written.
                    Some(_) if universe.catalog.is_root(package) => {
                        let root = ReleaseId { package, index: 0 };
                        spec.matches(universe.catalog.version(root)).then_some(0)
                    }
                    Some(version)
                        if universe.catalog.is_delivered(package) && spec.matches(version) =>
                    {
                        universe.catalog.index_of(package, version)
                    }
                    _ => None,
                };
                match index {
                    Some(index) => bound.push((package, index)),
                    None => is_right = false,
                }
            },
        );
        if is_right && count.is_none_or(|count| bound.len() - start == count) {
            starts.insert(release, to_u32(start));
            return true;
        }
        bound.truncate(start);
        false
    }
}
