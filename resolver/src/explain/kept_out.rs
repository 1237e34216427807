//! Versions that match, but may not be chosen.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::problem::Fact;
use crate::request::PrereleasePolicy;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

use super::Hint;
use super::clash::Restrictor;
use super::subject::candidates;

/// What keeps a release from being chosen.
#[derive(Debug, Clone, Copy)]
struct Obstacles {
    is_yanked: bool,
    is_too_new: bool,
    /// Whether it is a prerelease where these are refused.
    is_refused: bool,
}

impl Obstacles {
    fn of(universe: &Universe, release: ReleaseId) -> Self {
        Self {
            is_yanked: universe.catalog.is_yanked(release),
            is_too_new: universe.catalog.is_too_new(release),
            is_refused: universe.catalog.is_prerelease(release)
                && universe.catalog.policy().prerelease() == PrereleasePolicy::Never,
        }
    }

    fn count(self) -> usize {
        [self.is_yanked, self.is_too_new, self.is_refused]
            .into_iter()
            .filter(|is_there| *is_there)
            .count()
    }

    /// What can be done about them, or that nothing can. `release` is in words; it matches a requirement, or
    /// several.
    fn hint(self, release: &str, has_several: bool) -> Hint {
        let matches = if has_several {
            "matches all of these"
        } else {
            "matches"
        };
        match (self.is_yanked, self.is_too_new, self.is_refused) {
            (true, false, false) => Hint::packages(format!(
                "{release} {matches} but was yanked; only a lock can hold it"
            )),
            (false, true, false) => Hint::option(format!(
                "{release} {matches} but was published too late for `--exclude-newer`"
            )),
            (false, false, true) if has_several => Hint::option(format!(
                "`--prerelease allow` lets {release} in, which {matches}"
            )),
            (false, false, true) => Hint::option(format!("`--prerelease allow` lets {release} in")),
            (is_yanked, is_too_new, is_refused) => {
                let all = [
                    (is_yanked, "was yanked"),
                    (is_too_new, "was published too late for `--exclude-newer`"),
                    (
                        is_refused,
                        "is a prerelease, which `--prerelease never` refuses",
                    ),
                ];
                let there = all.iter().filter(|(is_there, _)| *is_there);
                let there: Vec<&str> = there.map(|(_, what)| *what).collect();
                Hint::option(format!("{release} {matches} but {}", there.join(", and ")))
            }
        }
    }
}

/// What keeps out a version of a package that all requirements on it match; they leave none of those that may be
/// chosen. It is the newest one of those with the least in the way.
pub(super) fn kept_out(
    universe: &mut Universe,
    facts: &[Fact],
    package: PackageId,
) -> Option<Hint> {
    let mut by_restrictor: FxHashMap<Restrictor, (PackageId, FxHashSet<&PositionSet>)> =
        FxHashMap::default();
    for (at, fact) in facts.iter().enumerate() {
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } if *target == package => {
                let restrictor = Restrictor::of(universe, *owner, at);
                let (_, ways) = by_restrictor
                    .entry(restrictor)
                    .or_insert((*owner, FxHashSet::default()));
                ways.insert(allowed);
            }
            Fact::Wanted { package: other } | Fact::Stays { package: other }
                if *other == package =>
            {
                return None;
            }
            _ => {}
        }
    }
    let has_several = by_restrictor.len() > 1;
    let matching = (by_restrictor.into_values())
        .map(|(owner, ways)| matching(universe, owner, package, &ways))
        .reduce(|one, other| one.intersection(&other))?;
    let kept_out = matching.intersection(&universe.catalog.candidates_of(package).complement());
    let releases = kept_out.iter().map(|index| ReleaseId { package, index });
    let (release, obstacles) = releases
        .map(|release| (release, Obstacles::of(universe, release)))
        .filter(|(_, obstacles)| obstacles.count() > 0)
        .min_by_key(|(release, obstacles)| (obstacles.count(), std::cmp::Reverse(release.index)))?;
    let (name, version) = (
        universe.catalog.name(package),
        universe.catalog.version(release),
    );
    Some(obstacles.hint(&format!("{name} {version}"), has_several))
}

/// The versions, candidates or not, that match what a package requires where the candidates that this allows are one
/// of these sets.
fn matching(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    ways: &FxHashSet<&PositionSet>,
) -> PositionSet {
    let mut matching = PositionSet::EMPTY;
    for release in candidates(universe, owner) {
        let details = universe.details(release);
        for edge in details
            .requirements
            .iter()
            .filter(|edge| edge.package == target)
        {
            if ways.contains(&universe.allowed(edge)) {
                let mut versions = universe.catalog.versions_in(target, &edge.requirement.spec);
                if let Some((_, class)) = edge.object {
                    versions = versions.intersection(&universe.catalog.definers(target, class));
                }
                matching = matching.union(&versions);
            }
        }
    }
    matching
}
