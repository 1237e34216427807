//! The rule for prereleases that have to be named.
//!
//! # Problem
//!
//! With [`PrereleasePolicy::IfNamed`], if a package has a stable version, a resolution may contain a prerelease of it
//! only if one of its requirements names exactly this prerelease. This is known only at the end, because a release that
//! was not yet looked at may have such a requirement.
//!
//! # Idea
//!
//! Stable versions are preferred, so a search decides for a prerelease only if no stable version fits. Complete
//! selections are checked, and an unnamed prerelease becomes a nogood, like a violated class rule. The nogood excludes
//! all selections of the same packages: its terms are the prerelease and, for every other selected package, the
//! versions that require only selected packages and do not name the prerelease.

use pkgres_manifest::VersionSet;
use rustc_hash::FxHashMap;

use crate::request::PrereleasePolicy;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, ReleaseRequirement, Universe};

/// Whether a selection may have a prerelease that has to be named.
pub(crate) fn may_be_unnamed(universe: &Universe, selection: &Selection) -> bool {
    let catalog = &universe.catalog;
    catalog.policy().prerelease() == PrereleasePolicy::IfNamed
        && (selection.releases().iter()).any(|release| catalog.is_prerelease(*release))
}

/// The first prerelease of a selection that has to be named and is not.
pub(crate) fn unnamed_prerelease(
    universe: &mut Universe,
    selection: &Selection,
) -> Option<ReleaseId> {
    if !may_be_unnamed(universe, selection) {
        return None;
    }
    let releases = selection.releases();
    let mut unnamed: FxHashMap<PackageId, Vec<ReleaseId>> = FxHashMap::default();
    for release in releases {
        if must_be_named(universe, *release) {
            unnamed.entry(release.package).or_default().push(*release);
        }
    }
    for owner in releases {
        let details = universe.details(*owner);
        for stated in &details.requirements {
            if let Some(prereleases) = unnamed.get_mut(&stated.package) {
                prereleases.retain(|prerelease| !names(universe, stated, *prerelease));
            }
        }
    }
    let is_unnamed = |release: &ReleaseId| {
        let prereleases = unnamed.get(&release.package);
        prereleases.is_some_and(|prereleases| prereleases.contains(release))
    };
    releases.iter().copied().find(is_unnamed)
}

/// The versions of a package that require only packages of a selection, and do not name a prerelease.
pub(crate) fn versions_that_do_not_name(
    universe: &mut Universe,
    package: PackageId,
    selection: &Selection,
    prerelease: ReleaseId,
) -> PositionSet {
    let candidates = universe.catalog.candidate_releases(package);
    let matching = candidates.into_iter().filter(|release| {
        let details = universe.details(*release);
        details.requirements.iter().all(|stated| {
            selection.first_release_of(stated.package).is_some()
                && !names(universe, stated, prerelease)
        })
    });
    matching.map(|release| release.index).collect()
}

/// Whether a release is a prerelease of a package that has a stable version, and is neither locked nor kept nor a root.
fn must_be_named(universe: &Universe, release: ReleaseId) -> bool {
    let catalog = &universe.catalog;
    let is_excused = catalog.is_locked(release) || catalog.is_last_resort(release);
    if !catalog.is_prerelease(release) || is_excused {
        return false;
    }
    let mut candidates = catalog.candidate_releases(release.package).into_iter();
    candidates.any(|candidate| !catalog.is_prerelease(candidate))
}

/// Whether a requirement allows exactly one version of a package, by its name.
fn names(universe: &Universe, stated: &ReleaseRequirement, prerelease: ReleaseId) -> bool {
    let spec = &stated.spec;
    stated.package == prerelease.package
        && spec.names_prerelease()
        && *spec.set() == VersionSet::exactly(universe.catalog.version(prerelease))
}
