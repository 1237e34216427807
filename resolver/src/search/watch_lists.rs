//! Watch lists of binary clauses.
//!
//! A clause implies something only while one of its terms holds, which is rare. So each literal is
//! in the list that is visited as rarely as possible:
//!
//! - If its term is a single value, or that the variable is absent, in the list of that value,
//!   which is visited when no other value is left. Variables with few such literals keep them with
//!   the others.
//! - Otherwise, if the variable has few values, in one of two lists. A list is visited when the
//!   variable is reduced to values that all occur in terms of the list.
//! - Otherwise in the list of some value that its term does not have (a watched value, like a
//!   watched literal): as long as that value is left, the term does not hold.

use crate::index::{NONE, to_u32};
use crate::set::bits::{self, Below};

use super::assignment::{Assignment, Literal, Term, Var, VarState, WatchList};
use super::clauses::ClauseDatabase;

impl ClauseDatabase {
    /// Puts a literal that is not in a [shared list](Assignment::push_shared_watch) into a list of
    /// its own.
    pub(super) fn watch_literal(&mut self, assignment: &mut Assignment, at: u32) {
        let term = assignment.term_of_literal(at);
        let absent = assignment.var(term.var).values;
        let value = match bits::below(assignment.set(term), absent) {
            Below::One(value) => value,
            Below::Nothing => absent,
            // The removal of values may have been propagated before the literal existed.
            Below::Several if assignment.holds(term) => {
                return self.watch_every_removal(assignment, term.var, at);
            }
            Below::Several => return self.watch_value(assignment, term, at),
        };
        if assignment.var(term.var).single_value_watches == NONE {
            self.split_single_values(assignment, term.var);
        }
        self.push_single_value(
            assignment,
            assignment.var(term.var).single_value_watches + value,
            at,
        );
    }

    fn push_single_value(&mut self, assignment: &mut Assignment, list: u32, at: u32) {
        let head = &mut self.heads[list as usize];
        assignment.literal_mut(at).next = std::mem::replace(head, at);
    }

    /// Gives each value of a variable a list of its own, and moves the literals that belong there.
    fn split_single_values(&mut self, assignment: &mut Assignment, var: Var) {
        let single_value_watches = to_u32(self.heads.len());
        let values = assignment.var(var).values as usize;
        self.heads.resize(self.heads.len() + values + 1, NONE);
        assignment.var_mut(var).single_value_watches = single_value_watches;
        if !assignment.var(var).is_narrow() {
            return;
        }
        self.copies.remove_shared_lists(var);
        let VarState {
            owner_watches,
            target_watches,
            ..
        } = *assignment.var(var);
        let [owner_watches, target_watches] = [owner_watches, target_watches]
            .map(|list| self.without_single_values(assignment, var, list.first));
        let variable = assignment.var_mut(var);
        (variable.owner_watches, variable.target_watches) = (owner_watches, target_watches);
    }

    /// Moves the literals of a list that have single values into the lists of these. Returns the
    /// rest.
    fn without_single_values(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        mut list: u32,
    ) -> WatchList {
        let VarState {
            single_value_watches,
            values,
            ..
        } = *assignment.var(var);
        let mut rest = WatchList::EMPTY;
        while list != NONE {
            let at = list;
            let literal = assignment.literal_mut(at);
            list = literal.next;
            match bits::below(&[literal.word], values) {
                Below::One(value) => {
                    self.push_single_value(assignment, single_value_watches + value, at);
                }
                Below::Nothing => {
                    self.push_single_value(assignment, single_value_watches + values, at);
                }
                Below::Several => literal.next = rest.push(at, literal.word),
            }
        }
        rest
    }

    /// The first literal whose term is this value alone, if these have lists of their own.
    #[inline]
    pub(super) fn single_value_watches(
        &self,
        assignment: &Assignment,
        var: Var,
        value: u32,
    ) -> u32 {
        match assignment.var(var).single_value_watches {
            NONE => NONE,
            single_value_watches => self.heads[(single_value_watches + value) as usize],
        }
    }

    /// Lets a literal of a variable with many values watch a value outside its set: as long as that
    /// value is left, the term does not hold. If the term holds, it watches a value that was
    /// removed last, which is restored first. If it always holds, it watches none.
    pub(super) fn watch_value(&mut self, assignment: &mut Assignment, term: Term, at: u32) {
        let set = assignment.set(term);
        let awaited = bits::first_outside(assignment.domain(term.var), set).or_else(|| {
            let satisfier = assignment.satisfier(term)?;
            bits::first_outside(assignment.domain_before(satisfier), set)
        });
        if let Some(value) = awaited {
            self.push_watch(assignment, term.var, value, at);
        }
    }

