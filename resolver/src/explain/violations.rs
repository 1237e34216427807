//! Violated class rules and contracts as reasons. Violations of the same shape are reported once.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ClassName, ObjectId, PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{Reason, ReasonKind, reason_about};
use super::wording::{Subject, candidates};
use crate::contracts::{AllowedVersions, ContractViolation};
use crate::hierarchy::{ClassAt, Violation};
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId};

/// The shape of a violation: what it has in common with violations in other releases.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// Whether it is a cycle, and the classes of each path with their packages.
    Rule(bool, Vec<Vec<(ClassId, PackageId)>>),
    /// The class that a contract demands, the object, and the class and package of the object.
    Contract(Box<(ExpectedClass, ObjectId, ClassName, PackageName)>),
}

/// The object that has a property, the path of the value, the class that declares the property, and
/// the class that it demands.
type ExpectedClass = (ObjectId, String, (ClassName, PackageName, Version), String);

/// The violations among facts, grouped by shape.
#[derive(Debug, Default)]
pub(super) struct ViolationGroups {
    /// For the first nogood of each shape all of them, in the order of the facts.
    same_shape: FxHashMap<u32, Vec<u32>>,
    /// The objects of violated contracts.
    objects: FxHashSet<ObjectId>,
}

impl ViolationGroups {
    /// Groups the violations among facts.
    pub(super) fn among(problem: &Problem<'_>, facts: &[Fact]) -> Self {
        let mut first: FxHashMap<Shape, u32> = FxHashMap::default();
        let mut groups = Self::default();
        for fact in facts {
            let Fact::Nogood(number) = fact else {
                continue;
            };
            let shape = match &problem.nogoods()[*number as usize].cause {
                NogoodCause::Rule(violation) => rule_shape(violation),
                NogoodCause::Contract(violation) => {
                    groups.objects.extend([violation.holder, violation.object]);
                    contract_shape(violation)
                }
                NogoodCause::Line => continue,
            };
            let first = *first.entry(shape).or_insert(*number);
            groups.same_shape.entry(first).or_default().push(*number);
        }
        groups
    }

    /// The nogoods of the same shape, if this is the first of them.
    fn same_shape(&self, number: u32) -> &[u32] {
        self.same_shape
            .get(&number)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether an object takes part in a violated contract.
    pub(super) fn mention(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }

    /// The reason for all nogoods of the same shape; `None` if this is not the first of them.
    pub(super) fn reason(&self, problem: &mut Problem<'_>, number: u32) -> Option<Reason> {
        let same_shape = self.same_shape(number);
        match &problem.nogoods()[number as usize].cause {
            NogoodCause::Rule(_) => inheritance_reason(problem, same_shape),
            NogoodCause::Contract(_) => contract_reason(problem, same_shape),
            NogoodCause::Line => None,
        }
    }
}

fn rule_shape(violation: &Violation) -> Shape {
    let place = |at: &ClassAt| (at.class, at.release.package);
    let paths = paths(violation).into_iter();
    let paths = paths.map(|path| path.iter().map(place).collect());
    Shape::Rule(matches!(violation, Violation::Cycle(_)), paths.collect())
}

fn contract_shape(violation: &ContractViolation) -> Shape {
    let expected_class: ExpectedClass = (
        violation.holder,
        violation.path.clone(),
        violation.declared_by.clone(),
        expected_class(violation),
    );
    let (class, package, _) = actual_class(violation);
    Shape::Contract(Box::new((expected_class, violation.object, class, package)))
}

/// The paths of a violation; the last class of a cycle is not repeated.
pub(super) fn paths(violation: &Violation) -> Vec<&[ClassAt]> {
    match violation {
        Violation::Cycle(cycle) => vec![cycle],
        Violation::Diamond(paths) => paths.iter().map(Vec::as_slice).collect(),
        Violation::Missing { .. } => Vec::new(),
    }
}

/// The reason for violated class rules of the same shape. The text names all versions of the
/// nogoods; the paths are those of the first violation.
pub(super) fn inheritance_reason(problem: &Problem<'_>, same_shape: &[u32]) -> Option<Reason> {
    let universe = &*problem.universe;
    let nogoods = same_shape.iter().filter_map(|number| {
        let nogood = &problem.nogoods()[*number as usize];
        match &nogood.cause {
            NogoodCause::Rule(violation) => Some((nogood, paths(violation))),
            _ => None,
        }
    });
    let nogoods: Vec<(&Nogood, Vec<&[ClassAt]>)> = nogoods.collect();
    let (first, paths) = nogoods.first()?;
    let is_cycle = matches!(first.cause, NogoodCause::Rule(Violation::Cycle(_)));
    // The releases at a place of a path, in any of the nogoods.
    let covered_releases = |path: usize, at: usize| -> Vec<ReleaseId> {
        let all: BTreeSet<ReleaseId> = (nogoods.iter())
            .flat_map(|(nogood, paths)| covered_releases(problem, nogood, paths[path], at))
            .collect();
        all.into_iter().collect()
    };
    let mut named_paths: Vec<Vec<(ClassName, PackageName, Version)>> = Vec::new();
    let mut path_texts: Vec<String> = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let at = |at: &ClassAt| {
            (
                universe.catalog.class_name(at.class).clone(),
                universe.catalog.name(at.release.package).clone(),
                universe.catalog.version(at.release).clone(),
            )
        };
        named_paths.push(path.iter().map(at).collect());
        let mut steps: Vec<String> = Vec::new();
        for (place, class) in path.iter().enumerate() {
            let releases = covered_releases(number, place);
            let releases = Subject::new(universe, class.release.package, &releases).text;
            steps.push(format!(
                "{} ({releases})",
                universe.catalog.class_name(class.class)
            ));
        }
        if is_cycle {
            steps.push(universe.catalog.class_name(path[0].class).to_string());
        }
        path_texts.push(steps.join(" > "));
    }
    let start = paths.first()?.first()?.release.package;
    Some(reason_about(
        universe,
        start,
        &covered_releases(0, 0),
        |_| {
            (
                path_texts.join("; "),
                ReasonKind::Inherits { paths: named_paths },
            )
        },
    ))
}

