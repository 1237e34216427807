//! What follows from constraints once a domain was reduced.
//!
//! Which constraints are looked at is decided by the lists that they stand in (`lists.rs`); what
//! cannot say anything new should not be looked at.

use crate::budget::{Budget, Interrupt};
use crate::index::NONE;
use crate::problem::Problem;
use crate::set::bits::{self, Below};

use super::Search;
use super::assignment::{ClauseRef, Var};
use super::clauses::{Visit, Watch};

impl Search {
    /// Looks at the constraints of two terms of a variable whose domain was reduced.
    #[inline]
    pub(super) fn propagate_variable(&mut self, var: Var) -> Result<(), ClauseRef> {
        if self.state.var(var).singles != NONE {
            let absent = self.state.var(var).values;
            match bits::below(self.state.domain(var), absent) {
                Below::Several => {}
                Below::One(value) => self.follow_single(var, value)?,
                Below::Nothing => {
                    for value in 0..=absent {
                        self.follow_single(var, value)?;
                    }
                }
            }
        }
        let state = self.state.var(var);
        if !state.is_narrow() {
            return self.follow_values(var);
        }
        for list in [state.owned, state.targeted] {
            if list.may_hold(self.state.domain(var)[0]) {
                self.follow(var, list.first)?;
            }
        }
        Ok(())
    }

    /// Looks at those whose term is a value alone, or that the variable is absent.
    fn follow_single(&mut self, var: Var, value: u32) -> Result<(), ClauseRef> {
        let mut at = self.constraints.singles(&self.state, var, value);
        if self.state.width(var) == 1 {
            return self.follow(var, at);
        }
        while at != NONE {
            if self.state.side_holds(at) {
                self.exclude_side(at ^ 1)?;
            }
            at = self.state.side(at).next;
        }
        Ok(())
    }

    /// Looks at those in a list.
    #[inline]
    fn follow(&mut self, var: Var, mut at: u32) -> Result<(), ClauseRef> {
        let domain = self.state.domain(var)[0];
        while at != NONE {
            let side = self.state.side(at);
            if domain & !side.word == 0 {
                self.exclude_side(at ^ 1)?;
            }
            at = side.next;
        }
        Ok(())
    }

    /// Looks at those that waited for values which are gone, and at those that are looked at each
    /// time.
    fn follow_values(&mut self, var: Var) -> Result<(), ClauseRef> {
        let each_time = self.state.var(var).values + 1;
        self.follow_awaiting(var, each_time)?;
        while let Some(value) = self.state.unseen(var) {
            self.follow_awaiting(var, value)?;
            self.state.see(var, value);
        }
        self.state.see_all(var);
        Ok(())
    }

    fn follow_awaiting(&mut self, var: Var, value: u32) -> Result<(), ClauseRef> {
        let mut list = self.constraints.take_awaiting(&mut self.state, var, value);
        while list != NONE {
            let at = list;
            let side = self.state.side(at);
            list = side.next;
            let own = self.state.side_term(at);
            let other = self.state.side_term(at ^ 1);
            if !self.state.holds(own) {
                // What can never hold again need not be looked at again.
                if !self.state.is_certainly_excluded(own) {
                    self.constraints.await_value(&mut self.state, own, at);
                }
            } else if !self.state.is_excluded(other) {
                self.constraints.await_value(&mut self.state, own, at);
                if let Err(conflict) = self.exclude(other, ClauseRef::Binary(at / 2)) {
                    self.constraints
                        .put_awaiting(&mut self.state, var, value, list);
                    return Err(conflict);
                }
            } else if self.state.latest_level(other.var) > self.state.level_of(own) {
                // What excludes the other term can be taken back while this one still holds.
                self.constraints.look_each_time(&mut self.state, var, at);
            } else {
                self.constraints.await_value(&mut self.state, own, at);
            }
        }
        Ok(())
    }

    pub(super) fn visit_watchers(&mut self, var: Var) -> Result<(), ClauseRef> {
        if !self.constraints.is_watched(var) {
            return Ok(());
        }
        let mut watchers = self.constraints.take_watchers(var);
        let mut result = Ok(());
        let domain = self.state.domain(var)[0];
        let mut at = 0;
        while at < watchers.len() {
            let Watch { clause, word } = watchers[at];
            if domain & !word != 0 {
                at += 1;
                continue;
            }
            match self.constraints.visit(&self.state, clause, var) {
                Visit::Nothing => at += 1,
                Visit::Moved => {
                    watchers.swap_remove(at);
                }
                Visit::Unit(term) => {
                    result = self.exclude(term, ClauseRef::Clause(clause));
                    if result.is_err() {
                        break;
                    }
                    at += 1;
                }
            }
        }
        self.constraints.put_watchers(var, watchers);
        result
    }
}

impl Search {
    /// Looks at what the best value of a package depends on, and takes the value away if that contradicts
    /// what is there.
    pub(super) fn probe(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
        var: Var,
        value: u32,
    ) -> Result<Option<ClauseRef>, Interrupt> {
        let first = self.state.side_count();
        self.expand(problem, var, value)?;
        let end = self.state.side_count();
        for constraint in first / 2..end / 2 {
            if let Err(conflict) = self.apply_binary(constraint) {
                return Ok(Some(conflict));
            }
        }
        if !bits::contains(self.state.domain(var), value) {
            // It takes the place of a decision that ends in a conflict.
            budget.take()?;
        }
        Ok(None)
    }

    /// The value that a package will be decided at, if it has to have one and nobody looked at it yet.
    #[inline]
    pub(super) fn to_probe(&self, problem: &Problem<'_>, var: Var) -> Option<u32> {
        if !self.state.is_present(var) || !self.is_of_package(var) {
            return None;
        }
        let value = self.best(problem, var);
        (!self.state.is_expanded(var, value)).then_some(value)
    }

    /// Looks at a new constraint of two terms, of which the second may hold.
    fn apply_binary(&mut self, constraint: u32) -> Result<(), ClauseRef> {
        let [own, other] = [2 * constraint, 2 * constraint + 1];
        if self.state.side_holds(other) {
            self.exclude_side(own)?;
        }
        Ok(())
    }
}
