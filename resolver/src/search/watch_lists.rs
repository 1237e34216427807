//! In which lists binary clauses stand.
//!
//! A clause can only say something when one of its terms holds, and a search looks at clauses
//! far more often than that. So each literal stands where it is looked at as rarely as possible:
//!
//! - if its term is a single value, or that the variable is absent, in a list of that value, which is
//!   looked at when no other is left (variables with few such literals keep them with the others);
//! - otherwise, if the variable has few values, in one of two lists that are looked through when the
//!   variable is reduced, unless a value is left that no term of the list has;
//! - otherwise in a list of some value that its term does not have: as long as that value is left, the
//!   term does not hold.

use crate::index::{NONE, to_u32};
use crate::set::bits::{self, Below};

use super::assignment::{Assignment, Literal, Term, Var, VarState, WatchList};
use super::clauses::ClauseDatabase;

impl ClauseDatabase {
    /// Puts a literal that does not stand [among others](Assignment::push_shared_watch) into a list of its own.
    pub(super) fn watch_literal(&mut self, assignment: &mut Assignment, at: u32) {
        let term = assignment.term_of_literal(at);
        let absent = assignment.var(term.var).values;
        let value = match bits::below(assignment.set(term), absent) {
            Below::One(value) => value,
            Below::Nothing => absent,
            // That values are gone may have been seen before the literal was there.
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

    /// Gives the values of a variable lists of their own, with the literals that are there.
    fn split_single_values(&mut self, assignment: &mut Assignment, var: Var) {
        let single_value_watches = to_u32(self.heads.len());
        let values = assignment.var(var).values as usize;
        self.heads.resize(self.heads.len() + values + 1, NONE);
        assignment.var_mut(var).single_value_watches = single_value_watches;
        if !assignment.var(var).is_narrow() {
            return;
        }
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

    /// Puts the literals of a list that are about single values into the lists of these; gives the
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
                    self.push_single_value(assignment, single_value_watches + value, at)
                }
                Below::Nothing => {
                    self.push_single_value(assignment, single_value_watches + values, at)
                }
                Below::Several => literal.next = rest.push(at, literal.word),
            }
        }
        rest
    }

    /// The first clause whose term is a value of a variable alone, if these have lists of their
    /// own.
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

    /// Lets a literal of a variable with many values wait for a value that is not in its set: as long
    /// as that one is left, the term does not hold. If the term holds, it waits for one of those
    /// that went last, which is the first to come back; if it always does, for none.
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

    /// Lets a literal of a variable with many values be looked at each time that one of them goes.
    pub(super) fn watch_every_removal(&mut self, assignment: &mut Assignment, var: Var, at: u32) {
        let every_removal = assignment.var(var).values + 1;
        self.push_watch(assignment, var, every_removal, at);
    }

    fn push_watch(&mut self, assignment: &mut Assignment, var: Var, value: u32, at: u32) {
        let head = self.value_watches(assignment, var, value, true);
        assignment.literal_mut(at).next = std::mem::replace(&mut self.heads[head], at);
    }

    /// Takes the list of the literals that wait for a value.
    pub(super) fn take_value_watches(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        value: u32,
    ) -> u32 {
        let head = self.value_watches(assignment, var, value, false);
        std::mem::replace(&mut self.heads[head], NONE)
    }

    /// Puts back what is left of a list.
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

    /// Where the list of a value of a variable begins; whether there will be anything in it has to be
    /// said.
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
            // One more for "absent", and one for literals that are looked at each time.
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

/// How many clauses about single values a variable with few values has before these stand in
/// lists of their own.
pub(crate) const MAX_SHARED_SINGLE_VALUES: u8 = 16;

impl Assignment {
    /// Puts a literal that comes to stand at a place into a list of its variable, if it has few values and
    /// needs no other list, as nearly all do; says whether it did.
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
    fn what_stays_in_a_list_is_looked_through_after_single_values_left_it() {
        let (mut assignment, mut clauses) = (Assignment::new(), ClauseDatabase::new());
        let [one, other] =
            [0, 1].map(|_| assignment.add_var(Variable::Package(PackageId::FIRST), 8));
        let mut add = |assignment: &mut Assignment, word: u64| {
            let literals = [(one, word), (other, 0b11)];
            let literals = literals.map(|(var, word)| assignment.literal_of_set(var, &[word]));
            clauses.add_binary(assignment, literals, Origin::Problem);
        };
        let is_looked_through =
            |assignment: &Assignment, left: u64| assignment.var(one).owner_watches.may_hold(left);
        add(&mut assignment, 0b110);
        for _ in 0..MAX_SHARED_SINGLE_VALUES {
            add(&mut assignment, 0b1);
        }
        assert!(is_looked_through(&assignment, 0b111));
        add(&mut assignment, 0b1);
        assert_ne!(assignment.var(one).single_value_watches, NONE);
        assert!(is_looked_through(&assignment, 0b110));
        assert!(!is_looked_through(&assignment, 0b111));
    }
}
