//! Edges between resources: which goes first, and whether it notifies the other one.

use std::collections::BTreeMap;

use pkgres_manifest::ResourceId;

/// What a change of the first resource of an edge means for the second one, which always goes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Nothing.
    Order,
    /// The second one is refreshed.
    Notify,
}

/// An edge between two resources of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphEdge<'graph> {
    /// The resource that goes first.
    pub from: &'graph ResourceId,
    /// The resource that goes later.
    pub to: &'graph ResourceId,
    /// What a change of the first one means for the other one.
    pub kind: EdgeKind,
}

/// An edge to a node that goes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    pub(crate) kind: EdgeKind,
}

impl Edge {
    pub(crate) fn notifies(self) -> bool {
        self.kind == EdgeKind::Notify
    }
}

/// Whether a path leads from one of so many nodes to another. `successors` returns the nodes right after a node.
pub(super) fn leads_to<Successors: IntoIterator<Item = usize>>(
    nodes: usize,
    from: usize,
    to: usize,
    successors: impl Fn(usize) -> Successors,
) -> bool {
    let mut seen = vec![false; nodes];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for next in successors(node) {
            if next == to {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    false
}

/// Edges between nodes: at most one from one node to another.
#[derive(Debug, Default)]
pub(super) struct Edges(BTreeMap<(usize, usize), EdgeKind>);

impl Edges {
    /// Adds an edge. A notification wins over a plain edge between the same nodes.
    pub(super) fn add(&mut self, from: usize, to: usize, kind: EdgeKind) {
        let known = self.0.entry((from, to)).or_insert(kind);
        *known = kind.max(*known);
    }

    /// The edges from each of so many nodes.
    pub(super) fn successors(&self, nodes: usize) -> Vec<Vec<Edge>> {
        let mut successors = vec![Vec::new(); nodes];
        for ((from, to), kind) in &self.0 {
            successors[*from].push(Edge {
                to: *to,
                kind: *kind,
            });
        }
        successors
    }
}
