//! What a value of a variable depends on, as constraints.

use crate::encoding::{Clause, Detour, Encoding, Fact, Variable};
use crate::universe::{Demand, Missing, PackageId, ReleaseId};
use crate::words;

use super::Core;
use super::constraints::Cause;
use super::state::{Term, Var};

/// A value of a variable that stands for a release, which constraints are about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) var: Var,
    pub(super) value: u32,
    pub(super) release: ReleaseId,
}

impl Core {
    /// The variable of a package that has one release.
    #[inline]
    pub(super) fn package_var(&mut self, encoding: &Encoding<'_>, package: PackageId) -> Var {
        match self.known_var(package) {
            Some(known) => known,
            None => self.new_package_var(encoding, package),
        }
    }

    #[inline(never)]
    fn new_package_var(&mut self, encoding: &Encoding<'_>, package: PackageId) -> Var {
        let position = package.position();
        if self.package_vars.len() <= position {
            self.package_vars
                .resize(encoding.universe.package_count().max(position + 1), 0);
        }
        let values = encoding.universe.release_count(package);
        let var = self.state.add_var(Variable::Package(package), values);
        self.state.var_mut(var).is_plain = encoding.universe.is_plain(package);
        self.package_vars[position] = var + 1;
        if !encoding.limits().is_empty() {
            self.add_limits(encoding, package, None, var);
        }
        var
    }

    /// The variable of a package, if it has one.
    #[inline]
    pub(super) fn known_var(&self, package: PackageId) -> Option<Var> {
        self.package_vars.get(package.position())?.checked_sub(1)
    }

    /// Adds what an update says of a package, or of what `owner` requires of it.
    fn add_limits(
        &mut self,
        encoding: &Encoding<'_>,
        package: PackageId,
        owner: Option<ReleaseId>,
        var: Var,
    ) {
        for (fact, allowed, may_be_absent) in encoding.limits().of(package, owner) {
            if !encoding.is_in_force(&fact) {
                continue;
            }
            let mut words = vec![0; self.state.width(var)];
            allowed.copy_to(&mut words);
            if may_be_absent {
                words::insert(&mut words, self.state.var(var).values);
            }
            let set = self.state.keep_complement(var, &words);
            let refused = Term { var, set };
            if words::count(self.state.set(refused)) > 0 {
                self.add_clause_of(&[refused], fact);
            }
        }
    }

    /// Takes in the last way in which a package would not be there.
    pub(in crate::engine) fn add_last_detour(
        &mut self,
        encoding: &mut Encoding<'_>,
        package: PackageId,
    ) {
        let wish = encoding.limits().wish(package);
        if let Some(detour) = wish.and_then(|wish| wish.detours.last()).cloned() {
            self.add_detour(encoding, package, &detour);
        }
    }

    /// Says that a way in which a package would not be there will not do.
    pub(super) fn add_detour(
        &mut self,
        encoding: &mut Encoding<'_>,
        package: PackageId,
        detour: &Detour,
    ) {
        let fact = Fact::Wanted { package };
        if !encoding.is_in_force(&fact) {
            return;
        }
        let mut terms: Vec<Term> = Vec::new();
        let mut always = None;
        let packages = detour.packages.iter();
        let packages = packages.map(|(package, values)| (Variable::Package(*package), values));
        let bindings = detour.bindings.iter().map(|(release, edge, values)| {
            let edge = u32::try_from(*edge).expect("fewer than 2^32 edges");
            (Variable::Binding(*release, edge), values)
        });
        for (variable, values) in packages.chain(bindings) {
            let var = self.var(encoding, variable);
            let mut words = vec![0; self.state.width(var)];
            values.copy_to(&mut words);
            let absent = self.state.var(var).values;
            words::insert(&mut words, absent);
            let is_everything = words::count(&words) > absent;
            let set = self.state.keep(&words);
            if is_everything {
                always = Some(Term { var, set });
            } else {
                terms.push(Term { var, set });
            }
        }
        if terms.is_empty() {
            terms.extend(always);
        }
        self.add_clause_of(&terms, fact);
    }

    pub(super) fn var(&mut self, encoding: &mut Encoding<'_>, variable: Variable) -> Var {
        if let Variable::Package(package) = variable {
            return self.package_var(encoding, package);
        }
        if let Some(known) = self.other_vars.get(&variable) {
            return *known;
        }
        let Variable::Binding(release, edge) = variable else {
            let var = self.state.add_var(variable, 1);
            self.other_vars.insert(variable, var);
            return var;
        };
        let details = encoding.universe.details(release);
        let package = details.edges[edge as usize].package;
        let values = encoding.universe.release_count(package);
        let var = self.state.add_var(variable, values);
        self.other_vars.insert(variable, var);
        if !encoding.limits().is_empty() {
            self.add_limits(encoding, package, Some(release), var);
        }
        var
    }

