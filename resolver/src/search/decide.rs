//! What is decided next, and at which value.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::ReleaseId;

use super::Search;
use super::assignment::{Assignment, Var};
use super::decision_order::Listed;

impl Search {
    /// Decides the next requirement; says whether all are decided.
    pub(super) fn decide_in_order(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        if self.order.is_empty() {
            for root in problem.universe.roots() {
                let var = self.package_var(problem, root.package);
                self.order.place(&mut self.state, var, root.index, *root);
            }
        }
        while let Some(Listed { var, package }) = self.order.next() {
            if self.state.var(var).ordered {
                self.order.advance();
                continue;
            }
            let Some(value) = self.state.value(var) else {
                if !self.state.is_present(var) {
                    // The requirement is one of those that were dropped.
                    self.order.advance();
                    continue;
                }
                budget.take()?;
                let value = self.best(problem, var);
                self.order.mark();
                self.state.decide(var, value);
                return Ok(false);
            };
            self.order.advance();
            let bound = ReleaseId {
                package,
                index: value,
            };
            if self.is_of_package(var) {
                self.order.place(&mut self.state, var, value, bound);
                continue;
            }
            let var = self.var(problem, Variable::Release(bound));
            if !self.state.var(var).ordered {
                self.order.place(&mut self.state, var, 0, bound);
            }
        }
        Ok(true)
    }

    /// Decides the variable that takes part in most conflicts; says whether all are decided.
    pub(super) fn decide_by_conflicts(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        let Some(var) = self.variable_queue.next(&self.state) else {
            return Ok(true);
        };
        budget.take()?;
        let value = self.best(problem, var);
        self.order.mark();
        self.state.decide(var, value);
        Ok(false)
    }

    /// Whether a variable stands for a package that has one release.
    #[inline]
    pub(super) fn is_of_package(&self, var: Var) -> bool {
        self.state.var(var).has_default_order
            || matches!(self.state.details(var).variable, Variable::Package(_))
    }

    /// The best value that is left.
    #[inline]
    pub(super) fn best(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let state = self.state.var(var);
        if state.has_default_order {
            return bits::last_below(self.state.domain(var), state.values)
                .expect("a value is left");
        }
        self.best_by_preference(problem, var)
    }

    /// The best value of a variable of which not the greatest has to be the best.
    #[inline(never)]
    fn best_by_preference(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let state = self.state.var(var);
        let (domain, universe) = (self.state.domain(var), &*problem.universe);
        let (package, binding) = match self.state.details(var).variable {
            Variable::Package(package) => (package, None),
            Variable::Binding(release, edge) => {
                let edge = edge as usize;
                let package = universe.known_details(release).edges[edge].package;
                (package, Some((release, edge)))
            }
            Variable::Release(_) => return 0,
        };
        let mut among = domain.to_vec();
        bits::remove(&mut among, state.values);
        let among = PositionSet::of_words(&among);
        let named = self.order.is_prerelease_named(package);
        let best = match binding {
            Some((release, edge)) => universe.best_binding(release, edge, package, &among, named),
            None => universe.best(package, &among, named),
        };
        best.expect("a value is left")
    }
}

/// Undecided variables, those that take part in conflicts first, then those with the fewest
/// values.
#[derive(Debug, Default)]
pub(super) struct VariableQueue {
    heap: BinaryHeap<(Activity, Reverse<Var>)>,
    /// For each variable the highest activity with which it is in the heap.
    known: Vec<Option<Activity>>,
}

/// How often a variable took part in conflicts, and how few values it has.
type Activity = (u32, Reverse<u32>);

impl VariableQueue {
    /// Forgets all variables.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.known.clear();
    }

    pub(super) fn add(&mut self, state: &Assignment, var: Var) {
        if state.is_present(var) && state.value(var).is_none() {
            self.push(Self::activity(state, var), var);
        }
    }

    /// Adds a variable, unless it is there and will come up in time.
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

    fn activity(state: &Assignment, var: Var) -> Activity {
        let values = bits::count(state.domain(var));
        (state.details(var).conflicts, Reverse(values))
    }

    /// The variable to decide next.
    pub(super) fn next(&mut self, state: &Assignment) -> Option<Var> {
        while let Some((activity, Reverse(var))) = self.heap.pop() {
            let known = &mut self.known[var as usize];
            if *known == Some(activity) {
                *known = None;
            }
            if !state.is_present(var) || state.value(var).is_some() {
                continue;
            }
            let now = Self::activity(state, var);
            if now == activity {
                return Some(var);
            }
            self.push(now, var);
        }
        None
    }
}
