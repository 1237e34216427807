//! Automatic edges between resources: for instance, a file comes after the nearest folder around
//! it.

use std::collections::{BTreeSet, HashMap};

use super::Node;
use super::edges::{Edge, EdgeKind, Edges};
use crate::resource::{Identifier, Relation};

/// Pairs of nodes of which the first goes before the second.
type Pairs = BTreeSet<(usize, usize)>;

/// Adds the edges to a graph. Those that are only there if they are possible come last, and never close a cycle.
pub(super) fn add(nodes: &[Node], edges: &mut Edges) {
    let (pairs, possible) = between(nodes);
    for (first, second) in pairs {
        edges.add(first, second, EdgeKind::Order);
    }
    if possible.is_empty() {
        return;
    }
    let mut successors = edges.successors(nodes.len());
    for (first, second) in possible {
        if !leads_to(&successors, second, first) {
            let kind = EdgeKind::Order;
            successors[first].push(Edge { to: second, kind });
            edges.add(first, second, kind);
        }
    }
}

/// Whether a path leads from one node to another.
fn leads_to(successors: &[Vec<Edge>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; successors.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if node == to {
            return true;
        }
        if !std::mem::replace(&mut seen[node], true) {
            open.extend(successors[node].iter().map(|edge| edge.to));
        }
    }
    false
}

/// The edges, and those that are only there if they are possible.
fn between(nodes: &[Node]) -> (Pairs, Pairs) {
    let mut holders: HashMap<Identifier, Vec<usize>> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for identifier in node.resource.identifiers() {
            holders.entry(identifier).or_default().push(number);
        }
    }
    let mut pairs = BTreeSet::new();
    let mut possible = BTreeSet::new();
    for (number, node) in nodes.iter().enumerate() {
        if !node.meta.automatic_edges {
            continue;
        }
        for wish in node.resource.wishes() {
            let found = wish.alternatives.iter().find_map(|identifier| {
                let others = holders.get(identifier)?.iter();
                let others: Vec<_> = others.copied().filter(|other| *other != number).collect();
                (!others.is_empty()).then_some(others)
            });
            for other in found.into_iter().flatten() {
                match wish.relation {
                    Relation::After => pairs.insert((other, number)),
                    Relation::Before => pairs.insert((number, other)),
                    Relation::BeforeIfPossible => possible.insert((number, other)),
                };
            }
        }
    }
    (pairs, possible)
}
