//! What an update wants and keeps, as reasons.

use std::fmt::Write as _;

use pkgres_manifest::{ReleaseSource, Version};

use crate::problem::{Fact, Problem};
use crate::universe::{PackageId, ReleaseId};

use super::reason::{Reason, ReasonKind};
use super::subject::candidates;

/// That versions of a package were asked for, or that the lock holds some.
pub(super) fn limit_to_goals(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Reason {
    let dropped = dropped_by(problem, fact, package);
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
        let dropped_by = dropped.map(|release| {
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

/// A release with which a package would not be there though it was asked for, of a package that requires
/// it in another version. Where other packages are to stay, it is not about that.
fn dropped_by(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Option<ReleaseId> {
    let goal = problem.goals().goal(package)?;
    let is_wanted = matches!(fact, Fact::Wanted { .. }) && goal.is_needed();
    if !is_wanted || !problem.goals().stays.is_empty() {
        return None;
    }
    let reached = goal.loop_nogoods.first()?.reached.clone();
    let universe = &mut *problem.universe;
    let mut requirements = Vec::new();
    reached.into_iter().find(|release| {
        let mut candidates = universe
            .catalog
            .candidates_of(release.package)
            .iter()
            .collect::<Vec<_>>()
            .into_iter();
        candidates.any(|index| {
            universe.requirements(ReleaseId { index, ..*release }, &mut requirements);
            requirements
                .iter()
                .any(|requirement| requirement.target == package)
        })
    })
}
