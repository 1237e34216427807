//! The versions of packages, which are read when somebody asks for them.

use pkgres_manifest::{Spec, Version};

use super::{PackageId, ReleaseId, Universe};
use crate::index::to_u32;
use crate::set::PositionSet;

impl Universe {
    /// The versions of a package, ascending.
    pub(crate) fn versions(&self, package: PackageId) -> &[Version] {
        let delivered = self.delivered(package);
        self.about(package).versions(|| {
            if delivered.count == 0 {
                return Box::default();
            }
            let index = self.indexes[delivered.loaded as usize].index();
            let releases = delivered.first..delivered.first + delivered.count;
            releases.map(|release| index.version(release)).collect()
        })
    }

    pub(crate) fn version(&self, release: ReleaseId) -> &Version {
        &self.versions(release.package)[release.index as usize]
    }

    /// The version of one release, without those of others being read for it.
    pub(crate) fn read_version(&self, release: ReleaseId) -> Version {
        if let Some(versions) = self.about(release.package).known_versions() {
            return versions[release.index as usize].clone();
        }
        let (index, number) = self.locate(release);
        index.version(number)
    }

    /// The position of a version, if the package has it.
    pub(crate) fn index_of(&self, package: PackageId, version: &Version) -> Option<u32> {
        let at = self.versions(package).binary_search(version).ok()?;
        Some(to_u32(at))
    }

    /// How many versions of a package are lower than one.
    fn versions_below(&self, package: PackageId, bound: &Version) -> u32 {
        let delivered = self.delivered(package);
        if delivered.count == 0 {
            return 0;
        }
        let index = self.indexes[delivered.loaded as usize].index();
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
}
