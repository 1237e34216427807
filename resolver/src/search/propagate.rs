//! Propagation and probing.
//!
//! After the reduction of a domain, if all terms of a clause hold except one, the clause excludes
//! that one. Only clauses in watch lists that the reduction can affect are visited
//! (`watch_lists.rs`).
//!
//! Probing (failed-literal probing, as in lookahead SAT solvers) propagates a decision before it is
//! taken. The value that a variable will get is mostly known long before its decision: the best one
//! in its domain. It is expanded as soon as the variable is present. If that contradicts earlier
//! decisions, the value is removed at once, together with others that share the requirement.
//! Without probing, the contradiction would appear thousands of decisions later, and if no other
//! value fits either, all of these would be undone. Each probe costs one expansion, which would
//! nearly always be needed anyway.

use crate::budget::{Budget, Interrupt};
use crate::index::NONE;
use crate::problem::Problem;
use crate::set::bits::{self, Below};

use super::Search;
use super::assignment::{ClauseRef, Var};
use super::clauses::{ClauseStatus, Watch};
use super::list_copies::ListCopy;

/// The looks that a visit counts: the clause, its terms and their variables are far from each other in
/// memory.
const LOOKS_PER_VISIT: u64 = 4;

/// How many literals in a list take as long to visit as a clause elsewhere.
const LITERALS_PER_LOOK: u64 = 4;

impl Search {
    /// Propagates the binary clauses of a variable whose domain was reduced.
    #[inline]
    pub(super) fn propagate_binary_clauses(&mut self, var: Var) -> Result<(), ClauseRef> {
        if self.assignment.var(var).single_value_watches != NONE {
            let absent = self.assignment.var(var).values;
            match bits::below(self.assignment.domain(var), absent) {
                Below::Several => {}
                Below::One(value) => self.propagate_single_value(var, value)?,
                Below::Nothing => {
                    for value in 0..=absent {
                        self.propagate_single_value(var, value)?;
                    }
                }
            }
        }
        let variable = self.assignment.var(var);
        if !variable.is_narrow() {
            return self.propagate_removals(var);
        }
        for (side, list) in [variable.owner_watches, variable.target_watches]
            .into_iter()
            .enumerate()
        {
            if list.may_hold(self.assignment.domain(var)[0]) {
                let copy = self.clauses.copies.of_shared_list(var, side);
                self.propagate_list(var, list.first, copy)?;
            }
        }
        Ok(())
    }

    /// Propagates the clauses whose term is this value alone, or that the variable is absent.
    fn propagate_single_value(&mut self, var: Var, value: u32) -> Result<(), ClauseRef> {
        let mut at = self
            .clauses
            .single_value_watches(&self.assignment, var, value);
        if self.assignment.width(var) == 1 {
            let copy = self
                .clauses
                .copies
                .of_head(self.assignment.var(var).single_value_watches + value);
            return self.propagate_list(var, at, copy);
        }
        while at != NONE {
            self.clauses.looks += LOOKS_PER_VISIT;
            if self.assignment.literal_holds(at) {
                self.exclude_literal(at ^ 1)?;
            }
            at = self.assignment.literal(at).next;
        }
        Ok(())
    }

    /// Propagates the clauses in a list, whose end may have a copy.
    #[inline]
    fn propagate_list(&mut self, var: Var, mut at: u32, copy: ListCopy) -> Result<(), ClauseRef> {
        let domain = self.assignment.domain(var)[0];
        let mut visited = 0;
        let mut result = Ok(());
        while at != copy.first {
            let literal = self.assignment.literal(at);
            visited += 1;
            if domain & !literal.word == 0 {
                result = self.exclude_literal(at ^ 1);
                if result.is_err() {
                    break;
                }
            }
            at = literal.next;
        }
        self.clauses.copies.count_linked_visits(visited);
        if result.is_ok() {
            for number in 0..self.clauses.copies.literals(copy).len() {
                let literal = self.clauses.copies.literals(copy)[number];
                visited += 1;
                if domain & !literal.word == 0 {
                    result = self.exclude_literal(literal.at ^ 1);
                    if result.is_err() {
                        break;
                    }
                }
            }
        }
        self.clauses.looks += visited / LITERALS_PER_LOOK;
        result
    }

