//! What a requirement brings with it, as a constraint.

use crate::problem::{Fact, Problem};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::PackageRequirement;

use super::Search;
use super::assignment::{Literal, Var};
use super::clauses::Origin;
use super::decision_order::Target;
use super::expand::Owner;

impl Search {
    /// Adds the constraint of a requirement of a release that is the value of a variable, in an
    /// [ordinary](Problem::is_ordinary) search. The sets are those of which releases have it and of
    /// what it allows. Says whether that is nothing.
    ///
    /// It does what [`require`](Self::require) does, and nearly all requirements are like that.
    #[inline]
    pub(super) fn require_short(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Var,
        requirement: &PackageRequirement,
        [owners, allowed]: [u64; 2],
    ) -> bool {
        let target = self.package_var(problem, requirement.target);
        self.see_required(problem, target, requirement);
        if self.state.is_certainly_among(target, &[allowed]) {
            return false;
        }
        if bits::is_disjoint(self.state.known(owner), &[owners]) {
            let sides = [
                Literal::of_word(owner, owners),
                self.state.new_side_of_complement(target, &[allowed]),
            ];
            self.constraints
                .put_binary(&mut self.state, sides, Origin::Requirement);
        }
        allowed == 0
    }

    /// Adds the constraint of any requirement of a release; `edge` is its number among them. Says
    /// whether no release is allowed that there is.
    pub(super) fn require(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Owner,
        edge: usize,
        requirement: &PackageRequirement,
    ) -> bool {
        let Owner {
            var,
            value,
            release,
        } = owner;
        let target = self.bound_var(problem, release, edge, requirement.target);
        self.see_required(problem, target, requirement);
        let allowed = problem.universe.allowed_words(requirement);
        if problem.is_whole() && self.state.is_certainly_among(target, allowed) {
            // Nothing else is left, whatever is decided: mostly so of the core library.
            return false;
        }
        // What a requirement on a split package is bound to belongs to one release.
        let is_shared = self.is_of_package(var) && !problem.is_split(requirement.target);
        let owners = if is_shared {
            problem.universe.owners(release, requirement)
        } else {
            None
        };
        let mut every;
        let mut allowed = problem.universe.allowed_words(requirement);
        if problem.is_relaxed(release.package, requirement.target, allowed) {
            every = vec![0; allowed.len()];
            let candidates = problem.universe.catalog.candidates_of(requirement.target);
            candidates.copy_to(&mut every);
            allowed = &every;
        }
        let is_met_by_nothing = allowed.iter().all(|word| *word == 0);
        let own = if let Some(owners) = owners {
            let owners = problem.universe.set(owners, self.state.width(var));
            if !bits::is_disjoint(self.state.known(var), owners) {
                // The same requirement came in with another value.
                return is_met_by_nothing;
            }
            self.state.new_side(var, owners)
        } else {
            self.state.new_side_of_value(var, value)
        };
        let cause = if is_shared && !problem.is_restricted() {
            Origin::Requirement
        } else {
            let fact = Fact::Requires {
                owner: release.package,
                target: requirement.target,
                allowed: PositionSet::of_words(allowed),
            };
            if !problem.is_in_force(&fact) {
                return is_met_by_nothing;
            }
            self.constraints.add_fact(fact)
        };
        let refused = self.state.new_side_of_complement(target, allowed);
        self.constraints
            .put_binary(&mut self.state, [own, refused], cause);
        is_met_by_nothing
    }

    /// Gives a requirement its place among those of the release that was begun last.
    #[inline]
    fn see_required(
        &mut self,
        problem: &mut Problem<'_>,
        target: Var,
        requirement: &PackageRequirement,
    ) {
        let is_required = &mut self.state.var_mut(target).required;
        if !std::mem::replace(is_required, true) {
            problem.universe.catalog.set_required(requirement.target);
        }
        self.order.require(Target {
            var: target,
            package: requirement.target,
            names_prerelease: requirement.names_prerelease,
        });
    }
}
