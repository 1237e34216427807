//! Expansion: creates the variables of a problem, and the clauses for the dependencies of a value.
//!
//! Clauses are created lazily: those of a value when it is the only one left, or when it is probed.
//! A requirement that releases of a package share is one clause for all of them: "these releases
//! exclude everything that the requirement does not allow".

use crate::index::to_u32;
use crate::problem::{Fact, LoopNogood, Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::{Missing, PackageId, PackageRequirement, ReleaseId};

use super::Search;
use super::assignment::{Literal, Term, Var};
use super::clauses::Origin;
use super::decide::RequiredVariable;

/// The looks that reading a requirement and adding its clause count.
const LOOKS_PER_REQUIREMENT: u64 = 4;

/// The words of a set of many values that are written in the time of a look.
const WORDS_PER_LOOK: usize = 8;

/// A value of a variable that is a release.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReleaseValue {
    pub(super) var: Var,
    pub(super) value: u32,
    pub(super) release: ReleaseId,
}

impl Search {
    /// The variable of a package that has one release.
    #[inline]
    pub(super) fn package_var(&mut self, problem: &Problem<'_>, package: PackageId) -> Var {
        match self.known_var(package) {
            Some(known) => known,
            None => self.new_package_var(problem, package),
        }
    }

    #[inline(never)]
    fn new_package_var(&mut self, problem: &Problem<'_>, package: PackageId) -> Var {
        let position = package.position();
        if self.package_vars.len() <= position {
            self.package_vars.resize(
                problem.universe.catalog.package_count().max(position + 1),
                0,
            );
        }
        let values = problem.universe.catalog.release_count(package);
        let var = self.assignment.add_var(Variable::Package(package), values);
        self.assignment.var_mut(var).has_default_order =
            problem.universe.catalog.has_default_order(package);
        self.package_vars[position] = var + 1;
        if !problem.goals().is_empty() {
            self.add_goals(problem, package, None, var);
        }
        var
    }

    /// The variable of a package, if it was created.
    #[inline]
    pub(super) fn known_var(&self, package: PackageId) -> Option<Var> {
        self.package_vars.get(package.position())?.checked_sub(1)
    }

    /// Adds the goals for a package, or for the requirements of `owner` on it.
    fn add_goals(
        &mut self,
        problem: &Problem<'_>,
        package: PackageId,
        owner: Option<ReleaseId>,
        var: Var,
    ) {
        for (fact, allowed, may_be_absent) in problem.goals().of(package, owner) {
            if !problem.is_in_force(&fact) {
                continue;
            }
            let mut words = allowed.to_words(self.assignment.width(var));
            if may_be_absent {
                bits::insert(&mut words, self.assignment.var(var).values);
            }
            let set = self.assignment.store_complement(var, &words);
            let refused = Term { var, set };
            if bits::count(self.assignment.set(refused)) > 0 {
                self.add_fact_clause(&[refused], fact);
            }
        }
    }

    /// Adds the loop nogood of a goal that was found last.
    pub(super) fn add_last_loop_nogood(&mut self, problem: &mut Problem<'_>, package: PackageId) {
        let goal = problem.goals().goal(package);
        if let Some(loop_nogood) = goal.and_then(|goal| goal.loop_nogoods.last()).cloned() {
            self.add_loop_nogood(problem, package, &loop_nogood);
        }
    }

    /// Adds a loop nogood as a clause: one of the packages and bindings must have a value that leads out of the set.
    pub(super) fn add_loop_nogood(
        &mut self,
        problem: &mut Problem<'_>,
        package: PackageId,
        loop_nogood: &LoopNogood,
    ) {
        let fact = Fact::Wanted { package };
        if !problem.is_in_force(&fact) {
            return;
        }
        let mut terms: Vec<Term> = Vec::new();
        let mut always = None;
        let packages = loop_nogood.packages.iter();
        let packages = packages.map(|(package, values)| (Variable::Package(*package), values));
        let bindings = loop_nogood
            .bindings
            .iter()
            .map(|(release, number, values)| {
                let number = to_u32(*number);
                (Variable::Binding(*release, number), values)
            });
        for (variable, values) in packages.chain(bindings) {
            let var = self.var(problem, variable);
            let mut words = values.to_words(self.assignment.width(var));
            let absent = self.assignment.var(var).values;
            bits::insert(&mut words, absent);
            let is_everything = bits::count(&words) > absent;
            let set = self.assignment.store(&words);
            if is_everything {
                always = Some(Term { var, set });
            } else {
                terms.push(Term { var, set });
            }
        }
        if terms.is_empty() {
            terms.extend(always);
        }
        self.add_fact_clause(&terms, fact);
    }

