//! What can be done about a conflict: versions and names that exist, and excluded releases that would fit.

use pkgres_manifest::diagnostic::{counted, sentence_list};
use pkgres_manifest::{PackageName, ReleaseSource, most_similar_name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::missing_classes::extending;
use super::phrases::{LISTED_VERSIONS, kind_and_name};
use super::summary::ConstraintSource;
use super::{Hint, SuggestedChange};
use crate::class_rules::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, PolicyExclusion, ReleaseId, Universe};

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
    suggestions: &[SuggestedChange],
) -> Vec<Hint> {
    let mut hints = Vec::new();
    let owners = facts.iter().filter_map(|fact| match fact {
        Fact::Requires { owner, .. } => Some(*owner),
        _ => None,
    });
    let owners: FxHashSet<PackageId> = owners.collect();
    let packages_in_between = packages_in_between(problem.universe, facts, &owners, &unsatisfiable);
    for fact in facts {
        match fact {
            Fact::Wanted { package } => hints.extend(requested_alternatives(problem, *package)),
            Fact::Nogood(number) => hints.extend(unnamed_prerelease_hint(problem, *number)),
            Fact::Extends { owner, class } => {
                hints.extend(excluded_definer(problem.universe, *owner, *class));
            }
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
    hints.extend((suggestions.iter()).map(|change| Hint::packages(&change.text)));
    // Different requirements may have the same hint.
    let mut distinct: Vec<Hint> = Vec::new();
    for hint in hints {
        let is_duplicate = distinct.iter().any(|known| known.text == hint.text);
        if distinct.len() < MAX_HINTS && !is_duplicate {
            distinct.push(hint);
        }
    }
    // Beside other hints: without these, the explanation would be incomplete.
    let mut excluded: Vec<Hint> = Vec::new();
    for package in packages_in_between {
        if excluded.len() == MAX_HINTS {
            break;
        }
        let hint = excluded_release_hint(problem.universe, facts, package);
        let is_new = |hint: &Hint| distinct.iter().all(|known| known.text != hint.text);
        excluded.extend(hint.filter(is_new));
    }
    distinct.extend(excluded);
    distinct.extend(also_unknown(problem.universe, facts));
    distinct
}

/// Required packages that also own a requirement in the conflict, sorted by name: an excluded release of one may lack that
/// requirement.
fn packages_in_between(
    universe: &Universe,
    facts: &[Fact],
    owners: &FxHashSet<PackageId>,
    unsatisfiable: &FxHashSet<PackageId>,
) -> Vec<PackageId> {
    let targets = facts.iter().filter_map(|fact| match fact {
        Fact::Requires { target, .. } => Some(*target),
        _ => None,
    });
    let mut packages: Vec<PackageId> = targets
        .filter(|target| owners.contains(target) && !unsatisfiable.contains(target))
        .collect();
    // Their numbers depend on the order of arrival.
    packages.sort_unstable_by_key(|package| universe.catalog.name(*package));
    packages.dedup();
    packages
}

/// Why a required package does not have a missing class: a release that has it and that the requirement matches is not a
/// candidate, or the host provides the package.
fn excluded_definer(universe: &mut Universe, owner: PackageId, class: ClassId) -> Option<Hint> {
    let mut found: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
    for release in extending(universe, owner, class) {
        let details = universe.details(release);
        for stated in &details.requirements {
            let package = stated.package;
            if !universe.catalog.is_delivered(package)
                || universe.catalog.release_count(package) == 0
            {
                continue;
            }
            let matching = (universe.catalog).versions_in(package, &stated.spec);
            let defining = matching.intersection(&universe.catalog.definers(package, class));
            let known = found.entry(package).or_insert(PositionSet::EMPTY);
            *known = known.union(&defining);
        }
    }
    let mut found: Vec<(PackageId, PositionSet)> = found.into_iter().collect();
    found.sort_unstable_by(|(one, _), (other, _)| {
        universe
            .catalog
            .name(*one)
            .cmp(universe.catalog.name(*other))
    });
    let (what, name) = kind_and_name(universe.catalog.class_name(class));
    let excluded = found.iter().find_map(|(package, defining)| {
        let (release, exclusions) = least_excluded(universe, *package, defining)?;
        let is_known = !universe.catalog.has_unknown_classes(release);
        let defines = format!("defines the {what} {name}");
        is_known.then(|| excluded_hint(&exclusions, &shown(universe, release), &defines, false))
    });
    // The core library is required by all packages, and callers know what is built in.
    let is_of_host = |package: &PackageId| {
        let catalog = &universe.catalog;
        catalog.source(*package) == Some(&ReleaseSource::Host) && catalog.core() != Some(*package)
    };
    let names: Vec<PackageName> = name.enclosing_packages().collect();
    excluded.or_else(|| {
        let mut packages = found.iter().map(|(package, _)| *package);
        let package = packages.find(|package| {
            is_of_host(package) && names.contains(universe.catalog.name(*package))
        })?;
        let package = universe.catalog.name(package);
        Some(Hint::option(format!(
            "the host provides {package}, as `--provide` or `provide` in pkgres.toml says, so its releases in registries are not used"
        )))
    })
}

/// Hints about all other packages that roots require and that do not exist, if the conflict is about one of these: it
/// has a single reason, and whoever misspelt two names wants to know both.
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
        let spec = &stated.spec;
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
    // Others may be excluded by policy.
    let that_are = if universe.catalog.release_count(package) as usize > count {
        " that can be chosen"
    } else {
        ""
    };
    match newest.as_slice() {
        [] => format!("{name} has no version that could be chosen"),
        [only] if universe.catalog.source(package) == Some(&ReleaseSource::BuiltIn) => {
            format!("the only version of {name}{that_are} is {only}, which is built in")
        }
        [only] => format!("the only version of {name}{that_are} is {only}"),
        all if count <= LISTED_VERSIONS => {
            let all = sentence_list(all, "and");
            format!("the versions of {name}{that_are} are {all}")
        }
        newest => format!(
            "the newest of {count} versions of {name}{that_are} are {}",
            sentence_list(newest, "and")
        ),
    }
}

/// A hint about a release that is not a candidate. `release` is in words, as is what makes it useful; `is_obvious` if the
/// option that lets it in is enough to say.
fn excluded_hint(
    exclusions: &[PolicyExclusion],
    release: &str,
    matches: &str,
    is_obvious: bool,
) -> Hint {
    match exclusions {
        [PolicyExclusion::Yanked] => Hint::packages(format!(
            "{release} {matches} but was yanked; it is chosen only if it is locked, or requested by an update"
        )),
        [PolicyExclusion::Prerelease] if is_obvious => prerelease_hint(release),
        [PolicyExclusion::Prerelease] => Hint::option(format!(
            "`--prerelease allow` lets {release} in, which {matches}"
        )),
        exclusions => {
            let reasons = exclusions.iter().map(|exclusion| match exclusion {
                PolicyExclusion::Yanked => "was yanked",
                PolicyExclusion::TooNew => "was published too late for `exclude-newer`",
                PolicyExclusion::Prerelease => {
                    "is a prerelease, which `--prerelease never` refuses"
                }
            });
            let reasons: Vec<&str> = reasons.collect();
            Hint::option(format!(
                "{release} {matches} but {}",
                reasons.join(", and ")
            ))
        }
    }
}

/// A release in words.
fn shown(universe: &Universe, release: ReleaseId) -> String {
    let name = universe.catalog.name(release.package);
    format!("{name} {}", universe.catalog.version(release))
}

/// Of some releases of a package, one with the fewest exclusions; of equals, one that is not yanked, then the newest.
fn least_excluded(
    universe: &Universe,
    package: PackageId,
    releases: &PositionSet,
) -> Option<(ReleaseId, Vec<PolicyExclusion>)> {
    let excluded = releases.intersection(&universe.catalog.candidates_of(package).complement());
    let releases = excluded.iter().map(|index| ReleaseId { package, index });
    releases
        .map(|release| {
            (
                release,
                PolicyExclusion::all_of(universe, release).collect(),
            )
        })
        .filter(|(_, exclusions): &(_, Vec<_>)| !exclusions.is_empty())
        .min_by_key(|(release, exclusions)| {
            let newest_first = std::cmp::Reverse(release.index);
            let is_yanked = exclusions.contains(&PolicyExclusion::Yanked);
            (exclusions.len(), is_yanked, newest_first)
        })
}

/// Whether a release has a requirement that the facts have of its package, or one that allows less.
fn is_also_in_conflict(universe: &mut Universe, facts: &[Fact], release: ReleaseId) -> bool {
    let details = universe.details(release);
    facts.iter().any(|fact| match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if *owner == release.package => details.requirements.iter().any(|stated| {
            stated.package == *target && universe.allowed(stated).is_subset_of(allowed)
        }),
        _ => false,
    })
}

/// A hint about a version that matches all requirements on a package but is not a candidate, and does not have the
/// reasons that its candidates have. It is the newest of the versions with the fewest reasons, and rather one that an
/// option lets in than a yanked one, which no option does.
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
    let candidates = universe.catalog.candidates_of(package);
    let excluded = matching.intersection(&candidates.complement());
    let excluded = excluded.iter();
    let useful: PositionSet = excluded
        .filter(|index| {
            let index = *index;
            !is_also_in_conflict(universe, facts, ReleaseId { package, index })
        })
        .collect();
    let (release, exclusions) = least_excluded(universe, package, &useful)?;
    let matches = if has_several {
        "matches all of these"
    } else {
        "matches"
    };
    Some(excluded_hint(
        &exclusions,
        &shown(universe, release),
        matches,
        !has_several,
    ))
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
                let mut versions = (universe.catalog).versions_in(target, &stated.spec);
                if let Some((_, class)) = stated.object {
                    versions = versions.intersection(&universe.catalog.definers(target, class));
                }
                matching = matching.union(&versions);
            }
        }
    }
    matching
}
