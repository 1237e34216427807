//! Class rules as reasons: classes that are not found, and classes in one package that extend each
//! other.

use pkgres_manifest::ClassName;

use super::conflict::{Reason, ReasonKind, reason_about};
use super::phrases::{Edge, kind_and_name, some_classes};
use crate::budget::Interrupt;
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;
use crate::universe::{ClassId, ClassTable, PackageId, ReleaseId, Universe};

/// The candidates of a package with a class that extends a class of another package.
pub(super) fn extending(
    universe: &mut Universe,
    owner: PackageId,
    class: ClassId,
) -> Vec<ReleaseId> {
    let mut releases = universe.catalog.candidate_releases(owner);
    releases.retain(|release| {
        let extends = |table: &ClassTable| table.external.contains(&class);
        let details = universe.details(*release);
        details.classes.as_deref().is_some_and(extends)
    });
    releases
}

/// The classes of releases that extend a class, in words, with the verb, and how they refer to it. They are named if they
/// are the same in all releases.
fn extending_classes_of(
    universe: &mut Universe,
    releases: &[ReleaseId],
    class: ClassId,
) -> (String, &'static str, Edge) {
    let mut of_releases = releases.iter().map(|release| {
        let details = universe.details(*release);
        let table = details.classes.as_deref();
        let extenders = table.map_or_else(Vec::new, |table| table.extenders(class));
        let names = extenders.into_iter();
        let names = names.map(|extender| universe.catalog.class_name(extender).clone());
        names.collect::<Vec<ClassName>>()
    });
    let first = of_releases.next().unwrap_or_default();
    let are_same = of_releases.all(|other| other == first);
    // A class that stands for uses is not one of the package.
    let (users, extending): (Vec<ClassName>, Vec<ClassName>) = first
        .into_iter()
        .partition(|class| class.using_class().is_some());
    let edge = match (extending.is_empty(), users.is_empty()) {
        (true, false) => Edge::Uses,
        _ => Edge::to(universe.catalog.class_name(class)),
    };
    let users = users.iter().filter_map(ClassName::using_class);
    // What uses classes in a root that is no package are the files beside it.
    let is_file = |release: &ReleaseId| universe.catalog.is_file(release.package);
    let kind = if releases.iter().any(is_file) {
        "file"
    } else {
        "class"
    };
    let named: Vec<ClassName> = match edge {
        Edge::Uses => users.collect(),
        _ => extending,
    };
    match named.as_slice() {
        [named, others @ ..] if are_same => {
            let (classes, verb) = some_classes(kind, named, others.len(), edge);
            (classes, verb, edge)
        }
        _ => (format!("a {kind}"), edge.verbs()[0], edge),
    }
}

/// The required packages, in which classes that a release extends are searched.
pub(super) fn required_packages(
    problem: &mut Problem<'_>,
    release: ReleaseId,
) -> Result<Vec<PackageId>, Interrupt> {
    let details = problem.universe.details(release);
    let required: Vec<PackageId> = details
        .requirements
        .iter()
        .map(|stated| stated.package)
        .collect();
    let catalog = &problem.universe.catalog;
    catalog.ensure_delivered(required.iter().copied())?;
    Ok(required)
}

/// The candidates of a package that do not define a class, and the newest one that is known to define it; `None`
/// unless some do not and others do, or may, because their classes are unknown.
pub(super) fn not_defining(
    universe: &Universe,
    package: PackageId,
    class: ClassId,
) -> Option<(Vec<ReleaseId>, Option<ReleaseId>)> {
    let defining = universe.catalog.definers(package, class);
    let (defining, without_class): (Vec<ReleaseId>, Vec<ReleaseId>) = (universe.catalog)
        .candidate_releases(package)
        .into_iter()
        .partition(|release| defining.contains(release.index));
    if defining.is_empty() || without_class.is_empty() {
        return None;
    }
    let is_known = |release: &ReleaseId| !universe.catalog.has_unknown_classes(*release);
    let newest = defining.into_iter().rfind(is_known);
    Some((without_class, newest))
}

