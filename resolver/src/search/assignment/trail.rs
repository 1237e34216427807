//! The trail: reductions of domains in their order, with reasons.
//!
//! An entry has the level of the last decision that it follows from, which can be lower than the
//! current level. Backtracking to a level keeps the entries that do not depend on the undone
//! decisions (chronological backtracking, Nadel and Ryvchin 2018).

use crate::index::{NONE, to_u32};
use crate::set::bits;

use super::Assignment;
use super::literal::{Set, Term};
use super::variable::{ValueSet, Var, VarState};

/// The reason of a reduction: a clause, or what takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ClauseRef {
    /// A root is selected.
    Root,
    Decision,
    /// A binary clause whose other term holds.
    Binary(u32),
    /// A long clause whose other terms hold.
    Long(u32),
}

/// A reduction of a domain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrailEntry {
    pub(crate) var: Var,
    pub(crate) reason: ClauseRef,
    pub(crate) level: u32,
    /// The highest level of the earlier entries of the same variable.
    highest_level_before: u32,
    /// The removed values; [`NONE`] for decisions.
    removed: Set,
    /// The previous entry of the same variable.
    previous: u32,
    /// The domain before the entry; if there are many values, its index in the history.
    before: u64,
}

impl TrailEntry {
    /// The highest level of this entry and the earlier ones of the same variable.
    #[inline]
    pub(crate) fn highest_level(&self) -> u32 {
        self.level.max(self.highest_level_before)
    }

    /// The index of the earlier domain in the history, if there are many values.
    #[inline]
    fn history_start(&self) -> usize {
        usize::try_from(self.before).expect("it is the index of a word")
    }
}

impl VarState {
    /// The entry for a reduction of the domain, which was `before`. It will be at an index of the
    /// trail, and is the latest of the variable from now on.
    #[inline]
    fn record(
        &mut self,
        at: u32,
        term: Term,
        reason: ClauseRef,
        level: u32,
        before: u64,
    ) -> TrailEntry {
        let previous = std::mem::replace(&mut self.head, at);
        let latest_level = self.latest_level.max(level);
        let highest_level_before = std::mem::replace(&mut self.latest_level, latest_level);
        TrailEntry {
            var: term.var,
            reason,
            level,
            highest_level_before,
            removed: term.set,
            previous,
            before,
        }
    }
}

/// A reduction at level zero. Unlike entries of the trail, these are never removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelZeroReduction {
    pub(crate) var: Var,
    pub(crate) reason: ClauseRef,
    pub(crate) removed: Set,
    /// The previous one of the same variable.
    pub(crate) previous: u32,
}

/// The length of the trail before a decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    trail: u32,
}

impl Assignment {
    #[inline]
    pub(crate) fn entry(&self, at: u32) -> &TrailEntry {
        &self.trail[at as usize]
    }

    pub(crate) fn removed(entry: &TrailEntry) -> Term {
        Term {
            var: entry.var,
            set: entry.removed,
        }
    }

    /// The domain before an entry of the trail.
    pub(crate) fn domain_before(&self, at: u32) -> &[u64] {
        let entry = self.entry(at);
        let width = self.width(entry.var);
        if width == 1 {
            std::slice::from_ref(&entry.before)
        } else {
            &self.history[entry.history_start()..][..width]
        }
    }

    /// The satisfier: the entry of the trail with which a term began to hold; `None` if it always
    /// did.
    pub(crate) fn satisfier(&self, term: Term) -> Option<u32> {
        self.satisfier_of(term.var, self.set(term))
    }

    pub(crate) fn satisfier_of(&self, var: Var, set: &[u64]) -> Option<u32> {
        self.find_satisfier(var, set, |_| ())
    }

    /// The satisfier of a term; adds what it took to find it to `looks`.
    pub(crate) fn satisfier_counted(&self, var: Var, set: &[u64], looks: &mut u64) -> Option<u32> {
        self.find_satisfier(var, set, |words| *looks += words as u64)
    }

