//! Versions and states of releases: which are candidates, and to which the lock binds requirements.

use pkgres_manifest::{ArtifactDigest, ObjectId, Release, ReleaseSource, Spec, Version};

use super::{Catalog, ClassId, PackageId, ReleaseId};
use crate::index::to_u32;
use crate::request::LockedObject;
use crate::set::{PositionSet, bits};

impl Catalog {
    /// The versions of a package, ascending.
    pub(crate) fn versions(&self, package: PackageId) -> &[Version] {
        let delivered = self.delivered(package);
        self.facts(package).versions.get_or_init(|| {
            if delivered.count == 0 {
                return Box::default();
            }
            let index = self.index(delivered.loaded);
            let releases = delivered.first..delivered.first + delivered.count;
            releases.map(|release| index.version(release)).collect()
        })
    }

    pub(crate) fn version(&self, release: ReleaseId) -> &Version {
        &self.versions(release.package)[release.index as usize]
    }

    /// The version of a release. In contrast to [`version`](Self::version), no other versions are read.
    pub(crate) fn read_version(&self, release: ReleaseId) -> Version {
        if let Some(versions) = self.facts(release.package).versions.get() {
            return versions[release.index as usize].clone();
        }
        let (index, number) = self.index_of_release(release);
        index.version(number)
    }

    /// The position of a version, if the package has it.
    pub(crate) fn index_of(&self, package: PackageId, version: &Version) -> Option<u32> {
        let at = self.versions(package).binary_search(version).ok()?;
        Some(to_u32(at))
    }

    /// The index of the release that a version [names](Version::names_release).
    pub(crate) fn index_named(&self, package: PackageId, version: &Version) -> Option<u32> {
        self.index_of(package, version).or_else(|| {
            let mut versions = self.versions(package).iter();
            let at = versions.position(|known| version.names_release(known))?;
            Some(to_u32(at))
        })
    }

    /// How many versions of a package are lower than one.
    pub(crate) fn versions_below(&self, package: PackageId, bound: &Version) -> u32 {
        let delivered = self.delivered(package);
        if delivered.count == 0 {
            return 0;
        }
        let index = self.index(delivered.loaded);
        index.count_below(delivered.name, bound)
    }

    /// The releases of a package that match a spec, candidates or not.
    pub(crate) fn versions_in(&self, package: PackageId, spec: &Spec) -> PositionSet {
        let position = |bound: &Version| self.versions_below(package, bound);
        let end = self.release_count(package);
        let mut matching = PositionSet::EMPTY;
        for interval in spec.set().intervals() {
            let until = interval.until.as_ref().map_or(end, position);
            let run = PositionSet::range(position(&interval.from), until);
            matching = if matching.is_empty() {
                run
            } else {
                matching.union(&run)
            };
        }
        matching
    }

    pub(crate) fn is_yanked(&self, release: ReleaseId) -> bool {
        let (index, number) = self.index_of_release(release);
        index.is_yanked(number)
    }

    pub(crate) fn is_prerelease(&self, release: ReleaseId) -> bool {
        let (index, number) = self.index_of_release(release);
        index.is_prerelease(number)
    }

    pub(crate) fn digest(&self, release: ReleaseId) -> Option<ArtifactDigest> {
        let (index, number) = self.index_of_release(release);
        index.digest(number)
    }

    /// Prefetches where the requirements of a release are, and what its classes extend.
    #[cfg(feature = "prefetch")]
    pub(crate) fn prefetch_release(&self, release: ReleaseId) {
        let (index, number) = self.index_of_release(release);
        index.prefetch_release(number);
    }

    #[cfg(feature = "prefetch")]
    pub(crate) fn prefetch_requirements(&self, release: ReleaseId) {
        let (index, number) = self.index_of_release(release);
        index.prefetch_requirements(number);
    }

    /// Prefetches what the requirements of a release allow, and the packages that they are on.
    #[cfg(feature = "prefetch")]
    pub(crate) fn prefetch_targets(&self, release: ReleaseId) {
        let (loaded, number) = self.locate(release);
        let loaded = self.indexes.get(loaded);
        for name in loaded.index().prefetch_targets(number) {
            loaded.prefetch_package(name);
        }
    }

    /// Whether a release was published at the cut-off date or later.
    pub(crate) fn is_too_new(&self, release: ReleaseId) -> bool {
        let too_new = self.policy.too_new(self.name(release.package));
        too_new.is_some_and(|versions| versions.contains(&self.read_version(release)))
    }

