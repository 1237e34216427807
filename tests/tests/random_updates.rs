//! Updates of random universes: no package moves without need, and no better update is possible.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, Spec, Version};
use pkgres_resolver::{PackageUpdate, ReasonKind, SolveOptions, Update, UpdateTarget};
use pkgres_tests::random::Random;
use pkgres_tests::reference::{Answer, Rule, Rules, Solution, exists, is_valid, search};
use pkgres_tests::seeds;
use pkgres_tests::solver::{self, Supplies, Verdict};
use pkgres_tests::universe::{PrereleasePolicy, Universe};

const SEEDS: u64 = 20_000;
/// A small number of conflicts, after which some searches leave the order of decisions.
const PATIENCE: u64 = 2;

/// A universe with a lock that obeys these rules, and an update of one of its packages.
fn problem(seed: u64, rules: &Rules) -> Option<(Universe, PackageName, UpdateTarget)> {
    let mut universe = match seed % 2 {
        0 => Universe::random(seed / 2),
        _ => Universe::entangled(seed / 2),
    };
    let mut random = Random::new(seed);
    let mut earlier = universe.clone();
    earlier.locked = None;
    // Some releases were published after the lock was written.
    let newer = |record: &IndexRecord, random: &mut Random| {
        let records = universe.records.iter();
        let mut others = records.filter(|other| other.name == record.name);
        others.all(|other| other.version <= record.version) && random.chance(50)
    };
    (earlier.records).retain(|record| !newer(record, &mut random));
    if random.chance(25) && !earlier.root.requirements.is_empty() {
        let chosen = random.below(earlier.root.requirements.len());
        earlier.root.requirements[chosen].spec = Spec::any();
    }
    let lock = match search(&earlier, rules) {
        Answer::Solved(lock) => lock,
        Answer::NoSolution => return None,
    };
    let names: Vec<PackageName> = (lock.releases(&universe.root.name).into_iter())
        .map(|(name, _)| name)
        .collect();
    universe.locked = Some(lock);
    if names.is_empty() {
        return None;
    }
    let name = random.pick(&names).clone();
    let versions: Vec<&Version> = (universe.records.iter())
        .filter(|record| record.name == name)
        .filter(|record| !record.yanked)
        .filter(|record| {
            let is_refused = universe.prerelease == PrereleasePolicy::Never;
            !(is_refused && record.version.is_prerelease())
        })
        .map(|record| &record.version)
        .collect();
    let target = if versions.is_empty() || random.chance(50) {
        UpdateTarget::Newest
    } else {
        UpdateTarget::Exactly((*random.pick(&versions)).clone())
    };
    Some((universe, name, target))
}

#[derive(Default)]
struct Tally {
    minimal: usize,
    several: usize,
    impossible: usize,
    held_back: usize,
    others: usize,
}

