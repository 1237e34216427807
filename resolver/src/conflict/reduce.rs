//! Leaving out what a conflict does not need.

use rustc_hash::FxHashSet;

use crate::encoding::{Encoding, Fact, Missing};
use crate::engine::{Budget, refute};
use crate::universe::Universe;

/// How many facts all tries together look at. Each try takes as long as there are facts, so that
/// the proof of a chain of a hundred thousand packages, which needs them all, would take hours to
/// find that out.
const MAX_FACTS_LOOKED_AT: usize = 250_000;

/// Facts that leave no selection, on the way to a set of which none can be left out.
///
/// Each fact is tried once: without it, either there is still no selection, or it is needed. What
/// was found out stays when more has to be delivered first.
#[derive(Debug)]
pub(super) struct Reduction {
    /// In an order that depends on the metadata alone.
    kept: Vec<Fact>,
    /// How many at the end are known to be needed.
    needed: usize,
    /// How many facts were looked at.
    looked_at: usize,
}

impl Reduction {
    pub(super) fn new(universe: &Universe, facts: FxHashSet<Fact>) -> Self {
        Self {
            kept: sorted(universe, facts),
            needed: 0,
            looked_at: 0,
        }
    }

    /// The facts that were not left out so far.
    pub(super) fn facts(&self) -> &[Fact] {
        &self.kept
    }

    /// Goes on until no fact can be left out, or the facts are so many that a few too many among
    /// them make no difference.
    pub(super) fn finish(
        &mut self,
        encoding: &mut Encoding<'_>,
        budget: &mut Budget,
    ) -> Result<&[Fact], Missing> {
        while self.needed < self.kept.len()
            && self.looked_at + self.kept.len() <= MAX_FACTS_LOOKED_AT
        {
            self.looked_at += self.kept.len();
            // Facts that stand later are further from the root: they go first.
            let candidate = self.kept.len() - 1 - self.needed;
            let without: FxHashSet<Fact> = (self.kept.iter().enumerate())
                .filter(|(at, _)| *at != candidate)
                .map(|(_, fact)| fact.clone())
                .collect();
            match refute(encoding, without, budget)? {
                // What the new proof does not use goes as well, but never what is needed.
                Some(proof) => {
                    let needed = self.kept.split_off(self.kept.len() - self.needed);
                    self.kept.retain(|fact| proof.facts.contains(fact));
                    self.kept.extend(needed);
                }
                None => self.needed += 1,
            }
        }
        Ok(&self.kept)
    }
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
        // What was asked for is the last to go, and what is only to stay the first.
        Fact::Wanted { package } => (0, String::new(), universe.name(*package).to_string(), 0, 0),
        Fact::Stays { package } => (5, universe.name(*package).to_string(), String::new(), 0, 0),
    });
    facts
}
