//! Violated class rules and contracts as reasons. Violations of the same shape are reported once.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassName, ObjectId, PackageName, Release, Spec, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{InheritingClass, Reason, ReasonKind, reason_about};
use super::phrases::{Subject, named};
use crate::class_rules::{ClassAt, Violation};
use crate::contracts::{
    AllowedVersions, ClassOfRelease, ClassProblem, ContractProblem, ContractViolation,
};
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, Universe};

/// The shape of a violation: what it has in common with violations in other releases.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// The release that no requirement names.
    Prerelease(ReleaseId),
    /// Whether it is a cycle, and the classes of each path with their packages.
    Rule(bool, Vec<Vec<(ClassId, PackageId)>>),
    Class(Box<ClassShape>),
    Value(Box<ValueShape>),
}

/// An object of the wrong class: what violations that differ in its version have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ClassShape {
    /// The object that has the property.
    holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    path: String,
    declared_by: ClassOfRelease,
    /// The class that the contract demands.
    expected: String,
    /// The object that the property holds.
    object: ObjectId,
    /// The class and the package of that object.
    class: ClassName,
    package: PackageName,
}

/// A wrong value: what violations that differ in the version of the declaring class have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ValueShape {
    /// The object that has the property.
    holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    path: String,
    /// The class that declares the property, and its package.
    class: ClassName,
    package: PackageName,
    /// What is wrong.
    problem: String,
}

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
                    groups.objects.insert(violation.holder);
                    if let ContractProblem::Class(problem) = &violation.problem {
                        groups.objects.insert(problem.object);
                    }
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
            NogoodCause::Rule(Violation::UnnamedPrerelease(release)) => {
                Some(prerelease_reason(problem.universe, *release))
            }
            NogoodCause::Rule(_) => inheritance_reason(problem, same_shape),
            NogoodCause::Contract(_) => contract_reason(problem, same_shape),
            NogoodCause::Line => None,
        }
    }
}

fn rule_shape(violation: &Violation) -> Shape {
    if let Violation::UnnamedPrerelease(release) = violation {
        return Shape::Prerelease(*release);
    }
    if let Violation::Cycle(cycle) = violation {
        return Shape::Rule(true, vec![Round::of(cycle).places(cycle).collect()]);
    }
    let paths = paths(violation).into_iter();
    let paths = paths.map(|path| path.iter().map(place).collect());
    Shape::Rule(false, paths.collect())
}

/// A class of a package, in any version.
type Place = (ClassId, PackageId);

fn place(at: &ClassAt) -> Place {
    (at.class, at.release.package)
}

/// A cycle whichever class it begins with, and once around: a cycle may pass the same classes again and again, in other
/// versions of packages that have several.
struct Round {
    /// Where the least of its rotations begins.
    start: usize,
    length: usize,
}

impl Round {
    fn of(cycle: &[ClassAt]) -> Self {
        let places: Vec<Place> = cycle.iter().map(place).collect();
        let repeats = |length: &usize| {
            let later = places.iter().skip(*length);
            places.len().is_multiple_of(*length) && later.eq(&places[..places.len() - length])
        };
        let length = (1..places.len()).find(repeats).unwrap_or(places.len());
        // The candidates for the start are compared place by place. Where they differ, the greater one is no start, and
        // neither are those after it up to the difference: the same ones after the other candidate are less.
        let place_at = |at: usize| &places[at % length];
        let (mut one, mut other, mut same) = (0, 1, 0);
        while one < length && other < length && same < length {
            match place_at(one + same).cmp(place_at(other + same)) {
                Ordering::Equal => {
                    same += 1;
                    continue;
                }
                Ordering::Less => other += same + 1,
                Ordering::Greater => one += same + 1,
            }
            if one == other {
                other += 1;
            }
            same = 0;
        }
        Self {
            start: one.min(other),
            length,
        }
    }

