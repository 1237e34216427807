//! The assignment: the domain of each variable, and the trail of reductions.
//!
//! A domain is a bit set: one bit for each value, and a last one for "absent". Every reduction of a
//! domain is an entry of the [`trail`]. Variables with up to 63 values have their domain in one
//! word, which is nearly all of them.

mod literal;
mod trail;
mod variable;

pub(super) use literal::{Literal, Term};
pub(super) use trail::ClauseRef;
pub(super) use variable::{Var, VarState, WatchList};

use crate::index::{to_u32, width};
use crate::problem::Variable;
use crate::set::bits;
use trail::{Level, LevelZeroReduction, TrailEntry};
use variable::{ValueSet, VarDetails};

/// What removing values would do to a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RemovalEffect {
    /// The domain has none of them.
    None,
    /// Other values stay.
    Reduces,
    /// No value stays, which is a conflict.
    Empties,
}

#[derive(Debug, Default)]
pub(super) struct Assignment {
    pub(super) vars: Vec<VarState>,
    details: Vec<VarDetails>,
    words: Vec<u64>,
    /// Sets that terms refer to, without those inline in literals. They never change.
    sets: Vec<u64>,
    /// Two for each binary clause; the number of the clause is half the index of the literal.
    literals: Vec<Literal>,
    trail: Vec<TrailEntry>,
    /// The earlier domains of variables with many values, for the entries of the trail.
    history: Vec<u64>,
    levels: Vec<Level>,
    pub(super) level_zero: Vec<LevelZeroReduction>,
    queue: Vec<Var>,
    queue_head: usize,
    scratch: Vec<TrailEntry>,
}

impl Assignment {
    pub(super) fn add_var(&mut self, variable: Variable, values: u32) -> Var {
        let var = to_u32(self.vars.len());
        let width = width(values);
        let words = to_u32(self.words.len());
        if width > 1 {
            self.words
                .resize(self.words.len() + ValueSet::COUNT * width, 0);
        }
        self.vars.push(VarState::new(values, words));
        self.details.push(VarDetails::new(variable, values));
        if width > 1 {
            for set in [
                ValueSet::Domain,
                ValueSet::LevelZero,
                ValueSet::Unpropagated,
            ] {
                bits::fill(self.wide_mut(var, set), values);
            }
        }
        var
    }

    #[inline]
    pub(super) fn var(&self, var: Var) -> &VarState {
        &self.vars[var as usize]
    }

    #[inline]
    pub(super) fn var_mut(&mut self, var: Var) -> &mut VarState {
        &mut self.vars[var as usize]
    }

    #[inline]
    pub(super) fn details(&self, var: Var) -> &VarDetails {
        &self.details[var as usize]
    }

    #[inline]
    pub(super) fn details_mut(&mut self, var: Var) -> &mut VarDetails {
        &mut self.details[var as usize]
    }

    /// How many words a set of values of a variable has.
    #[inline]
    pub(super) fn width(&self, var: Var) -> usize {
        self.vars[var as usize].width()
    }

    /// A set of a variable with many values.
    #[inline]
    fn wide(&self, var: Var, set: ValueSet) -> &[u64] {
        &self.words[self.vars[var as usize].range(set)]
    }

    #[inline]
    fn wide_mut(&mut self, var: Var, set: ValueSet) -> &mut [u64] {
        &mut self.words[self.vars[var as usize].range(set)]
    }

    #[inline]
    pub(crate) fn domain(&self, var: Var) -> &[u64] {
        let state = self.var(var);
        if state.is_narrow() {
            std::slice::from_ref(&state.domain)
        } else {
            self.wide(var, ValueSet::Domain)
        }
    }

    #[inline]
    pub(super) fn domain_mut(&mut self, var: Var) -> &mut [u64] {
        if self.var(var).is_narrow() {
            std::slice::from_mut(&mut self.var_mut(var).domain)
        } else {
            self.wide_mut(var, ValueSet::Domain)
        }
    }

    /// The value of a variable, if it is present and only one value is left.
    #[inline]
    pub(crate) fn value(&self, var: Var) -> Option<u32> {
        let value = bits::single(self.domain(var))?;
        (value != self.var(var).values).then_some(value)
    }

    /// Whether a variable cannot be absent.
    #[inline]
    pub(crate) fn is_present(&self, var: Var) -> bool {
        !bits::contains(self.domain(var), self.var(var).values)
    }

    /// The domain of a variable at level zero.
    #[inline]
    fn level_zero(&self, var: Var) -> &[u64] {
        if self.var(var).is_narrow() {
            std::slice::from_ref(&self.details(var).level_zero)
        } else {
            self.wide(var, ValueSet::LevelZero)
        }
    }

    /// Whether the domain at level zero is within some values. These must not include "absent", so
    /// they are not all that there are.
    #[inline]
    pub(crate) fn is_within_at_level_zero(&self, var: Var, values: &[u64]) -> bool {
        debug_assert!(!bits::contains(values, self.var(var).values));
        self.var(var).is_reduced_at_level_zero && bits::is_subset(self.level_zero(var), values)
    }

    #[inline]
    pub(crate) fn holds(&self, term: Term) -> bool {
        bits::is_subset(self.domain(term.var), self.set(term))
    }

    /// Whether a term is excluded: none of its values is left.
    #[inline]
    pub(crate) fn is_excluded(&self, term: Term) -> bool {
        bits::is_disjoint(self.domain(term.var), self.set(term))
    }

