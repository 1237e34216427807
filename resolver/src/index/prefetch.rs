//! Prefetch hints: the processor loads memory that will be read soon.
//!
//! Only the running time depends on them. They exist only with the feature `prefetch`.

use prefetch_index::prefetch_index;

use super::CompiledIndex;

impl CompiledIndex {
    /// Prefetches where the requirements of a release are, and what its classes extend.
    pub(crate) fn prefetch_release(&self, release: u32) {
        prefetch_index(&*self.requirements.starts, release as usize);
        self.inheritance().prefetch_extends(release);
    }

    pub(crate) fn prefetch_requirements(&self, release: u32) {
        let range = self.requirements.range(release);
        prefetch_index(&*self.requirements.items, range.start);
        prefetch_index(&*self.requirements.items, range.end);
    }

    /// Prefetches what the requirements of a release allow, and the releases of their targets. Returns the
    /// names of the targets.
    pub(crate) fn prefetch_targets(&self, release: u32) -> impl Iterator<Item = u32> + '_ {
        let requirements = self.requirements.run(release).iter();
        requirements.map(|[target, _, sets]| {
            prefetch_index(&*self.first_release, *target as usize);
            prefetch_index(&*self.package_flags, *target as usize);
            prefetch_index(&*self.words, *sets as usize);
            *target
        })
    }
}