    fn places<'cycle>(&self, cycle: &'cycle [ClassAt]) -> impl Iterator<Item = Place> + 'cycle {
        let all = cycle.iter().map(place).cycle();
        all.skip(self.start).take(self.length)
    }

    /// The positions on its cycle that correspond to a position on the cycle of another one with the same places.
    fn positions(&self, other: &Self, at: usize, cycle: &[ClassAt]) -> impl Iterator<Item = usize> {
        let first = (at + self.start + other.length - other.start) % self.length;
        (first..cycle.len()).step_by(self.length)
    }
}

fn contract_shape(violation: &ContractViolation) -> Shape {
    let of_value = |wrong: String| {
        let declared_by = violation.declared_by.clone();
        Shape::Value(Box::new(ValueShape {
            holder: violation.holder,
            path: violation.path.clone(),
            class: declared_by.class,
            package: declared_by.package,
            problem: wrong,
        }))
    };
    match &violation.problem {
        ContractProblem::Class(problem) => {
            let actual = actual_class(problem);
            Shape::Class(Box::new(ClassShape {
                holder: violation.holder,
                path: violation.path.clone(),
                declared_by: violation.declared_by.clone(),
                expected: expected_class(problem),
                object: problem.object,
                class: actual.class,
                package: actual.package,
            }))
        }
        ContractProblem::UnknownClass(class, spec) => of_value(unknown_class(class, spec.as_ref())),
        ContractProblem::Value(problem, _) => of_value(problem.to_string()),
    }
}

fn unknown_class(class: &ClassName, spec: Option<&Spec>) -> String {
    let spec = spec.map_or_else(String::new, |spec| format!(" {spec}"));
    format!("its contract names {class}{spec}, which no required package defines")
}

/// The paths of a violation; the last class of a cycle is not repeated.
pub(super) fn paths(violation: &Violation) -> Vec<&[ClassAt]> {
    match violation {
        Violation::Cycle(cycle) => vec![cycle],
        Violation::Diamond(paths) => paths.iter().map(Vec::as_slice).collect(),
        Violation::Missing { .. } | Violation::UnnamedPrerelease(_) => Vec::new(),
    }
}

/// The reason that a prerelease is not taken.
fn prerelease_reason(universe: &Universe, release: ReleaseId) -> Reason {
    reason_about(universe, release.package, &[release], |subject| {
        let text = format!("no requirement names the prerelease {}", subject.text);
        (text, ReasonKind::UnnamedPrerelease)
    })
}

/// The reason for violated class rules of the same shape, with all versions of the nogoods.
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
    let round = is_cycle.then(|| Round::of(paths[0]));
    let covered: Vec<Vec<CoveredPath<'_, '_>>> = (0..paths.len())
        .map(|number| {
            let of_number = nogoods
                .iter()
                .map(|(nogood, paths)| CoveredPath::new(problem, nogood, paths[number], is_cycle));
            of_number.collect()
        })
        .collect();
    // The releases at a place of a path, in any of the nogoods.
    let covered_releases = |path: usize, at: usize| -> Vec<ReleaseId> {
        let mut all: BTreeSet<ReleaseId> = BTreeSet::new();
        for covered in &covered[path] {
            match (&round, &covered.round) {
                (Some(round), Some(own)) => {
                    for at in own.positions(round, at, covered.path) {
                        all.extend(covered.releases(at));
                    }
                }
                _ => all.extend(covered.releases(at)),
            }
        }
        all.into_iter().collect()
    };
    let mut named_paths: Vec<Vec<InheritingClass>> = Vec::new();
    let mut path_texts: Vec<String> = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let mut named_path: Vec<InheritingClass> = Vec::new();
        let mut steps: Vec<String> = Vec::new();
        let length = round.as_ref().map_or(path.len(), |round| round.length);
        for (place, class) in path.iter().take(length).enumerate() {
            let releases = covered_releases(number, place);
            let package = class.release.package;
            let releases = Subject::new(universe, package, &releases);
            let name = universe.catalog.class_name(class.class);
            steps.push(format!("{} ({})", named(name), releases.text));
            named_path.push(InheritingClass {
                class: name.interface_name().unwrap_or_else(|| name.clone()),
                is_interface: name.is_of_interface(),
                package: universe.catalog.name(package).clone(),
                versions: releases.versions,
            });
        }
        if is_cycle {
            steps.push(universe.catalog.class_name(path[0].class).to_string());
            named_path.extend(named_path.first().cloned());
        }
        named_paths.push(named_path);
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

