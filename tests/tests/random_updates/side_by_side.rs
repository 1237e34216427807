//! Updates of locks in which some package has several releases.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, Release, Spec, Version};
use pkgres_resolver::{PackageUpdate, Update, UpdateTarget};
use pkgres_tests::random::Random;
use pkgres_tests::reference::{Answer, Rules, is_valid, search};
use pkgres_tests::seeds;
use pkgres_tests::solution::Solution;
use pkgres_tests::solver::{self, Supplies, Verdict};
use pkgres_tests::universe::Universe;

use crate::{CONFLICT_LIMIT, SEEDS, assert_none, problem};

/// The result of an update of a lock in which some package has several releases.
enum Ended {
    Solved,
    Impossible,
    /// The error in it, if there is one.
    Wrong(String),
}

/// Whether the best resolution shows that the update is possible.
fn is_possible(universe: &Universe, name: &PackageName, target: &UpdateTarget) -> bool {
    let mut required = universe.clone();
    required.locked = None;
    let UpdateTarget::Exactly(version) = target else {
        return matches!(search(&required, &Rules::default()), Answer::Solved(_));
    };
    (required.records).retain(|record| record.name != *name || record.version == *version);
    let Answer::Solved(found) = search(&required, &Rules::default()) else {
        return false;
    };
    let is_there = |solution: &Solution| {
        let mut releases = solution.releases(&universe.root.name).into_iter();
        releases.any(|Release { name: other, .. }| other == *name)
    };
    is_there(&found)
}

fn check_side_by_side(seed: u64) -> Option<Ended> {
    let (universe, name, target) = problem(seed, &Rules::default())?;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let held = lock.releases(&universe.root.name);
    let names: BTreeSet<&PackageName> = held.iter().map(|Release { name, .. }| name).collect();
    if names.len() == held.len() {
        return None;
    }
    let update = Update::from(BTreeMap::from([(name.clone(), target.clone().into())]));
    let verdict = solver::update(&universe, Supplies::OnDemand, update, u64::MAX);
    let Verdict::Solved(resolution) = verdict else {
        return Some(if is_possible(&universe, &name, &target) {
            Ended::Wrong(format!("seed {seed}: there is a resolution"))
        } else {
            Ended::Impossible
        });
    };
    let found = solver::solution(&resolution);
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Some(Ended::Wrong(text));
    }
    let now = found.releases(&universe.root.name);
    let mut at = now
        .iter()
        .filter(|Release { name: other, .. }| *other == name);
    let is_right = match &target {
        UpdateTarget::Exactly(version) => {
            at.next().is_some() && at.all(|Release { version: at, .. }| at == version)
        }
        _ => true,
    };
    if !is_right {
        return Some(Ended::Wrong("the package is not at its target".to_owned()));
    }
    // If it is enough that the named package moves, nothing else moves.
    let moved = resolution.update().expect("an update was required for");
    let stays = |releases: &BTreeSet<Release>| {
        let others = releases
            .iter()
            .filter(|Release { name: other, .. }| *other != name);
        others.cloned().collect::<BTreeSet<_>>()
    };
    let is_kept = stays(&held) == stays(&now);
    let is_reported = moved.moved.iter().all(|moved| moved.package == name);
    Some(if is_kept == is_reported {
        Ended::Solved
    } else {
        Ended::Wrong("the reported moves are not the differences".to_owned())
    })
}

/// The releases that are bound to a release, directly or not, up to the root. `None` if one of their
/// packages has several releases.
fn ancestors(lock: &Solution, of: (&PackageName, &Version)) -> Option<BTreeSet<Release>> {
    let mut found = BTreeSet::new();
    let mut open = vec![Release::new(of.0.clone(), of.1.clone())];
    while let Some(Release { name, version }) = open.pop() {
        for ((owner, at, target), bound) in &lock.bindings {
            let owner = Release::new(owner.clone(), at.clone());
            if (target, bound) == (&name, &version) && found.insert(owner.clone()) {
                open.push(owner);
            }
        }
    }
    let mut packages = found.iter().map(|release| &release.name);
    let is_whole = packages.all(|name| !lock.side_by_side.contains(name));
    is_whole.then_some(found)
}

