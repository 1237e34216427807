//! Chosen releases and what each of their requirements is bound to.

use rustc_hash::FxHashMap;

use crate::universe::{ReleaseId, Universe};

/// A set of releases in the order in which they were decided, each with the releases that its
/// requirements are bound to, in the order of its edges. Everything is reached from the roots,
/// which come first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    order: Vec<ReleaseId>,
    bound: FxHashMap<ReleaseId, Box<[ReleaseId]>>,
}

impl Selection {
    /// Walks from the roots along `bind`, which says what a requirement of a release is bound to.
    /// Returns nothing if `bind` does.
    pub(crate) fn collect(
        universe: &mut Universe,
        mut bind: impl FnMut(&mut Universe, ReleaseId, usize) -> Option<ReleaseId>,
    ) -> Option<Self> {
        let mut order: Vec<ReleaseId> = universe.roots().to_vec();
        let mut bound: FxHashMap<ReleaseId, Box<[ReleaseId]>> = FxHashMap::default();
        for root in &order {
            bound.insert(*root, Box::default());
        }
        let mut at = 0;
        while let Some(release) = order.get(at).copied() {
            at += 1;
            let edges = universe.details(release).edges.len();
            let mut targets = Vec::with_capacity(edges);
            for edge in 0..edges {
                let target = bind(universe, release, edge)?;
                targets.push(target);
                if let std::collections::hash_map::Entry::Vacant(entry) = bound.entry(target) {
                    entry.insert(Box::default());
                    order.push(target);
                }
            }
            bound.insert(release, targets.into_boxed_slice());
        }
        Some(Self { order, bound })
    }

    /// The releases in the order in which they were decided, roots first.
    pub(crate) fn releases(&self) -> &[ReleaseId] {
        &self.order
    }

    /// What the requirements of a release are bound to.
    pub(crate) fn bound(&self, release: ReleaseId) -> &[ReleaseId] {
        self.bound.get(&release).map_or(&[], AsRef::as_ref)
    }
}
