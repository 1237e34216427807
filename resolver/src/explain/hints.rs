//! What can be done about a conflict.

use pkgres_manifest::{PackageName, ReleaseSource, most_similar_name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::contradiction::Restrictor;
use super::wording::{LISTED_VERSIONS, candidates};
use super::{Hint, Repair};
use crate::problem::{Fact, Problem};
use crate::request::PrereleasePolicy;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

/// How many hints are given.
const MOST: usize = 2;

/// At most two hints, of which no two are the same, about facts with these [dead ends](super::contradiction::dead_ends).
pub(super) fn hints(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    mut dead_ends: FxHashSet<PackageId>,
    repairs: &[Repair],
) -> Vec<Hint> {
    let mut hints = Vec::new();
    let owners = facts.iter().filter_map(|fact| match fact {
        Fact::Requires { owner, .. } => Some(*owner),
        _ => None,
    });
    let owners: FxHashSet<PackageId> = owners.collect();
    for fact in facts {
        if let Fact::Wanted { package } = fact {
            hints.extend(instead_of_wanted(problem, *package));
        }
        let Fact::Requires {
            target, allowed, ..
        } = fact
        else {
            continue;
        };
        let universe = &mut *problem.universe;
        let name = universe.name(*target).clone();
        if universe.release_count(*target) == 0 {
            let mut known: Vec<&PackageName> = universe
                .reached()
                .filter(|package| {
                    // Whoever requires something here was not meant.
                    let is_meant = !universe.is_root(*package) && !owners.contains(package);
                    is_meant && universe.release_count(*package) > 0
                })
                .map(|package| universe.name(package))
                .collect();
            known.sort_unstable();
            let texts = known.iter().map(|package| package.as_str());
            let similar = most_similar_name(name.as_str(), texts);
            let meant = known
                .iter()
                .find(|package| Some(package.as_str()) == similar);
            if let Some(meant) = meant {
                hints.push(Hint::similar(name.clone(), (*meant).clone()));
            }
            hints.push(Hint::option(format!(
                "`--registry` adds a registry that has `{name}`, `--provide` a file that says what the host supplies"
            )));
            continue;
        }
        // Once for all who require it.
        let is_new = dead_ends.remove(target);
        match is_new.then(|| kept_out(universe, facts, *target)).flatten() {
            Some(hint) => hints.push(hint),
            None if allowed.is_empty() => hints.push(Hint::packages(available(universe, *target))),
            None => {}
        }
    }
    hints.extend((repairs.iter()).map(|repair| Hint::packages(&repair.text)));
    // Requirements that are spelled in different ways may be mended by the same words.
    let mut different: Vec<Hint> = Vec::new();
    for hint in hints {
        let is_known = different.iter().any(|known| known.text == hint.text);
        if different.len() < MOST && !is_known {
            different.push(hint);
        }
    }
    different
}

/// What there is in place of versions of a package that were asked for and that nobody has.
fn instead_of_wanted(problem: &Problem<'_>, package: PackageId) -> Option<Hint> {
    let (universe, goals) = (&*problem.universe, problem.goals());
    goals.goal(package).filter(|goal| goal.allowed.is_empty())?;
    if universe.release_count(package) == 0 {
        return None;
    }
    Some(if universe.source(package) == Some(&ReleaseSource::Host) {
        Hint::option(format!(
            "no update moves `{}`: its versions stand in the files that `--provide`, or `provide` in pkgres.toml, names",
            universe.name(package)
        ))
    } else {
        Hint::packages(available(universe, package))
    })
}

/// `the versions of Db are 1.0.0, 1.1.0 and 2.0.0`
fn available(universe: &Universe, package: PackageId) -> String {
    let name = universe.name(package);
    let mut versions: Vec<String> = universe
        .candidates_of(package)
        .iter()
        .map(|index| universe.version(ReleaseId { package, index }).to_string())
        .collect();
    let count = versions.len();
    let newest: Vec<String> = versions.split_off(count.saturating_sub(LISTED_VERSIONS));
    match newest.as_slice() {
        [] => format!("{name} has no version that could be chosen"),
        [only] => format!("the only version of {name} is {only}"),
        [others @ .., last] if count <= LISTED_VERSIONS => {
            format!(
                "the versions of {name} are {} and {last}",
                others.join(", ")
            )
        }
        [others @ .., last] => {
            format!(
                "the newest of {count} versions of {name} are {} and {last}",
                others.join(", ")
            )
        }
    }
}

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
            is_yanked: universe.is_yanked(release),
            is_too_new: universe.is_too_new(release),
            is_refused: universe.is_prerelease(release)
                && universe.prerelease_policy() == PrereleasePolicy::Never,
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
    let kept_out = matching.intersection(&universe.candidates_of(package).complement());
    let releases = kept_out.iter().map(|index| ReleaseId { package, index });
    let (release, obstacles) = releases
        .map(|release| (release, Obstacles::of(universe, release)))
        .filter(|(_, obstacles)| obstacles.count() > 0)
        .min_by_key(|(release, obstacles)| (obstacles.count(), std::cmp::Reverse(release.index)))?;
    let (name, version) = (universe.name(package), universe.version(release));
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
        for edge in details.edges.iter().filter(|edge| edge.package == target) {
            if ways.contains(&universe.allowed(edge)) {
                let mut versions = universe.versions_in(target, &edge.requirement.spec);
                if let Some((_, class)) = edge.object {
                    versions = versions.intersection(&universe.definers(target, class));
                }
                matching = matching.union(&versions);
            }
        }
    }
    matching
}
