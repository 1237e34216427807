//! The reductions of domains in their order, and why.
//!
//! An entry has the level of the last decision that it follows from, which can be lower than that
//! of the decisions before it: going back to a level keeps what does not depend on the decisions
//! that are taken back.

use crate::index::{NONE, to_u32};
use crate::room::Room as _;
use crate::words;

use super::{Set, State, Term, ValueSet, Var};

/// Why a domain was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// It is what the search began with.
    Given,
    Decision,
    /// All but one term of a constraint of two terms hold.
    Binary(u32),
    /// All but one term of a clause hold.
    Clause(u32),
}

/// A reduction of a domain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) var: Var,
    pub(crate) reason: Reason,
    pub(crate) level: u32,
    /// The highest level of those before it of the same variable.
    level_before: u32,
    /// What was taken away; [`NONE`] for decisions.
    removed: Set,
    /// The entry before it of the same variable.
    previous: u32,
    /// Where the domain before it stands.
    before: u32,
}

impl Entry {
    /// The highest level of this entry and those before it of the same variable.
    #[inline]
    pub(crate) fn level_so_far(&self) -> u32 {
        self.level.max(self.level_before)
    }
}

/// A reduction that holds without any decision. Unlike entries of the trail these stay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certainty {
    pub(crate) var: Var,
    pub(crate) reason: Reason,
    pub(crate) removed: Set,
    /// The one before it of the same variable.
    pub(crate) previous: u32,
}

/// What a level of decisions goes back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    trail: u32,
}

impl State {
    #[inline]
    pub(crate) fn entry(&self, at: u32) -> &Entry {
        &self.trail[at as usize]
    }

    /// What an entry took away.
    pub(crate) fn removed(entry: &Entry) -> Term {
        Term {
            var: entry.var,
            set: entry.removed,
        }
    }

    /// The domain before an entry of the trail.
    pub(crate) fn before(&self, at: u32) -> &[u64] {
        let entry = self.entry(at);
        let from = entry.before as usize;
        &self.history[from..from + self.width(entry.var)]
    }

    /// The entry of the trail with which a term began to hold; nothing if it always did.
    pub(crate) fn satisfier(&self, term: Term) -> Option<u32> {
        self.satisfier_of(term.var, self.set(term))
    }

    pub(crate) fn satisfier_of(&self, var: Var, set: &[u64]) -> Option<u32> {
        let mut at = self.var(var).head;
        let width = self.width(var);
        while at != NONE {
            let entry = &self.trail[at as usize];
            let before = &self.history[entry.before as usize..entry.before as usize + width];
            if !words::is_subset(before, set) {
                return Some(at);
            }
            at = entry.previous;
        }
        None
    }

    /// The level on which a term began to hold.
    #[inline]
    pub(crate) fn level_of(&self, term: Term) -> u32 {
        self.satisfier(term)
            .map_or(0, |at| self.entry(at).level_so_far())
    }

    /// The highest level of the reductions of a variable.
    #[inline]
    pub(crate) fn latest_level(&self, var: Var) -> u32 {
        self.var(var).latest_level
    }

    #[inline]
    pub(crate) fn level(&self) -> u32 {
        to_u32(self.levels.len())
    }

    /// Decides on a value, on a level of its own.
    pub(crate) fn decide(&mut self, var: Var, value: u32) {
        self.levels.make_room(1);
        self.levels.push(Level {
            trail: to_u32(self.trail.len()),
        });
        let level = self.level();
        self.record(var, Reason::Decision, level, NONE);
        let domain = self.domain_mut(var);
        domain.fill(0);
        words::insert(domain, value);
        self.enqueue(var);
    }

    /// Takes the values of a term away.
    pub(crate) fn remove(&mut self, term: Term, reason: Reason, level: u32) {
        if level == 0 {
            let at = to_u32(self.certain.len());
            let latest = &mut self.details_mut(term.var).latest_certain;
            let previous = std::mem::replace(latest, at);
            self.certain.make_room(1);
            self.certain.push(Certainty {
                var: term.var,
                reason,
                removed: term.set,
                previous,
            });
            let removed = self.range_of(term);
            let state = &mut self.vars[term.var as usize];
            state.is_reduced_for_good = true;
            if state.is_narrow() {
                self.details[term.var as usize].certain &= !self.sets[removed.start];
            } else {
                words::take_away(
                    &mut self.words[state.range(ValueSet::Certain)],
                    &self.sets[removed],
                );
            }
        }
        self.remove_again(term, reason, level);
    }

