//! Encodes the rules of resolution as linear inequalities.
//!
//! *Releases.* A package with one release has a variable for each candidate and one for "absent"; exactly one of them is 1.
//! A package that may have several has a variable for each candidate, and each requirement on it has one for each
//! release that it allows and one for "unbound".
//!
//! *Requirements*. If a release is present, so is one of the releases that each of its requirements allows.
//!
//! *Classes*. If a release is present, each class that it extends is found: a requirement is bound to one of
//! the releases that define the class.
//!
//! *Hierarchy*, see [`hierarchy`].
//!
//! *Objects*. Each object of a model is bound to a release that it allows and that defines its class, and the contracts of
//! properties hold, see [`contracts`].

mod ancestors;
pub(crate) mod classes;
mod contracts;
mod groups;
pub(crate) mod hierarchy;

pub(crate) use groups::{Group, GroupKey, Groups};
pub(crate) use hierarchy::HierarchyRows;

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, ObjectId, PackageName, Spec, Version};
use pkgres_proof_checker::Literal;
use pkgres_resolver::{ClassFiles, ModelRoot};

use crate::claim::Tiers;
use crate::formula::{Formula, Row};
use crate::scope::Scope;
use crate::universe::{Candidate, Universe};

/// The problem of a universe, with the numbers of its inequalities by the rules that they state.
#[derive(Debug)]
pub struct Encoding {
    formula: Formula,
    groups: Groups,
    rows: RuleRows,
    hierarchy: HierarchyRows,
}

/// The numbers of inequalities, by the release that they are about.
pub(crate) type OwnerRows = BTreeMap<Literal, usize>;

/// The numbers of inequalities.
#[derive(Debug, Default)]
pub(crate) struct RuleRows {
    pub(crate) roots: Vec<usize>,
    /// By the package that requires and the one that is required.
    pub(crate) requirements: BTreeMap<(PackageName, PackageName), OwnerRows>,
    /// By the package that extends a class, and the class.
    pub(crate) classes: BTreeMap<(PackageName, ClassName), OwnerRows>,
    pub(crate) own_cycles: BTreeMap<PackageName, Vec<usize>>,
    /// By the required package: what requirements are bound to is present.
    pub(crate) bound: BTreeMap<PackageName, Vec<usize>>,
}

impl Encoding {
    /// The problem with the rules of a scope.
    pub fn new(universe: &Universe, scope: &Scope) -> Self {
        let mut formula = Formula::default();
        let mut rows = RuleRows::default();
        let mut groups = Groups::new(universe, scope, &mut formula);
        for root in &universe.roots {
            for literal in groups.present(root) {
                rows.roots.push(formula.add(Row::clause([literal])));
            }
        }
        for key in &scope.requirements {
            let (owner, target) = key;
            let mut of_pair = OwnerRows::new();
            for candidate in universe.of(owner) {
                let Some(spec) = requirement(candidate, target) else {
                    continue;
                };
                let allowed = universe.allowed(target, spec);
                let bound = &mut rows.bound;
                groups.bind(owner, candidate, target, &allowed, &mut formula, |number| {
                    bound.entry(target.clone()).or_default().push(number);
                });
                let release = groups.release(owner, &candidate.version);
                let binding = groups.binding(owner, candidate, target);
                let row = requirement_row(release, binding, &allowed);
                of_pair.insert(release, formula.add(row));
            }
            rows.requirements.insert(key.clone(), of_pair);
        }
        classes::add(universe, scope, &groups, &mut formula, &mut rows);
        let hierarchy = hierarchy::add(universe, scope, &groups, &mut formula, &hierarchy::Whole);
        Self {
            formula,
            groups,
            rows,
            hierarchy,
        }
    }

    /// The problem of an object model, with every rule and the contracts in class files.
    pub fn of_model(universe: &Universe, tiers: Tiers, class_files: &ClassFiles) -> Self {
        let mut encoding = Self::new(universe, &Scope::everything(universe, tiers));
        if let Some(root) = &universe.model {
            encoding.add_objects(universe, root);
            contracts::add(
                universe,
                root,
                class_files,
                &encoding.groups,
                &mut encoding.formula,
            );
        }
        encoding
    }

    /// "Each object is bound to a release that it allows and that defines its class."
    fn add_objects(&mut self, universe: &Universe, root: &ModelRoot) {
        let objects = root.model().objects().iter().zip(root.objects());
        for (number, (object, required)) in objects.enumerate() {
            let package = &required.package;
            let allowed = universe.allowed(package, &required.spec);
            let shown = root.model().shown(ObjectId(number));
            (self.groups).bind_object(number, &shown, package, &allowed, &mut self.formula);
            let binding = self.groups.of_object(number, package);
            let suitable = allowed.into_iter().filter(|version| {
                let candidate = universe.candidate(package, version);
                candidate.is_some_and(|candidate| candidate.exports(&object.class))
            });
            let suitable = suitable.filter_map(|version| binding.value(version));
            self.formula.add(Row::clause(suitable));
        }
    }

    /// The inequalities and variables.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The literals of a variable of a derivation.
    pub(crate) fn group(&self, key: &GroupKey) -> Option<&Group> {
        self.groups.get(key)
    }

    /// The numbers of inequalities by rule.
    pub(crate) fn rows(&self) -> &RuleRows {
        &self.rows
    }

    /// The inequalities of the class hierarchy.
    pub(crate) fn hierarchy(&self) -> &HierarchyRows {
        &self.hierarchy
    }
}

/// "If a release is present, its requirement is bound to an allowed release."
pub(crate) fn requirement_row(release: Literal, binding: &Group, allowed: &[&Version]) -> Row {
    let allowed = allowed.iter().filter_map(|version| binding.value(version));
    Row::clause([release.negated()].into_iter().chain(allowed))
}

/// The spec of a candidate for a package that it requires.
pub(crate) fn requirement<'universe>(
    candidate: &'universe Candidate,
    package: &PackageName,
) -> Option<&'universe Spec> {
    let mut requirements = candidate.requirements.iter();
    let found = requirements.find(|(required, _)| required == package);
    found.map(|(_, spec)| spec)
}

/// The candidates of a package that define a class, as literals of what a requirement is bound to.
fn definers(
    universe: &Universe,
    binding: &Group,
    package: &PackageName,
    class: &ClassName,
) -> Vec<Literal> {
    let defining = universe.of(package).iter();
    let defining = defining.filter(|one| one.exports(class));
    defining
        .filter_map(|one| binding.value(&one.version))
        .collect()
}
