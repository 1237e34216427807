//! The proof checker.
//!
//! Each learned clause must follow from its antecedents by unit propagation: all its terms are
//! assumed to hold, and the antecedents alone must then lead to a contradiction (reverse unit
//! propagation, Goldberg and Novikov 2003). The checker shares no code with conflict analysis, so
//! it detects defects there. Clauses that were not learned are trusted.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::NONE;
use crate::set::bits;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, ClauseDatabase, Origin};

/// Whether the derivation of the empty clause is valid.
pub(super) fn is_valid(assignment: &Assignment, clauses: &ClauseDatabase, origin: Origin) -> bool {
    let mut replay = Replay {
        assignment,
        clauses,
        rest: Vec::new(),
        learned: FxHashSet::default(),
        level_zero: FxHashSet::default(),
    };
    if !replay.follows(&[], origin) {
        return false;
    }
    let mut terms = Vec::new();
    while let Some(reason) = replay.rest.pop() {
        clauses.terms(assignment, reason, &mut terms);
        if !replay.follows(&terms, clauses.origin(reason)) {
            return false;
        }
    }
    true
}

struct Replay<'search> {
    assignment: &'search Assignment,
    clauses: &'search ClauseDatabase,
    /// Learned clauses that are still to be checked.
    rest: Vec<ClauseRef>,
    learned: FxHashSet<ClauseRef>,
    level_zero: FxHashSet<usize>,
}

impl Replay<'_> {
    /// Whether a clause follows from the antecedents of its origin.
    fn follows(&mut self, terms: &[Term], origin: Origin) -> bool {
        let Origin::Learned { from, until } = origin else {
            return true;
        };
        let antecedents = &self.clauses.antecedents[from as usize..until as usize];
        let mut domains: FxHashMap<Var, Vec<u64>> = FxHashMap::default();
        for term in terms {
            if self.restrict(&mut domains, *term, true) {
                return true;
            }
        }
        for antecedent in antecedents {
            match antecedent {
                Antecedent::LevelZero(term, until) => {
                    if !self.holds_at_level_zero(*term, *until as usize) {
                        return false;
                    }
                    if self.restrict(&mut domains, *term, true) {
                        return true;
                    }
                }
                Antecedent::Clause(reason) => self.need(*reason),
            }
        }
        let mut others = Vec::new();
        loop {
            let before = domains.clone();
            for antecedent in antecedents {
                let Antecedent::Clause(reason) = antecedent else {
                    continue;
                };
                self.clauses.terms(self.assignment, *reason, &mut others);
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

    /// Adds a clause to those to be checked, if it was learned.
    fn need(&mut self, reason: ClauseRef) {
        if matches!(self.clauses.origin(reason), Origin::Learned { .. })
            && self.learned.insert(reason)
        {
            self.rest.push(reason);
        }
    }

    /// Whether a term holds at level zero, by the first so many reductions.
    fn holds_at_level_zero(&mut self, term: Term, until: usize) -> bool {
        let mut open = vec![(term, until)];
        let mut terms = Vec::new();
        while let Some((term, until)) = open.pop() {
            let mut domain = self.everything(term.var);
            let mut at = self.assignment.details(term.var).latest_at_level_zero;
            while at != NONE {
                let reduction = self.assignment.level_zero[at as usize];
                if (at as usize) < until {
                    let removed = Term {
                        var: reduction.var,
                        set: reduction.removed,
                    };
                    bits::remove_all(&mut domain, self.assignment.set(removed));
                    if self.level_zero.insert(at as usize) {
                        self.need(reduction.reason);
                        self.clauses
                            .terms(self.assignment, reduction.reason, &mut terms);
                        let others = terms.iter().filter(|other| other.var != term.var);
                        open.extend(others.map(|other| (*other, at as usize)));
                    }
                }
                at = reduction.previous;
            }
            if !bits::is_subset(&domain, self.assignment.set(term)) {
                return false;
            }
        }
        true
    }

    fn everything(&self, var: Var) -> Vec<u64> {
        let mut domain = vec![0; self.assignment.width(var)];
        bits::fill(&mut domain, self.assignment.var(var).values);
        domain
    }

    fn holds(&self, domains: &FxHashMap<Var, Vec<u64>>, term: Term) -> bool {
        let set = self.assignment.set(term);
        match domains.get(&term.var) {
            Some(domain) => bits::is_subset(domain, set),
            None => bits::is_subset(&self.everything(term.var), set),
        }
    }

    /// Restricts a variable to a term, or to its complement; returns whether the domain is empty.
    fn restrict(&self, domains: &mut FxHashMap<Var, Vec<u64>>, term: Term, keep: bool) -> bool {
        let domain = domains
            .entry(term.var)
            .or_insert_with(|| self.everything(term.var));
        for (word, set) in domain.iter_mut().zip(self.assignment.set(term)) {
            *word &= if keep { *set } else { !*set };
        }
        bits::count(domain) == 0
    }
}
