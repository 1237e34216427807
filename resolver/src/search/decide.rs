//! Decisions: which variable is next, and which value it gets.
//!
//! Until the conflict limit, variables are decided in the [order of
//! decisions](super::decision_order). Then those with the highest activity come first, like VSIDS
//! (Moskewicz et al. 2001) but without decay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::ReleaseId;

use super::Search;
use super::assignment::{Assignment, Var};
use super::decision_order::PendingVariable;

impl Search {
    /// Decides the next requirement; returns whether all are decided.
    pub(super) fn decide_in_order(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        if self.order.is_empty() {
            for root in problem.universe.catalog.roots() {
                let var = self.package_var(problem, root.package);
                self.order
                    .place(&mut self.assignment, var, root.index, *root);
            }
        }
        while let Some(PendingVariable { var, package }) = self.order.next() {
            if self.assignment.var(var).ordered {
                self.order.advance();
                continue;
            }
            let Some(value) = self.assignment.value(var) else {
                if !self.assignment.is_present(var) {
                    // The requirement was dropped from a restricted problem.
                    self.order.advance();
                    continue;
                }
                budget.take()?;
                let value = self.best(problem, var);
                self.order.mark();
                self.assignment.decide(var, value);
                return Ok(false);
            };
            self.order.advance();
            let bound = ReleaseId {
                package,
                index: value,
            };
            if self.is_of_package(var) {
                self.order.place(&mut self.assignment, var, value, bound);
                continue;
            }
            let var = self.var(problem, Variable::Release(bound));
            if !self.assignment.var(var).ordered {
                self.order.place(&mut self.assignment, var, 0, bound);
            }
        }
        Ok(true)
    }

    /// Decides the variable with the highest activity; returns whether all are decided.
    pub(super) fn decide_by_activity(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        let Some(var) = self.variable_queue.next(&self.assignment) else {
            return Ok(true);
        };
        budget.take()?;
        let value = self.best(problem, var);
        self.order.mark();
        self.assignment.decide(var, value);
        Ok(false)
    }

    /// Whether a variable is that of a package with one release.
    #[inline]
    pub(super) fn is_of_package(&self, var: Var) -> bool {
        self.assignment.var(var).has_default_order
            || matches!(self.assignment.details(var).variable, Variable::Package(_))
    }

    /// The best value in a domain.
    #[inline]
    pub(super) fn best(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let variable = self.assignment.var(var);
        if variable.has_default_order {
            return bits::last_below(self.assignment.domain(var), variable.values)
                .expect("a value is left");
        }
        self.best_by_preference(problem, var)
    }

    /// The best value of a variable whose greatest value need not be the best.
    #[inline(never)]
    fn best_by_preference(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let values = self.assignment.var(var).values;
        let (domain, universe) = (self.assignment.domain(var), &*problem.universe);
        let (package, binding) = match self.assignment.details(var).variable {
            Variable::Package(package) => (package, None),
            Variable::Binding(release, number) => {
                let number = number as usize;
                let package = universe.known_details(release).requirements[number].package;
                (package, Some((release, number)))
            }
            Variable::Release(_) => return 0,
        };
        let mut candidates = domain.to_vec();
        bits::remove(&mut candidates, values);
        let candidates = PositionSet::of_words(&candidates);
        let named = self.order.is_prerelease_named(package);
        let best = match binding {
            Some((release, number)) => {
                universe
                    .catalog
                    .best_binding(release, number, package, &candidates, named)
            }
            None => universe.catalog.best(package, &candidates, named),
        };
        best.expect("a value is left")
    }
}

/// Undecided variables: those with the highest activity first, then those with the fewest values.
#[derive(Debug, Default)]
pub(super) struct VariableQueue {
    heap: BinaryHeap<(Activity, Reverse<Var>)>,
    /// For each variable its highest activity in the heap.
    known: Vec<Option<Activity>>,
}

/// How often a variable took part in conflicts, and how few values it has.
type Activity = (u32, Reverse<u32>);

impl VariableQueue {
    /// Removes all variables.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.known.clear();
    }

    pub(super) fn add(&mut self, assignment: &Assignment, var: Var) {
        if assignment.is_present(var) && assignment.value(var).is_none() {
            self.push(Self::activity(assignment, var), var);
        }
    }

    /// Adds a variable, unless it is queued with at least this activity.
    fn push(&mut self, activity: Activity, var: Var) {
        if self.known.len() <= var as usize {
            self.known.resize(var as usize + 1, None);
        }
        let known = &mut self.known[var as usize];
        if *known < Some(activity) {
            *known = Some(activity);
            self.heap.push((activity, Reverse(var)));
        }
    }

    fn activity(assignment: &Assignment, var: Var) -> Activity {
        let values = bits::count(assignment.domain(var));
        (assignment.details(var).conflicts, Reverse(values))
    }

    /// The variable to decide next.
    pub(super) fn next(&mut self, assignment: &Assignment) -> Option<Var> {
        while let Some((activity, Reverse(var))) = self.heap.pop() {
            let known = &mut self.known[var as usize];
            if *known == Some(activity) {
                *known = None;
            }
            if !assignment.is_present(var) || assignment.value(var).is_some() {
                continue;
            }
            let now = Self::activity(assignment, var);
            if now == activity {
                return Some(var);
            }
            self.push(now, var);
        }
        None
    }
}