    #[inline]
    fn find_satisfier(
        &self,
        var: Var,
        set: &[u64],
        mut looked_at: impl FnMut(usize),
    ) -> Option<u32> {
        let mut at = self.var(var).head;
        while at != NONE {
            looked_at(set.len());
            let entry = &self.trail[at as usize];
            let is_before = match set {
                [set] => entry.before & !set == 0,
                set => bits::is_subset(&self.history[entry.history_start()..], set),
            };
            if !is_before {
                return Some(at);
            }
            at = entry.previous;
        }
        None
    }

    /// The level on which a term began to hold.
    #[inline]
    pub(crate) fn level_of(&self, term: Term) -> u32 {
        self.level_of_set(term.var, self.set(term))
    }

    /// The level on which the value of a variable began to be in a set.
    #[inline]
    pub(crate) fn level_of_set(&self, var: Var, set: &[u64]) -> u32 {
        self.satisfier_of(var, set)
            .map_or(0, |at| self.entry(at).highest_level())
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

    /// Decides on a value, on a new level.
    pub(crate) fn decide(&mut self, var: Var, value: u32) {
        self.levels.push(Level {
            trail: to_u32(self.trail.len()),
        });
        let (reason, level) = (ClauseRef::Decision, self.level());
        let term = Term { var, set: NONE };
        let at = to_u32(self.trail.len());
        let state = &mut self.vars[var as usize];
        let entry = if state.is_narrow() {
            state.record(at, term, reason, level, state.domain)
        } else {
            self.record_wide(term, reason, level)
        };
        let domain = self.domain_mut(var);
        domain.fill(0);
        bits::insert(domain, value);
        self.push_entry(entry);
    }

    /// Removes the values of a term.
    pub(crate) fn remove(&mut self, term: Term, reason: ClauseRef, level: u32) {
        self.remove_with_word(term, self.set(term)[0], reason, level);
    }

    /// Removes the values of a literal.
    pub(crate) fn remove_literal(&mut self, at: u32, reason: ClauseRef, level: u32) {
        self.remove_with_word(
            self.term_of_literal(at),
            self.literal(at).word,
            reason,
            level,
        );
    }

    /// Removes the values of a term; `word` is its set, if there are few values.
    #[inline]
    pub(super) fn remove_with_word(
        &mut self,
        term: Term,
        word: u64,
        reason: ClauseRef,
        level: u32,
    ) {
        if level == 0 {
            self.remove_at_level_zero(term, word, reason);
        }
        self.reduce(term, word, reason, level);
    }

    /// Records a removal at level zero.
    #[inline(never)]
    fn remove_at_level_zero(&mut self, term: Term, word: u64, reason: ClauseRef) {
        let at = to_u32(self.level_zero.len());
        let latest = &mut self.details_mut(term.var).latest_at_level_zero;
        let previous = std::mem::replace(latest, at);
        self.level_zero.push(LevelZeroReduction {
            var: term.var,
            reason,
            removed: term.set,
            previous,
        });
        let removed = self.stored_range(term);
        let state = &mut self.vars[term.var as usize];
        state.is_reduced_at_level_zero = true;
        if state.is_narrow() {
            self.details[term.var as usize].level_zero &= !word;
        } else {
            bits::remove_all(
                &mut self.words[state.range(ValueSet::LevelZero)],
                &self.sets[removed],
            );
        }
    }

    #[inline]
    fn reduce(&mut self, term: Term, word: u64, reason: ClauseRef, level: u32) {
        if self.levels.is_empty() {
            return self.reduce_for_good(term, word);
        }
        let at = to_u32(self.trail.len());
        let state = &mut self.vars[term.var as usize];
        if !state.is_narrow() {
            return self.remove_wide(term, reason, level);
        }
        let entry = state.record(at, term, reason, level, state.domain);
        state.domain &= !word;
        self.push_entry(entry);
    }

    /// Removes values before any decision. Nothing undoes that, so the trail, which would keep the domains of variables
    /// with many values, has no entry.
    #[inline(never)]
    fn reduce_for_good(&mut self, term: Term, word: u64) {
        if self.var(term.var).is_narrow() {
            self.var_mut(term.var).domain &= !word;
        } else {
            let domain = self.vars[term.var as usize].range(ValueSet::Domain);
            let removed = self.stored_range(term);
            bits::remove_all(&mut self.words[domain], &self.sets[removed]);
        }
        self.enqueue(term.var);
    }

    #[inline(never)]
    fn remove_wide(&mut self, term: Term, reason: ClauseRef, level: u32) {
        let entry = self.record_wide(term, reason, level);
        let domain = self.vars[term.var as usize].range(ValueSet::Domain);
        let removed = self.stored_range(term);
        bits::remove_all(&mut self.words[domain], &self.sets[removed]);
        self.push_entry(entry);
    }

    /// The entry for a reduction of a variable with many values.
    fn record_wide(&mut self, term: Term, reason: ClauseRef, level: u32) -> TrailEntry {
        let at = to_u32(self.trail.len());
        let before = to_u32(self.history.len());
        let state = &mut self.vars[term.var as usize];
        let domain = &self.words[state.range(ValueSet::Domain)];
        self.history.extend_from_slice(domain);
        state.record(at, term, reason, level, before.into())
    }

    /// Pushes an entry, and queues its variable for propagation.
    #[inline]
    fn push_entry(&mut self, entry: TrailEntry) {
        self.trail.push(entry);
        self.enqueue(entry.var);
    }

    /// Undoes the decisions above a level, and the entries that follow from them.
    pub(crate) fn backtrack_to(&mut self, level: u32, mut undone: impl FnMut(Var)) {
        let Some(first) = self.levels.get(level as usize).copied() else {
            return;
        };
        self.clear_queue();
        self.levels.truncate(level as usize);
        let mut kept = std::mem::take(&mut self.scratch);
        while self.trail.len() > first.trail as usize {
            let entry = self.trail.pop().expect("the length was checked");
            let state = &mut self.vars[entry.var as usize];
            (state.head, state.latest_level) = (entry.previous, entry.highest_level_before);
            if state.is_narrow() {
                state.domain = entry.before;
            } else {
                let domain = state.range(ValueSet::Domain);
                let before = entry.history_start();
                self.words[domain].copy_from_slice(&self.history[before..]);
                self.history.truncate(before);
                self.restore_unpropagated(entry.var);
            }
            if entry.level <= level {
                kept.push(entry);
            } else {
                undone(entry.var);
            }
        }
        for entry in kept.drain(..).rev() {
            let term = Self::removed(&entry);
            self.reduce(term, self.set(term)[0], entry.reason, entry.level);
        }
        self.scratch = kept;
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::Variable;
    use crate::universe::PackageId;

    use super::*;

    #[test]
    fn backtracking_keeps_entries_of_lower_levels() {
        for values in [3, 70] {
            let mut assignment = Assignment::default();
            let [one, other] =
                [0, 1].map(|_| assignment.add_var(Variable::Package(PackageId::FIRST), values));
            let absent = Term {
                var: other,
                set: assignment.store_single(other, values),
            };
            let first = Term {
                var: other,
                set: assignment.store_single(other, 0),
            };
            assignment.decide(one, 0);
            assert_eq!(assignment.latest_level(one), 1);
            assignment.decide(one, 0);
            assignment.remove(first, ClauseRef::Root, 2);
            assignment.remove(absent, ClauseRef::Root, 1);
            assert_eq!(assignment.latest_level(other), 2);
            assert!(assignment.is_present(other) && assignment.is_excluded(first));
            assignment.backtrack_to(1, |_| ());
            assert_eq!(assignment.latest_level(other), 1);
            assert!(assignment.is_present(other) && !assignment.is_excluded(first));
            assignment.backtrack_to(0, |_| ());
            assert_eq!(assignment.latest_level(other), 0);
            assert!(!assignment.is_present(other));
        }
    }

    #[test]
    fn reductions_before_decisions_have_no_entries() {
        for values in [3, 70] {
            let mut assignment = Assignment::default();
            let var = assignment.add_var(Variable::Package(PackageId::FIRST), values);
            let [first, absent] = [0, values].map(|value| Term {
                var,
                set: assignment.store_single(var, value),
            });
            assignment.remove(first, ClauseRef::Root, 0);
            assert!(assignment.trail.is_empty() && assignment.is_excluded(first));
            assignment.decide(var, 1);
            assignment.backtrack_to(0, |_| ());
            assert!(assignment.is_excluded(first) && !assignment.is_excluded_at_level_zero(absent));
            assert_eq!(assignment.next_in_queue(), None);
        }
    }
}