    /// Propagates the clauses that watch a removed value, and those visited at every removal.
    fn propagate_removals(&mut self, var: Var) -> Result<(), ClauseRef> {
        let every_removal = self.assignment.var(var).values + 1;
        self.propagate_watch_list(var, every_removal)?;
        while let Some(value) = self.assignment.next_unpropagated(var) {
            self.propagate_watch_list(var, value)?;
            self.assignment.mark_propagated(var, value);
        }
        self.assignment.mark_all_propagated(var);
        Ok(())
    }

    fn propagate_watch_list(&mut self, var: Var, value: u32) -> Result<(), ClauseRef> {
        let mut list = self
            .clauses
            .take_value_watches(&mut self.assignment, var, value);
        while list != NONE {
            self.clauses.looks += LOOKS_PER_VISIT;
            let at = list;
            let literal = self.assignment.literal(at);
            list = literal.next;
            let own = self.assignment.term_of_literal(at);
            let other = self.assignment.term_of_literal(at ^ 1);
            if !self.assignment.holds(own) {
                // What is excluded at level zero never holds again, so its clause leaves the lists.
                if !self.assignment.is_excluded_at_level_zero(own) {
                    self.clauses.watch_value(&mut self.assignment, own, at);
                }
            } else if !self.assignment.is_excluded(other) {
                self.clauses.watch_value(&mut self.assignment, own, at);
                if let Err(conflict) = self.exclude(other, ClauseRef::Binary(at / 2)) {
                    self.clauses
                        .restore_value_watches(&mut self.assignment, var, value, list);
                    return Err(conflict);
                }
            } else if self.assignment.latest_level(other.var) > self.assignment.level_of(own) {
                // The exclusion of the other term can be undone while this one still holds.
                self.clauses
                    .watch_every_removal(&mut self.assignment, var, at);
            } else {
                self.clauses.watch_value(&mut self.assignment, own, at);
            }
        }
        Ok(())
    }

    pub(super) fn propagate_long_clauses(&mut self, var: Var) -> Result<(), ClauseRef> {
        if !self.clauses.is_watched(var) {
            return Ok(());
        }
        let mut watches = self.clauses.take_watches(var);
        self.clauses.looks += watches.len() as u64;
        let mut result = Ok(());
        let domain = self.assignment.domain(var)[0];
        let mut at = 0;
        while at < watches.len() {
            let Watch { clause, word } = watches[at];
            if domain & !word != 0 {
                at += 1;
                continue;
            }
            self.clauses.looks += LOOKS_PER_VISIT;
            match self.clauses.visit(&self.assignment, clause, var) {
                ClauseStatus::Open => at += 1,
                ClauseStatus::Moved => {
                    watches.swap_remove(at);
                }
                ClauseStatus::Unit(term) => {
                    result = self.exclude(term, ClauseRef::Long(clause));
                    if result.is_err() {
                        break;
                    }
                    at += 1;
                }
            }
        }
        self.clauses.restore_watches(var, watches);
        result
    }
}

impl Search {
    /// Expands the best value of a package, and removes the value if that contradicts the
    /// assignment.
    pub(super) fn probe(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
        var: Var,
        value: u32,
    ) -> Result<Option<ClauseRef>, Interrupt> {
        let first = self.assignment.literal_count();
        self.expand(problem, var, value)?;
        let end = self.assignment.literal_count();
        for clause in first / 2..end / 2 {
            if let Err(conflict) = self.propagate_new_binary(clause) {
                return Ok(Some(conflict));
            }
        }
        if !bits::contains(self.assignment.domain(var), value) {
            // It replaces a decision that would end in a conflict.
            if !problem.is_ordinary() {
                budget.take_looks(std::mem::take(&mut self.clauses.looks));
            }
            budget.take()?;
        }
        Ok(None)
    }

    /// The value to probe: the best one of a package that is present, unless it is expanded.
    #[inline]
    pub(super) fn value_to_probe(&self, problem: &Problem<'_>, var: Var) -> Option<u32> {
        if !self.assignment.is_present(var) || !self.is_of_package(var) {
            return None;
        }
        let value = self.best(problem, var);
        (!self.assignment.is_expanded(var, value)).then_some(value)
    }

    /// Propagates a new binary clause whose second literal may hold.
    fn propagate_new_binary(&mut self, clause: u32) -> Result<(), ClauseRef> {
        let [own, other] = [2 * clause, 2 * clause + 1];
        if self.assignment.literal_holds(other) {
            self.exclude_literal(own)?;
        }
        Ok(())
    }
}
