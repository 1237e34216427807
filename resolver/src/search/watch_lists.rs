//! In which lists constraints of two terms stand.
//!
//! A constraint can only say something when one of its terms holds, and a search looks at constraints
//! far more often than that. So each side stands where it is looked at as rarely as possible:
//!
//! - if its term is a single value, or that the variable is absent, in a list of that value, which is
//!   looked at when no other is left (variables with few such sides keep them with the others);
//! - otherwise, if the variable has few values, in one of two lists that are looked through when the
//!   variable is reduced, unless a value is left that no term of the list has;
//! - otherwise in a list of some value that its term does not have: as long as that value is left, the
//!   term does not hold.

use crate::index::{NONE, to_u32};
use crate::set::bits::{self, Below};

use super::assignment::{Assignment, Literal, Term, Var, VarState, WatchList};
use super::clauses::Constraints;

impl Constraints {
    /// Puts a side that does not stand [among others](Assignment::list_among_others) into a list of its own.
    pub(super) fn enlist(&mut self, state: &mut Assignment, at: u32) {
        let term = state.side_term(at);
        let absent = state.var(term.var).values;
        let value = match bits::below(state.set(term), absent) {
            Below::One(value) => value,
            Below::Nothing => absent,
            // That values are gone may have been seen before the side was there.
            Below::Several if state.holds(term) => {
                return self.look_each_time(state, term.var, at);
            }
            Below::Several => return self.await_value(state, term, at),
        };
        if state.var(term.var).singles == NONE {
            self.make_singles(state, term.var);
        }
        self.put_single(state, state.var(term.var).singles + value, at);
    }

    fn put_single(&mut self, state: &mut Assignment, list: u32, at: u32) {
        let head = &mut self.heads[list as usize];
        state.side_mut(at).next = std::mem::replace(head, at);
    }

    /// Gives the values of a variable lists of their own, with the sides that are there.
    fn make_singles(&mut self, state: &mut Assignment, var: Var) {
        let singles = to_u32(self.heads.len());
        let values = state.var(var).values as usize;
        self.heads.resize(self.heads.len() + values + 1, NONE);
        state.var_mut(var).singles = singles;
        if !state.var(var).is_narrow() {
            return;
        }
        let VarState {
            owned, targeted, ..
        } = *state.var(var);
        let [owned, targeted] =
            [owned, targeted].map(|list| self.without_singles(state, var, list.first));
        let state = state.var_mut(var);
        (state.owned, state.targeted) = (owned, targeted);
    }

    /// Puts the sides of a list that are about single values into the lists of these; gives the
    /// rest.
    fn without_singles(&mut self, state: &mut Assignment, var: Var, mut list: u32) -> WatchList {
        let VarState {
            singles, values, ..
        } = *state.var(var);
        let mut rest = WatchList::EMPTY;
        while list != NONE {
            let at = list;
            let side = state.side_mut(at);
            list = side.next;
            match bits::below(&[side.word], values) {
                Below::One(value) => self.put_single(state, singles + value, at),
                Below::Nothing => self.put_single(state, singles + values, at),
                Below::Several => side.next = rest.put(at, side.word),
            }
        }
        rest
    }

    /// The first constraint whose term is a value of a variable alone, if these have lists of their
    /// own.
    #[inline]
    pub(super) fn singles(&self, state: &Assignment, var: Var, value: u32) -> u32 {
        match state.var(var).singles {
            NONE => NONE,
            singles => self.heads[(singles + value) as usize],
        }
    }

    /// Lets a side of a variable with many values wait for a value that is not in its set: as long
    /// as that one is left, the term does not hold. If the term holds, it waits for one of those
    /// that went last, which is the first to come back; if it always does, for none.
    pub(super) fn await_value(&mut self, state: &mut Assignment, term: Term, at: u32) {
        let set = state.set(term);
        let awaited = bits::first_outside(state.domain(term.var), set).or_else(|| {
            let satisfier = state.satisfier(term)?;
            bits::first_outside(state.before(satisfier), set)
        });
        if let Some(value) = awaited {
            self.put_awaiting_one(state, term.var, value, at);
        }
    }