/// The result of updating one of several releases of a package. With `is_needed`, the packages that
/// lead to that release have no other releases, so no resolution can do without it.
fn check_one_of_several(seed: u64, is_needed: bool, conflict_limit: u64) -> Option<Ended> {
    let (mut universe, ..) = problem(seed, &Rules::default())?;
    let lock = universe.locked.clone().expect("there is a lock");
    let mut random = Random::new(seed);
    let names: Vec<&PackageName> = lock.side_by_side.iter().collect();
    let name = *names.get(random.below(names.len().max(1)))?;
    if universe.core.as_ref() == Some(name) {
        // The implicit requirement on the core library is not written.
        return None;
    }
    let held = lock.releases(&universe.root.name);
    let of_name = |releases: &BTreeSet<Release>| -> Vec<Version> {
        let releases = releases
            .iter()
            .filter(|Release { name: other, .. }| other == name);
        releases
            .map(|Release { version, .. }| version.clone())
            .collect()
    };
    let from = random.pick(&of_name(&held)).clone();
    let ancestors = match ancestors(&lock, (name, &from)) {
        Some(ancestors) if is_needed => ancestors,
        None if is_needed => return None,
        _ => BTreeSet::new(),
    };
    universe.records.retain(|record| {
        let is = |Release { name, version }: &Release| {
            *name == record.name && *version == record.version
        };
        let mut others = ancestors
            .iter()
            .filter(|Release { name: other, .. }| *other == record.name);
        others.all(is)
    });
    let versions: Vec<Version> = (universe.records.iter())
        .filter(|record| record.name == *name && !record.yanked)
        .filter(|record| !record.version.is_prerelease())
        .map(|record| record.version.clone())
        .collect();
    let to = versions.get(random.below(versions.len().max(1)))?.clone();
    let bound = |owner: &IndexRecord| {
        let binding = (owner.name.clone(), owner.version.clone(), name.clone());
        lock.bindings.get(&binding) == Some(&from)
    };
    let mut required = universe.clone();
    required.locked = None;
    let mut is_allowed = true;
    let owners = required.records.iter_mut().chain([&mut required.root]);
    for owner in owners.filter(|owner| bound(owner)) {
        owner.requirements.change(|requirements| {
            let matching = requirements.iter_mut().filter(|one| one.package == *name);
            for requirement in matching {
                is_allowed &= requirement.spec.matches(&to);
                requirement.spec = Spec::parse(&format!("={to}")).expect("a spec");
            }
        });
    }
    let is_possible = match search(&required, &Rules::default()) {
        Answer::Solved(found) => {
            let there = of_name(&found.releases(&universe.root.name));
            is_allowed && (is_needed || there.contains(&to))
        }
        Answer::NoSolution => false,
    };
    let moving = PackageUpdate {
        from: BTreeSet::from([from.clone()]),
        to: UpdateTarget::Exactly(to.clone()),
    };
    let update = Update::from(BTreeMap::from([(name.clone(), moving)]));
    let verdict = solver::update(&universe, Supplies::OnDemand, update, conflict_limit);
    let Verdict::Solved(resolution) = verdict else {
        return Some(if is_possible {
            Ended::Wrong(format!("seed {seed}: {name} {from} can go to {to}"))
        } else {
            Ended::Impossible
        });
    };
    let found = solver::solution(&resolution);
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Some(Ended::Wrong(text));
    }
    let owners = universe.records.iter().chain([&universe.root]);
    let is_moved = owners.filter(|owner| bound(owner)).all(|owner| {
        let binding = (owner.name.clone(), owner.version.clone(), name.clone());
        found.bindings.get(&binding).is_none_or(|now| *now == to)
    });
    let is_there = of_name(&found.releases(&universe.root.name)).contains(&to);
    Some(if is_moved && is_there {
        Ended::Solved
    } else {
        Ended::Wrong(format!("seed {seed}: {name} {from} did not go to {to}"))
    })
}

#[test]
fn random_updates_of_split_locks_reach_their_target() {
    assert_right(check_side_by_side);
}

#[test]
fn random_updates_move_one_of_several_releases() {
    for conflict_limit in [u64::MAX, CONFLICT_LIMIT] {
        assert_right(|seed| check_one_of_several(seed, true, conflict_limit));
        assert_right(|seed| check_one_of_several(seed, false, conflict_limit));
    }
}

fn assert_right(check: impl Fn(u64) -> Option<Ended> + Sync) {
    let mut wrong: Vec<String> = Vec::new();
    let (mut solved, mut impossible) = (0, 0);
    for ended in seeds::for_all(seeds::count(SEEDS), check)
        .into_iter()
        .flatten()
    {
        match ended {
            Ended::Solved => solved += 1,
            Ended::Impossible => impossible += 1,
            Ended::Wrong(text) => wrong.push(text),
        }
    }
    assert_none(&wrong);
    assert!(
        solved > 20 || seeds::count(SEEDS) < SEEDS,
        "only {solved} are solved, {impossible} are impossible"
    );
}
