//! How an explanation leaves out facts: in which order, and how much work it takes.
//!
//! Each attempt to leave out a fact has a step limit, and all attempts together have limits on facts and steps. Neither
//! the limits nor the order depend on time or on the order in which packages arrived, so an explanation depends only on
//! the metadata.

use rustc_hash::FxHashSet;

use crate::budget::Budget;
use crate::problem::Fact;
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// The step limit of each attempt. The steps of the search before do not count: the explanation
/// must not depend on the effort that it took to find the conflict.
pub(super) const MAX_STEPS: u64 = 200_000;

/// How many looks at a clause take as long as to hand a fact to an attempt.
const LOOKS_PER_FACT: u64 = 4;

/// What attempts took so far, and may take in all.
#[derive(Debug)]
pub(super) struct Effort {
    facts_examined: usize,
    steps: u64,
    max_facts_examined: usize,
    max_steps: u64,
}

impl Effort {
    /// The effort of leaving out facts one by one.
    ///
    /// Each attempt takes time linear in the facts. The proof for a chain of a hundred thousand
    /// packages needs all its facts, and to verify that would take hours. The step limit bounds the
    /// time for conflicts of hundreds of facts that are hard to refute.
    pub(super) fn of_deletion() -> Self {
        Self::within(250_000, 5_000_000)
    }

    /// The effort of looking for a smaller set.
    pub(super) fn of_smallest() -> Self {
        Self::within(50_000, 500_000)
    }

    fn within(max_facts_examined: usize, max_steps: u64) -> Self {
        Self {
            facts_examined: 0,
            steps: 0,
            max_facts_examined,
            max_steps,
        }
    }

    /// Whether an attempt with so many facts is within the limits.
    pub(super) fn allows(&self, facts: usize) -> bool {
        self.facts_examined + facts <= self.max_facts_examined && self.steps <= self.max_steps
    }

    /// Adds an attempt with so many facts. To examine them counts as steps, too.
    pub(super) fn add(&mut self, facts: usize, budget: &mut Budget) {
        self.facts_examined += facts;
        self.steps += budget.taken();
        budget.take_looks(LOOKS_PER_FACT * facts as u64);
        budget.report();
    }
}

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