    fn remove_again(&mut self, term: Term, reason: Reason, level: u32) {
        self.record(term.var, reason, level, term.set);
        let removed = self.range_of(term);
        let state = &mut self.vars[term.var as usize];
        if state.is_narrow() {
            state.domain &= !self.sets[removed.start];
        } else {
            words::take_away(
                &mut self.words[state.range(ValueSet::Domain)],
                &self.sets[removed],
            );
        }
        self.enqueue(term.var);
    }

    /// Writes down that a domain is about to be reduced.
    fn record(&mut self, var: Var, reason: Reason, level: u32, removed: Set) {
        let before = to_u32(self.history.len());
        let state = &mut self.vars[var as usize];
        self.history.make_room(state.width());
        if state.is_narrow() {
            self.history.push(state.domain);
        } else {
            let domain = &self.words[state.range(ValueSet::Domain)];
            self.history.extend_from_slice(domain);
        }
        let previous = std::mem::replace(&mut state.head, to_u32(self.trail.len()));
        let latest_level = state.latest_level.max(level);
        let level_before = std::mem::replace(&mut state.latest_level, latest_level);
        self.trail.make_room(1);
        self.trail.push(Entry {
            var,
            reason,
            level,
            level_before,
            removed,
            previous,
            before,
        });
    }

    /// Takes back the decisions above a level and what follows from them. What does not stays.
    pub(crate) fn back_to(&mut self, level: u32, mut undone: impl FnMut(Var)) {
        let Some(first) = self.levels.get(level as usize).copied() else {
            return;
        };
        self.clear_queue();
        self.levels.truncate(level as usize);
        let mut kept = std::mem::take(&mut self.scratch);
        while self.trail.len() > first.trail as usize {
            let entry = self.trail.pop().expect("the length was checked");
            let before = entry.before as usize;
            let state = &mut self.vars[entry.var as usize];
            (state.head, state.latest_level) = (entry.previous, entry.level_before);
            if state.is_narrow() {
                state.domain = self.history[before];
            } else {
                let domain = state.range(ValueSet::Domain);
                let domain_before = &self.history[before..before + domain.len()];
                self.words[domain].copy_from_slice(domain_before);
                self.forget_seen(entry.var);
            }
            self.history.truncate(before);
            if entry.level <= level {
                kept.push(entry);
            } else {
                undone(entry.var);
            }
        }
        for entry in kept.drain(..).rev() {
            let term = Self::removed(&entry);
            self.remove_again(term, entry.reason, entry.level);
        }
        self.scratch = kept;
    }
}

#[cfg(test)]
mod tests {
    use crate::encoding::Variable;

    use super::*;

    #[test]
    fn what_follows_from_lower_levels_stays_with_its_level() {
        for values in [3, 70] {
            let mut state = State::new();
            let [one, other] = [0, 1].map(|_| state.add_var(Variable::Never, values));
            let absent = Term {
                var: other,
                set: state.keep_single(other, values),
            };
            let first = Term {
                var: other,
                set: state.keep_single(other, 0),
            };
            state.decide(one, 0);
            assert_eq!(state.latest_level(one), 1);
            state.decide(one, 0);
            state.remove(first, Reason::Given, 2);
            state.remove(absent, Reason::Given, 1);
            assert_eq!(state.latest_level(other), 2);
            assert!(state.is_present(other) && state.is_excluded(first));
            state.back_to(1, |_| ());
            assert_eq!(state.latest_level(other), 1);
            assert!(state.is_present(other) && !state.is_excluded(first));
            state.back_to(0, |_| ());
            assert_eq!(state.latest_level(other), 0);
            assert!(!state.is_present(other));
        }
    }
}
