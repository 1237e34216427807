//! What can be done about a conflict: versions and names that exist, and [excluded releases](super::excluded_releases)
//! that would fit.

use pkgres_manifest::diagnostic::{counted, sentence_list};
use pkgres_manifest::{PackageName, ReleaseSource, most_similar_name};
use rustc_hash::FxHashSet;

use super::excluded_releases::{excluded_definer, excluded_release_hint, unnamed_prerelease_hint};
use super::phrases::LISTED_VERSIONS;
use super::{Hint, SuggestedChange};
use crate::problem::{Fact, Problem};
use crate::universe::{PackageId, Universe};

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