    /// Whether a term is excluded at level zero, so that it can never hold again.
    #[inline]
    pub(crate) fn is_excluded_at_level_zero(&self, term: Term) -> bool {
        bits::is_disjoint(self.level_zero(term.var), self.set(term))
    }

    /// What removing the values of a term would do to the domain of its variable.
    #[inline]
    pub(crate) fn effect_of_removal(&self, term: Term) -> RemovalEffect {
        if self.is_excluded(term) {
            RemovalEffect::None
        } else if self.holds(term) {
            RemovalEffect::Empties
        } else {
            RemovalEffect::Reduces
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, var: Var) {
        let state = &mut self.vars[var as usize];
        if !state.queued {
            state.queued = true;
            self.queue.push(var);
        }
    }

    /// The next variable whose domain was reduced. It stays in the queue until
    /// [`dequeue`](Self::dequeue).
    #[inline]
    pub(crate) fn next_in_queue(&self) -> Option<Var> {
        self.queue.get(self.queue_head).copied()
    }

    pub(crate) fn dequeue(&mut self) {
        let var = self.queue[self.queue_head];
        self.vars[var as usize].queued = false;
        self.queue_head += 1;
        if self.queue_head == self.queue.len() {
            self.queue.clear();
            self.queue_head = 0;
        }
    }

    pub(super) fn clear_queue(&mut self) {
        for var in self.queue.drain(..) {
            self.vars[var as usize].queued = false;
        }
        self.queue_head = 0;
    }

    /// Marks a value as expanded; returns whether it was not.
    pub(crate) fn mark_expanded(&mut self, var: Var, value: u32) -> bool {
        bits::insert_new(self.expanded_mut(var), value)
    }

    pub(crate) fn is_expanded(&self, var: Var, value: u32) -> bool {
        bits::contains(self.expanded(var), value)
    }

    /// The values of a variable whose dependencies are clauses.
    pub(crate) fn expanded(&self, var: Var) -> &[u64] {
        if self.var(var).is_narrow() {
            std::slice::from_ref(&self.var(var).expanded)
        } else {
            self.wide(var, ValueSet::Expanded)
        }
    }

    fn expanded_mut(&mut self, var: Var) -> &mut [u64] {
        if self.var(var).is_narrow() {
            std::slice::from_mut(&mut self.var_mut(var).expanded)
        } else {
            self.wide_mut(var, ValueSet::Expanded)
        }
    }

    /// A value of a variable with many values that is watched and removed, but whose removal was
    /// not [propagated](Self::mark_propagated).
    pub(crate) fn next_unpropagated(&self, var: Var) -> Option<u32> {
        let sets = [ValueSet::Unpropagated, ValueSet::Watched, ValueSet::Domain];
        let [unpropagated, watched, domain] = sets.map(|set| self.wide(var, set));
        let pairs = unpropagated.iter().zip(watched).zip(domain);
        let removed =
            pairs.map(|((unpropagated, watched), domain)| unpropagated & watched & !domain);
        bits::first(removed)
    }

    /// Marks the removal of a value of a variable with many values as propagated.
    pub(crate) fn mark_propagated(&mut self, var: Var, value: u32) {
        bits::remove(self.wide_mut(var, ValueSet::Unpropagated), value);
    }

    /// Marks all removals of values of a variable with many values as propagated.
    pub(crate) fn mark_all_propagated(&mut self, var: Var) {
        self.update_unpropagated(var, |unpropagated, domain| unpropagated & domain);
    }

    /// Forgets the propagated removals of values that backtracking restored.
    pub(super) fn restore_unpropagated(&mut self, var: Var) {
        self.update_unpropagated(var, |unpropagated, domain| unpropagated | domain);
    }

    /// Changes the set of values without propagated removal, given the domain.
    fn update_unpropagated(&mut self, var: Var, change: impl Fn(u64, u64) -> u64) {
        let state = self.var(var);
        let (domain, unpropagated) = (
            state.range(ValueSet::Domain),
            state.range(ValueSet::Unpropagated),
        );
        for (domain, unpropagated) in domain.zip(unpropagated) {
            self.words[unpropagated] = change(self.words[unpropagated], self.words[domain]);
        }
    }

    /// Records whether clauses watch a value of a variable with many values.
    pub(crate) fn set_watched(&mut self, var: Var, value: u32, is_watched: bool) {
        let watched = self.wide_mut(var, ValueSet::Watched);
        if is_watched {
            bits::insert(watched, value);
        } else {
            bits::remove(watched, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::Variable;
    use crate::universe::PackageId;

    use super::*;

    #[test]
    fn a_removal_is_unpropagated_until_marked_and_again_after_backtracking() {
        let mut assignment = Assignment::default();
        let var = assignment.add_var(Variable::Package(PackageId::FIRST), 70);
        assignment.set_watched(var, 3, true);
        assignment.set_watched(var, 66, true);
        assert_eq!(assignment.next_unpropagated(var), None);
        let set = assignment.store_single(var, 66);
        assignment.remove(Term { var, set }, ClauseRef::Root, 0);
        assert_eq!(assignment.next_unpropagated(var), Some(66));
        assignment.mark_propagated(var, 66);
        assert_eq!(assignment.next_unpropagated(var), None);
        for _ in 0..2 {
            assignment.decide(var, 5);
            assert_eq!(assignment.next_unpropagated(var), Some(3));
            assignment.mark_all_propagated(var);
            assert_eq!(assignment.next_unpropagated(var), None);
            assignment.backtrack_to(0, |_| ());
            assert_eq!(assignment.next_unpropagated(var), None);
        }
    }
}