/// What is wrong with the answer to a universe. Counts the kind of answer.
fn check(seed: u64, patience: u64, tally: &mut Tally) -> Option<String> {
    let (universe, name, target) = problem(seed, &Rules::without(Rule::SecondTier))?;
    let anything = |_: &PackageName, _: &Version| true;
    let possible = exists(&universe, &anything, None)?;
    let update = Update {
        packages: BTreeMap::from([(name.clone(), target.clone().into())]),
    };
    let verdict = solver::update(&universe, Supplies::OnDemand, update, patience);
    let resolution = match (&verdict, &target) {
        (Verdict::Solved(resolution), _) => resolution,
        (Verdict::Conflict(conflict), UpdateTarget::Exactly(version)) if possible => {
            tally.impossible += 1;
            let wanted = (name, version.clone());
            if exists(&universe, &anything, Some(&wanted))? {
                return Some(format!("{} {} is possible", wanted.0, wanted.1));
            }
            let mut reasons = conflict.reasons.iter();
            let is_reported =
                reasons.any(|reason| matches!(reason.kind, ReasonKind::Wanted { .. }));
            return (!is_reported).then(|| "the report does not name the target".to_owned());
        }
        (Verdict::Conflict(_), _) => {
            tally.others += 1;
            return possible.then(|| "there is a resolution".to_owned());
        }
    };
    let found = solver::solution(resolution);
    let report = resolution.update().expect("an update was asked for");
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Some(text);
    }
    // An exact version may need several releases of some package, if nothing else is possible.
    let is_whole = match &target {
        UpdateTarget::Exactly(version) if possible => {
            exists(&universe, &anything, Some(&(name.clone(), version.clone())))?
        }
        _ => possible,
    };
    if report.is_minimal != is_whole {
        return Some("the wrong tier".to_owned());
    }
    if !is_whole {
        tally.others += 1;
        return None;
    }
    tally.minimal += 1;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let held: BTreeMap<PackageName, Version> =
        lock.releases(&universe.root.name).into_iter().collect();
    let now: BTreeMap<PackageName, Version> =
        found.releases(&universe.root.name).into_iter().collect();
    let differing: BTreeSet<&PackageName> = (held.keys().chain(now.keys()))
        .filter(|name| held.get(*name) != now.get(*name))
        .collect();
    let moved: BTreeSet<&PackageName> = report.moved.iter().map(|moved| &moved.package).collect();
    if moved != differing {
        return Some("the reported moves are not the differences".to_owned());
    }
    let at = now.get(&name).cloned();
    let wanted = at.map(|version| (name.clone(), version));
    match (&target, &wanted) {
        (UpdateTarget::Exactly(version), Some((_, at))) if at != version => {
            return Some(format!("{at} was not asked for"));
        }
        (UpdateTarget::Exactly(_), None) => return Some("it was dropped".to_owned()),
        _ => {}
    }
    // Newer stable versions are better under every policy.
    if target == UpdateTarget::Newest {
        let records = universe.records.iter();
        let of_package = records.filter(|record| record.name == name);
        let at = wanted.as_ref().map(|(_, at)| at);
        let is_last_resort = |record: &IndexRecord| {
            let is_refused = universe.prerelease == PrereleasePolicy::Never;
            record.yanked || is_refused && record.version.is_prerelease()
        };
        let mut chosen = of_package
            .clone()
            .filter(|record| Some(&record.version) == at);
        let may_be_last_resort = chosen.any(is_last_resort) || at.is_none();
        for record in of_package {
            let is_newer = at.is_none_or(|at| record.version > *at);
            let is_better = is_newer && (may_be_last_resort || !is_last_resort(record));
            let is_told = (report.held_back.iter()).any(|held_back| {
                held_back.version == record.version || held_back.alike.contains(&record.version)
            });
            tally.held_back += usize::from(is_told);
            let is_stable = !record.version.is_prerelease();
            let other = (name.clone(), record.version.clone());
            if is_better && (is_stable || is_told) && exists(&universe, &anything, Some(&other))? {
                return Some(format!("{} {} is possible", other.0, other.1));
            }
            let is_candidate = is_stable && !record.yanked;
            if is_better && is_candidate && at.is_some() && !is_told {
                return Some(format!("{} {} is not mentioned", other.0, other.1));
            }
        }
    }
    let changed: Vec<&PackageName> = (report.moved.iter())
        .filter(|moved| moved.from.is_some() && moved.to.is_some())
        .map(|moved| &moved.package)
        .collect();
    tally.several += usize::from(changed.len() > 1);
    for one in changed.iter().filter(|one| ***one != name) {
        // Keep all that stayed, and this one.
        let stays = |package: &PackageName, version: &Version| {
            let may_move = (changed.contains(&package) && package != *one) || *package == name;
            may_move || held.get(package).is_none_or(|held| held == version)
        };
        if exists(&universe, &stays, wanted.as_ref())? {
            return Some(format!("{one} could have stayed"));
        }
        let because = &(report.moved.iter())
            .find(|moved| moved.package == **one)
            .expect("it moved")
            .because;
        if !because
            .iter()
            .any(|reason| reason.kind == ReasonKind::Stays)
        {
            return Some(format!("there is no reason why {one} moved"));
        }
    }
    None
}

/// The result of an update of a lock in which some package has several releases.
enum Ended {
    Solved,
    Impossible,
    /// What is wrong with it.
    Wrong(String),
}

/// Whether the best resolution shows that the update is possible.
fn is_possible(universe: &Universe, name: &PackageName, target: &UpdateTarget) -> bool {
    let mut asked = universe.clone();
    asked.locked = None;
    let UpdateTarget::Exactly(version) = target else {
        return matches!(search(&asked, &Rules::default()), Answer::Solved(_));
    };
    (asked.records).retain(|record| record.name != *name || record.version == *version);
    let Answer::Solved(found) = search(&asked, &Rules::default()) else {
        return false;
    };
    let is_there = |solution: &Solution| {
        let mut releases = solution.releases(&universe.root.name).into_iter();
        releases.any(|(other, _)| other == *name)
    };
    is_there(&found)
}

