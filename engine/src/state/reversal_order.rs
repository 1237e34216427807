//! The order in which resources are reversed: the last change first.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::ResourceId;

use super::record::Record;
use crate::graph::{Graph, Node};

/// The resources that each resource came after, among those that are to be reversed.
pub(super) type After = BTreeMap<ResourceId, BTreeSet<ResourceId>>;

/// Whether a node asks for its reversal.
pub(super) fn asks(node: &Node) -> bool {
    node.meta.reverse && !node.meta.hidden && !node.is_reversal
}

/// The resources of a graph that ask for their reversal, each with the nearest ones before it that do.
pub(super) fn asking(graph: &Graph) -> After {
    let mut found = After::new();
    if !graph.nodes().iter().any(asks) {
        return found;
    }
    let predecessors = graph.predecessors();
    for (number, node) in graph.nodes().iter().enumerate() {
        if asks(node) {
            let after = nearest(number, &predecessors, graph);
            let parts = node.parts().into_iter();
            found.extend(parts.map(|(id, _)| (id, after.clone())));
        }
    }
    found
}

/// The nearest nodes before a node that ask for their reversal.
fn nearest(node: usize, predecessors: &[Vec<usize>], graph: &Graph) -> BTreeSet<ResourceId> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = predecessors[node].clone();
    while let Some(before) = open.pop() {
        let before_node = &graph.nodes()[before];
        if asks(before_node) {
            found.extend(before_node.parts().into_iter().map(|(id, _)| id));
        } else if seen.insert(before) {
            open.extend(&predecessors[before]);
        }
    }
    found
}

/// When a resource was changed first, and what came before it.
#[derive(Clone, Copy)]
struct Origin<'run> {
    id: &'run ResourceId,
    /// The position of its record; `None` if it is changed at this moment, if at all.
    position: Option<u64>,
    after: &'run BTreeSet<ResourceId>,
}

impl Origin<'_> {
    /// Whether it came before another one. What was changed later did not, even if it went first in another graph: so
    /// there are no cycles.
    fn is_before(&self, other: &Self) -> bool {
        match (self.position, other.position) {
            (Some(own), Some(other)) => own < other,
            (Some(_) | None, None) => true,
            (None, Some(_)) => false,
        }
    }
}

/// The origins of all resources that are to be reversed.
pub(super) struct Origins<'run>(BTreeMap<&'run ResourceId, Origin<'run>>);

impl<'run> Origins<'run> {
    /// The origins of recorded resources, and of those of a graph that runs.
    pub(super) fn new(records: &'run BTreeMap<ResourceId, Record>, asking: &'run After) -> Self {
        let running = asking.iter().map(|(id, after)| {
            let position = None;
            (
                id,
                Origin {
                    id,
                    position,
                    after,
                },
            )
        });
        let recorded = records.iter().map(|(id, record)| {
            let position = Some(record.position);
            let after = &record.after;
            (
                id,
                Origin {
                    id,
                    position,
                    after,
                },
            )
        });
        Self(running.chain(recorded).collect())
    }

    /// The nearest resources that are gone, and came before one that is.
    pub(super) fn gone_before(
        &self,
        id: &ResourceId,
        gone: &BTreeSet<&ResourceId>,
    ) -> BTreeSet<&'run ResourceId> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<Origin<'run>> = self.0.get(id).copied().into_iter().collect();
        while let Some(origin) = open.pop() {
            for before in origin.after {
                let before = self.0.get(before).copied();
                let Some(before) = before.filter(|before| before.is_before(&origin)) else {
                    continue;
                };
                if gone.contains(before.id) {
                    found.insert(before.id);
                } else if seen.insert(before.id) {
                    open.push(before);
                }
            }
        }
        found
    }
}
