//! Reading ahead of the walk.
//!
//! Problem: a large index does not fit into the caches of a processor, and a release can be anywhere in it, so the
//! walk mostly waits for memory.
//!
//! Idea: it is known what comes next. Packages are decided in the order in which they were required, mostly at the
//! best release that is left. So the memory of releases some steps ahead is [prefetched](crate::index::prefetch), in
//! stages, because each tells where the next one has to look.
//!
//! Figure: see "Prefetching" in `docs/benchmarks.md`.

use super::Greedy;
use crate::universe::{ReleaseId, Universe};

/// How many requirements ahead the parts of a release are prefetched.
const RELEASE: usize = 24;
const REQUIREMENTS: usize = 16;
const TARGETS: usize = 8;

impl Greedy {
    /// Prefetches what is read when the requirements after the next one are decided.
    pub(super) fn read_ahead(&self, universe: &Universe) {
        let catalog = &universe.catalog;
        if let Some(release) = self.expected(universe, RELEASE) {
            catalog.prefetch_release(release);
        }
        if let Some(release) = self.expected(universe, REQUIREMENTS) {
            catalog.prefetch_requirements(release);
        }
        if let Some(release) = self.expected(universe, TARGETS) {
            catalog.prefetch_targets(release);
        }
    }

    /// The release that will probably be selected for a requirement so many steps ahead.
    fn expected(&self, universe: &Universe, ahead: usize) -> Option<ReleaseId> {
        let package = *self.targets.get(self.next + ahead)?;
        let is_open = self.domains.chosen(package).is_none();
        let index = self.best(universe, package).filter(|_| is_open)?;
        Some(ReleaseId { package, index })
    }
}
