//! The releases to which the lock binds requirements.

use pkgres_manifest::{ObjectId, ReleaseSource, Version};

use super::{Catalog, PackageId, ReleaseId};
use crate::request::LockedObject;
use crate::set::PositionSet;

impl Catalog {
    /// Whether the lock names a source other than registries without names, which [such
    /// registries](Self::source_for_lock) may replace.
    pub(crate) fn has_locked_names(&self) -> bool {
        let artifacts = self.policy.locked().artifacts.values();
        let mut sources = artifacts.filter_map(|artifact| artifact.source.as_ref());
        sources.any(|source| matches!(source, ReleaseSource::Registry(name) if !name.is_unnamed()))
    }

    /// The source of a release that a lock names. It is still the locked one if the registry
    /// [replaces](ReleaseSource::can_replace) that one with the same artifact.
    pub(crate) fn source_for_lock(&self, release: ReleaseId) -> Option<&ReleaseSource> {
        let source = self.source(release.package)?;
        let artifacts = &self.policy.locked().artifacts;
        let key = (
            self.name(release.package).clone(),
            self.read_version(release),
        );
        let digest = self.digest(release);
        let kept = artifacts.get(&key).and_then(|artifact| {
            let is_same = digest.is_some_and(|digest| artifact.digests.contains(&digest));
            (artifact.source.as_ref()).filter(|locked| is_same && source.can_replace(locked))
        });
        Some(kept.unwrap_or(source))
    }

    /// The locked versions of a package, in no particular order.
    pub(crate) fn locked_versions(&self, package: PackageId) -> &[Version] {
        self.policy.locked_versions(self.name(package))
    }

    /// The version to which the lock binds a requirement of a release.
    fn locked_version(
        &self,
        release: ReleaseId,
        requirement: usize,
        package: PackageId,
    ) -> Option<&Version> {
        let locked = self.policy.locked();
        if self.is_model(release.package) {
            let object = LockedObject::of(self.model()?, ObjectId(requirement));
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

    /// The release to which the lock binds a requirement of a release. A root has its current version,
    /// whatever it was when the lock was written.
    pub(crate) fn locked_binding(
        &self,
        release: ReleaseId,
        requirement: usize,
        package: PackageId,
    ) -> Option<u32> {
        let version = self.locked_version(release, requirement, package)?;
        if self.is_root(package) {
            Some(0)
        } else {
            self.index_of(package, version)
        }
    }

    /// The best release of a package with several versions for one requirement.
    pub(crate) fn best_binding(
        &self,
        release: ReleaseId,
        requirement: usize,
        package: PackageId,
        among: &PositionSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        self.locked_binding(release, requirement, package)
            .filter(|locked| among.contains(*locked))
            .or_else(|| self.best(package, among, prerelease_named))
    }
}
