//! The encoding has the solutions of the brute-force search.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_certificate::{Encoding, Meaning, Scope, Tiers, Universe as Encoded};
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_tests::reference::{Rule, Rules, is_valid};
use pkgres_tests::seeds;
use pkgres_tests::solution::Solution;
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

use crate::certified::records;
use crate::satisfiable::ClauseSolver;

const SEEDS: u64 = 300;

/// Universes with more combinations of bindings are left out.
const MOST_STEPS: usize = 3_000;

type Bindings = BTreeMap<(PackageName, Version, PackageName), Version>;

/// All valid resolutions of a universe, found by trying all bindings.
struct Enumeration<'universe> {
    universe: &'universe Universe,
    rules: Rules,
    steps: usize,
    found: BTreeSet<Bindings>,
}

impl Enumeration<'_> {
    /// Tries all bindings of what is not bound yet; returns whether that was few enough.
    fn extend(&mut self, bindings: &mut Bindings) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return false;
        }
        let Some((key, records)) = self.open(bindings) else {
            let solution = Solution::new(bindings.clone());
            if is_valid(self.universe, &solution, &self.rules).is_ok() {
                self.found.insert(bindings.clone());
            }
            return true;
        };
        for version in records {
            bindings.insert(key.clone(), version);
            if !self.extend(bindings) {
                return false;
            }
            bindings.remove(&key);
        }
        true
    }

    /// A requirement of what is reached that is not bound, with the versions that exist.
    fn open(
        &self,
        bindings: &Bindings,
    ) -> Option<((PackageName, Version, PackageName), Vec<Version>)> {
        let root = &self.universe.root;
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&IndexRecord> = vec![root];
        while let Some(record) = waiting.pop() {
            if !seen.insert((&record.name, &record.version)) {
                continue;
            }
            let core = self.universe.core.iter();
            let required = record.requirements.iter().map(|one| &one.package);
            for package in core.chain(required) {
                if *package == record.name {
                    continue;
                }
                let key = (record.name.clone(), record.version.clone(), package.clone());
                let records = (self.universe.records.iter().chain([root]))
                    .filter(|one| one.name == *package)
                    .filter(|one| one.name != root.name || std::ptr::eq(*one, root));
                match bindings.get(&key) {
                    Some(bound) => waiting.extend(records.filter(|one| one.version == *bound)),
                    None => return Some((key, records.map(|one| one.version.clone()).collect())),
                }
            }
        }
        None
    }
}

/// All solutions of the encoding, without what is not reached from the root.
fn encoded(universe: &Universe, tiers: Tiers) -> BTreeSet<Bindings> {
    let described = Encoded::new(&request(universe), &records(universe));
    let described = described.expect("universes have no models");
    let scope = Scope::everything(&described, tiers);
    let encoding = Encoding::new(&described, &scope);
    let formula = encoding.formula();
    let mut solver = ClauseSolver::new();
    for row in formula.rows() {
        solver.add_row(row);
    }
    let mut found = BTreeSet::new();
    while let Some(holding) = solver.solve() {
        let holding: BTreeSet<isize> = holding.into_iter().collect();
        let meanings = (1..).zip(formula.meanings());
        let meanings = meanings.filter(|(number, _)| holding.contains(number));
        let (bindings, literals) = reached(universe, meanings);
        assert!(found.insert(bindings), "it was excluded\n{universe}");
        let excluded: Vec<isize> = literals.into_iter().map(|number: isize| -number).collect();
        solver.add(&excluded, 1);
    }
    found
}

/// The bindings that are reached from the root, out of the variables that are 1, and the numbers of those
/// variables that say so.
fn reached<'meanings>(
    universe: &Universe,
    holding: impl Iterator<Item = (isize, &'meanings Meaning)>,
) -> (Bindings, BTreeSet<isize>) {
    let mut single: BTreeMap<PackageName, Vec<(Version, isize)>> = BTreeMap::new();
    let mut bound: BTreeMap<(PackageName, Version, PackageName), (Version, isize)> =
        BTreeMap::new();
    for (number, meaning) in holding {
        match meaning {
            Meaning::Release(package, version) => {
                let of_package = single.entry(package.clone()).or_default();
                of_package.push((version.clone(), number));
            }
            Meaning::Binding { owner, target } => {
                let key = (
                    owner.name.clone(),
                    owner.version.clone(),
                    target.name.clone(),
                );
                bound.insert(key, (target.version.clone(), number));
            }
            _ => {}
        }
    }
    let mut bindings = Bindings::new();
    let mut literals = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![&universe.root];
    while let Some(record) = waiting.pop() {
        if !seen.insert((&record.name, &record.version)) {
            continue;
        }
        let core = universe.core.iter();
        let required = record.requirements.iter().map(|one| &one.package);
        for package in core.chain(required).filter(|one| **one != record.name) {
            let key = (record.name.clone(), record.version.clone(), package.clone());
            let (version, number) = match bound.get(&key) {
                Some(bound) => bound.clone(),
                // The package has one release.
                None => single[package][0].clone(),
            };
            literals.insert(number);
            bindings.insert(key, version.clone());
            if *package == universe.root.name {
                continue;
            }
            let mut records = universe.records.iter();
            let record = records.find(|one| one.name == *package && one.version == version);
            waiting.extend(record);
        }
    }
    // With no requirements, the solution is the root alone.
    if literals.is_empty() {
        literals.extend(single[&universe.root.name].iter().map(|(_, number)| number));
    }
    (bindings, literals)
}

/// Compares the solutions of universes with those of the brute-force search.
fn check_all(kind: &str, tiers: Tiers, universe: impl Fn(u64) -> Universe + Sync) {
    let rules = match tiers {
        Tiers::First => Rules::without(Rule::SecondTier),
        Tiers::Both => Rules::default(),
    };
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let universe = Universe {
            single_version: tiers == Tiers::First,
            ..universe(seed)
        };
        let mut enumeration = Enumeration {
            universe: &universe,
            rules,
            steps: 0,
            found: BTreeSet::new(),
        };
        if !enumeration.extend(&mut Bindings::new()) {
            return None;
        }
        let found = encoded(&universe, tiers);
        assert_eq!(found, enumeration.found, "{kind}-{seed}\n{universe}");
        Some(found.len())
    });
    let compared: Vec<usize> = results.iter().flatten().copied().collect();
    let without = compared.iter().filter(|count| **count == 0).count();
    let solutions: usize = compared.iter().sum();
    println!(
        "{kind}, {tiers:?}: {} universes agree, {without} without a solution, {solutions} solutions in all",
        compared.len()
    );
    assert!(compared.len() > results.len() / 4, "{kind}: too few");
    assert!(without > 0 && solutions > compared.len() / 4, "{kind}");
}

#[test]
fn the_encoding_has_the_solutions_of_brute_force() {
    check_all("random", Tiers::First, Universe::random);
    check_all("random", Tiers::Both, Universe::random);
}

#[test]
fn the_encoding_has_the_solutions_of_brute_force_for_shared_classes() {
    check_all("hubs", Tiers::First, Universe::around_hubs);
    check_all("hubs", Tiers::Both, |seed| {
        Universe::around_hubs(seed).with_interfaces(seed)
    });
}

#[test]
fn the_encoding_has_the_solutions_of_brute_force_for_cycles_of_packages() {
    check_all("entangled", Tiers::First, Universe::entangled);
    check_all("entangled", Tiers::Both, Universe::entangled);
}
