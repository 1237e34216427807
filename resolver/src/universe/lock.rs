//! What the lock says of packages and requirements.

use pkgres_manifest::{ObjectId, Version};

use crate::request::{Locked, LockedObject};
use crate::set::PositionSet;

use super::{PackageId, ReleaseId, Universe};

impl Universe {
    pub(crate) fn locked(&self) -> &Locked {
        self.preferences.locked()
    }

    /// The versions of a package that are locked, in any order.
    pub(crate) fn locked_versions(&self, package: PackageId) -> &[Version] {
        self.preferences.locked_versions(self.name(package))
    }

    /// The version to which the lock binds a requirement.
    fn locked_version(
        &self,
        release: ReleaseId,
        edge: usize,
        package: PackageId,
    ) -> Option<&Version> {
        let locked = self.preferences.locked();
        if self.is_model(release.package) {
            let object = LockedObject::of(self.model()?, ObjectId(edge));
            let (name, version) = locked.model.get(&object)?;
            return (name == self.name(package)).then_some(version);
        }
        let bindings = if self.is_root(release.package) {
            locked.roots.get(self.name(release.package))
        } else if locked.packages.is_empty() {
            None
        } else {
            let key = (
                self.name(release.package).clone(),
                self.version(release).clone(),
            );
            locked.packages.get(&key)
        };
        bindings?.get(self.name(package))
    }

    /// The release of a package to which the lock binds the requirement of an edge. Roots are what they are
    /// now, whatever their version was when the lock was written.
    pub(crate) fn locked_binding(
        &self,
        release: ReleaseId,
        edge: usize,
        package: PackageId,
    ) -> Option<u32> {
        let version = self.locked_version(release, edge, package)?;
        if self.is_root(package) {
            Some(0)
        } else {
            self.index_of(package, version)
        }
    }

    /// The best release of a split package for one requirement.
    pub(crate) fn best_binding(
        &self,
        release: ReleaseId,
        edge: usize,
        package: PackageId,
        among: &PositionSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        self.locked_binding(release, edge, package)
            .filter(|locked| among.contains(*locked))
            .or_else(|| self.best(package, among, prerelease_named))
    }

    pub(crate) fn is_locked(&self, release: ReleaseId) -> bool {
        let candidates = self.about(release.package).candidates();
        candidates.is_some_and(|candidates| candidates.is_locked(release.index))
    }

    /// Whether a release is a candidate only because it was locked, and is not preferred for that.
    pub(crate) fn is_last_resort(&self, release: ReleaseId) -> bool {
        let candidates = self.about(release.package).candidates();
        candidates.is_some_and(|candidates| candidates.is_last_resort(release.index))
    }
}
