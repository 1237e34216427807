//! Leaving out what a conflict does not need.

use rustc_hash::FxHashSet;

use crate::encoding::{Encoding, Fact};
use crate::engine::{Budget, refute};
use crate::universe::Universe;

/// Facts that leave no selection, none of which can be left out; in an order that depends on the
/// metadata alone.
///
/// Each fact is tried once: without it, either there is still no selection, or it is needed.
pub(super) fn reduce(
    encoding: &mut Encoding<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Vec<Fact> {
    let mut kept = sorted(encoding.universe, facts);
    let mut needed = 0;
    while needed < kept.len() {
        // Facts that stand later are further from the root: they go first.
        let candidate = kept.len() - 1 - needed;
        let without: FxHashSet<Fact> = kept
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != candidate)
            .map(|(_, fact)| fact.clone())
            .collect();
        match refute(encoding, without, budget) {
            // What the new proof does not use goes as well, but never what is known to be needed.
            Some(proof) => {
                let needed_facts = kept.split_off(kept.len() - needed);
                kept.retain(|fact| proof.facts.contains(fact));
                kept.extend(needed_facts);
            }
            None => needed += 1,
        }
    }
    kept
}

/// Orders facts by the names, classes and versions that they are about.
fn sorted(universe: &Universe, facts: FxHashSet<Fact>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = facts.into_iter().collect();
    facts.sort_by_cached_key(|fact| match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } => {
            let (owner_name, target_name) = (universe.name(*owner), universe.name(*target));
            let newest = allowed.last().map_or(0, |last| last + 1);
            let rank = u8::from(!universe.is_root(*owner));
            (
                rank,
                owner_name.to_string(),
                target_name.to_string(),
                newest,
                allowed.len(),
            )
        }
        Fact::Extends { owner, class } => (
            2,
            universe.name(*owner).to_string(),
            universe.class_name(*class).to_string(),
            0,
            0,
        ),
        Fact::OwnCycle { owner } => (3, universe.name(*owner).to_string(), String::new(), 0, 0),
        Fact::Clause(number) => (4, String::new(), String::new(), *number, 0),
    });
    facts
}