    /// Lets a side of a variable with many values be looked at each time that one of them goes.
    pub(super) fn look_each_time(&mut self, state: &mut Assignment, var: Var, at: u32) {
        let each_time = state.var(var).values + 1;
        self.put_awaiting_one(state, var, each_time, at);
    }

    fn put_awaiting_one(&mut self, state: &mut Assignment, var: Var, value: u32, at: u32) {
        let head = self.list_of_value(state, var, value, true);
        state.side_mut(at).next = std::mem::replace(&mut self.heads[head], at);
    }

    /// Takes the list of the sides that wait for a value.
    pub(super) fn take_awaiting(&mut self, state: &mut Assignment, var: Var, value: u32) -> u32 {
        let head = self.list_of_value(state, var, value, false);
        std::mem::replace(&mut self.heads[head], NONE)
    }

    /// Puts back what is left of a list.
    pub(super) fn put_awaiting(&mut self, state: &mut Assignment, var: Var, value: u32, list: u32) {
        if list == NONE {
            return;
        }
        let mut end = list;
        while state.side(end).next != NONE {
            end = state.side(end).next;
        }
        let head = self.list_of_value(state, var, value, true);
        state.side_mut(end).next = std::mem::replace(&mut self.heads[head], list);
    }

    /// Where the list of a value of a variable begins; whether there will be anything in it has to be
    /// said.
    fn list_of_value(
        &mut self,
        state: &mut Assignment,
        var: Var,
        value: u32,
        is_awaited: bool,
    ) -> usize {
        let values = state.var(var).values;
        let lists = &mut state.var_mut(var).owned.first;
        if *lists == NONE {
            *lists = to_u32(self.heads.len());
            // One more for "absent", and one for sides that are looked at each time.
            self.heads
                .resize(self.heads.len() + values as usize + 2, NONE);
        }
        let at = (*lists + value) as usize;
        if value <= values {
            state.set_awaited(var, value, is_awaited);
        }
        at
    }
}

/// How many constraints about single values a variable with few values has before these stand in
/// lists of their own.
pub(crate) const MANY_SINGLES: u8 = 16;

impl Assignment {
    /// Puts a side that comes to stand at a place into a list of its variable, if it has few values and
    /// needs no other list, as nearly all do; says whether it did.
    #[inline]
    pub(crate) fn list_among_others(
        &mut self,
        side: &mut Literal,
        at: u32,
        list: impl FnOnce(&mut VarState) -> &mut WatchList,
    ) -> bool {
        let var = self.var_mut(side.var);
        if !var.is_narrow() {
            return false;
        }
        if bits::below(&[side.word], var.values) != Below::Several {
            if var.singles != NONE || var.single_count == MANY_SINGLES {
                return false;
            }
            var.single_count += 1;
        }
        side.next = list(var).put(at, side.word);
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
        let (mut state, mut constraints) = (Assignment::new(), Constraints::new());
        let [one, other] = [0, 1].map(|_| state.add_var(Variable::Package(PackageId::FIRST), 8));
        let mut add = |state: &mut Assignment, word: u64| {
            let sides = [(one, word), (other, 0b11)];
            let sides = sides.map(|(var, word)| state.new_side(var, &[word]));
            constraints.add_binary(state, sides, Origin::Problem);
        };
        let is_looked_through = |state: &Assignment, left: u64| state.var(one).owned.may_hold(left);
        add(&mut state, 0b110);
        for _ in 0..MANY_SINGLES {
            add(&mut state, 0b1);
        }
        assert!(is_looked_through(&state, 0b111));
        add(&mut state, 0b1);
        assert_ne!(state.var(one).singles, NONE);
        assert!(is_looked_through(&state, 0b110));
        assert!(!is_looked_through(&state, 0b111));
    }
}
