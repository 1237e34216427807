//! What a conflict teaches.
//!
//! The terms of a clause all hold. The one that began to hold last is replaced by what made it
//! hold, until only one is left that began to hold on its level: what is left is a new clause,
//! which would have ruled that one out before the decision of that level.

use std::cmp::Reverse;

use crate::index::to_u32;
use crate::set::bits;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, ClauseDatabase, Origin};

/// A term of the clause that is being learned.
#[derive(Debug)]
struct ResolventTerm {
    var: Var,
    /// Where its set stands.
    words: usize,
    /// The entry with which it began to hold, and that entry's level.
    satisfier: u32,
    level: u32,
}

/// Memory for learning.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    resolvent: Vec<ResolventTerm>,
    words: Vec<u64>,
    /// For each variable its term, counted from 1.
    positions: Vec<u32>,
    terms: Vec<Term>,
}

/// What was learned.
pub(super) enum LearnedClause {
    /// There is no solution; the last antecedents say why.
    Empty(Origin),
    Asserting {
        /// The term of the last level comes first, then that of the level to which the search
        /// could go back.
        terms: Vec<Term>,
        origin: Origin,
        /// The level on which the conflict arose.
        level: u32,
        /// The highest level of the other terms.
        assertion_level: u32,
    },
}

impl Analysis {
    /// Learns from a clause all of whose terms hold. Goes back to the level on which it arose.
    pub(super) fn learn(
        &mut self,
        assignment: &mut Assignment,
        clauses: &mut ClauseDatabase,
        conflict: ClauseRef,
        mut undone: impl FnMut(Var),
    ) -> LearnedClause {
        let from = to_u32(clauses.antecedents.len());
        for term in self.resolvent.drain(..) {
            self.positions[term.var as usize] = 0;
        }
        self.positions.resize(assignment.vars.len(), 0);
        self.words.clear();
        self.add(assignment, clauses, conflict, None);
        let level = self
            .resolvent
            .iter()
            .map(|term| term.level)
            .max()
            .unwrap_or(0);
        if level == 0 {
            let until = to_u32(clauses.antecedents.len());
            return LearnedClause::Empty(Origin::Learned { from, until });
        }
        if level < assignment.level() {
            assignment.backtrack_to(level, &mut undone);
            for at in 0..self.resolvent.len() {
                self.find_satisfier(assignment, at);
            }
        }
        loop {
            let mut last: Option<usize> = None;
            let mut several = false;
            for (at, term) in self.resolvent.iter().enumerate() {
                if term.level == level {
                    several |= last.is_some();
                    if last.is_none_or(|last| self.resolvent[last].satisfier < term.satisfier) {
                        last = Some(at);
                    }
                }
            }
            let Some(last) = last else {
                // What was taken for a term of this level holds on a lower one.
                return self.finish(assignment, clauses, from, level);
            };
            if !several {
                return self.finish(assignment, clauses, from, level);
            }
            self.resolve(assignment, clauses, last);
        }
    }

    /// Replaces a term by what made it hold.
    fn resolve(&mut self, assignment: &mut Assignment, clauses: &mut ClauseDatabase, at: usize) {
        let term = &self.resolvent[at];
        let var = term.var;
        assignment.details_mut(var).conflicts += 1;
        let entry = *assignment.entry(term.satisfier);
        let removed = Assignment::removed(&entry);
        let width = assignment.width(var);
        let words = term.words;
        // The term held because of what the entry took away: without it, it may hold otherwise.
        for (word, removed) in self.words[words..words + width]
            .iter_mut()
            .zip(assignment.set(removed))
        {
            *word |= removed;
        }
        self.find_satisfier(assignment, at);
        self.add(assignment, clauses, entry.reason, Some(var));
    }

    /// Takes in the terms of a clause.
    fn add(
        &mut self,
        assignment: &mut Assignment,
        clauses: &mut ClauseDatabase,
        reason: ClauseRef,
        except: Option<Var>,
    ) {
        clauses.antecedents.push(Antecedent::Clause(reason));
        let mut terms = std::mem::take(&mut self.terms);
        clauses.terms(assignment, reason, &mut terms);
        let level_zero = to_u32(assignment.level_zero.len());
        for term in &terms {
            if Some(term.var) == except {
                continue;
            }
            let satisfier = assignment.satisfier(*term);
            let level = satisfier.map_or(0, |at| assignment.entry(at).highest_level());
            if level == 0 {
                let level_zero = Antecedent::LevelZero(*term, level_zero);
                clauses.antecedents.push(level_zero);
                continue;
            }
            let width = assignment.width(term.var);
            if let Some(at) = self.positions[term.var as usize].checked_sub(1) {
                let at = at as usize;
                let words = self.resolvent[at].words;
                for (word, other) in self.words[words..words + width]
                    .iter_mut()
                    .zip(assignment.set(*term))
                {
                    *word &= other;
                }
                self.find_satisfier(assignment, at);
            } else {
                let words = self.words.len();
                self.words.extend_from_slice(assignment.set(*term));
                self.positions[term.var as usize] = to_u32(self.resolvent.len()) + 1;
                assignment.details_mut(term.var).conflicts += 1;
                self.resolvent.push(ResolventTerm {
                    var: term.var,
                    words,
                    satisfier: satisfier.expect("the level is that of an entry"),
                    level,
                });
            }
        }
        self.terms = terms;
    }

    fn find_satisfier(&mut self, assignment: &Assignment, at: usize) {
        let term = &mut self.resolvent[at];
        let width = assignment.width(term.var);
        let set = &self.words[term.words..term.words + width];
        let satisfier = assignment.satisfier_of(term.var, set);
        term.level = satisfier.map_or(0, |at| assignment.entry(at).highest_level());
        term.satisfier = satisfier.unwrap_or(0);
    }

    fn finish(
        &mut self,
        assignment: &mut Assignment,
        clauses: &mut ClauseDatabase,
        from: u32,
        level: u32,
    ) -> LearnedClause {
        let mut terms: Vec<(u32, u32, Term)> = Vec::with_capacity(self.resolvent.len());
        for resolved in &self.resolvent {
            let var = resolved.var;
            let set = &self.words[resolved.words..resolved.words + assignment.width(var)];
            let is_trivial = bits::count(set) > assignment.var(var).values;
            if is_trivial {
                continue;
            }
            let set = assignment.store(set);
            let term = Term { var, set };
            if resolved.level == 0 {
                let reductions = to_u32(assignment.level_zero.len());
                clauses
                    .antecedents
                    .push(Antecedent::LevelZero(term, reductions));
            } else {
                terms.push((resolved.level, resolved.satisfier, term));
            }
        }
        let until = to_u32(clauses.antecedents.len());
        let origin = Origin::Learned { from, until };
        if terms.is_empty() {
            return LearnedClause::Empty(origin);
        }
        // The two that began to hold last are watched.
        terms.sort_unstable_by_key(|(level, satisfier, _)| Reverse((*level, *satisfier)));
        let assertion_level = terms.get(1).map_or(0, |(level, _, _)| *level);
        LearnedClause::Asserting {
            level: level.min(terms[0].0),
            assertion_level,
            origin,
            terms: terms.into_iter().map(|(_, _, term)| term).collect(),
        }
    }
}
