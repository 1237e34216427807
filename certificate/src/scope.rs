//! Which rules a problem contains.
//!
//! Leaving a rule out allows more solutions. So a proof that the rest has none holds for all rules, and a
//! certificate contains only what its proof needs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pkgres_manifest::{ClassName, PackageName};
use pkgres_resolver::{ClauseOrigin, Derivation, DerivationVariable, DerivedClause, ModelRoot};

use crate::NotCertified;
use crate::claim::Tiers;
use crate::universe::Universe;

/// The rules that a problem contains.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The packages of which releases are chosen.
    pub(crate) packages: BTreeSet<PackageName>,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageName>,
    /// Requirements of releases of the first package on the second.
    pub(crate) requirements: BTreeSet<(PackageName, PackageName)>,
    /// Classes that releases of the package extend and that have to be found.
    pub(crate) classes: BTreeSet<(PackageName, ClassName)>,
    /// Packages whose releases must not have classes that extend each other in a cycle.
    pub(crate) own_cycles: BTreeSet<PackageName>,
    /// The names of classes whose hierarchy is part of the problem.
    pub(crate) hierarchy: BTreeSet<ClassName>,
}

impl Scope {
    /// Every rule, with one release of each package, or with several of all but the roots.
    pub fn everything(universe: &Universe, tiers: Tiers) -> Self {
        let mut scope = Self::default();
        for (package, candidates) in &universe.candidates {
            scope.packages.insert(package.clone());
            if tiers == Tiers::Both && !universe.roots.contains(package) {
                scope.split.insert(package.clone());
            }
            scope.own_cycles.insert(package.clone());
            for candidate in candidates {
                for (required, _) in &candidate.requirements {
                    scope.packages.insert(required.clone());
                    scope
                        .requirements
                        .insert((package.clone(), required.clone()));
                }
                for (class, parent) in candidate.extensions() {
                    scope.classes.insert((package.clone(), parent.clone()));
                    scope.hierarchy.extend([class.clone(), parent.clone()]);
                }
            }
        }
        let objects = universe.model.iter().flat_map(ModelRoot::objects);
        (scope.packages).extend(objects.map(|object| object.package.clone()));
        if !universe.has_hierarchy {
            scope.hierarchy.clear();
            scope.own_cycles.clear();
        }
        scope
    }

    /// The rules of this scope for which a choice says so. The packages are the same.
    #[must_use]
    pub fn sample(&self, mut is_kept: impl FnMut() -> bool) -> Self {
        let mut sample = self.clone();
        sample.requirements.retain(|_| is_kept());
        sample.classes.retain(|_| is_kept());
        sample.own_cycles.retain(|_| is_kept());
        sample.hierarchy.retain(|_| is_kept());
        sample
    }

    /// This scope with one release of those packages for which a choice says so.
    #[must_use]
    pub fn with_single(&self, mut is_single: impl FnMut() -> bool) -> Self {
        let mut single = self.clone();
        single.split.retain(|_| !is_single());
        single
    }

