//! Reads ahead of the walk.
//!
//! Problem: a large index does not fit into the caches of a processor, and a release can be anywhere in it, so the
//! walk mostly waits for memory.
//!
//! Idea: the next steps are predictable. Packages are decided in the order in which they were required, mostly at
//! the best remaining release. So the memory of releases that are a few steps ahead is
//! [prefetched](crate::index::prefetch), in stages, because the data of one stage has the addresses for the next.
//!
//! Figure: see "Prefetching" in `docs/benchmarks.md`.

use super::Greedy;
use crate::universe::{ReleaseId, Universe};

/// How many requirements ahead the parts of a release are prefetched.
const RELEASE: usize = 32;
const REQUIREMENTS: usize = 20;
const TARGETS: usize = 8;

/// Up to which requirement each part was prefetched. A decision passes over all requirements on packages that are
/// decided already, so more than one requirement comes within reach at a time.
#[derive(Debug, Default)]
pub(super) struct Prefetched {
    release: usize,
    requirements: usize,
    targets: usize,
}

impl Greedy {
    /// Prefetches what is read when the requirements after the next one are decided.
    pub(super) fn read_ahead(&mut self, universe: &Universe) {
        let catalog = &universe.catalog;
        let mut prefetched = std::mem::take(&mut self.prefetched);
        for release in self.expected(universe, &mut prefetched.release, RELEASE) {
            catalog.prefetch_release(release);
        }
        for release in self.expected(universe, &mut prefetched.requirements, REQUIREMENTS) {
            catalog.prefetch_requirements(release);
        }
        for release in self.expected(universe, &mut prefetched.targets, TARGETS) {
            catalog.prefetch_targets(release);
        }
        self.prefetched = prefetched;
    }

    /// The releases that will probably be selected for the requirements that have come within reach.
    fn expected(
        &self,
        universe: &Universe,
        reached: &mut usize,
        ahead: usize,
    ) -> impl Iterator<Item = ReleaseId> {
        let until = (self.next + ahead + 1).min(self.targets.len());
        let from = std::mem::replace(reached, until.max(*reached));
        let within_reach = self.targets.get(from..until).unwrap_or_default().iter();
        let open = within_reach.filter(|package| self.domains.chosen(**package).is_none());
        open.filter_map(|package| {
            let (package, index) = (*package, self.best(universe, *package)?);
            Some(ReleaseId { package, index })
        })
    }
}