    /// Lets a literal of a variable with many values be visited at every removal.
    pub(super) fn watch_every_removal(&mut self, assignment: &mut Assignment, var: Var, at: u32) {
        let every_removal = assignment.var(var).values + 1;
        self.push_watch(assignment, var, every_removal, at);
    }

    fn push_watch(&mut self, assignment: &mut Assignment, var: Var, value: u32, at: u32) {
        let head = self.value_watches(assignment, var, value, true);
        assignment.literal_mut(at).next = std::mem::replace(&mut self.heads[head], at);
    }

    /// Takes the list of the literals that watch a value.
    pub(super) fn take_value_watches(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        value: u32,
    ) -> u32 {
        let head = self.value_watches(assignment, var, value, false);
        std::mem::replace(&mut self.heads[head], NONE)
    }

    /// Restores the rest of a list.
    pub(super) fn restore_value_watches(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        value: u32,
        list: u32,
    ) {
        if list == NONE {
            return;
        }
        let mut end = list;
        while assignment.literal(end).next != NONE {
            end = assignment.literal(end).next;
        }
        let head = self.value_watches(assignment, var, value, true);
        assignment.literal_mut(end).next = std::mem::replace(&mut self.heads[head], list);
    }

    /// The index of the head of a value's list. Records whether the value is watched.
    fn value_watches(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        value: u32,
        is_watched: bool,
    ) -> usize {
        let values = assignment.var(var).values;
        let lists = &mut assignment.var_mut(var).owner_watches.first;
        if *lists == NONE {
            *lists = to_u32(self.heads.len());
            // One more for "absent", and one for literals that are visited at every removal.
            self.heads
                .resize(self.heads.len() + values as usize + 2, NONE);
        }
        let at = (*lists + value) as usize;
        if value <= values {
            assignment.set_watched(var, value, is_watched);
        }
        at
    }
}

/// How many clauses about single values a variable with few values keeps in its shared lists.
pub(crate) const MAX_SHARED_SINGLE_VALUES: u8 = 16;

impl Assignment {
    /// Puts a literal that will be at an index into a shared list of its variable, if the variable
    /// has few values and no list of its own for the literal. Returns whether it did, as for nearly
    /// all.
    #[inline]
    pub(crate) fn push_shared_watch(
        &mut self,
        literal: &mut Literal,
        at: u32,
        list: impl FnOnce(&mut VarState) -> &mut WatchList,
    ) -> bool {
        let var = self.var_mut(literal.var);
        if !var.is_narrow() {
            return false;
        }
        if bits::below(&[literal.word], var.values) != Below::Several {
            if var.single_value_watches != NONE
                || var.single_value_count == MAX_SHARED_SINGLE_VALUES
            {
                return false;
            }
            var.single_value_count += 1;
        }
        literal.next = list(var).push(at, literal.word);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Variable;
    use crate::search::clauses::Origin;
    use crate::universe::PackageId;

    #[test]
    fn a_shared_list_is_visited_after_its_single_values_moved() {
        let (mut assignment, mut clauses) = (Assignment::default(), ClauseDatabase::default());
        let [one, other] =
            [0, 1].map(|_| assignment.add_var(Variable::Package(PackageId::FIRST), 8));
        let mut add = |assignment: &mut Assignment, word: u64| {
            let literals = [(one, word), (other, 0b11)];
            let literals = literals.map(|(var, word)| assignment.literal_of_set(var, &[word]));
            clauses.add_binary(assignment, literals, Origin::Problem);
        };
        let is_visited = |assignment: &Assignment, domain: u64| {
            assignment.var(one).owner_watches.may_hold(domain)
        };
        add(&mut assignment, 0b110);
        for _ in 0..MAX_SHARED_SINGLE_VALUES {
            add(&mut assignment, 0b1);
        }
        assert!(is_visited(&assignment, 0b111));
        add(&mut assignment, 0b1);
        assert_ne!(assignment.var(one).single_value_watches, NONE);
        assert!(is_visited(&assignment, 0b110));
        assert!(!is_visited(&assignment, 0b111));
    }
}