/// The releases that a nogood covers at a place of a path.
fn covered_releases(
    problem: &Problem<'_>,
    nogood: &Nogood,
    path: &[ClassAt],
    at: usize,
) -> Vec<ReleaseId> {
    let universe = &*problem.universe;
    let is_cycle = matches!(nogood.cause, NogoodCause::Rule(Violation::Cycle(_)));
    let release = path[at].release;
    let is_bound = |(variable, _): &(Variable, PositionSet)| matches!(variable, Variable::Binding(owner, _) if *owner == release);
    let term = if problem.is_split(release.package) {
        // The last class of a cycle precedes the first.
        let last = path[at..].iter().rev().filter(|_| is_cycle);
        let mut before = path[..at].iter().rev().chain(last);
        let by = before.find(|class| class.release != release);
        let by = by.map(|class| class.release);
        (nogood.terms.iter()).find_map(|(variable, releases)| match variable {
            Variable::Binding(owner, number) if Some(*owner) == by => {
                let stated = &universe.known_details(*owner).requirements[*number as usize];
                let allowed = || releases.intersection(&universe.allowed(stated));
                (stated.package == release.package).then(allowed)
            }
            _ => None,
        })
    } else if nogood.terms.iter().any(is_bound) {
        // A binding belongs to this release only.
        None
    } else {
        let package = Variable::Package(release.package);
        let mut terms = nogood.terms.iter();
        let term = terms.find(|(variable, _)| *variable == package);
        term.map(|(_, releases)| releases.clone())
    };
    match term {
        Some(releases) if releases.contains(release.index) => {
            let mut all = candidates(universe, release.package);
            all.retain(|release| releases.contains(release.index));
            all
        }
        _ => vec![release],
    }
}

/// The class and versions that the contract demands, in words.
pub(super) fn expected_class(violation: &ContractViolation) -> String {
    match &violation.allowed {
        AllowedVersions::Spec(spec) => format!("{} {spec}", violation.class),
        AllowedVersions::MajorOf(own) => format!("{} {}", violation.class, own.major()),
    }
}

/// The class that the object has with the release: the demanded one if it inherits that, or its
/// own.
pub(super) fn actual_class(violation: &ContractViolation) -> (ClassName, PackageName, Version) {
    match &violation.inherits {
        Some((package, version)) => (violation.class.clone(), package.clone(), version.clone()),
        None => violation.is.clone(),
    }
}

/// The reason for violated contracts of the same shape.
pub(super) fn contract_reason(problem: &mut Problem<'_>, same_shape: &[u32]) -> Option<Reason> {
    let violations =
        same_shape
            .iter()
            .filter_map(|number| match &problem.nogoods()[*number as usize].cause {
                NogoodCause::Contract(violation) => Some((**violation).clone()),
                _ => None,
            });
    let violations: Vec<ContractViolation> = violations.collect();
    let violation = violations.first()?;
    let universe = &mut *problem.universe;
    let (class, package, _) = actual_class(violation);
    let package = universe.catalog.package_id(&package);
    let releases: BTreeSet<ReleaseId> = (violations.iter())
        .filter_map(|violation| {
            let (_, _, version) = actual_class(violation);
            let index = universe.catalog.index_of(package, &version)?;
            Some(ReleaseId { package, index })
        })
        .collect();
    let releases: Vec<ReleaseId> = releases.into_iter().collect();
    let releases = Subject::new(universe, package, &releases).text;
    let model = universe
        .catalog
        .model()
        .expect("only models have contracts");
    let (declaring, declaring_package, declaring_version) = &violation.declared_by;
    let versions: BTreeSet<Version> = violations
        .iter()
        .map(|violation| violation.is.2.clone())
        .collect();
    Some(Reason {
        text: format!(
            "{}.{}: the object {} is of class {class} ({releases}), but {declaring} ({declaring_package} {declaring_version}) wants {}",
            model.shown(violation.holder),
            Escaped::shortened(&violation.path),
            model.shown(violation.object),
            expected_class(violation),
        ),
        kind: ReasonKind::Contract {
            holder: model.shown(violation.holder),
            path: violation.path.clone(),
            object: model.shown(violation.object),
            class: violation.class.clone(),
        },
        owner: Some(violation.is.1.clone()),
        versions: versions.into_iter().collect(),
        every_version: false,
        location: Some(model.object(violation.object).location.clone()),
        source: None,
        clashes: true,
    })
}