    /// The rules that a derivation uses.
    pub(crate) fn of_derivation(
        derivation: &Derivation,
        universe: &Universe,
        tiers: Tiers,
    ) -> Result<Self, NotCertified> {
        let mut scope = Self {
            packages: packages_of(derivation),
            ..Self::default()
        };
        scope.packages.extend(universe.roots.iter().cloned());
        for variable in &derivation.variables {
            match variable {
                DerivationVariable::Package { .. } => {}
                DerivationVariable::Release { package, .. } => {
                    scope.split.insert(package.clone());
                }
                DerivationVariable::Binding { owner, package, .. } => {
                    scope.split.insert(package.clone());
                    scope
                        .requirements
                        .insert((owner.name.clone(), package.clone()));
                }
            }
        }
        // Most requirements are those of other versions of a package as well.
        let mut seen = HashSet::new();
        for clause in &derivation.clauses {
            let packages = match &clause.origin {
                ClauseOrigin::Root
                | ClauseOrigin::Bound
                | ClauseOrigin::Derived(_)
                | ClauseOrigin::Implied { .. } => continue,
                ClauseOrigin::Requirement if !seen.insert(variables_in(clause)) => continue,
                _ => packages_in(derivation, clause),
            };
            match (&clause.origin, packages.split_first()) {
                (_, None) => {}
                (ClauseOrigin::Requirement, Some((owner, targets))) => {
                    scope.require(owner, targets);
                }
                (ClauseOrigin::Class { owner, class }, _) => {
                    scope.require(owner, &packages);
                    scope.classes.insert((owner.clone(), class.clone()));
                }
                (ClauseOrigin::OwnCycle, Some((owner, _))) => {
                    scope.own_cycles.insert(owner.clone());
                }
                (
                    ClauseOrigin::Hierarchy {
                        classes,
                        requirements,
                    },
                    _,
                ) => {
                    scope.hierarchy.extend(classes.iter().cloned());
                    for (owner, target) in requirements {
                        scope.packages.extend([owner.clone(), target.clone()]);
                    }
                    scope.requirements.extend(requirements.iter().cloned());
                }
                _ => return Err(NotCertified::Prereleases),
            }
        }
        if tiers == Tiers::Both && !scope.holds_for_both_tiers(universe) {
            return Err(NotCertified::Rule(
                "a package with one release that several others require",
            ));
        }
        Ok(scope)
    }

    fn require(&mut self, owner: &PackageName, targets: &[PackageName]) {
        for target in targets.iter().filter(|target| *target != owner) {
            self.requirements.insert((owner.clone(), target.clone()));
        }
    }

    /// Whether a problem without solutions in this scope has none with several releases of any package.
    ///
    /// A package of the problem has one release if it is not split. That is no restriction if one other package
    /// requires it, as far as the rules in the scope go, and that one has one release too: take the release that the
    /// requirement is bound to, and forget the others. Nothing in the scope is about those.
    pub fn holds_for_both_tiers(&self, universe: &Universe) -> bool {
        self.shared(universe).is_empty()
    }

    /// The packages with one release that several other releases may require.
    pub(crate) fn shared(&self, universe: &Universe) -> BTreeSet<PackageName> {
        let mut requirers: BTreeMap<&PackageName, BTreeSet<&PackageName>> = BTreeMap::new();
        for (owner, target) in &self.requirements {
            requirers.entry(target).or_default().insert(owner);
        }
        let is_single = |package: &PackageName| {
            universe.of(package).len() <= 1 || !self.split.contains(package)
        };
        let shared = requirers.into_iter().filter(|(target, owners)| {
            universe.of(target).len() > 1
                && !self.split.contains(*target)
                && !(owners.len() == 1 && owners.iter().all(|owner| is_single(owner)))
        });
        shared.map(|(target, _)| target.clone()).collect()
    }
}

/// The packages that a derivation is about.
pub(crate) fn packages_of(derivation: &Derivation) -> BTreeSet<PackageName> {
    let mut packages = BTreeSet::new();
    for variable in &derivation.variables {
        if let DerivationVariable::Binding { owner, .. } = variable {
            packages.insert(owner.name.clone());
        }
        packages.insert(variable.package().clone());
    }
    for clause in &derivation.clauses {
        if let ClauseOrigin::Hierarchy { requirements, .. } = &clause.origin {
            for (owner, target) in requirements {
                packages.extend([owner.clone(), target.clone()]);
            }
        }
    }
    packages
}

/// The variables of a clause.
fn variables_in(clause: &DerivedClause) -> Vec<usize> {
    let literals = clause.literals.iter();
    literals.map(|literal| literal.variable).collect()
}

/// The packages whose releases the literals of a clause choose.
fn packages_in(derivation: &Derivation, clause: &DerivedClause) -> Vec<PackageName> {
    let variables = clause.literals.iter();
    let variables = variables.map(|literal| &derivation.variables[literal.variable]);
    variables
        .map(|variable| variable.package().clone())
        .collect()
}
