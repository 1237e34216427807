//! What can be done about a conflict: versions and names that exist, and excluded releases that would fit.

use pkgres_manifest::diagnostic::{counted, sentence_list};
use pkgres_manifest::{PackageName, ReleaseSource, most_similar_name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::phrases::LISTED_VERSIONS;
use super::summary::ConstraintSource;
use super::{Hint, SuggestedChange};
use crate::class_rules::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::request::PrereleasePolicy;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

/// The maximum number of hints about the conflict itself.
const MAX_HINTS: usize = 2;
/// The most other unknown packages that are listed.
const MAX_ALSO_UNKNOWN: usize = 10;

/// Distinct hints about facts with these [unsatisfiable
/// packages](super::summary::unsatisfiable_packages): at most [`MAX_HINTS`], and those about other unknown
/// packages.
pub(super) fn hints(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    mut unsatisfiable: FxHashSet<PackageId>,
    repairs: &[SuggestedChange],
) -> Vec<Hint> {
    let mut hints = Vec::new();
    let owners = facts.iter().filter_map(|fact| match fact {
        Fact::Requires { owner, .. } => Some(*owner),
        _ => None,
    });
    let owners: FxHashSet<PackageId> = owners.collect();
    for fact in facts {
        match fact {
            Fact::Wanted { package } => hints.extend(requested_alternatives(problem, *package)),
            Fact::Nogood(number) => hints.extend(unnamed_prerelease_hint(problem, *number)),
            _ => {}
        }
        let Fact::Requires {
            owner,
            target,
            allowed,
        } = fact
        else {
            continue;
        };
        let universe = &mut *problem.universe;
        let name = universe.catalog.name(*target).clone();
        if universe.catalog.release_count(*target) == 0 {
            let mut known: Vec<&PackageName> = (universe.catalog)
                .reached()
                .filter(|package| {
                    // The owner of a requirement in the conflict was not meant.
                    let is_eligible =
                        !universe.catalog.is_root(*package) && !owners.contains(package);
                    is_eligible && universe.catalog.release_count(*package) > 0
                })
                .map(|package| universe.catalog.name(package))
                .collect();
            known.sort_unstable();
            let texts = known.iter().map(|package| package.as_str());
            let similar = most_similar_name(name.as_str(), texts);
            let suggestion = known
                .iter()
                .find(|package| Some(package.as_str()) == similar);
            if let Some(suggestion) = suggestion {
                hints.push(Hint::similar(name.clone(), (*suggestion).clone()));
            }
            hints.push(Hint::option(format!(
                "`--registry` adds a registry that has `{name}`, and `--provide FILE` declares the packages of the host"
            )));
            continue;
        }
        // One hint for all requirements on the package.
        let is_new = unsatisfiable.remove(target);
        match is_new
            .then(|| excluded_release_hint(universe, facts, *target))
            .flatten()
        {
            Some(hint) => hints.push(hint),
            None if allowed.is_empty() => {
                let empty = empty_spec_hint(universe, *owner, *target);
                let hint = empty.unwrap_or_else(|| available_versions(universe, *target));
                hints.push(Hint::packages(hint));
            }
            None => {}
        }
    }
    hints.extend((repairs.iter()).map(|repair| Hint::packages(&repair.text)));
    // Different requirements may have the same hint.
    let mut distinct: Vec<Hint> = Vec::new();
    for hint in hints {
        let is_duplicate = distinct.iter().any(|known| known.text == hint.text);
        if distinct.len() < MAX_HINTS && !is_duplicate {
            distinct.push(hint);
        }
    }
    distinct.extend(also_unknown(problem.universe, facts));
    distinct
}

/// Hints about all other packages that roots require and that do not exist, if the conflict is about one of these: it has a
/// single reason, and whoever misspelt two names wants to know both.
fn also_unknown(universe: &mut Universe, facts: &[Fact]) -> Vec<Hint> {
    let [Fact::Requires { target, .. }] = facts else {
        return Vec::new();
    };
    let is_unknown = |universe: &Universe, package: PackageId| {
        universe.catalog.is_delivered(package) && universe.catalog.release_count(package) == 0
    };
    if !is_unknown(universe, *target) {
        return Vec::new();
    }
    let mut others: Vec<PackageId> = Vec::new();
    let mut requirements = Vec::new();
    for root in universe.catalog.roots().to_vec() {
        requirements.clear();
        universe.requirements(root, &mut requirements);
        let targets = requirements.iter().map(|requirement| requirement.target);
        for other in targets.filter(|other| other != target) {
            if is_unknown(universe, other) && !others.contains(&other) {
                others.push(other);
            }
        }
    }
    let listed = others.iter().take(MAX_ALSO_UNKNOWN);
    let mut hints: Vec<Hint> = listed
        .map(|other| Hint::also_unknown(universe.catalog.name(*other).clone(), None))
        .collect();
    if let Some(more @ 1..) = others.len().checked_sub(MAX_ALSO_UNKNOWN) {
        hints.push(Hint::packages(format!(
            "no registry has {} that are required",
            counted(more, "more package")
        )));
    }
    hints
}

/// A hint about the prerelease that a nogood excludes because no requirement names it.
fn unnamed_prerelease_hint(problem: &Problem<'_>, number: u32) -> Option<Hint> {
    let nogood = &problem.nogoods()[number as usize];
    let NogoodCause::Rule(Violation::UnnamedPrerelease(release)) = &nogood.cause else {
        return None;
    };
    let catalog = &problem.universe.catalog;
    let (name, version) = (catalog.name(release.package), catalog.version(*release));
    Some(prerelease_hint(&format!("{name} {version}")))
}

/// A hint about a prerelease that would fit. `release` is in words.
fn prerelease_hint(release: &str) -> Hint {
    Hint::option(format!("`--prerelease allow` lets {release} in"))
}

/// The versions of a package that exist, if none of the requested ones does.
fn requested_alternatives(problem: &Problem<'_>, package: PackageId) -> Option<Hint> {
    let (universe, goals) = (&*problem.universe, problem.goals());
    goals.goal(package).filter(|goal| goal.allowed.is_empty())?;
    if universe.catalog.release_count(package) == 0 {
        return None;
    }
    Some(
        if universe.catalog.source(package) == Some(&ReleaseSource::Host) {
            Hint::option(format!(
                "`{}` is provided by the host and cannot be updated: its versions are declared with `--provide`, or `provide` in pkgres.toml",
                universe.catalog.name(package)
            ))
        } else {
            Hint::packages(available_versions(universe, package))
        },
    )
}

/// A hint about a requirement with a spec that no version can match, whichever there are.
fn empty_spec_hint(universe: &mut Universe, owner: PackageId, target: PackageId) -> Option<String> {
    let mut releases = universe.catalog.candidate_releases(owner).into_iter();
    let spec = releases.find_map(|release| {
        let details = universe.details(release);
        let mut stated = details.requirements.iter();
        let stated = stated.find(|stated| stated.package == target)?;
        let spec = stated.overridden.as_ref();
        let spec = spec.unwrap_or(&stated.requirement.spec);
        spec.set().is_empty().then(|| spec.clone())
    })?;
    Some(match spec.probably_meant() {
        Some(meant) => {
            format!("no version can match `{spec}`, which ends where it begins: write `{meant}`")
        }
        None => format!("no version can match `{spec}`, whatever versions there are"),
    })
}

/// `the versions of Db are 1.0.0, 1.1.0 and 2.0.0`
fn available_versions(universe: &Universe, package: PackageId) -> String {
    let name = universe.catalog.name(package);
    let candidates = universe.catalog.candidate_releases(package).into_iter();
    let mut versions: Vec<String> = candidates
        .map(|release| universe.catalog.version(release).to_string())
        .collect();
    let count = versions.len();
    let newest: Vec<String> = versions.split_off(count.saturating_sub(LISTED_VERSIONS));
    match newest.as_slice() {
        [] => format!("{name} has no version that could be chosen"),
        [only] => format!("the only version of {name} is {only}"),
        all if count <= LISTED_VERSIONS => {
            format!("the versions of {name} are {}", sentence_list(all, "and"))
        }
        newest => format!(
            "the newest of {count} versions of {name} are {}",
            sentence_list(newest, "and")
        ),
    }
}

/// The reasons for which a release is not a candidate.
#[derive(Debug, Clone, Copy)]
struct ExcludedRelease {
    is_yanked: bool,
    is_too_new: bool,
    /// Whether it is a prerelease, and prereleases are forbidden.
    is_forbidden_prerelease: bool,
}

impl ExcludedRelease {
    fn of(universe: &Universe, release: ReleaseId) -> Self {
        Self {
            is_yanked: universe.catalog.is_yanked(release),
            is_too_new: universe.catalog.is_too_new(release),
            is_forbidden_prerelease: universe.catalog.is_prerelease(release)
                && universe.catalog.policy().prerelease() == PrereleasePolicy::Never,
        }
    }

    fn count(self) -> usize {
        [
            self.is_yanked,
            self.is_too_new,
            self.is_forbidden_prerelease,
        ]
        .into_iter()
        .filter(|applies| *applies)
        .count()
    }

    /// A hint about these reasons. `release` is in words; it matches one requirement or several.
    fn hint(self, release: &str, has_several: bool) -> Hint {
        let matches = if has_several {
            "matches all of these"
        } else {
            "matches"
        };
        match (
            self.is_yanked,
            self.is_too_new,
            self.is_forbidden_prerelease,
        ) {
            (true, false, false) => Hint::packages(format!(
                "{release} {matches} but was yanked; it is chosen only if it is locked, or named with `update --precise`"
            )),
            (false, true, false) => Hint::option(format!(
                "{release} {matches} but was published too late for `exclude-newer`"
            )),
            (false, false, true) if has_several => Hint::option(format!(
                "`--prerelease allow` lets {release} in, which {matches}"
            )),
            (false, false, true) => prerelease_hint(release),
            (is_yanked, is_too_new, is_forbidden_prerelease) => {
                let all = [
                    (is_yanked, "was yanked"),
                    (is_too_new, "was published too late for `exclude-newer`"),
                    (
                        is_forbidden_prerelease,
                        "is a prerelease, which `--prerelease never` refuses",
                    ),
                ];
                let applying = all.iter().filter(|(applies, _)| *applies);
                let applying: Vec<&str> = applying.map(|(_, what)| *what).collect();
                Hint::option(format!(
                    "{release} {matches} but {}",
                    applying.join(", and ")
                ))
            }
        }
    }
}

/// A hint about a version that matches all requirements on a package but is not a candidate, if no
/// candidate matches them. It is the newest of the versions with the fewest reasons, and rather one that an option lets
/// in than a yanked one, which no option does.
pub(super) fn excluded_release_hint(
    universe: &mut Universe,
    facts: &[Fact],
    package: PackageId,
) -> Option<Hint> {
    let mut by_source: FxHashMap<ConstraintSource, (PackageId, FxHashSet<&PositionSet>)> =
        FxHashMap::default();
    for (at, fact) in facts.iter().enumerate() {
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } if *target == package => {
                let source = ConstraintSource::of(universe, *owner, at);
                let (_, allowed_sets) = by_source
                    .entry(source)
                    .or_insert((*owner, FxHashSet::default()));
                allowed_sets.insert(allowed);
            }
            Fact::Wanted { package: other } | Fact::Stays { package: other }
                if *other == package =>
            {
                return None;
            }
            _ => {}
        }
    }
    let has_several = by_source.len() > 1;
    let matching = (by_source.into_values())
        .map(|(owner, allowed_sets)| matching(universe, owner, package, &allowed_sets))
        .reduce(|one, other| one.intersection(&other))?;
    let excluded = matching.intersection(&universe.catalog.candidates_of(package).complement());
    let releases = excluded.iter().map(|index| ReleaseId { package, index });
    let (release, exclusion) = releases
        .map(|release| (release, ExcludedRelease::of(universe, release)))
        .filter(|(_, exclusion)| exclusion.count() > 0)
        .min_by_key(|(release, exclusion)| {
            let newest_first = std::cmp::Reverse(release.index);
            (exclusion.count(), exclusion.is_yanked, newest_first)
        })?;
    let (name, version) = (
        universe.catalog.name(package),
        universe.catalog.version(release),
    );
    Some(exclusion.hint(&format!("{name} {version}"), has_several))
}

/// All versions, candidates or not, that match requirements of a package for which the allowed
/// candidates are one of these sets.
fn matching(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    allowed_sets: &FxHashSet<&PositionSet>,
) -> PositionSet {
    let mut matching = PositionSet::EMPTY;
    for release in universe.catalog.candidate_releases(owner) {
        let details = universe.details(release);
        for stated in details
            .requirements
            .iter()
            .filter(|stated| stated.package == target)
        {
            if allowed_sets.contains(&universe.allowed(stated)) {
                let mut versions = (universe.catalog).versions_in(target, &stated.requirement.spec);
                if let Some((_, class)) = stated.object {
                    versions = versions.intersection(&universe.catalog.definers(target, class));
                }
                matching = matching.union(&versions);
            }
        }
    }
    matching
}
