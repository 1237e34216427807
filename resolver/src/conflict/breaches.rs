//! What no class may inherit and what no contract allows, as reasons.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ClassName, PackageName, Version};

use crate::encoding::{Breach, Clause, Encoding, Variable};
use crate::hierarchy::{ClassAt, Violation};
use crate::model::{AllowedVersions, ContractBreach};
use crate::universe::{ReleaseId, Universe};
use crate::word_set::WordSet;

use super::subject::{Subject, candidates};
use super::{Reason, ReasonKind};

/// That classes inherit what they may not. The text names all versions that the clause is about; the
/// paths are those of the selection that broke the rule.
pub(super) fn inheritance(
    encoding: &Encoding<'_>,
    clause: &Clause,
    violation: &Violation,
) -> Reason {
    let universe = &*encoding.universe;
    let paths: Vec<&[ClassAt]> = match violation {
        Violation::Cycle(circle) => vec![circle],
        Violation::Diamond(paths) => paths.iter().map(Vec::as_slice).collect(),
        Violation::Missing { .. } => Vec::new(),
    };
    let shown: Vec<Vec<(ClassName, PackageName, Version)>> = paths
        .iter()
        .map(|path| {
            path.iter()
                .map(|at| {
                    (
                        universe.class_name(at.class).clone(),
                        universe.name(at.release.package).clone(),
                        universe.version(at.release).clone(),
                    )
                })
                .collect()
        })
        .collect();
    let told: Vec<String> = paths
        .iter()
        .map(|path| {
            let steps: Vec<String> = (0..path.len())
                .map(|at| {
                    let package = path[at].release.package;
                    let releases = covered(encoding, clause, path, at);
                    let releases = Subject::new(universe, package, &releases).text;
                    format!("{} ({releases})", universe.class_name(path[at].class))
                })
                .collect();
            steps.join(" > ")
        })
        .collect();
    let start = paths[0][0].release.package;
    let subject = Subject::new(universe, start, &covered(encoding, clause, paths[0], 0));
    Reason {
        text: told.join("; "),
        kind: ReasonKind::Inherits { paths: shown },
        owner: universe.name(start).clone(),
        versions: subject.versions,
        every_version: subject.is_every_version,
        location: None,
        source: universe.source(start).cloned(),
        clashes: true,
    }
}

/// The releases that a clause is about at a place of a path, each of which can stand there.
fn covered(
    encoding: &Encoding<'_>,
    clause: &Clause,
    path: &[ClassAt],
    at: usize,
) -> Vec<ReleaseId> {
    let is_circle = matches!(clause.breach, Breach::Rule(Violation::Cycle(_)));
    let release = path[at].release;
    let is_bound = |(variable, _): &(Variable, WordSet)| matches!(variable, Variable::Binding(owner, _) if *owner == release);
    let term = if encoding.is_split(release.package) {
        // Before the first class of a circle stands the last one.
        let last = path[at..].iter().rev().filter(|_| is_circle);
        let mut before = path[..at].iter().rev().chain(last);
        let by = before.find(|class| class.release != release);
        let by = by.map(|class| class.release);
        (clause.terms.iter()).find(|(variable, _)| match variable {
            Variable::Binding(owner, edge) => {
                let edges = &encoding.universe.known_details(*owner).edges;
                Some(*owner) == by && edges[*edge as usize].package == release.package
            }
            _ => false,
        })
    } else if clause.terms.iter().any(is_bound) {
        // What is bound is bound for this release alone.
        None
    } else {
        let package = Variable::Package(release.package);
        (clause.terms.iter()).find(|(variable, _)| *variable == package)
    };
    match term {
        Some((_, releases)) if releases.contains(release.index) => {
            candidates(encoding.universe, release.package)
                .into_iter()
                .filter(|release| releases.contains(release.index))
                .collect()
        }
        _ => vec![release],
    }
}

/// That an object of a model is not what the contract of a property wants.
pub(super) fn contract(universe: &Universe, breach: &ContractBreach) -> Reason {
    let model = universe.model().expect("only models have contracts");
    let (class, package, version) = &breach.is;
    let (declaring, declaring_package, declaring_version) = &breach.declared_by;
    let wanted = match &breach.allowed {
        AllowedVersions::Spec(spec) => format!("{} {spec}", breach.class),
        AllowedVersions::MajorOf(own) => format!("{} {}", breach.class, own.major()),
    };
    let what = match &breach.inherits {
        Some((package, version)) => format!("is of class {} ({package} {version})", breach.class),
        None => format!("is of class {class} ({package} {version})"),
    };
    Reason {
        text: format!(
            "{}.{}: the object {} {what}, but {declaring} ({declaring_package} {declaring_version}) wants {wanted}",
            model.shown(breach.holder),
            Escaped::shortened(&breach.path),
            model.shown(breach.object),
        ),
        kind: ReasonKind::Contract {
            holder: model.shown(breach.holder),
            path: breach.path.clone(),
            object: model.shown(breach.object),
            class: breach.class.clone(),
        },
        owner: package.clone(),
        versions: vec![version.clone()],
        every_version: false,
        location: Some(model.object(breach.object).location.clone()),
        source: None,
        clashes: true,
    }
}
