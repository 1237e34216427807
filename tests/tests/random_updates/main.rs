//! Updates of random universes: no package moves without need, and no better update is possible.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

mod side_by_side;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, Release, Spec, Version};
use pkgres_resolver::{ReasonKind, SolveOptions, Update, UpdateTarget};
use pkgres_tests::random::Random;
use pkgres_tests::reference::{self, Answer, Rule, Rules, is_valid, search};
use pkgres_tests::seeds;
use pkgres_tests::solution::Solution;
use pkgres_tests::solver::{self, Supplies, Verdict};
use pkgres_tests::universe::{PrereleasePolicy, Universe};

const SEEDS: u64 = 20_000;
/// A small number of conflicts, after which some searches leave the order of decisions.
const CONFLICT_LIMIT: u64 = 2;

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
        .map(|Release { name, .. }| name)
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
            let is_rejected = universe.prerelease == PrereleasePolicy::Never;
            !(is_rejected && record.version.is_prerelease())
        })
        .map(|record| &record.version)
        .collect();
    let target = if versions.is_empty() || random.chance(50) {
        UpdateTarget::Best
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
    unchecked: usize,
}

/// The reference search gave up, so nothing is known about an answer.
struct GaveUp;

/// Whether a resolution exists, as [`exists`] finds out.
fn exists(
    universe: &Universe,
    allows: &dyn Fn(&PackageName, &Version) -> bool,
    wanted: Option<&Release>,
) -> Result<bool, GaveUp> {
    reference::exists(universe, allows, wanted).ok_or(GaveUp)
}

/// The error in the answer to a universe, if there is one. Counts the kind of answer.
fn check(seed: u64, conflict_limit: u64, tally: &mut Tally) -> Result<Option<String>, GaveUp> {
    let Some((universe, name, target)) = problem(seed, &Rules::without(Rule::SecondTier)) else {
        return Ok(None);
    };
    let anything = |_: &PackageName, _: &Version| true;
    let possible = exists(&universe, &anything, None)?;
    let update = Update::from(BTreeMap::from([(name.clone(), target.clone().into())]));
    let verdict = solver::update(&universe, Supplies::OnDemand, update, conflict_limit);
    let resolution = match (&verdict, &target) {
        (Verdict::Solved(resolution), _) => resolution,
        (Verdict::Conflict(conflict), UpdateTarget::Exactly(version)) if possible => {
            tally.impossible += 1;
            let wanted = Release::new(name, version.clone());
            if exists(&universe, &anything, Some(&wanted))? {
                return Ok(Some(format!("{wanted} is possible")));
            }
            let mut reasons = conflict.reasons.iter();
            let is_reported =
                reasons.any(|reason| matches!(reason.kind, ReasonKind::Wanted { .. }));
            return Ok((!is_reported).then(|| "the report does not name the target".to_owned()));
        }
        (Verdict::Conflict(_), _) => {
            tally.others += 1;
            return Ok(possible.then(|| "there is a resolution".to_owned()));
        }
    };
    let found = solver::solution(resolution);
    let report = resolution.update().expect("an update was asked for");
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Ok(Some(text));
    }
    // An exact version may need several releases of some package, if nothing else is possible.
    let is_whole = match &target {
        UpdateTarget::Exactly(version) if possible => exists(
            &universe,
            &anything,
            Some(&Release::new(name.clone(), version.clone())),
        )?,
        _ => possible,
    };
    if report.is_minimal != is_whole {
        return Ok(Some("the wrong tier".to_owned()));
    }
    if !is_whole {
        tally.others += 1;
        return Ok(None);
    }
    tally.minimal += 1;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let by_name = |solution: &Solution| -> BTreeMap<PackageName, Version> {
        let releases = solution.releases(&universe.root.name).into_iter();
        releases
            .map(|release| (release.name, release.version))
            .collect()
    };
    let (held, now) = (by_name(lock), by_name(&found));
    let differing: BTreeSet<&PackageName> = (held.keys().chain(now.keys()))
        .filter(|name| held.get(*name) != now.get(*name))
        .collect();
    let moved: BTreeSet<&PackageName> = report.moved.iter().map(|moved| &moved.package).collect();
    if moved != differing {
        return Ok(Some(
            "the reported moves are not the differences".to_owned(),
        ));
    }
    let at = now.get(&name).cloned();
    let wanted = at.map(|version| Release::new(name.clone(), version));
    match (&target, &wanted) {
        (UpdateTarget::Exactly(version), Some(found)) if found.version != *version => {
            return Ok(Some(format!("{} was not asked for", found.version)));
        }
        (UpdateTarget::Exactly(_), None) => return Ok(Some("it was dropped".to_owned())),
        _ => {}
    }
    // Newer stable versions are better under every policy.
    if target == UpdateTarget::Best {
        let records = universe.records.iter();
        let of_package = records.filter(|record| record.name == name);
        let at = wanted.as_ref().map(|wanted| &wanted.version);
        let is_last_resort = |record: &IndexRecord| {
            let is_rejected = universe.prerelease == PrereleasePolicy::Never;
            record.yanked || is_rejected && record.version.is_prerelease()
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
            let other = record.release();
            if is_better && (is_stable || is_told) && exists(&universe, &anything, Some(&other))? {
                return Ok(Some(format!("{other} is possible")));
            }
            let is_candidate = is_stable && !record.yanked;
            if is_better && is_candidate && at.is_some() && !is_told {
                return Ok(Some(format!("{other} is not mentioned")));
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
            return Ok(Some(format!("{one} could have stayed")));
        }
        let because = &(report.moved.iter())
            .find(|moved| moved.package == **one)
            .expect("it moved")
            .because;
        if !because
            .iter()
            .any(|reason| reason.kind == ReasonKind::Stays)
        {
            return Ok(Some(format!("there is no reason why {one} moved")));
        }
    }
    Ok(None)
}

fn assert_none(wrong: &[String]) {
    let first = &wrong[..wrong.len().min(5)];
    assert!(wrong.is_empty(), "{} are wrong: {first:?}", wrong.len());
}

/// No package that moved could have stayed, and no better update is possible.
#[test]
fn random_updates_are_minimal() {
    for conflict_limit in [SolveOptions::default().conflict_limit, CONFLICT_LIMIT] {
        let mut all = Tally::default();
        let results = seeds::for_all(seeds::count(SEEDS), |seed| {
            let mut tally = Tally::default();
            let wrong = check(seed, conflict_limit, &mut tally).unwrap_or_else(|GaveUp| {
                tally.unchecked += 1;
                None
            });
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
            all.unchecked += tally.unchecked;
        }
        assert_none(&wrong);
        let Tally {
            minimal,
            several,
            impossible,
            held_back,
            others,
            unchecked,
        } = all;
        assert!(100 * unchecked <= minimal, "{unchecked} were not checked");
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
        let update = Update::from(BTreeMap::from([(name, target.into())]));
        let mut shuffled = universe.clone();
        Random::new(seed).shuffle(&mut shuffled.records);
        let conflict_limit = if seed.is_multiple_of(2) {
            CONFLICT_LIMIT
        } else {
            200
        };
        let expected = solver::update(
            &universe,
            Supplies::OnDemand,
            update.clone(),
            conflict_limit,
        );
        [Supplies::OnDemand, Supplies::Beforehand, Supplies::Attached]
            .map(|supplies| solver::update(&shuffled, supplies, update.clone(), conflict_limit))
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