    pub(crate) fn is_locked(&self, release: ReleaseId) -> bool {
        let candidates = self.facts(release.package).candidates.as_ref();
        candidates.is_some_and(|candidates| candidates.is_locked(release.index))
    }

    /// Whether a release is a candidate only because the lock keeps it.
    pub(crate) fn is_last_resort(&self, release: ReleaseId) -> bool {
        let candidates = self.facts(release.package).candidates.as_ref();
        candidates.is_some_and(|candidates| candidates.is_last_resort(release.index))
    }

    pub(crate) fn candidates_of(&self, package: PackageId) -> PositionSet {
        match &self.facts(package).candidates {
            Some(candidates) => candidates.all().clone(),
            None => PositionSet::range(0, self.release_count(package)),
        }
    }

    /// The candidates of a package as releases, ascending.
    pub(crate) fn candidate_releases(&self, package: PackageId) -> Vec<ReleaseId> {
        let candidates = self.candidates_of(package);
        let release = |index| ReleaseId { package, index };
        candidates.iter().map(release).collect()
    }

    /// The candidates of a package that define a class for other packages.
    pub(crate) fn defining_candidates(&self, package: PackageId, class: ClassId) -> PositionSet {
        let defining = self.definers(package, class);
        defining.intersection(&self.candidates_of(package))
    }

    pub(crate) fn named_version(&self, release: ReleaseId) -> Release {
        Release::new(
            self.name(release.package).clone(),
            self.read_version(release),
        )
    }

    /// Whether all releases of a package are candidates and the newest is the best.
    #[inline]
    pub(crate) fn has_default_order(&self, package: PackageId) -> bool {
        self.delivered(package).has_default_order
    }

    /// The best of some releases of a package.
    pub(crate) fn best(
        &self,
        package: PackageId,
        among: &PositionSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        match &self.facts(package).candidates {
            Some(candidates) => candidates.best(among, prerelease_named),
            None => among.last(),
        }
    }

    /// Some releases of a package, best first.
    pub(crate) fn best_first(
        &self,
        package: PackageId,
        mut remaining: PositionSet,
        prerelease_named: bool,
    ) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let best = self.best(package, &remaining, prerelease_named)?;
            remaining = remaining.without(best);
            Some(best)
        })
    }

    /// The best of a set of releases of a package that is given as words.
    #[inline]
    pub(crate) fn best_of_words(
        &self,
        package: PackageId,
        words: &[u64],
        prerelease_named: bool,
    ) -> Option<u32> {
        if self.has_default_order(package) {
            return bits::last(words);
        }
        self.best(package, &PositionSet::of_words(words), prerelease_named)
    }

    /// Whether one release of a package is better than another by version alone.
    pub(crate) fn is_better_version(
        &self,
        package: PackageId,
        one: u32,
        other: u32,
        prerelease_named: bool,
    ) -> bool {
        match &self.facts(package).candidates {
            Some(candidates) => candidates.is_better_version(one, other, prerelease_named),
            None => one > other,
        }
    }

    /// Whether no candidate is better than a release, whether or not a requirement names a prerelease.
    pub(crate) fn is_best(&self, release: ReleaseId) -> bool {
        let ReleaseId { package, index } = release;
        if self.has_default_order(package) {
            return index + 1 == self.release_count(package);
        }
        let all = self.candidates_of(package);
        [false, true]
            .iter()
            .all(|named| self.best(package, &all, *named) == Some(index))
    }
}

impl Catalog {
    /// Whether the lock names a registry other than the default one, which [may replace](Self::source_for_lock) it.
    pub(crate) fn locks_named_registry(&self) -> bool {
        let artifacts = self.policy.locked().artifacts.values();
        let mut sources = artifacts.filter_map(|artifact| artifact.source.as_ref());
        sources.any(|source| matches!(source, ReleaseSource::Registry(name) if !name.is_default()))
    }

    /// The source of a release that a lock names. It is still the locked one if the registry
    /// [replaces](ReleaseSource::can_replace) that one with the same artifact.
    pub(crate) fn source_for_lock(&self, release: ReleaseId) -> Option<&ReleaseSource> {
        let source = self.source(release.package)?;
        let artifacts = &self.policy.locked().artifacts;
        let key = self.named_version(release);
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
            let Release { name, version } = locked.model.get(&object)?;
            return (name == self.name(package)).then_some(version);
        }
        let bindings = if self.is_root(release.package) {
            locked.roots.get(self.name(release.package))
        } else if locked.packages.is_empty() {
            None
        } else {
            locked.packages.get(&self.named_version(release))
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

    /// The release that a requirement on a split package is bound to: the locked one if it is allowed, or else the best.
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
