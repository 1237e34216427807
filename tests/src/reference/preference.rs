//! Which candidate is tried first.

use super::problem::{Need, Problem, ReleaseId};
use crate::universe::PrereleasePolicy;

/// The candidates for a requirement that is about to be bound, best first.
///
/// `decided` are the releases that are in the resolution by now, the requirer among them.
pub(super) fn best_first(
    problem: &Problem,
    decided: &[ReleaseId],
    need: &Need,
    is_split: bool,
) -> Vec<ReleaseId> {
    let stable_first = problem.rules.prerelease_order
        && problem.prerelease == PrereleasePolicy::IfNecessary
        && !decided
            .iter()
            .flat_map(|release| &problem.releases[*release].needs)
            .any(|other| other.package == need.package && other.names_prerelease);
    let mut candidates = problem.candidates[need.package].clone();
    // They are newest first, and the sort keeps that order among equals.
    candidates.sort_by_key(|candidate| {
        let release = &problem.releases[*candidate];
        let locked_here = is_split && need.locked_to == Some(*candidate);
        let comes_late = stable_first && release.version.is_prerelease();
        (
            !locked_here,
            !release.locked,
            problem.rules.last_resort && release.only_kept,
            // Locked versions are in the order of versions, whatever the policy.
            comes_late && !release.locked,
        )
    });
    candidates
}
