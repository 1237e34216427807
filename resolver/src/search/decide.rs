//! What is decided next, and at which value.

use crate::budget::{Budget, Interrupt};
use crate::problem::{Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::ReleaseId;

use super::Search;
use super::assignment::Var;
use super::decision_order::Listed;

impl Search {
    /// Decides the next requirement; says whether all are decided.
    pub(super) fn decide_in_order(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        if self.order.is_empty() {
            for root in problem.universe.catalog.roots() {
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
                let package = universe.known_details(release).requirements[edge].package;
                (package, Some((release, edge)))
            }
            Variable::Release(_) => return 0,
        };
        let mut among = domain.to_vec();
        bits::remove(&mut among, state.values);
        let among = PositionSet::of_words(&among);
        let named = self.order.is_prerelease_named(package);
        let best = match binding {
            Some((release, edge)) => universe
                .catalog
                .best_binding(release, edge, package, &among, named),
            None => universe.catalog.best(package, &among, named),
        };
        best.expect("a value is left")
    }
}
