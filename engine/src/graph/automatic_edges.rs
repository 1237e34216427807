//! Automatic edges between resources: for instance, a file comes after the nearest folder around
//! it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::Node;
use super::edges::{Edge, EdgeKind, Edges, leads_to};
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
        let next = |node: usize| successors[node].iter().map(|edge| edge.to);
        if !leads_to(successors.len(), second, first, next) {
            let kind = EdgeKind::Order;
            successors[first].push(Edge { to: second, kind });
            edges.add(first, second, kind);
        }
    }
}

/// The edges, and those that are only there if they are possible.
fn between(nodes: &[Node]) -> (Pairs, Pairs) {
    let holders = Holders::new(nodes);
    let mut pairs = BTreeSet::new();
    let mut possible = BTreeSet::new();
    for (number, node) in nodes.iter().enumerate() {
        if !node.meta.automatic_edges {
            continue;
        }
        for wish in node.resource.wishes() {
            let found = wish.alternatives.iter().find_map(|identifier| {
                let mut others = holders.of(identifier);
                others.retain(|other| *other != number);
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

/// The nodes that have identifiers.
#[derive(Default)]
struct Holders {
    by_identifier: HashMap<Identifier, Vec<usize>>,
    /// Those of paths once more. What is below a folder follows it, as paths are ordered by their components.
    by_path: BTreeMap<PathBuf, Vec<usize>>,
}

impl Holders {
    fn new(nodes: &[Node]) -> Self {
        let mut holders = Self::default();
        for (number, node) in nodes.iter().enumerate() {
            for identifier in node.resource.identifiers() {
                if let Identifier::Path(path) = &identifier {
                    let at_path = holders.by_path.entry(path.clone()).or_default();
                    at_path.push(number);
                }
                let same = holders.by_identifier.entry(identifier).or_default();
                same.push(number);
            }
        }
        holders
    }

    /// The nodes that a wish for an identifier means.
    fn of(&self, identifier: &Identifier) -> Vec<usize> {
        let Identifier::Below(folder) = identifier else {
            let same = self.by_identifier.get(identifier);
            return same.cloned().unwrap_or_default();
        };
        let after = (Bound::Excluded(folder.as_path()), Bound::Unbounded);
        let below = self.by_path.range::<Path, _>(after);
        let below = below.take_while(|(path, _)| path.starts_with(folder));
        below.flat_map(|(_, nodes)| nodes).copied().collect()
    }
}
