//! Edges that resources ask for: a file after the nearest folder around it, for instance.

use std::collections::{BTreeSet, HashMap};

use super::Node;
use crate::resource::{Identifier, Relation};

/// The pairs of nodes of which the first goes before the second.
pub(super) fn between(nodes: &[Node]) -> BTreeSet<(usize, usize)> {
    let mut holders: HashMap<Identifier, Vec<usize>> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for identifier in node.resource.identifiers() {
            holders.entry(identifier).or_default().push(number);
        }
    }
    let mut pairs = BTreeSet::new();
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
                pairs.insert(match wish.relation {
                    Relation::After => (other, number),
                    Relation::Before => (number, other),
                });
            }
        }
    }
    pairs
}
