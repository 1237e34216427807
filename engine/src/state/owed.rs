//! Refreshes that are owed: a resource has changed, and those that it notifies were not refreshed yet.
//!
//! That a refresh is going to be owed is written before the change, so that a run that is killed in between, or before the
//! refresh, does not lose it. At worst the next run refreshes something once more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::ResourceId;

use super::record::Applied;
use super::{AppliedState, Memory, StateError};
use crate::graph::Graph;
use crate::resource::{
    Change, Checked, Difference, Identifier, Input, Presence, Resource, ResourceError, ValueType,
    Watching, Wish,
};
use crate::target::{Probe, Target};

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

    /// Sets which resources the next run has to refresh: those of [`Ending::owed`](crate::Ending::owed).
    /// [`finish`](Self::finish) writes them.
    pub fn owe(&self, ids: BTreeSet<ResourceId>) {
        let mut memory = self.memory();
        memory.owed = ids;
        memory.noted.clear();
    }

    /// Notes before a change which resources have to be refreshed after it.
    fn note(&self, target: &dyn Target, notice: &Notice) -> Result<(), StateError> {
        let mut memory = self.memory();
        memory.noted.insert(notice.from.clone(), notice.to.clone());
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
        memory.owed = owed();
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

/// A resource that notifies others.
struct Notifying {
    state: Arc<AppliedState>,
    resource: Arc<dyn Resource>,
    notice: Arc<Notice>,
}

/// A resource, and those that have to be refreshed after a change of it.
struct Notice {
    from: ResourceId,
    to: BTreeSet<ResourceId>,
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
    for (from, to, notifies) in graph.edges() {
        if notifies && refreshable.contains(to) {
            notices.entry(from.clone()).or_default().insert(to.clone());
        }
    }
    for node in graph.nodes_mut() {
        if let Some(to) = notices.remove(&node.id) {
            let from = node.id.clone();
            node.resource = Arc::new(Notifying {
                state: Arc::clone(state),
                resource: node.resource.clone(),
                notice: Arc::new(Notice { from, to }),
            });
        }
    }
    graph
}

/// It is what the resource is. Only its change does more.
impl Resource for Notifying {
    fn definition(&self) -> String {
        self.resource.definition()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let checked = self.resource.check(probe, input)?;
        let Checked::Drift(change) = checked else {
            return Ok(checked);
        };
        Ok(Checked::drift(NotedChange {
            state: Arc::clone(&self.state),
            notice: Arc::clone(&self.notice),
            change,
        }))
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        self.resource.watching(probe)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        self.resource.identifiers()
    }

    fn wishes(&self) -> Vec<Wish> {
        self.resource.wishes()
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        self.resource.sends()
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        self.resource.receives()
    }

    fn presence(&self) -> Presence {
        self.resource.presence()
    }

    fn is_refreshable(&self) -> bool {
        self.resource.is_refreshable()
    }
}

struct NotedChange {
    state: Arc<AppliedState>,
    notice: Arc<Notice>,
    change: Box<dyn Change>,
}

impl Change for NotedChange {
    fn differences(&self) -> Vec<Difference> {
        self.change.differences()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.change.precheck(probe)
    }

    fn is_atomic(&self) -> bool {
        self.change.is_atomic()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let noted = self.state.note(target, &self.notice);
        noted.map_err(|error| ResourceError::Invalid(error.to_string()))?;
        self.change.apply(target)
    }
}
