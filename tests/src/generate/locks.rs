//! Locks: answers to an earlier, slightly different universe, some of them damaged.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, Spec, Version};

use crate::random::Random;
use crate::reference::{Answer, Rule, Rules, search};
use crate::solution::Solution;
use crate::universe::{PrereleasePolicy, Universe};

/// Adds a lock to a universe, if one is found.
pub(super) fn add(universe: &mut Universe, random: &mut Random) {
    universe.locked = if random.chance(12) {
        Some(made_up(universe, random))
    } else {
        earlier_answer(universe, random)
    };
    if let Some(locked) = &mut universe.locked {
        if random.chance(25) {
            damage(locked, random);
        }
        if random.chance(30) {
            yank_something(universe, random);
        }
    }
}

/// The answer to the universe with fewer releases and other requirements.
fn earlier_answer(universe: &Universe, random: &mut Random) -> Option<Solution> {
    let mut earlier = universe.clone();
    if random.chance(75) {
        drop_some_newest(&mut earlier, random);
    }
    if random.chance(30) && !earlier.root.requirements.is_empty() {
        let chosen = random.below(earlier.root.requirements.len());
        earlier.root.requirements[chosen].spec = Spec::any();
    }
    if random.chance(20) {
        earlier.prerelease = PrereleasePolicy::Allow;
    }
    // A yanked release may have been chosen before it was yanked.
    let rules = if random.chance(60) {
        Rules::without(Rule::Yanks)
    } else {
        Rules::default()
    };
    match search(&earlier, &rules) {
        Answer::Solved(solution) => Some(solution),
        Answer::NoSolution => None,
    }
}

fn drop_some_newest(universe: &mut Universe, random: &mut Random) {
    let mut versions: BTreeMap<_, Vec<Version>> = BTreeMap::new();
    for record in &universe.records {
        let of_package = versions.entry(record.name.clone()).or_default();
        of_package.push(record.version.clone());
    }
    for (name, mut of_package) in versions {
        if of_package.len() > 1 && random.chance(55) {
            of_package.sort();
            let newest = of_package.pop();
            universe
                .records
                .retain(|record| record.name != name || Some(&record.version) != newest.as_ref());
        }
    }
}

/// A lock with random bindings, which no search has found.
fn made_up(universe: &Universe, random: &mut Random) -> Solution {
    let mut bindings = BTreeMap::new();
    let records: Vec<&IndexRecord> = universe.records.iter().chain([&universe.root]).collect();
    for record in &records {
        for requirement in &record.requirements {
            let choices: Vec<&&IndexRecord> = records
                .iter()
                .filter(|other| other.name == requirement.package)
                .collect();
            if !choices.is_empty() && random.chance(70) {
                let key = (
                    record.name.clone(),
                    record.version.clone(),
                    requirement.package.clone(),
                );
                bindings.insert(key, random.pick(&choices).version.clone());
            }
        }
    }
    Solution::new(bindings)
}

/// Removes some bindings, and changes some to versions that may not exist.
fn damage(locked: &mut Solution, random: &mut Random) {
    locked.bindings.retain(|_, _| !random.chance(15));
    for version in locked.bindings.values_mut() {
        if random.chance(10) {
            *version = Version::new(version.major(), version.minor() + 1, 0);
        }
    }
    *locked = Solution::new(std::mem::take(&mut locked.bindings));
}

/// Yanks a locked release.
fn yank_something(universe: &mut Universe, random: &mut Random) {
    let Some(locked) = &universe.locked else {
        return;
    };
    let releases = locked.releases(&universe.root.name);
    for record in &mut universe.records {
        let release = record.release();
        if releases.contains(&release) && random.chance(40) {
            record.yanked = true;
        }
    }
}
