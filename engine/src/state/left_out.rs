//! The resources of objects, which a graph lacks if no model says which objects there are, and what of the state is
//! left at the end of a run.

use std::collections::BTreeSet;

use pkgres_manifest::ResourceId;

use super::record::Applied;
use super::{AppliedState, Memory};
use crate::graph::Graph;
use crate::runner::NodeStatus;

/// The resources of a graph that belong to objects of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectResources {
    /// There are these, and no others: those of an earlier run that are not in the graph are gone.
    Known(BTreeSet<ResourceId>),
    /// No model says which objects there are. So the graph lacks their resources, and those of an earlier run stay as
    /// they are, and stay in the state.
    LeftOut,
}

impl Default for ObjectResources {
    fn default() -> Self {
        Self::Known(BTreeSet::new())
    }
}

impl ObjectResources {
    pub(super) fn known(&self) -> impl Iterator<Item = &ResourceId> {
        let known = match self {
            Self::Known(ids) => Some(ids),
            Self::LeftOut => None,
        };
        known.into_iter().flatten()
    }
}

impl AppliedState {
    /// Sets which resources of the graphs that follow belong to objects.
    pub fn set_objects(&self, objects: ObjectResources) {
        self.memory().of_objects = objects;
    }

    /// The resources of objects that an earlier run applied, and that a graph lacks because no model says which objects
    /// there are.
    pub fn left_out(&self, graph: &Graph) -> Vec<ResourceId> {
        let wanted: BTreeSet<&ResourceId> = graph.ids().collect();
        let memory = self.memory();
        let known = memory.applied.of_objects.iter();
        let left_out = known.filter(|id| !wanted.contains(id) && memory.is_of_left_out_object(id));
        left_out.cloned().collect()
    }
}

impl Memory {
    /// Whether a resource belongs to an object, and no model says which objects there are.
    pub(super) fn is_of_left_out_object(&self, id: &ResourceId) -> bool {
        self.of_objects == ObjectResources::LeftOut && self.applied.of_objects.contains(id)
    }

    /// Whether a resource that is not in the graph is left out of it.
    pub(super) fn is_left_out(&self, id: &ResourceId) -> bool {
        !self.wanted.contains(id) && self.is_of_left_out_object(id)
    }

    /// Sets which resources have to be refreshed. What was owed to resources that the graph lacks stays so.
    pub(super) fn set_owed(&mut self, mut owed: BTreeSet<ResourceId>) {
        let kept = self.owed.iter().filter(|id| self.is_left_out(id));
        owed.extend(kept.cloned());
        self.owed = owed;
    }

    /// What is applied after a run that left the resources of its graph in these states.
    pub(super) fn applied_after(&self, nodes: &[(ResourceId, NodeStatus)]) -> Applied {
        let wanted_in = |has: fn(&NodeStatus) -> bool| {
            let nodes = nodes.iter().filter(move |(_, status)| has(status));
            let ids = nodes.map(|(id, _)| id);
            ids.filter(|id| self.wanted.contains(*id))
        };
        let in_order = wanted_in(|status| matches!(status, NodeStatus::InOrder));
        // Its change may have been made, or not.
        let changing =
            wanted_in(|status| matches!(status, NodeStatus::Running | NodeStatus::Cancelled));
        let applied = &self.applied;
        // What failed now may have been in order before. What has a record is not restored yet.
        let is_kept = |id: &&ResourceId| self.wanted.contains(*id) || self.is_left_out(id);
        let ended = applied.ended.iter().filter(is_kept);
        let recorded = self.records.keys().filter(|id| !self.wanted.contains(id));
        let ended: BTreeSet<ResourceId> = ended.chain(recorded).chain(in_order).cloned().collect();
        let begun = applied.begun.iter().filter(|id| self.is_left_out(id));
        let begun = begun.chain(changing).filter(|id| !ended.contains(id));
        let begun = begun.cloned().collect();
        let owed = self.owed();
        let owed = owed.filter(|id| self.wanted.contains(id) || self.is_left_out(id));
        let known = self
            .of_objects
            .known()
            .filter(|id| self.wanted.contains(id));
        let of_objects = applied.of_objects.iter().filter(|id| {
            !self.wanted.contains(id) && (self.is_left_out(id) || self.records.contains_key(id))
        });
        Applied {
            of_objects: known.chain(of_objects).cloned().collect(),
            owed: owed.cloned().collect(),
            sent: self.still_sent(nodes),
            ended,
            begun,
        }
    }
}
