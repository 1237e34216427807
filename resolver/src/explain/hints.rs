//! What can be done about a conflict.

use pkgres_manifest::{PackageName, ReleaseSource, most_similar_name};
use rustc_hash::FxHashSet;

use crate::problem::{Fact, Problem};
use crate::universe::{PackageId, ReleaseId, Universe};

use super::kept_out::kept_out;
use super::{Hint, LISTED_VERSIONS, Repair};

/// How many hints are given.
const MOST: usize = 2;

/// At most two hints, of which no two are the same, about facts with these [dead ends](super::clash::dead_ends).
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
        let name = universe.catalog.name(*target).clone();
        if universe.catalog.release_count(*target) == 0 {
            let mut known: Vec<&PackageName> = universe
                .catalog
                .reached()
                .filter(|package| {
                    // Whoever requires something here was not meant.
                    let is_meant = !universe.catalog.is_root(*package) && !owners.contains(package);
                    is_meant && universe.catalog.release_count(*package) > 0
                })
                .map(|package| universe.catalog.name(package))
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
    if universe.catalog.release_count(package) == 0 {
        return None;
    }
    Some(
        if universe.catalog.source(package) == Some(&ReleaseSource::Host) {
            Hint::option(format!(
                "no update moves `{}`: its versions stand in the files that `--provide`, or `provide` in pkgres.toml, names",
                universe.catalog.name(package)
            ))
        } else {
            Hint::packages(available(universe, package))
        },
    )
}

/// `the versions of Db are 1.0.0, 1.1.0 and 2.0.0`
fn available(universe: &Universe, package: PackageId) -> String {
    let name = universe.catalog.name(package);
    let mut versions: Vec<String> = universe
        .catalog
        .candidates_of(package)
        .iter()
        .map(|index| {
            universe
                .catalog
                .version(ReleaseId { package, index })
                .to_string()
        })
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
