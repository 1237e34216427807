//! The order in which an explanation tries to do without a fact. It depends only on the metadata, and not on the order in
//! which packages arrived.

use rustc_hash::FxHashSet;

use crate::problem::Fact;
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// Orders facts by their names, classes and versions.
pub(super) fn sorted(universe: &Universe, facts: FxHashSet<Fact>) -> Vec<Fact> {
    let name = |package: &PackageId| universe.catalog.name(*package).to_string();
    let mut facts: Vec<Fact> = facts.into_iter().collect();
    facts.sort_by_cached_key(|fact| {
        let nothing = (0, PositionSet::EMPTY);
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => {
                let newest = allowed.last().map_or(0, |last| last + 1);
                let versions = (allowed.len(), allowed.clone());
                let rank = u8::from(!universe.catalog.is_root(*owner));
                (rank, name(owner), name(target), newest, versions)
            }
            Fact::Extends { owner, class } => {
                let class = universe.catalog.class_name(*class).to_string();
                (2, name(owner), class, 0, nothing)
            }
            Fact::OwnCycle { owner } => (3, name(owner), String::new(), 0, nothing),
            Fact::Nogood(number) => (4, String::new(), String::new(), *number, nothing),
            // Requested packages are removed last, and packages that should only stay first.
            Fact::Wanted { package } => (0, String::new(), name(package), 0, nothing),
            Fact::Stays { package } => (5, name(package), String::new(), 0, nothing),
        }
    });
    facts
}
