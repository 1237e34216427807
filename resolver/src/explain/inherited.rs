//! What no class may inherit, as reasons.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, PackageName, Version};

use crate::hierarchy::{ClassAt, Violation};
use crate::problem::{Nogood, NogoodCause, Problem, Variable};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, Universe};

use super::reason::{Reason, ReasonKind, reason_about};
use super::subject::{Subject, candidates};

/// The paths on which a rule is broken; a cycle is not closed.
pub(super) fn paths(violation: &Violation) -> Vec<&[ClassAt]> {
    match violation {
        Violation::Cycle(cycle) => vec![cycle],
        Violation::Diamond(paths) => paths.iter().map(Vec::as_slice).collect(),
        Violation::Missing { .. } => Vec::new(),
    }
}

/// That classes inherit what they may not, as nogoods of one shape say it. The text names all versions
/// that the nogoods are about; the paths are those of the selection that broke the rule first.
pub(super) fn inheritance(problem: &Problem<'_>, alike: &[u32]) -> Option<Reason> {
    let universe = &*problem.universe;
    let nogoods = alike.iter().filter_map(|number| {
        let nogood = &problem.nogoods()[*number as usize];
        match &nogood.cause {
            NogoodCause::Rule(violation) => Some((nogood, paths(violation))),
            _ => None,
        }
    });
    let nogoods: Vec<(&Nogood, Vec<&[ClassAt]>)> = nogoods.collect();
    let (first, paths) = nogoods.first()?;
    let is_cycle = matches!(first.cause, NogoodCause::Rule(Violation::Cycle(_)));
    // The releases that can stand at a place of a path.
    let covered = |path: usize, at: usize| -> Vec<ReleaseId> {
        let all: BTreeSet<ReleaseId> = (nogoods.iter())
            .flat_map(|(nogood, paths)| covered(problem, nogood, paths[path], at))
            .collect();
        all.into_iter().collect()
    };
    let mut shown: Vec<Vec<(ClassName, PackageName, Version)>> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let at = |at: &ClassAt| {
            (
                universe.class_name(at.class).clone(),
                universe.name(at.release.package).clone(),
                universe.version(at.release).clone(),
            )
        };
        shown.push(path.iter().map(at).collect());
        let mut steps: Vec<String> = Vec::new();
        for (place, class) in path.iter().enumerate() {
            let releases = covered(number, place);
            let releases = Subject::new(universe, class.release.package, &releases).text;
            steps.push(format!("{} ({releases})", universe.class_name(class.class)));
        }
        if is_cycle {
            steps.push(universe.class_name(path[0].class).to_string());
        }
        told.push(steps.join(" > "));
    }
    let start = paths.first()?.first()?.release.package;
    Some(reason_about(universe, start, &covered(0, 0), |_| {
        (told.join("; "), ReasonKind::Inherits { paths: shown })
    }))
}

/// The releases that a nogood is about at a place of a path, each of which can stand there.
fn covered(problem: &Problem<'_>, nogood: &Nogood, path: &[ClassAt], at: usize) -> Vec<ReleaseId> {
    let universe = &*problem.universe;
    let is_cycle = matches!(nogood.cause, NogoodCause::Rule(Violation::Cycle(_)));
    let release = path[at].release;
    let is_bound = |(variable, _): &(Variable, PositionSet)| matches!(variable, Variable::Binding(owner, _) if *owner == release);
    let term = if problem.is_split(release.package) {
        // Before the first class of a cycle stands the last one.
        let last = path[at..].iter().rev().filter(|_| is_cycle);
        let mut before = path[..at].iter().rev().chain(last);
        let by = before.find(|class| class.release != release);
        let by = by.map(|class| class.release);
        (nogood.terms.iter()).find_map(|(variable, releases)| match variable {
            Variable::Binding(owner, edge) if Some(*owner) == by => {
                let edge = &universe.known_details(*owner).edges[*edge as usize];
                let allowed = || releases.intersection(&universe.allowed(edge));
                (edge.package == release.package).then(allowed)
            }
            _ => None,
        })
    } else if nogood.terms.iter().any(is_bound) {
        // What is bound is bound for this release alone.
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

/// That classes of releases of a package extend each other; the cycle is that of the first one.
pub(super) fn own_cycle(universe: &mut Universe, package: PackageId) -> Reason {
    let mut releases = candidates(universe, package);
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
        .map(|class| universe.class_name(class).as_str())
        .collect();
    let cycle = names.join(" > ");
    reason_about(universe, package, &releases, |subject| {
        let text = format!("classes of {} extend each other: {cycle}", subject.text);
        (text, ReasonKind::OwnCycle)
    })
}
