//! Whether what will probably be decided can be had.
//!
//! The value that a variable will be decided at is mostly known long before: the best one that is left. What
//! it depends on is looked at as soon as the variable has to have a value, and if that contradicts what was
//! decided before, the value goes at once, together with others that depend on the same. Otherwise this
//! would be found out when its turn comes, thousands of decisions later, and if no other value will do
//! either, all of these would be taken back.

use crate::budget::{Budget, Interrupt};
use crate::problem::Problem;
use crate::set::bits;

use super::Search;
use super::assignment::{ClauseRef, Var};

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
