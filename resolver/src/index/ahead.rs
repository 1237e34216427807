//! Fetching what will be looked at from memory before it is.

use prefetch_index::prefetch_index;

use super::CompiledIndex;

/// An index with fewer requirements is small enough to stay in the caches of a processor.
const MANY_REQUIREMENTS: usize = 1 << 16;

impl CompiledIndex {
    /// Whether what is looked at next will mostly have to come from memory. In builds with assertions
    /// it is always taken to, so that tests read ahead.
    pub(crate) fn is_large(&self) -> bool {
        cfg!(debug_assertions) || self.edges.items.len() >= MANY_REQUIREMENTS
    }

    /// Fetches where the requirements of a release are, and what its classes extend.
    pub(crate) fn fetch_release(&self, release: u32) {
        prefetch_index(&*self.edges.starts, release as usize);
        self.inheritance().fetch_extends(release);
    }

    /// Fetches the words of a set.
    pub(crate) fn fetch_words(&self, at: usize) {
        prefetch_index(&*self.words, at);
    }

    /// Fetches the requirements of a release.
    pub(crate) fn fetch_requirements(&self, release: u32) {
        let range = self.edges.range(release);
        prefetch_index(&*self.edges.items, range.start);
        prefetch_index(&*self.edges.items, range.end);
    }

    /// The numbers of the packages that the requirements of a release are on.
    pub(crate) fn targets(&self, release: u32) -> impl Iterator<Item = u32> + '_ {
        let requirements = self.edges.of(release).iter();
        requirements.map(|[target, ..]| *target)
    }

    /// Fetches what the requirements of a release allow, and what tells where the packages are
    /// that they are on; gives the numbers of these.
    pub(crate) fn fetch_targets(&self, release: u32) -> impl Iterator<Item = u32> + '_ {
        let requirements = self.edges.of(release).iter();
        requirements.map(|[target, _, sets]| {
            prefetch_index(&*self.first_release, *target as usize);
            prefetch_index(&*self.package_flags, *target as usize);
            prefetch_index(&*self.words, *sets as usize);
            *target
        })
    }
}