/// A path of a nogood, prepared so that a place of it is looked at in the same time however long it is.
struct CoveredPath<'problem, 'universe> {
    problem: &'problem Problem<'universe>,
    path: &'problem [ClassAt],
    /// The round of a cycle.
    round: Option<Round>,
    /// For each place, the last release before it that is another one.
    entered_from: Vec<Option<ReleaseId>>,
    packages: FxHashMap<PackageId, &'problem PositionSet>,
    bindings: FxHashMap<ReleaseId, Vec<(u32, &'problem PositionSet)>>,
}

impl<'problem, 'universe> CoveredPath<'problem, 'universe> {
    fn new(
        problem: &'problem Problem<'universe>,
        nogood: &'problem Nogood,
        path: &'problem [ClassAt],
        is_cycle: bool,
    ) -> Self {
        let mut covered = Self {
            problem,
            path,
            round: is_cycle.then(|| Round::of(path)),
            entered_from: vec![None; path.len()],
            packages: FxHashMap::default(),
            bindings: FxHashMap::default(),
        };
        for (variable, releases) in &nogood.terms {
            match variable {
                Variable::Package(package) => {
                    covered.packages.insert(*package, releases);
                }
                Variable::Binding(owner, number) => {
                    let bindings = covered.bindings.entry(*owner).or_default();
                    bindings.push((*number, releases));
                }
                Variable::Release(_) => {}
            }
        }
        // The last class of a cycle precedes the first: the second walk knows what precedes the first release.
        let walks = if is_cycle { 2 } else { 1 };
        let (mut last, mut from) = (None, None);
        for (at, class) in (0..walks).flat_map(|_| path.iter().enumerate()) {
            if last != Some(class.release) {
                from = last.replace(class.release);
            }
            covered.entered_from[at] = from;
        }
        covered
    }

