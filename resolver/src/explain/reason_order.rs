//! The order in which the reasons of a conflict are shown.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use pkgres_manifest::PackageName;
use rustc_hash::FxHashMap;

use super::{Reason, ReasonKind};
use crate::problem::Fact;
use crate::universe::{PackageId, Universe};

/// Sorts the reasons of facts. What contradicts each other comes first, then violated class rules and contracts, then
/// the requirements that led there, from the roots on. Equal reasons keep their order.
pub(super) fn sort(reasons: &mut [Reason], universe: &Universe, facts: &[Fact]) {
    let distances = distances(universe, facts);
    let distance = |reason: &Reason| distances.get(&reason.owner).copied().unwrap_or(usize::MAX);
    let is_about_requirements =
        |reason: &Reason| matches!(reason.kind, ReasonKind::Requires { .. } | ReasonKind::Stays);
    reasons.sort_by_key(|reason| {
        (
            !reason.clashes,
            is_about_requirements(reason),
            distance(reason),
        )
    });
}

/// The distance of packages from the roots along the requirements among the facts.
fn distances(universe: &Universe, facts: &[Fact]) -> BTreeMap<Option<PackageName>, usize> {
    let name = |package: PackageId| universe.catalog.package_name(package).cloned();
    let mut required: FxHashMap<PackageId, Vec<PackageId>> = FxHashMap::default();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact {
            required.entry(*owner).or_default().push(*target);
        }
    }
    let mut distances = BTreeMap::new();
    let mut queue: VecDeque<PackageId> = VecDeque::new();
    for root in universe.catalog.roots() {
        distances.insert(name(root.package), 0);
        queue.push_back(root.package);
    }
    while let Some(package) = queue.pop_front() {
        let next = distances[&name(package)] + 1;
        for target in required.remove(&package).unwrap_or_default() {
            if let Entry::Vacant(entry) = distances.entry(name(target)) {
                entry.insert(next);
                queue.push_back(target);
            }
        }
    }
    distances
}
