//! What a conflict teaches.
//!
//! The terms of a constraint all hold. The one that began to hold last is replaced by what made it
//! hold, until only one is left that began to hold on its level: what is left is a new constraint,
//! which would have ruled that one out before the decision of that level.

use std::cmp::Reverse;

use crate::index::to_u32;
use crate::set::bits;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, Constraints, Origin};

/// A term of the constraint that is being learned.
#[derive(Debug)]
struct Part {
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
    parts: Vec<Part>,
    words: Vec<u64>,
    /// For each variable its part, counted from 1.
    positions: Vec<u32>,
    terms: Vec<Term>,
}

/// What was learned.
pub(super) enum Learned {
    /// There is no solution; the last antecedents say why.
    Impossible(Origin),
    Learned {
        /// The term of the last level comes first, then that of the level to which the search
        /// could go back.
        terms: Vec<Term>,
        cause: Origin,
        /// The level on which the conflict arose.
        level: u32,
        /// The highest level of the other terms.
        others: u32,
    },
}

impl Analysis {
    /// Learns from a constraint all of whose terms hold. Goes back to the level on which it arose.
    pub(super) fn learn(
        &mut self,
        state: &mut Assignment,
        constraints: &mut Constraints,
        conflict: ClauseRef,
        mut undone: impl FnMut(Var),
    ) -> Learned {
        let from = to_u32(constraints.antecedents.len());
        for part in self.parts.drain(..) {
            self.positions[part.var as usize] = 0;
        }
        self.positions.resize(state.vars.len(), 0);
        self.words.clear();
        self.add(state, constraints, conflict, None);
        let level = self.parts.iter().map(|part| part.level).max().unwrap_or(0);
        if level == 0 {
            let until = to_u32(constraints.antecedents.len());
            return Learned::Impossible(Origin::Learned { from, until });
        }
        if level < state.level() {
            state.back_to(level, &mut undone);
            for at in 0..self.parts.len() {
                self.find_satisfier(state, at);
            }
        }
        loop {
            let mut last: Option<usize> = None;
            let mut several = false;
            for (at, part) in self.parts.iter().enumerate() {
                if part.level == level {
                    several |= last.is_some();
                    if last.is_none_or(|last| self.parts[last].satisfier < part.satisfier) {
                        last = Some(at);
                    }
                }
            }
            let Some(last) = last else {
                // What was taken for a term of this level holds on a lower one.
                return self.finish(state, constraints, from, level);
            };
            if !several {
                return self.finish(state, constraints, from, level);
            }
            self.resolve(state, constraints, last);
        }
    }

    /// Replaces a term by what made it hold.
    fn resolve(&mut self, state: &mut Assignment, constraints: &mut Constraints, at: usize) {
        let part = &self.parts[at];
        let var = part.var;
        state.details_mut(var).conflicts += 1;
        let entry = *state.entry(part.satisfier);
        let removed = Assignment::removed(&entry);
        let width = state.width(var);
        let words = part.words;
        // The term held because of what the entry took away: without it, it may hold otherwise.
        for (word, removed) in self.words[words..words + width]
            .iter_mut()
            .zip(state.set(removed))
        {
            *word |= removed;
        }
        self.find_satisfier(state, at);
        self.add(state, constraints, entry.reason, Some(var));
    }

    /// Takes in the terms of a constraint.
    fn add(
        &mut self,
        state: &mut Assignment,
        constraints: &mut Constraints,
        reason: ClauseRef,
        except: Option<Var>,
    ) {
        constraints.antecedents.push(Antecedent::Constraint(reason));
        let mut terms = std::mem::take(&mut self.terms);
        constraints.terms(state, reason, &mut terms);
        let certain = to_u32(state.certain.len());
        for term in &terms {
            if Some(term.var) == except {
                continue;
            }
            let satisfier = state.satisfier(*term);
            let level = satisfier.map_or(0, |at| state.entry(at).level_so_far());
            if level == 0 {
                let certain = Antecedent::Certain(*term, certain);
                constraints.antecedents.push(certain);
                continue;
            }
            let width = state.width(term.var);
            if let Some(at) = self.positions[term.var as usize].checked_sub(1) {
                let at = at as usize;
                let words = self.parts[at].words;
                for (word, other) in self.words[words..words + width]
                    .iter_mut()
                    .zip(state.set(*term))
                {
                    *word &= other;
                }
                self.find_satisfier(state, at);
            } else {
                let words = self.words.len();
                self.words.extend_from_slice(state.set(*term));
                self.positions[term.var as usize] = to_u32(self.parts.len()) + 1;
                state.details_mut(term.var).conflicts += 1;
                self.parts.push(Part {
                    var: term.var,
                    words,
                    satisfier: satisfier.expect("the level is that of an entry"),
                    level,
                });
            }
        }
        self.terms = terms;
    }

    fn find_satisfier(&mut self, state: &Assignment, at: usize) {
        let part = &mut self.parts[at];
        let width = state.width(part.var);
        let set = &self.words[part.words..part.words + width];
        let satisfier = state.satisfier_of(part.var, set);
        part.level = satisfier.map_or(0, |at| state.entry(at).level_so_far());
        part.satisfier = satisfier.unwrap_or(0);
    }

    fn finish(
        &mut self,
        state: &mut Assignment,
        constraints: &mut Constraints,
        from: u32,
        level: u32,
    ) -> Learned {
        let mut terms: Vec<(u32, u32, Term)> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let width = state.width(part.var);
            let set = &self.words[part.words..part.words + width];
            let is_trivial = bits::count(set) > state.var(part.var).values;
            if is_trivial {
                continue;
            }
            let set = state.keep(set);
            let term = Term { var: part.var, set };
            if part.level == 0 {
                let certain = to_u32(state.certain.len());
                let certain = Antecedent::Certain(term, certain);
                constraints.antecedents.push(certain);
            } else {
                terms.push((part.level, part.satisfier, term));
            }
        }
        let until = to_u32(constraints.antecedents.len());
        let cause = Origin::Learned { from, until };
        if terms.is_empty() {
            return Learned::Impossible(cause);
        }
        // The two that began to hold last are watched.
        terms.sort_unstable_by_key(|(level, satisfier, _)| Reverse((*level, *satisfier)));
        let others = terms.get(1).map_or(0, |(level, _, _)| *level);
        Learned::Learned {
            level: level.min(terms[0].0),
            others,
            cause,
            terms: terms.into_iter().map(|(_, _, term)| term).collect(),
        }
    }
}
