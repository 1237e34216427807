//! Clauses for the classes that a release extends, which have to be found.
//!
//! If a requirement allows only releases that define the class, the class is always found, and no
//! clause is added. Restricted problems may lack that requirement, so they get all clauses.

use crate::problem::{Fact, Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::{ClassId, OnlyDefiner, PackageRequirement, SetId};

use super::Search;
use super::assignment::{Literal, Term, Var};
use super::clauses::Origin;
use super::expand::ReleaseValue;

impl Search {
    /// Adds the clauses for the classes that a release extends.
    pub(super) fn expand_classes(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
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
                self.add_fact_clause(&terms, fact);
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
                Some(found) => self.expand_unique_class(problem, owner, class, found, requirements),
                None => self.expand_ambiguous_class(problem, owner, class, requirements),
            }
        }
        self.classes = classes;
    }

    /// Adds a clause for a class that several required packages may define.
    fn expand_ambiguous_class(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
        class: ClassId,
        requirements: &[PackageRequirement],
    ) {
        let ReleaseValue {
            var,
            value,
            release,
        } = owner;
        let universe = &*problem.universe;
        let definers = requirements
            .iter()
            .enumerate()
            .map(|(number, requirement)| {
                let defining = (universe.catalog).defining_candidates(requirement.target, class);
                (number, requirement, defining)
            });
        let definers = definers.filter(|(_, _, defining)| !defining.is_empty());
        let definers: Vec<(usize, &PackageRequirement, PositionSet)> = definers.collect();
        let is_implied =
            |(_, requirement, defining): &(usize, &PackageRequirement, PositionSet)| {
                let required = universe.allowed_words(requirement);
                PositionSet::of_words(required).is_subset_of(defining)
            };
        if problem.is_unmodified() && definers.iter().any(is_implied) {
            return;
        }
        let mut terms = vec![self.single(var, value)];
        for (number, requirement, defining) in definers {
            let target = self.bound_var(problem, release, number, requirement.target);
            let allowed = defining.to_words(self.assignment.width(target));
            let set = self.assignment.store_complement(target, &allowed);
            terms.push(Term { var: target, set });
        }
        if let [own, target] = terms.as_slice() {
            if self.has_clause([*own, *target], value) {
                return;
            }
            let own = self.extending_literal(problem, owner, class, target.var, None);
            let literals = [own, self.assignment.literal_of_term(*target)];
            let origin = Origin::Extends(class);
            self.clauses
                .add_binary(&mut self.assignment, literals, origin);
        } else {
            let owner = release.package;
            self.add_fact_clause(&terms, Fact::Extends { owner, class });
        }
    }

    /// Adds a clause for a class that only one required package can define.
    fn expand_unique_class(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
        class: ClassId,
        found: &OnlyDefiner,
        requirements: &[PackageRequirement],
    ) {
        let ReleaseValue {
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
        if problem.is_unmodified() && bits::is_subset(required, allowed) {
            // Every allowed release defines the class.
            return;
        }
        let target = self.bound_var(problem, release, found.requirement, package);
        let allowed = problem.universe.set(found.allowed, width);
        if self.has_class_clause(var, value, target, allowed) {
            return;
        }
        let refused = self.assignment.literal_of_complement(target, allowed);
        let own = self.extending_literal(problem, owner, class, target, found.owners);
        let origin = Origin::Extends(class);
        self.clauses
            .add_binary(&mut self.assignment, [own, refused], origin);
    }

    /// The literal of the releases that extend a class and find it in the same package as one
    /// release, or of that release alone. `known` is the set of these releases, if it was computed.
    fn extending_literal(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
        class: ClassId,
        target: Var,
        known: Option<SetId>,
    ) -> Literal {
        let ReleaseValue {
            var,
            value,
            release,
        } = owner;
        let both = [var, target].map(|var| self.assignment.details(var).variable);
        let [Variable::Package(_), Variable::Package(package)] = both else {
            return self.assignment.literal_of_value(var, value);
        };
        let sharing = known.or_else(|| problem.universe.extenders(release, class, package));
        let Some(sharing) = sharing else {
            return self.assignment.literal_of_value(var, value);
        };
        let sharing = problem.universe.set(sharing, self.assignment.width(var));
        self.assignment.literal_of_set(var, sharing)
    }

    /// Whether the clause for a class that the `allowed` releases define was added with another
    /// value.
    fn has_class_clause(&self, owner: Var, value: u32, target: Var, allowed: &[u64]) -> bool {
        let values = self.assignment.var(target).values;
        let mut found = false;
        self.clauses
            .for_each_owned(&self.assignment, owner, value, |own, other| {
                let refused = self.assignment.set(other);
                found |= other.var == target
                    && bits::contains(self.assignment.set(own), value)
                    && bits::is_disjoint(refused, allowed)
                    && bits::count(refused) + bits::count(allowed) == values + 1;
            });
        found
    }

    /// Whether an equal clause was added with another value.
    fn has_clause(&self, [owner, target]: [Term; 2], value: u32) -> bool {
        let mut found = false;
        self.clauses
            .for_each_owned(&self.assignment, owner.var, value, |own, other| {
                found |= other.var == target.var
                    && bits::contains(self.assignment.set(own), value)
                    && self.assignment.set(other) == self.assignment.set(target);
            });
        found
    }
}
