//! How much work an explanation takes.
//!
//! Each attempt to leave out a fact has a step limit, and all attempts together have limits on facts and steps. The
//! limits do not depend on time, so an explanation depends only on the metadata.

use crate::budget::Budget;

/// The step limit of each attempt. The steps of the search before do not count: the explanation
/// must not depend on the effort that it took to find the conflict.
pub(super) const MAX_STEPS: u64 = 200_000;

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

    pub(super) fn add(&mut self, facts: usize, budget: &Budget) {
        self.facts_examined += facts;
        self.steps += budget.taken();
    }
}
