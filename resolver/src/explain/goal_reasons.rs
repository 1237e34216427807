//! The goals of an update as reasons: a version was asked for, or a locked one has to stay.

use std::fmt::Write as _;

use pkgres_manifest::{ReleaseSource, Version};
use rustc_hash::FxHashSet;

use super::conflict::{Reason, ReasonKind};
use super::phrases::candidates;
use crate::problem::{Fact, Problem};
use crate::universe::{PackageId, ReleaseId, Universe};

/// The reason that versions of a package were requested, or that they are locked.
pub(super) fn goal_reason(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Reason {
    let dropping = dropped_by(problem, fact, package);
    let (universe, goals) = (&*problem.universe, problem.goals());
    let goal = goals.goal(package);
    let is_wanted = matches!(fact, Fact::Wanted { .. });
    let name = universe.catalog.name(package);
    let listed = |versions: &[Version]| {
        let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
        texts.join(", ")
    };
    let (kind, versions, allowed, mut text) = if let Some(goal) = goal.filter(|_| is_wanted) {
        let versions = goal.versions.clone();
        let mut text = format!("{name} {} was asked for", listed(&versions));
        let dropped_by = dropping.map(|release| {
            let (other, version) = (
                universe.catalog.name(release.package),
                universe.catalog.version(release),
            );
            let _ = write!(text, ", and {other} {version} would drop {name}");
            (other.clone(), version.clone())
        });
        let kind = ReasonKind::Wanted { dropped_by };
        (kind, versions, &goal.allowed, text)
    } else {
        let mut versions = universe.catalog.locked_versions(package).to_vec();
        versions.sort();
        versions.dedup();
        let text = format!("the lock holds {name} at {}", listed(&versions));
        (ReasonKind::Stays, versions, &goals.stays[&package], text)
    };
    if allowed.is_empty() {
        if universe.catalog.source(package) == Some(&ReleaseSource::Host) {
            let supplied = candidates(universe, package);
            let supplied = supplied
                .into_iter()
                .map(|release| universe.catalog.version(release));
            let supplied: Vec<String> = supplied.map(ToString::to_string).collect();
            text.push_str(&format!(", and the host supplies {}", supplied.join(", ")));
        } else {
            text.push_str(", and there is no such version");
        }
    }
    Reason {
        text,
        kind,
        owner: Some(name.clone()),
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: true,
    }
}

/// A release that would remove a requested package: of a package that requires it in another version, or else one that leads
/// to other packages in another version. `None` if other packages have to stay.
fn dropped_by(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Option<ReleaseId> {
    let goal = problem.goals().goal(package)?;
    let is_wanted = matches!(fact, Fact::Wanted { .. }) && goal.is_needed();
    if !is_wanted || !problem.goals().stays.is_empty() {
        return None;
    }
    // All of a resolution without the requested package.
    let reached = goal.loop_nogoods.first()?.reached.clone();
    let packages: FxHashSet<PackageId> = reached.iter().map(|release| release.package).collect();
    let universe = &mut *problem.universe;
    let mut find = |is_outside: &dyn Fn(PackageId) -> bool| {
        let mut reached = reached.iter().copied();
        reached.find(|release| may_require(universe, release.package, is_outside))
    };
    find(&|target| target == package).or_else(|| find(&|target| !packages.contains(&target)))
}

/// Whether a candidate of a package requires one of some packages.
fn may_require(
    universe: &mut Universe,
    package: PackageId,
    is_one: &dyn Fn(PackageId) -> bool,
) -> bool {
    let candidates: Vec<u32> = universe.catalog.candidates_of(package).iter().collect();
    let mut requirements = Vec::new();
    candidates.into_iter().any(|index| {
        universe.requirements(ReleaseId { package, index }, &mut requirements);
        requirements
            .iter()
            .any(|requirement| is_one(requirement.target))
    })
}
