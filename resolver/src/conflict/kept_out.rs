//! Versions that would do, but may not be chosen.

use rustc_hash::FxHashMap;

use crate::encoding::Fact;
use crate::universe::{PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

use super::Hint;
use super::subject::candidates;

/// What keeps out the newest version of a package that all requirements on it match; they leave none of
/// those that may be chosen.
pub(super) fn kept_out(
    universe: &mut Universe,
    facts: &[Fact],
    package: PackageId,
) -> Option<Hint> {
    let mut by_owner: FxHashMap<PackageId, WordSet> = FxHashMap::default();
    for fact in facts {
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } if *target == package => {
                let matching = matching(universe, *owner, package, allowed);
                let so_far = by_owner.entry(*owner).or_insert(WordSet::EMPTY);
                *so_far = so_far.union(&matching);
            }
            Fact::Wanted { package: other } | Fact::Stays { package: other }
                if *other == package =>
            {
                return None;
            }
            _ => {}
        }
    }
    let owners = by_owner.len();
    let matching = by_owner
        .into_values()
        .reduce(|one, other| one.intersection(&other))?;
    let kept_out = matching.intersection(&universe.candidates_of(package).complement());
    let kept_out: Vec<ReleaseId> = (kept_out.iter())
        .map(|index| ReleaseId { package, index })
        .collect();
    let newest = |why: &dyn Fn(ReleaseId) -> bool| {
        let release = kept_out.iter().rfind(|release| why(**release))?;
        Some((universe.name(package), universe.version(*release)))
    };
    let matches = if owners == 1 {
        "matches"
    } else {
        "would satisfy everyone"
    };
    let is_withdrawn = |release| universe.is_yanked(release);
    let is_too_new = |release| universe.is_too_new(release);
    let is_prerelease =
        |release| universe.is_prerelease(release) && !is_withdrawn(release) && !is_too_new(release);
    if let Some((name, version)) = newest(&is_too_new) {
        return Some(Hint::option(format!(
            "{name} {version} {matches} but was published too late for `--exclude-newer`"
        )));
    }
    if let Some((name, version)) = newest(&is_prerelease) {
        let text = if owners == 1 {
            format!("`--prerelease allow` lets {name} {version} in")
        } else {
            format!("`--prerelease allow` lets {name} {version} in, which {matches}")
        };
        return Some(Hint::option(text));
    }
    let (name, version) = newest(&is_withdrawn)?;
    Some(Hint::packages(format!(
        "{name} {version} {matches} but was withdrawn; only a lock can hold it"
    )))
}

/// The versions, candidates or not, that match what a package requires where that allows exactly these
/// candidates.
fn matching(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    allowed: &WordSet,
) -> WordSet {
    let mut matching = WordSet::EMPTY;
    for release in candidates(universe, owner) {
        let details = universe.details(release);
        for edge in details.edges.iter().filter(|edge| edge.package == target) {
            if universe.allowed(edge) == *allowed {
                let versions = universe.versions_in(target, &edge.requirement.spec);
                matching = matching.union(&versions);
            }
        }
    }
    matching
}