/// The releases of a package that the facts let some of its `dependents` require. Which classes the others define is no
/// part of the proof.
fn possibly_required(
    universe: &Universe,
    package: PackageId,
    dependents: &[ReleaseId],
    facts: &[Fact],
) -> PositionSet {
    let mut possible = PositionSet::EMPTY;
    for dependent in dependents {
        let requirements = &universe.known_details(*dependent).requirements;
        for stated in requirements.iter().filter(|it| it.package == package) {
            let allowed = universe.allowed(stated);
            let fact = Fact::Requires {
                owner: dependent.package,
                target: package,
                allowed: allowed.clone(),
            };
            if !facts.contains(&fact) {
                return PositionSet::FULL;
            }
            possible = possible.union(&allowed);
        }
    }
    possible
}

/// The reasons that classes of a package extend a class that no candidate for it defines, and which
/// versions of the required packages do not define it. `facts` are all facts of the proof.
pub(super) fn extends_reasons(
    problem: &mut Problem<'_>,
    owner: PackageId,
    class: ClassId,
    reported: &PositionSet,
    facts: &[Fact],
) -> Result<Vec<Reason>, Interrupt> {
    let releases = extending(problem.universe, owner, class);
    let mut required: Vec<PackageId> = Vec::new();
    for release in &releases {
        let mut of_release = required_packages(problem, *release)?;
        if reported.contains(release.index) {
            of_release.retain(|package| !required.contains(package));
            required.extend(of_release);
        }
    }
    let mut dependents = releases;
    dependents.retain(|release| reported.contains(release.index));
    let (what, name) = kind_and_name(problem.universe.catalog.class_name(class));
    let (classes, extend, edge) = extending_classes_of(problem.universe, &dependents, class);
    let (class_name, interface) = (name.clone(), name.clone());
    let [kind, lacks] = match edge {
        Edge::Extends => [
            ReasonKind::Extends {
                class: class_name.clone(),
            },
            ReasonKind::Lacks { class: class_name },
        ],
        Edge::Uses => [
            ReasonKind::Uses {
                class: class_name.clone(),
            },
            ReasonKind::Lacks { class: class_name },
        ],
        Edge::Implements => [
            ReasonKind::Implements {
                interface: interface.clone(),
            },
            ReasonKind::LacksInterface { interface },
        ],
    };
    let mut reasons = vec![reason_about(
        problem.universe,
        owner,
        &dependents,
        |subject| {
            let text = format!("{classes} of {} {extend} {name}", subject.text);
            (text, kind.clone())
        },
    )];
    let searched = required.iter();
    let searched = searched.map(|package| problem.universe.catalog.name(*package).clone());
    reasons[0].searched = searched.collect();
    for package in required {
        let Some((mut without_class, newest)) = not_defining(problem.universe, package, class)
        else {
            continue;
        };
        let possible = possibly_required(problem.universe, package, &dependents, facts);
        without_class.retain(|release| possible.contains(release.index));
        if without_class.is_empty() {
            continue;
        }
        let universe = &*problem.universe;
        let no_longer = newest.is_some_and(|newest| {
            let mut lacking = without_class.iter();
            lacking.all(|release| release.index > newest.index)
        });
        let does = newest.map_or_else(String::new, |newest| {
            format!("; {} does", universe.catalog.version(newest))
        });
        reasons.push(reason_about(universe, package, &without_class, |subject| {
            let verb = if no_longer {
                subject.verb("no longer defines", "no longer define")
            } else {
                subject.verb("does not define", "do not define")
            };
            let text = format!("{} {verb} the {what} {name}{does}", subject.text);
            (text, lacks.clone())
        }));
    }
    Ok(reasons)
}

/// The reason that classes of a package extend each other. The text has the cycle of the first
/// release.
pub(super) fn own_cycle_reason(universe: &mut Universe, package: PackageId) -> Reason {
    let mut releases = universe.catalog.candidate_releases(package);
    let mut cycle: Vec<ClassId> = Vec::new();
    releases.retain(|release| {
        let Some(table) = universe.class_table(*release) else {
            return false;
        };
        if table.has_cycle && cycle.is_empty() {
            cycle = table.own_cycle();
        }
        table.has_cycle
    });
    let first = cycle.first().copied();
    let names: Vec<&str> = (cycle.into_iter().chain(first))
        .map(|class| universe.catalog.class_name(class).as_str())
        .collect();
    let cycle = names.join(" > ");
    reason_about(universe, package, &releases, |subject| {
        let text = format!("classes of {} extend each other: {cycle}", subject.text);
        (text, ReasonKind::OwnCycle)
    })
}
