//! Replaying a proof: whether everything that was learned follows from what it is said to follow
//! from.
//!
//! A learned constraint is assumed not to hold; its antecedents alone must then lead to a
//! contradiction by the simplest of conclusions. That shares no code with learning, so that a fault
//! there shows. Constraints that were not learned are taken for granted.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::NONE;
use crate::set::bits;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, Constraints, Origin};

/// Whether a proof that there is no solution is one.
pub(super) fn is_valid(state: &Assignment, constraints: &Constraints, cause: Origin) -> bool {
    let mut replay = Replay {
        state,
        constraints,
        rest: Vec::new(),
        learned: FxHashSet::default(),
        certain: FxHashSet::default(),
    };
    if !replay.follows(&[], cause) {
        return false;
    }
    let mut terms = Vec::new();
    while let Some(reason) = replay.rest.pop() {
        constraints.terms(state, reason, &mut terms);
        if !replay.follows(&terms, constraints.cause(reason)) {
            return false;
        }
    }
    true
}

struct Replay<'search> {
    state: &'search Assignment,
    constraints: &'search Constraints,
    /// Learned constraints that are still to be looked at.
    rest: Vec<ClauseRef>,
    learned: FxHashSet<ClauseRef>,
    certain: FxHashSet<usize>,
}

impl Replay<'_> {
    /// Whether not all of these terms can hold, because of the antecedents of a cause.
    fn follows(&mut self, terms: &[Term], cause: Origin) -> bool {
        let Origin::Learned { from, until } = cause else {
            return true;
        };
        let antecedents = &self.constraints.antecedents[from as usize..until as usize];
        let mut domains: FxHashMap<Var, Vec<u64>> = FxHashMap::default();
        for term in terms {
            if self.restrict(&mut domains, *term, true) {
                return true;
            }
        }
        for antecedent in antecedents {
            match antecedent {
                Antecedent::Certain(term, until) => {
                    if !self.is_certain(*term, *until as usize) {
                        return false;
                    }
                    if self.restrict(&mut domains, *term, true) {
                        return true;
                    }
                }
                Antecedent::Constraint(reason) => self.need(*reason),
            }
        }
        let mut others = Vec::new();
        loop {
            let before = domains.clone();
            for antecedent in antecedents {
                let Antecedent::Constraint(reason) = antecedent else {
                    continue;
                };
                self.constraints.terms(self.state, *reason, &mut others);
                let mut open = others.iter().filter(|term| !self.holds(&domains, **term));
                match (open.next(), open.next()) {
                    (None, _) => return true,
                    (Some(term), None) => {
                        if self.restrict(&mut domains, *term, false) {
                            return true;
                        }
                    }
                    (Some(_), Some(_)) => {}
                }
            }
            if domains == before {
                return false;
            }
        }
    }

    /// Remembers to look at a constraint, if it was learned.
    fn need(&mut self, reason: ClauseRef) {
        if matches!(self.constraints.cause(reason), Origin::Learned { .. })
            && self.learned.insert(reason)
        {
            self.rest.push(reason);
        }
    }

    /// Whether a term holds without any decision, by certainties that came first.
    fn is_certain(&mut self, term: Term, until: usize) -> bool {
        let mut open = vec![(term, until)];
        let mut terms = Vec::new();
        while let Some((term, until)) = open.pop() {
            let mut domain = self.everything(term.var);
            let mut at = self.state.details(term.var).latest_certain;
            while at != NONE {
                let certainty = self.state.certain[at as usize];
                if (at as usize) < until {
                    let removed = Term {
                        var: certainty.var,
                        set: certainty.removed,
                    };
                    bits::take_away(&mut domain, self.state.set(removed));
                    if self.certain.insert(at as usize) {
                        self.need(certainty.reason);
                        self.constraints
                            .terms(self.state, certainty.reason, &mut terms);
                        let others = terms.iter().filter(|other| other.var != term.var);
                        open.extend(others.map(|other| (*other, at as usize)));
                    }
                }
                at = certainty.previous;
            }
            if !bits::is_subset(&domain, self.state.set(term)) {
                return false;
            }
        }
        true
    }

    fn everything(&self, var: Var) -> Vec<u64> {
        let mut domain = vec![0; self.state.width(var)];
        bits::fill(&mut domain, self.state.var(var).values);
        domain
    }

    fn holds(&self, domains: &FxHashMap<Var, Vec<u64>>, term: Term) -> bool {
        let set = self.state.set(term);
        match domains.get(&term.var) {
            Some(domain) => bits::is_subset(domain, set),
            None => bits::is_subset(&self.everything(term.var), set),
        }
    }

    /// Restricts a variable to a term, or to what is not in it; says whether nothing is left.
    fn restrict(&self, domains: &mut FxHashMap<Var, Vec<u64>>, term: Term, keep: bool) -> bool {
        let domain = domains
            .entry(term.var)
            .or_insert_with(|| self.everything(term.var));
        for (word, set) in domain.iter_mut().zip(self.state.set(term)) {
            *word &= if keep { *set } else { !*set };
        }
        bits::count(domain) == 0
    }
}
