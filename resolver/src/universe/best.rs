//! Which releases may be chosen, and which of some is the best.

use crate::set::PositionSet;
use crate::set::bits;

use super::{PackageId, ReleaseId, Universe};

impl Universe {
    /// The releases of a package that may be chosen.
    pub(crate) fn candidates_of(&self, package: PackageId) -> PositionSet {
        match self.about(package).candidates() {
            Some(candidates) => candidates.allowed().clone(),
            None => PositionSet::range(0, self.release_count(package)),
        }
    }

    /// Whether every release of a package may be chosen and the newest is the best.
    #[inline]
    pub(crate) fn has_default_order(&self, package: PackageId) -> bool {
        self.delivered(package).has_default_order
    }

    /// The best release of a package among some.
    pub(crate) fn best(
        &self,
        package: PackageId,
        among: &PositionSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        match self.about(package).candidates() {
            Some(candidates) => candidates.best(among, prerelease_named),
            None => among.last(),
        }
    }

    /// Whether one release of a package is better than another one as a version, whatever became of
    /// either.
    pub(crate) fn is_better_version(
        &self,
        package: PackageId,
        one: u32,
        other: u32,
        prerelease_named: bool,
    ) -> bool {
        match self.about(package).candidates() {
            Some(candidates) => candidates.is_better_version(one, other, prerelease_named),
            None => one > other,
        }
    }

    /// Whether no candidate is better than a release, whatever names prereleases.
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

    /// The best release of a package among those of a set of words.
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
}
