//! What a release extends, as constraints.
//!
//! Where a requirement leads to nothing but releases that define a class, it says already that the class
//! is found, and there is no constraint of its own. Searches for reasons may drop requirements; they
//! need all constraints.

use crate::problem::{Fact, Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::{ClassId, OnlyDefiner, PackageRequirement, SetId};

use super::Search;
use super::assignment::{Literal, Term, Var};
use super::clauses::Origin;
use super::expand::Owner;

impl Search {
    /// Adds what a release extends, as constraints on what it requires.
    pub(super) fn expand_classes(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Owner,
        requirements: &[PackageRequirement],
    ) {
        let mut classes = std::mem::take(&mut self.classes);
        problem
            .universe
            .class_requirements(owner.release, requirements, &mut classes);
        let package = owner.release.package;
        if classes.has_cycle {
            let fact = Fact::OwnCycle { owner: package };
            if problem.is_in_force(&fact) {
                let terms = [self.single(owner.var, owner.value)];
                self.add_clause_of(&terms, fact);
            }
        }
        for required_class in &classes.all {
            let class = required_class.class;
            let fact = Fact::Extends {
                owner: package,
                class,
            };
            if !problem.is_in_force(&fact) {
                continue;
            }
            match &required_class.only_definer {
                Some(found) => self.expand_found(problem, owner, class, found, requirements),
                None => self.expand_sought(problem, owner, class, requirements),
            }
        }
        self.classes = classes;
    }

    /// Adds that one of several required packages may define a class.
    fn expand_sought(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Owner,
        class: ClassId,
        requirements: &[PackageRequirement],
    ) {
        let Owner {
            var,
            value,
            release,
        } = owner;
        let mut definers: Vec<(usize, &PackageRequirement, PositionSet)> = Vec::new();
        for (edge, requirement) in requirements.iter().enumerate() {
            let defining = problem.universe.catalog.definers(requirement.target, class);
            let defining =
                defining.intersection(&problem.universe.catalog.candidates_of(requirement.target));
            if !defining.is_empty() {
                definers.push((edge, requirement, defining));
            }
        }
        let universe = &*problem.universe;
        let is_implied =
            |(_, requirement, defining): &(usize, &PackageRequirement, PositionSet)| {
                let required = universe.allowed_words(requirement);
                PositionSet::of_words(required).is_subset_of(defining)
            };
        if problem.is_whole() && definers.iter().any(is_implied) {
            return;
        }
        let mut terms = vec![self.single(var, value)];
        for (edge, requirement, defining) in definers {
            let target = self.bound_var(problem, release, edge, requirement.target);
            let mut allowed = vec![0; self.state.width(target)];
            defining.copy_to(&mut allowed);
            // That the package is there at all is what the requirement says.
            bits::insert(&mut allowed, self.state.var(target).values);
            let set = self.state.keep_complement(target, &allowed);
            terms.push(Term { var: target, set });
        }
        if let [own, target] = terms.as_slice() {
            if self.has_constraint([*own, *target], value) {
                return;
            }
            let own = self.extending(problem, owner, class, target.var, None);
            let sides = [own, self.state.new_side_of_term(*target)];
            let cause = Origin::Extends(class);
            self.constraints.add_binary(&mut self.state, sides, cause);
        } else {
            let owner = release.package;
            self.add_clause_of(&terms, Fact::Extends { owner, class });
        }
    }

    /// Adds that only one required package can define a class.
    fn expand_found(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Owner,
        class: ClassId,
        found: &OnlyDefiner,
        requirements: &[PackageRequirement],
    ) {
        let Owner {
            var,
            value,
            release,
        } = owner;
        let requirement = &requirements[found.requirement];
        let (package, width) = (
            requirement.target,
            problem.universe.catalog.width(requirement.target),
        );
        let required = problem.universe.allowed_words(requirement);
        let allowed = problem.universe.set(found.allowed, width);
        if problem.is_whole() && bits::is_subset(required, allowed) {
            // Wherever the requirement leads the class is found.
            return;
        }
        let target = self.bound_var(problem, release, found.requirement, package);
        let allowed = problem.universe.set(found.allowed, width);
        if self.has_class_constraint(var, value, target, allowed) {
            return;
        }
        let set = self.state.keep_present_complement(target, allowed);
        let own = self.extending(problem, owner, class, target, found.owners);
        let cause = Origin::Extends(class);
        let refused = Term { var: target, set };
        let sides = [own, self.state.new_side_of_term(refused)];
        self.constraints.add_binary(&mut self.state, sides, cause);
    }

    /// The side of a constraint that whoever extends a class and finds it in one place has: whatever
    /// shares that with a release, or the release alone. `known` are those that share it, if it is
    /// known.
    fn extending(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Owner,
        class: ClassId,
        target: Var,
        known: Option<SetId>,
    ) -> Literal {
        let Owner {
            var,
            value,
            release,
        } = owner;
        let both = [var, target].map(|var| self.state.details(var).variable);
        let [Variable::Package(_), Variable::Package(package)] = both else {
            return self.state.new_side_of_value(var, value);
        };
        let alike = known.or_else(|| problem.universe.extenders(release, class, package));
        let Some(alike) = alike else {
            return self.state.new_side_of_value(var, value);
        };
        let alike = problem.universe.set(alike, self.state.width(var));
        self.state.new_side(var, alike)
    }

    /// Whether the constraint that another value extends a class came in, which `allowed` define.
    fn has_class_constraint(&self, owner: Var, value: u32, target: Var, allowed: &[u64]) -> bool {
        let values = self.state.var(target).values;
        let mut found = false;
        self.constraints
            .each_owned(&self.state, owner, value, |own, other| {
                let refused = self.state.set(other);
                found |= other.var == target
                    && bits::contains(self.state.set(own), value)
                    && !bits::contains(refused, values)
                    && bits::is_disjoint(refused, allowed)
                    && bits::count(refused) + bits::count(allowed) == values;
            });
        found
    }

    /// Whether a constraint that says the same came in with another value.
    fn has_constraint(&self, [owner, target]: [Term; 2], value: u32) -> bool {
        let mut found = false;
        self.constraints
            .each_owned(&self.state, owner.var, value, |own, other| {
                found |= other.var == target.var
                    && bits::contains(self.state.set(own), value)
                    && self.state.set(other) == self.state.set(target);
            });
        found
    }
}