    /// The releases that the nogood covers at a place.
    fn releases(&self, at: usize) -> Vec<ReleaseId> {
        let universe = &*self.problem.universe;
        let release = self.path[at].release;
        let of = |release: ReleaseId| self.bindings.get(&release).into_iter().flatten();
        let term = if self.problem.is_split(release.package) {
            let by = self.entered_from[at];
            by.and_then(|by| {
                of(by).find_map(|(number, releases)| {
                    let stated = &universe.known_details(by).requirements[*number as usize];
                    let allowed = || releases.intersection(&universe.allowed(stated));
                    (stated.package == release.package).then(allowed)
                })
            })
        } else if of(release).next().is_some() {
            // A binding belongs to this release only.
            None
        } else {
            let term = self.packages.get(&release.package);
            term.map(|releases| (*releases).clone())
        };
        match term {
            Some(releases) if releases.contains(release.index) => {
                let mut all = universe.catalog.candidate_releases(release.package);
                all.retain(|release| releases.contains(release.index));
                all
            }
            _ => vec![release],
        }
    }
}

/// The class and versions that the contract demands, in words.
pub(super) fn expected_class(violation: &ClassProblem) -> String {
    match &violation.allowed {
        AllowedVersions::Spec(spec) => format!("{} {spec}", violation.class),
        AllowedVersions::MajorOf(own) => format!("{} {}", violation.class, own.major()),
    }
}

/// The class that the object has with the release: the demanded one if it inherits that, or its
/// own.
pub(super) fn actual_class(violation: &ClassProblem) -> ClassOfRelease {
    match &violation.inherits {
        Some(Release {
            name: package,
            version,
        }) => ClassOfRelease {
            class: violation.class.clone(),
            package: package.clone(),
            version: version.clone(),
        },
        None => violation.actual.clone(),
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
    match &violation.problem {
        ContractProblem::Class(first) => class_reason(universe, &violations, first),
        ContractProblem::UnknownClass(class, spec) => {
            let wrong = unknown_class(class, spec.as_ref());
            value_reason(universe, &violations, &wrong, None)
        }
        ContractProblem::Value(problem, location) => {
            let wrong = problem.to_string();
            value_reason(universe, &violations, &wrong, location.clone())
        }
    }
}

/// The reason for objects that are not of the class that a contract demands.
fn class_reason(
    universe: &mut Universe,
    violations: &[ContractViolation],
    first: &ClassProblem,
) -> Option<Reason> {
    let problems = violations
        .iter()
        .filter_map(|violation| match &violation.problem {
            ContractProblem::Class(problem) => Some(&**problem),
            _ => None,
        });
    let problems: Vec<&ClassProblem> = problems.collect();
    let violation = violations.first()?;
    let ClassOfRelease { class, package, .. } = actual_class(first);
    let versions = problems.iter().map(|problem| actual_class(problem).version);
    let releases = releases_text(universe, &package, &versions.collect());
    let model = universe.catalog.model()?;
    let declared_by = &violation.declared_by;
    let versions: BTreeSet<Version> = (problems.iter())
        .map(|problem| problem.actual.version.clone())
        .collect();
    let text = format!(
        "{}.{}: the object {} is of class {class} ({releases}), but {} ({} {}) wants {}",
        model.shown(violation.holder),
        Escaped::shortened(&violation.path),
        model.shown(first.object),
        declared_by.class,
        declared_by.package,
        declared_by.version,
        expected_class(first),
    );
    let kind = ReasonKind::Contract {
        holder: model.shown(violation.holder),
        place: violation.place(),
        object: model.shown(first.object),
        class: first.class.clone(),
    };
    Some(Reason {
        owner: Some(first.actual.package.clone()),
        versions: versions.into_iter().collect(),
        location: Some(model.object(first.object).location.clone()),
        ..Reason::new(kind, text)
    })
}

/// The reason for values that violate a contract by themselves.
fn value_reason(
    universe: &mut Universe,
    violations: &[ContractViolation],
    wrong: &str,
    location: Option<Location>,
) -> Option<Reason> {
    let violation = violations.first()?;
    let ClassOfRelease { class, package, .. } = &violation.declared_by;
    let versions: BTreeSet<Version> = (violations.iter())
        .map(|violation| violation.declared_by.version.clone())
        .collect();
    let releases = releases_text(universe, package, &versions);
    let model = universe.catalog.model()?;
    let object = model.object(violation.holder);
    let path = Escaped::shortened(&violation.path);
    let text = format!(
        "{}.{path}: {wrong} in {class} ({releases})",
        model.shown(violation.holder)
    );
    let kind = ReasonKind::Value {
        holder: model.shown(violation.holder),
        place: violation.place(),
        problem: wrong.to_owned(),
        class: class.clone(),
    };
    Some(Reason {
        owner: Some(package.clone()),
        versions: versions.into_iter().collect(),
        location: Some(location.unwrap_or_else(|| object.location.clone())),
        ..Reason::new(kind, text)
    })
}

/// Some versions of a package in words.
fn releases_text(
    universe: &mut Universe,
    package: &PackageName,
    versions: &BTreeSet<Version>,
) -> String {
    let package = universe.catalog.package_id(package);
    let releases: BTreeSet<ReleaseId> = (versions.iter())
        .filter_map(|version| {
            let index = universe.catalog.index_of(package, version)?;
            Some(ReleaseId { package, index })
        })
        .collect();
    let releases: Vec<ReleaseId> = releases.into_iter().collect();
    Subject::new(universe, package, &releases).text
}