fn check_side_by_side(seed: u64) -> Option<Ended> {
    let (universe, name, target) = problem(seed, &Rules::default())?;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let held = lock.releases(&universe.root.name);
    let names: BTreeSet<&PackageName> = held.iter().map(|(name, _)| name).collect();
    if names.len() == held.len() {
        return None;
    }
    let update = Update {
        packages: BTreeMap::from([(name.clone(), target.clone().into())]),
    };
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
    let mut at = now.iter().filter(|(other, _)| *other == name);
    let is_right = match &target {
        UpdateTarget::Exactly(version) => at.next().is_some() && at.all(|(_, at)| at == version),
        UpdateTarget::Newest => true,
    };
    if !is_right {
        return Some(Ended::Wrong("the package is not at its target".to_owned()));
    }
    // If it is enough that the named package moves, nothing else moves.
    let moved = resolution.update().expect("an update was asked for");
    let stays = |releases: &BTreeSet<(PackageName, Version)>| {
        let others = releases.iter().filter(|(other, _)| *other != name);
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
fn ancestors(
    lock: &Solution,
    of: (&PackageName, &Version),
) -> Option<BTreeSet<(PackageName, Version)>> {
    let mut found = BTreeSet::new();
    let mut open = vec![(of.0.clone(), of.1.clone())];
    while let Some((name, version)) = open.pop() {
        for ((owner, at, target), bound) in &lock.bindings {
            if (target, bound) == (&name, &version) && found.insert((owner.clone(), at.clone())) {
                open.push((owner.clone(), at.clone()));
            }
        }
    }
    let mut packages = found.iter().map(|(name, _)| name);
    let is_whole = packages.all(|name| !lock.side_by_side.contains(name));
    is_whole.then_some(found)
}

/// The result of updating one of several releases of a package. With `is_needed`, the packages that
/// lead to that release have no other releases, so no resolution can do without it.
fn check_one_of_several(seed: u64, is_needed: bool, patience: u64) -> Option<Ended> {
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
    let of_name = |releases: &BTreeSet<(PackageName, Version)>| -> Vec<Version> {
        let releases = releases.iter().filter(|(other, _)| other == name);
        releases.map(|(_, version)| version.clone()).collect()
    };
    let from = random.pick(&of_name(&held)).clone();
    let ancestors = match ancestors(&lock, (name, &from)) {
        Some(ancestors) if is_needed => ancestors,
        None if is_needed => return None,
        _ => BTreeSet::new(),
    };
    universe.records.retain(|record| {
        let is = |(name, version): &(PackageName, Version)| {
            *name == record.name && *version == record.version
        };
        let mut others = ancestors.iter().filter(|(other, _)| *other == record.name);
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
    let mut asked = universe.clone();
    asked.locked = None;
    let mut is_allowed = true;
    let owners = asked.records.iter_mut().chain([&mut asked.root]);
    for owner in owners.filter(|owner| bound(owner)) {
        owner.requirements.change(|requirements| {
            let those = requirements.iter_mut().filter(|one| one.package == *name);
            for requirement in those {
                is_allowed &= requirement.spec.matches(&to);
                requirement.spec = Spec::parse(&format!("={to}")).expect("a spec");
            }
        });
    }
    let is_possible = match search(&asked, &Rules::default()) {
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
    let update = Update {
        packages: BTreeMap::from([(name.clone(), moving)]),
    };
    let verdict = solver::update(&universe, Supplies::OnDemand, update, patience);
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
    for patience in [u64::MAX, PATIENCE] {
        assert_right(|seed| check_one_of_several(seed, true, patience));
        assert_right(|seed| check_one_of_several(seed, false, patience));
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

fn assert_none(wrong: &[String]) {
    let first = &wrong[..wrong.len().min(5)];
    assert!(wrong.is_empty(), "{} are wrong: {first:?}", wrong.len());
}

/// No package that moved could have stayed, and no better update is possible.
#[test]
fn random_updates_are_minimal() {
    for patience in [SolveOptions::default().conflict_limit, PATIENCE] {
        let mut all = Tally::default();
        let results = seeds::for_all(seeds::count(SEEDS), |seed| {
            let mut tally = Tally::default();
            let wrong = check(seed, patience, &mut tally);
            (wrong.map(|text| format!("seed {seed}: {text}")), tally)
        });
        let mut wrong = Vec::new();
        for (text, tally) in results {
            wrong.extend(text);
            all.minimal += tally.minimal;
            all.several += tally.several;
            all.impossible += tally.impossible;
            all.held_back += tally.held_back;
            all.others += tally.others;
        }
        assert_none(&wrong);
        let Tally {
            minimal,
            several,
            impossible,
            held_back,
            others,
        } = all;
        // `SEEDS` asks for fewer universes.
        if seeds::count(SEEDS) < SEEDS {
            continue;
        }
        assert!(
            minimal > 3000 && several > 100 && impossible > 100 && held_back > 100 && others > 0,
            "{minimal} {several} {impossible} {held_back} {others}"
        );
    }
}

/// The order of arrival of records and packages changes nothing, not even reasons and counts.
#[test]
fn the_order_of_arrival_does_not_change_an_update() {
    let each = |seed: u64| {
        let (universe, name, target) = problem(seed, &Rules::without(Rule::SecondTier))?;
        let update = Update {
            packages: BTreeMap::from([(name, target.into())]),
        };
        let mut shuffled = universe.clone();
        Random::new(seed).shuffle(&mut shuffled.records);
        let patience = if seed.is_multiple_of(2) {
            PATIENCE
        } else {
            200
        };
        let expected = solver::update(&universe, Supplies::OnDemand, update.clone(), patience);
        [Supplies::OnDemand, Supplies::Beforehand, Supplies::Attached]
            .map(|supplies| solver::update(&shuffled, supplies, update.clone(), patience))
            .into_iter()
            .find(|found| *found != expected)
            .map(|found| format!("seed {seed}\n{universe}{expected:#?}\n{found:#?}"))
    };
    let wrong: Vec<String> = seeds::for_all(seeds::count(SEEDS), each)
        .into_iter()
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
}