    /// The variable of what a requirement is bound to.
    pub(super) fn bound_var(
        &mut self,
        encoding: &mut Encoding<'_>,
        release: ReleaseId,
        edge: usize,
        target: PackageId,
    ) -> Var {
        if encoding.is_split(target) {
            let edge = u32::try_from(edge).expect("fewer than 2^32 edges");
            self.var(encoding, Variable::Binding(release, edge))
        } else {
            self.package_var(encoding, target)
        }
    }

    /// Adds the constraints that a value brings with it, the first time that it is the only one or the one
    /// that will be decided on.
    pub(super) fn expand(
        &mut self,
        encoding: &mut Encoding<'_>,
        var: Var,
        value: u32,
    ) -> Result<(), Missing> {
        let variable = self.state.details(var).variable;
        if let Variable::Binding(release, edge) = variable {
            let details = encoding.universe.details(release);
            let package = details.edges[edge as usize].package;
            let bound = ReleaseId {
                package,
                index: value,
            };
            let target = self.var(encoding, Variable::Release(bound));
            let sides = [
                self.state.new_side_of_value(var, value),
                // The release is not there.
                self.state.new_side_of_value(target, 1),
            ];
            self.constraints
                .add_binary(&mut self.state, sides, Cause::Encoding);
        } else if let Some(release) = variable.release(value) {
            let mut demands = std::mem::take(&mut self.demands);
            encoding.universe.demands(release, &mut demands);
            let owner = Owner {
                var,
                value,
                release,
            };
            let result = self.expand_release(encoding, owner, &demands);
            self.demands = demands;
            result?;
        }
        self.state.expand(var, value);
        Ok(())
    }

    fn expand_release(
        &mut self,
        encoding: &mut Encoding<'_>,
        owner: Owner,
        demands: &[Demand],
    ) -> Result<(), Missing> {
        let Owner {
            var,
            value,
            release,
        } = owner;
        if !demands.iter().all(Demand::is_known) {
            let missing = demands.iter().filter(|demand| !demand.is_known());
            let missing = missing.map(|demand| demand.target);
            return Err(Missing::Packages(missing.collect()));
        }
        self.fetch_demanded(encoding, demands);
        let is_ordinary = encoding.is_ordinary() && self.is_of_package(var);
        let mut is_impossible = false;
        self.order.begin(var, value, demands.len());
        self.state.make_room_for_sides(2 * demands.len());
        for (edge, demand) in demands.iter().enumerate() {
            let short = if is_ordinary {
                encoding.universe.short_sets(demand)
            } else {
                None
            };
            let is_met_by_nothing = match short {
                Some(sets) => self.require_short(encoding, var, demand, sets),
                None => self.require(encoding, owner, edge, demand),
            };
            is_impossible |= is_met_by_nothing;
        }
        // Where no release of a required package is left, that is the reason; that its classes are
        // missing only follows from it.
        let is_found = if encoding.is_whole() {
            encoding.universe.finds_classes(release, demands)
        } else {
            encoding.universe.extends_nothing(release)
        };
        if !is_impossible && !is_found {
            self.expand_classes(encoding, owner, demands);
        }
        Ok(())
    }

    pub(super) fn add_clause_of(&mut self, terms: &[Term], fact: Fact) {
        let cause = self.constraints.add_fact(fact);
        let number = self.constraints.add_clause(terms, cause);
        self.fresh.push_back(number);
    }

    /// Takes in a clause of the encoding.
    pub(super) fn add_encoded(
        &mut self,
        encoding: &mut Encoding<'_>,
        number: u32,
        clause: &Clause,
    ) {
        let fact = Fact::Clause(number);
        if !encoding.is_in_force(&fact) {
            return;
        }
        let terms: Vec<Term> = clause
            .terms
            .iter()
            .map(|(variable, values)| {
                let var = self.var(encoding, *variable);
                let mut words = vec![0; self.state.width(var)];
                values.copy_to(&mut words);
                let set = self.state.keep(&words);
                Term { var, set }
            })
            .collect();
        self.add_clause_of(&terms, fact);
    }

    pub(super) fn single(&mut self, var: Var, value: u32) -> Term {
        let set = self.state.keep_single(var, value);
        Term { var, set }
    }
}
