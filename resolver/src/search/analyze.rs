//! Conflict analysis.
//!
//! # Problem
//!
//! All terms of a clause hold, which is a conflict. Which new clause would have prevented it before
//! the last decision?
//!
//! # Idea
//!
//! Resolution, as in CDCL solvers (first unique implication point, Silva and Sakallah 1996). The
//! resolvent begins as the conflicting clause. Its most recent term is replaced by the reason for
//! which that term began to hold. This is repeated until only one term began to hold on the level
//! of the conflict. The result is the learned clause. It is asserting: after a backjump to the
//! highest level of its other terms, it excludes the remaining one.
//!
//! Terms are sets of values, so one reduction need not be the whole reason for which a term holds.
//! The rest of the reason stays in the resolvent, as a term with a larger set, which began to hold
//! earlier (`PubGrub`, Weizenbaum 2018, calls this a partial satisfier). Terms that hold at level
//! zero are left out of the resolvent, but are recorded as antecedents.
//!
//! # Cost
//!
//! Each step takes time linear in the size of the resolvent, and there are at most as many steps as
//! entries of the trail on the level of the conflict.

use std::cmp::Reverse;

use crate::index::to_u32;
use crate::set::bits;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, ClauseDatabase, Origin};

#[derive(Debug)]
struct ResolventTerm {
    var: Var,
    /// The index of its set among the words.
    words: usize,
    /// The trail entry with which it began to hold, and the level of that.
    satisfier: u32,
    level: u32,
}

/// The resolvent, and scratch memory.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    resolvent: Vec<ResolventTerm>,
    words: Vec<u64>,
    /// For each variable its position in the resolvent, counted from 1.
    positions: Vec<u32>,
    terms: Vec<Term>,
}

/// The result of conflict analysis.
pub(super) enum LearnedClause {
    /// The empty clause: there is no solution. The origin has its antecedents.
    Empty(Origin),
    Asserting {
        /// The asserted term first, then a term of the assertion level.
        terms: Vec<Term>,
        origin: Origin,
        /// The level on which the conflict arose.
        level: u32,
        /// The highest level of the other terms, to which the search can jump back.
        assertion_level: u32,
    },
}

impl Analysis {
    /// Learns from a clause whose terms all hold. Backtracks to the level on which it came into
    /// conflict.
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
                self.find_satisfier(assignment, clauses, at);
            }
        }
        loop {
            // Entries that are next to each other, so several are like a look elsewhere.
            clauses.looks += self.resolvent.len() as u64 / 4;
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
                // Without the values that others removed, no term began to hold on this level.
                return self.finish(assignment, clauses, from, level);
            };
            if !several {
                return self.finish(assignment, clauses, from, level);
            }
            self.resolve(assignment, clauses, last);
        }
    }

    /// Resolves the resolvent with the reason for which one of its terms began to hold.
    fn resolve(&mut self, assignment: &mut Assignment, clauses: &mut ClauseDatabase, at: usize) {
        let term = &self.resolvent[at];
        let var = term.var;
        assignment.details_mut(var).conflicts += 1;
        let entry = *assignment.entry(term.satisfier);
        let removed = Assignment::removed(&entry);
        let width = assignment.width(var);
        let words = term.words;
        // Without what the entry removed, the term holds for a larger set, which may be at an
        // earlier entry.
        for (word, removed) in self.words[words..words + width]
            .iter_mut()
            .zip(assignment.set(removed))
        {
            *word |= removed;
        }
        self.find_satisfier(assignment, clauses, at);
        self.add(assignment, clauses, entry.reason, Some(var));
    }

    /// Adds the terms of a clause to the resolvent.
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
            let set = assignment.set(*term);
            let satisfier = assignment.satisfier_counted(term.var, set, &mut clauses.looks);
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
                self.find_satisfier(assignment, clauses, at);
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

    fn find_satisfier(&mut self, assignment: &Assignment, clauses: &mut ClauseDatabase, at: usize) {
        let term = &mut self.resolvent[at];
        let width = assignment.width(term.var);
        let set = &self.words[term.words..term.words + width];
        let satisfier = assignment.satisfier_counted(term.var, set, &mut clauses.looks);
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
        // The two terms that began to hold last are watched.
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