    pub(super) fn var(&mut self, problem: &mut Problem<'_>, variable: Variable) -> Var {
        if let Variable::Package(package) = variable {
            return self.package_var(problem, package);
        }
        if let Some(known) = self.other_vars.get(&variable) {
            return *known;
        }
        let Variable::Binding(release, number) = variable else {
            let var = self.assignment.add_var(variable, 1);
            self.other_vars.insert(variable, var);
            return var;
        };
        let details = problem.universe.details(release);
        let package = details.requirements[number as usize].package;
        let values = problem.universe.catalog.release_count(package);
        let var = self.assignment.add_var(variable, values);
        self.other_vars.insert(variable, var);
        if !problem.goals().is_empty() {
            self.add_goals(problem, package, Some(release), var);
        }
        var
    }

    /// The variable that decides which release a requirement is bound to.
    pub(super) fn bound_var(
        &mut self,
        problem: &mut Problem<'_>,
        release: ReleaseId,
        number: usize,
        target: PackageId,
    ) -> Var {
        if problem.is_split(target) {
            let number = to_u32(number);
            self.var(problem, Variable::Binding(release, number))
        } else {
            self.package_var(problem, target)
        }
    }

    /// Adds the clauses of a value.
    pub(super) fn expand(
        &mut self,
        problem: &mut Problem<'_>,
        var: Var,
        value: u32,
    ) -> Result<(), Missing> {
        let variable = self.assignment.details(var).variable;
        if let Variable::Binding(release, number) = variable {
            let details = problem.universe.details(release);
            let package = details.requirements[number as usize].package;
            let bound = ReleaseId {
                package,
                index: value,
            };
            let target = self.var(problem, Variable::Release(bound));
            let literals = [
                self.assignment.literal_of_value(var, value),
                // The release is absent.
                self.assignment.literal_of_value(target, 1),
            ];
            self.clauses
                .add_binary(&mut self.assignment, literals, Origin::Problem);
        } else if let Some(release) = variable.release(value) {
            let mut requirements = std::mem::take(&mut self.requirements);
            problem.universe.requirements(release, &mut requirements);
            let owner = ReleaseValue {
                var,
                value,
                release,
            };
            let result = self.expand_release(problem, owner, &requirements);
            self.requirements = requirements;
            result?;
        }
        self.assignment.mark_expanded(var, value);
        Ok(())
    }

    fn expand_release(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
        requirements: &[PackageRequirement],
    ) -> Result<(), Missing> {
        let ReleaseValue {
            var,
            value,
            release,
        } = owner;
        if !requirements.iter().all(PackageRequirement::is_known) {
            let missing = requirements
                .iter()
                .filter(|requirement| !requirement.is_known());
            let missing = missing.map(|requirement| requirement.target);
            return Err(Missing::Packages(missing.collect()));
        }
        // An ordinary search expands each release once. The others are parts of a series, in which each
        // search expands the same releases again.
        if !problem.is_ordinary() {
            self.clauses.looks += LOOKS_PER_REQUIREMENT * requirements.len() as u64;
        }
        let is_ordinary = problem.is_ordinary() && self.is_of_package(var);
        let mut is_impossible = false;
        self.order.begin(var, value, requirements.len());
        for (number, requirement) in requirements.iter().enumerate() {
            let short = if is_ordinary {
                problem.universe.short_sets(requirement)
            } else {
                None
            };
            let allows_nothing = match short {
                Some(sets) => self.require_short(problem, var, requirement, sets),
                None => self.require(problem, owner, number, requirement),
            };
            is_impossible |= allows_nothing;
        }
        // If a required package has no allowed release, that is the reason. Missing classes only
        // follow from it. A restricted problem may lack the requirement.
        let is_found = if problem.is_unmodified() {
            problem
                .universe
                .requirements_define_all_classes(release, requirements)
        } else {
            problem.universe.catalog.extends_nothing(release)
        };
        if !is_found && (!is_impossible || problem.is_restricted()) {
            self.expand_classes(problem, owner, requirements);
        }
        Ok(())
    }

    pub(super) fn add_fact_clause(&mut self, terms: &[Term], fact: Fact) {
        let origin = self.clauses.add_fact(fact);
        let number = self.clauses.add_clause(terms, origin);
        self.new_clauses.push_back(number);
    }

