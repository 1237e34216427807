//! The order in which candidates are tried.

use super::problem::{Need, Problem, ReleaseId};
use crate::universe::PrereleasePolicy;

/// The candidates for a requirement that is about to be bound, best first.
///
/// `decided` are the releases in the resolution so far, including the requirer.
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
    // Candidates are newest first, and the stable sort keeps that order among equals.
    candidates.sort_by_key(|candidate| {
        let release = &problem.releases[*candidate];
        let locked_here = is_split && need.locked_to == Some(*candidate);
        let comes_late = stable_first && release.version.is_prerelease();
        (
            !locked_here,
            !release.locked,
            problem.rules.last_resort && release.only_kept,
            // Locked versions are ordered by version under every policy.
            comes_late && !release.locked,
        )
    });
    candidates
}
