//! Decides which clauses of a derivation become steps of the proof.
//!
//! *Problem.* At level zero, a search has one clause for each release that it excluded. As a step, each of these would
//! repeat its antecedents, and most are used only once.
//!
//! *Idea.* Such a clause follows from its antecedents by unit propagation alone, so the step that uses it can name these
//! instead. A clause that only one step uses is *part* of that step. If all of them are, the whole proof is one step that
//! lists inequalities of the problem.
//!
//! *Cost.* One walk from the last clause to the first. Each clause is part of at most one step, so nothing is repeated.

use std::collections::HashSet;

use pkgres_resolver::{ClauseOrigin, Derivation};

/// The users of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    None,
    /// One step.
    Step(usize),
    Several,
}

/// What becomes of each clause.
#[derive(Debug)]
pub(super) struct Plan {
    /// The step that each clause is part of; its own if it is one.
    step_of: Vec<usize>,
    /// Whether a requirement or class does more than to exclude releases of its owner.
    is_needed_whole: Vec<bool>,
}

impl Plan {
    pub(super) fn new(derivation: &Derivation) -> Self {
        let clauses = &derivation.clauses;
        let mut users = vec![Users::None; clauses.len()];
        let mut plan = Self {
            step_of: (0..clauses.len()).collect(),
            is_needed_whole: vec![false; clauses.len()],
        };
        for (number, clause) in clauses.iter().enumerate().rev() {
            if let (ClauseOrigin::Implied { .. }, Users::Step(step)) =
                (&clause.origin, users[number])
            {
                plan.step_of[number] = step;
            }
            let step = plan.step_of[number];
            for antecedent in antecedents(&clause.origin) {
                let Some(of_antecedent) = users.get_mut(antecedent) else {
                    continue;
                };
                *of_antecedent = match *of_antecedent {
                    Users::None => Users::Step(step),
                    Users::Step(other) if other == step => Users::Step(step),
                    _ => Users::Several,
                };
                let owner = clauses[antecedent].literals.first();
                let excludes_owner = matches!(clause.origin, ClauseOrigin::Implied { reason, .. } if reason == antecedent)
                    && owner.map(|one| one.variable)
                        == clause.literals.first().map(|one| one.variable);
                plan.is_needed_whole[antecedent] |= !excludes_owner;
            }
        }
        plan
    }

    /// Whether a clause is part of the step of another one.
    pub(super) fn is_part(&self, clause: usize) -> bool {
        self.step_of[clause] != clause
    }

    /// The clauses that are parts of a step, in the order in which they follow.
    pub(super) fn parts(&self, derivation: &Derivation, step: usize) -> Vec<usize> {
        let mut parts = HashSet::new();
        let mut open = vec![step];
        while let Some(next) = open.pop() {
            let before = antecedents(&derivation.clauses[next].origin);
            let before = before.filter(|one| *one < next && self.step_of[*one] == step);
            open.extend(before.filter(|one| parts.insert(*one)));
        }
        let mut parts: Vec<usize> = parts.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    /// Whether a requirement or class does more than to exclude releases of its owner.
    pub(super) fn is_needed_whole(&self, clause: usize) -> bool {
        self.is_needed_whole[clause]
    }
}

/// The positions of the clauses that a clause follows from.
fn antecedents(origin: &ClauseOrigin) -> impl Iterator<Item = usize> {
    let (reason, others) = match origin {
        ClauseOrigin::Derived(others) => (None, others.as_slice()),
        ClauseOrigin::Implied { reason, by } => (Some(*reason), by.as_slice()),
        _ => (None, &[][..]),
    };
    reason.into_iter().chain(others.iter().copied())
}
