//! The cheapest repairs by brute force: every set of restrictions, smallest first.
//!
//! *Idea.* To relax a restriction means to edit the universe, and a set repairs a conflict if the edited universe has a
//! resolution. Nothing is derived from reasons.
//!
//! *Cost.* The number of sets is a binomial coefficient, so sets of two restrictions are the largest that are tried
//! among all of them, and sets of three among the requirements of the root.

use std::collections::BTreeSet;

use pkgres_manifest::{IndexRecord, PackageName, Requirement, Spec, Version};
use pkgres_resolver::Restriction;

use super::candidates::{candidates, requirements};
use super::{Answer, Rules, search};
use crate::universe::{PrereleasePolicy, Universe};

/// The sizes of sets that are tried among all restrictions, and among requirements of the root.
pub const MAX_SIZES: (usize, usize) = (2, 3);

/// The sets of one size, of which each repairs a conflict while no smaller one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheapestSets {
    /// These.
    Found(BTreeSet<BTreeSet<Restriction>>),
    /// There is none of any size.
    Impossible,
    /// There is one, but none that is small enough to be tried.
    TooLarge,
}

/// Every restriction of a universe.
pub fn restrictions(universe: &Universe) -> BTreeSet<Restriction> {
    let mut found = BTreeSet::new();
    let root = &universe.root.name;
    for record in universe.records.iter().chain([&universe.root]) {
        if record.name == *root && record != &universe.root {
            continue;
        }
        for (package, _) in requirements(universe, record) {
            let owner = record.name.clone();
            found.insert(Restriction::Override {
                package: package.clone(),
            });
            found.insert(if record.name == *root {
                Restriction::Requirement {
                    root: owner,
                    package,
                }
            } else {
                Restriction::Release { owner, package }
            });
        }
    }
    if universe.prerelease == PrereleasePolicy::Never {
        found.insert(Restriction::Prereleases);
    }
    if universe.single_version {
        found.insert(Restriction::SingleVersion);
    }
    found
}

/// The universe in which a requirement or an override has another spec, or an option is given up.
#[must_use]
pub fn relaxed(universe: &Universe, restriction: &Restriction, spec: &Spec) -> Universe {
    let mut relaxed = universe.clone();
    match restriction {
        Restriction::Requirement { package, .. } => {
            relaxed.root = with_spec(universe, &universe.root, package, spec);
        }
        Restriction::Override { package } => {
            relaxed.root = with_spec(universe, &universe.root, package, spec);
            for record in &mut relaxed.records {
                *record = with_spec(universe, record, package, spec);
            }
        }
        Restriction::Release { owner, package } => {
            for record in &mut relaxed.records {
                if record.name == *owner {
                    *record = with_spec(universe, record, package, spec);
                }
            }
        }
        Restriction::Prereleases => relaxed.prerelease = PrereleasePolicy::IfNecessary,
        Restriction::SingleVersion => relaxed.single_version = false,
        Restriction::CutOff => unreachable!("universes have no dates"),
    }
    relaxed
}

/// A record in which a requirement has another spec. Nothing changes if it has none.
fn with_spec(
    universe: &Universe,
    record: &IndexRecord,
    package: &PackageName,
    spec: &Spec,
) -> IndexRecord {
    let mut record = record.clone();
    let required = requirements(universe, &record);
    if !required.iter().any(|(required, _)| required == package) {
        return record;
    }
    record.requirements.change(|all| {
        match all.iter_mut().find(|stated| stated.package == *package) {
            Some(stated) => stated.spec = spec.clone(),
            None => all.push(Requirement {
                package: package.clone(),
                spec: spec.clone(),
                location: None,
            }),
        }
    });
    record
}

/// Whether a universe has a resolution.
pub fn is_solvable(universe: &Universe) -> bool {
    matches!(search(universe, &Rules::default()), Answer::Solved(_))
}

/// The universe without certain restrictions.
fn without<'one>(
    universe: &Universe,
    restrictions: impl IntoIterator<Item = &'one Restriction>,
) -> Universe {
    restrictions
        .into_iter()
        .fold(universe.clone(), |universe, restriction| {
            relaxed(&universe, restriction, &Spec::any())
        })
}

/// The cheapest sets of these restrictions that repair the conflict of a universe.
pub fn cheapest_sets(
    universe: &Universe,
    among: &BTreeSet<Restriction>,
    max_size: usize,
) -> CheapestSets {
    if !is_solvable(&without(universe, among)) {
        return CheapestSets::Impossible;
    }
    for size in 1..=max_size {
        let mut found = BTreeSet::new();
        for set in subsets(among, size) {
            if is_solvable(&without(universe, &set)) {
                found.insert(set);
            }
        }
        if !found.is_empty() {
            return CheapestSets::Found(found);
        }
    }
    CheapestSets::TooLarge
}

/// Every subset of a size.
fn subsets(all: &BTreeSet<Restriction>, size: usize) -> Vec<BTreeSet<Restriction>> {
    let mut sets = vec![BTreeSet::new()];
    for _ in 0..size {
        let larger = sets.iter().flat_map(|set: &BTreeSet<Restriction>| {
            let others = all
                .iter()
                .filter(|one| set.last().is_none_or(|last| *one > last));
            others.map(|one| {
                let mut larger = set.clone();
                larger.insert(one.clone());
                larger
            })
        });
        sets = larger.collect();
    }
    sets
}

/// The version nearest to what a requirement of the root allows with which a universe has a resolution: the nearest
/// above, or else the nearest below, or else the newest in between. Unless prereleases are allowed or the requirement
/// names one, stable versions come first.
pub fn nearest(universe: &Universe, restriction: &Restriction, stated: &Spec) -> Option<Version> {
    let Restriction::Requirement { package, .. } = restriction else {
        return None;
    };
    let records = candidates(universe, &Rules::default(), package);
    let mut versions: Vec<&Version> = records.iter().map(|record| &record.version).collect();
    versions.sort_unstable();
    let ends = stated.set().intervals();
    let is_above = |version: &Version| match ends.last() {
        Some(last) => last.until.as_ref().is_some_and(|until| version >= until),
        None => true,
    };
    let is_below = |version: &Version| ends.first().is_some_and(|first| *version < first.from);
    let above = versions.iter().filter(|version| is_above(version));
    let below = versions.iter().rev().filter(|version| is_below(version));
    let between = versions
        .iter()
        .rev()
        .filter(|version| !is_above(version) && !is_below(version) && !stated.matches(version));
    let mut nearest: Vec<&&Version> = above.chain(below).chain(between).collect();
    if universe.prerelease != PrereleasePolicy::Allow && !stated.names_prerelease() {
        nearest.sort_by_key(|version| version.is_prerelease());
    }
    (nearest.into_iter())
        .find(|version| is_solvable(&relaxed(universe, restriction, &Spec::exactly(version))))
        .map(|version| (*version).clone())
}