    pub(super) fn add_nogood(&mut self, problem: &mut Problem<'_>, number: u32) {
        let fact = Fact::Nogood(number);
        if !problem.is_in_force(&fact) {
            return;
        }
        let terms = problem.nogoods()[number as usize].terms.clone();
        let terms: Vec<Term> = terms
            .iter()
            .map(|(variable, values)| {
                let var = self.var(problem, *variable);
                let words = values.to_words(self.assignment.width(var));
                let set = self.assignment.store(&words);
                Term { var, set }
            })
            .collect();
        self.add_fact_clause(&terms, fact);
    }

    pub(super) fn single(&mut self, var: Var, value: u32) -> Term {
        let set = self.assignment.store_single(var, value);
        Term { var, set }
    }
}

impl Search {
    /// Adds the clause of a requirement in an [ordinary](Problem::is_ordinary) search. The sets are
    /// the releases that share it, and what it allows. Returns whether it allows nothing.
    ///
    /// This is [`require`](Self::require) for the case of nearly all requirements.
    #[inline]
    pub(super) fn require_short(
        &mut self,
        problem: &mut Problem<'_>,
        owner: Var,
        requirement: &PackageRequirement,
        [owners, allowed]: [u64; 2],
    ) -> bool {
        let target = self.package_var(problem, requirement.target);
        self.list_required(problem, target, requirement);
        if self.assignment.is_within_at_level_zero(target, &[allowed]) {
            return false;
        }
        if bits::is_disjoint(self.assignment.expanded(owner), &[owners]) {
            let literals = [
                Literal::of_word(owner, owners),
                self.assignment.literal_of_complement(target, &[allowed]),
            ];
            self.clauses
                .add_binary(&mut self.assignment, literals, Origin::Requirement);
        }
        allowed == 0
    }

    /// Adds the clause of a requirement, which has the number `number` in its release. Returns
    /// whether it allows no existing release.
    pub(super) fn require(
        &mut self,
        problem: &mut Problem<'_>,
        owner: ReleaseValue,
        number: usize,
        requirement: &PackageRequirement,
    ) -> bool {
        let ReleaseValue {
            var,
            value,
            release,
        } = owner;
        let target = self.bound_var(problem, release, number, requirement.target);
        self.list_required(problem, target, requirement);
        let allowed = problem.universe.allowed_words(requirement);
        if problem.is_unmodified() && self.assignment.is_within_at_level_zero(target, allowed) {
            // The clause would hold at level zero already, as for most requirements on the core
            // library.
            return false;
        }
        // The variable of a requirement on a split package belongs to one release.
        let is_shared = self.is_of_package(var) && !problem.is_split(requirement.target);
        let owners = if is_shared {
            problem.universe.owners(release, requirement)
        } else {
            None
        };
        let instead;
        let mut allowed = problem.universe.allowed_words(requirement);
        if let Some(relaxed) = problem.relaxed(release.package, requirement.target, allowed) {
            instead = relaxed.to_words(allowed.len());
            allowed = &instead;
        }
        let allows_nothing = allowed.iter().all(|word| *word == 0);
        let own = if let Some(owners) = owners {
            let owners = problem.universe.set(owners, self.assignment.width(var));
            if !bits::is_disjoint(self.assignment.expanded(var), owners) {
                // The clause was added with another value.
                return allows_nothing;
            }
            self.assignment.literal_of_set(var, owners)
        } else {
            self.assignment.literal_of_value(var, value)
        };
        let origin = if is_shared && !problem.is_restricted() {
            Origin::Requirement
        } else {
            let fact = Fact::Requires {
                owner: release.package,
                target: requirement.target,
                allowed: PositionSet::of_words(allowed),
            };
            if !problem.is_in_force(&fact) {
                return allows_nothing;
            }
            self.clauses.add_fact(fact)
        };
        let refused = self.assignment.literal_of_complement(target, allowed);
        self.clauses
            .add_binary(&mut self.assignment, [own, refused], origin);
        if !problem.is_ordinary() {
            let words = self.assignment.width(var) + self.assignment.width(target);
            self.clauses.looks += (words / WORDS_PER_LOOK) as u64;
        }
        allows_nothing
    }

    /// Lists a requirement of the release that was begun last.
    #[inline]
    fn list_required(
        &mut self,
        problem: &mut Problem<'_>,
        target: Var,
        requirement: &PackageRequirement,
    ) {
        let is_required = &mut self.assignment.var_mut(target).required;
        if !std::mem::replace(is_required, true) {
            problem.universe.catalog.set_required(requirement.target);
        }
        self.order.require(RequiredVariable {
            var: target,
            package: requirement.target,
            names_prerelease: requirement.names_prerelease,
        });
    }
}
