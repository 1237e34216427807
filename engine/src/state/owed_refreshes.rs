//! Refreshes that are still due: a resource has changed, and those that it notifies were not refreshed yet.
//!
//! The owed refresh is recorded before the change, so it is not lost if the run is killed in between, or before the
//! refresh. At worst, the next run refreshes something once more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::ResourceId;

use super::record::Applied;
use super::record_before_change::Prepared;
use super::{AppliedState, Memory, StateError};
use crate::graph::{EdgeKind, Graph};
use crate::target::Target;

impl Memory {
    /// The resources that have to be refreshed, those of changes that have not ended among them.
    pub(super) fn owed(&self) -> impl Iterator<Item = &ResourceId> {
        self.owed.iter().chain(self.noted.values().flatten())
    }
}

impl AppliedState {
    /// The resources that an earlier run had to refresh after a change, and did not. They belong into
    /// [`RunOptions::owed`](crate::RunOptions::owed).
    pub fn owed(&self) -> BTreeSet<ResourceId> {
        self.memory().owed.clone()
    }

    /// Sets the resources that the next run has to refresh, from [`Ending::owed`](crate::Ending::owed).
    /// [`finish`](Self::finish) writes them.
    pub fn owe(&self, ids: BTreeSet<ResourceId>) {
        let mut memory = self.memory();
        memory.set_owed(ids);
        memory.noted.clear();
    }

    /// Notes before a change which resources have to be refreshed after it.
    fn note(
        &self,
        target: &dyn Target,
        from: &ResourceId,
        to: &BTreeSet<ResourceId>,
    ) -> Result<(), StateError> {
        let mut memory = self.memory();
        memory.noted.insert(from.clone(), to.clone());
        self.write_owed(target, &mut memory)
    }

    /// The resources that have to be refreshed if changes that have not ended succeed.
    pub(crate) fn noted(&self) -> BTreeSet<ResourceId> {
        self.memory().noted.values().flatten().cloned().collect()
    }

    /// Notes that an attempt at a resource of a run has ended. `owed` returns what is owed a refresh since then, which is
    /// [`Runner::owed`](crate::Runner::owed); it is only called if something was. [`drive`](crate::drive()) does this.
    pub fn settle(
        &self,
        target: &dyn Target,
        id: &ResourceId,
        owed: impl FnOnce() -> BTreeSet<ResourceId>,
    ) {
        let mut memory = self.memory();
        if memory.noted.remove(id).is_none() && memory.applied.owed.is_empty() {
            return;
        }
        memory.set_owed(owed());
        // If this fails, something is refreshed once more after a crash. The end of the run tries it again.
        let _ = self.write_owed(target, &mut memory);
    }

    /// Writes what is owed a refresh, if that differs from what the machine has.
    fn write_owed(&self, target: &dyn Target, memory: &mut Memory) -> Result<(), StateError> {
        let owed: BTreeSet<ResourceId> = memory.owed().cloned().collect();
        if owed != memory.applied.owed {
            let applied = Applied {
                owed,
                ..memory.applied.clone()
            };
            self.location.write_applied(target, &applied)?;
            memory.applied = applied;
        }
        Ok(())
    }
}

/// The graph with resources that note what they notify before they are changed.
pub(super) fn notifying(state: &Arc<AppliedState>, mut graph: Graph) -> Graph {
    let refreshable: BTreeSet<&ResourceId> = graph
        .nodes()
        .iter()
        .filter(|node| node.resource.is_refreshable())
        .map(|node| &node.id)
        .collect();
    let mut notices: BTreeMap<ResourceId, BTreeSet<ResourceId>> = BTreeMap::new();
    for edge in graph.edges() {
        if edge.kind == EdgeKind::Notify && refreshable.contains(edge.to) {
            let notified = notices.entry(edge.from.clone()).or_default();
            notified.insert(edge.to.clone());
        }
    }
    for node in graph.nodes_mut() {
        if let Some(to) = notices.remove(&node.id) {
            let from = node.id.clone();
            let wrapped = |resource| {
                let (state, from, to) = (Arc::clone(state), from.clone(), to.clone());
                Arc::new(Prepared::new(resource, move |target, _| {
                    Ok(state.note(target, &from, &to)?)
                }))
            };
            node.resource = wrapped(node.resource.clone());
            node.wrap_members(|_, resource| wrapped(resource.clone()));
        }
    }
    graph
}
