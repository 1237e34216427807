//! Leaving out what a conflict does not need.

use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::search::{Verdict, refute};
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// How many facts all tries together look at. Each try takes as long as there are facts, so that
/// the proof of a chain of a hundred thousand packages, which needs them all, would take hours to
/// find that out.
const MAX_FACTS_LOOKED_AT: usize = 250_000;

/// How many steps each try may take. What the search took before does not count: why there is no
/// resolution must not depend on what it took to find that out.
const MAX_STEPS: u64 = 20_000;

/// Facts that leave no selection, on the way to a set of which none can be left out.
///
/// Each fact is tried once: without it, either there is still no selection, or it is needed. Where
/// that takes too many steps to find out the fact is kept. What was found out stays when more has
/// to be delivered first.
#[derive(Debug)]
pub(super) struct Reduction {
    /// In an order that depends on the metadata alone.
    kept: Vec<Fact>,
    /// How many at the end were tried and kept.
    tried: usize,
    /// Whether all of these are known to be needed.
    all_needed: bool,
    /// How many facts were looked at.
    looked_at: usize,
}

/// What is left of the facts that a proof uses.
pub(super) struct Reduced<'reduction> {
    pub(super) facts: &'reduction [Fact],
    /// Whether it is known that none can be left out.
    pub(super) is_minimal: bool,
}

impl Reduction {
    pub(super) fn new(universe: &Universe, facts: Vec<Fact>) -> Self {
        Self {
            kept: sorted(universe, facts.into_iter().collect()),
            tried: 0,
            all_needed: true,
            looked_at: 0,
        }
    }

    /// The facts that were not left out so far.
    pub(super) fn facts(&self) -> &[Fact] {
        &self.kept
    }

    /// Goes on until no fact can be left out, as far as can be found out.
    pub(super) fn finish(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &Budget,
    ) -> Result<Reduced<'_>, Interrupt> {
        while self.tried < self.kept.len()
            && self.looked_at + self.kept.len() <= MAX_FACTS_LOOKED_AT
            && !budget.cancellation().is_cancelled()
        {
            // Facts that stand later are further from the root: they go first.
            let candidate = self.kept.len() - 1 - self.tried;
            let without: FxHashSet<Fact> = (self.kept.iter().enumerate())
                .filter(|(at, _)| *at != candidate)
                .map(|(_, fact)| fact.clone())
                .collect();
            let mut side_budget = budget.for_side_question(MAX_STEPS);
            let refutation = refute(problem, without, &mut side_budget);
            if !matches!(refutation, Err(Interrupt::Missing(_))) {
                self.looked_at += self.kept.len();
            }
            match refutation {
                // What the new proof does not use goes as well, but never what was kept.
                Ok(Verdict::Impossible(proof)) => {
                    let tried = self.kept.split_off(self.kept.len() - self.tried);
                    let used: FxHashSet<Fact> = proof.facts.into_iter().collect();
                    self.kept.retain(|fact| used.contains(fact));
                    self.kept.extend(tried);
                }
                Ok(Verdict::Solved(())) => self.tried += 1,
                Err(Interrupt::Exhausted) => {
                    self.tried += 1;
                    self.all_needed = false;
                }
                Err(missing) => return Err(missing),
            }
        }
        Ok(Reduced {
            facts: &self.kept,
            is_minimal: self.all_needed && self.tried == self.kept.len(),
        })
    }
}

/// Orders facts by the names, classes and versions that they are about.
fn sorted(universe: &Universe, facts: FxHashSet<Fact>) -> Vec<Fact> {
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
            // What was asked for is the last to go, and what is only to stay the first.
            Fact::Wanted { package } => (0, String::new(), name(package), 0, nothing),
            Fact::Stays { package } => (5, name(package), String::new(), 0, nothing),
        }
    });
    facts
}
