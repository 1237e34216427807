//! Problems in which packages have one release although several are allowed: they have a solution if the same rules
//! have one with any number of releases.

use pkgres_certificate::{Encoding, Scope, Tiers, Universe as Encoded};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

use crate::certified::records;
use crate::satisfiable::ClauseSolver;

const SEEDS: u64 = 1_500;

/// Whether the rules of a scope have a solution.
fn has_solution(universe: &Encoded, scope: &Scope) -> bool {
    let encoding = Encoding::new(universe, scope);
    let mut solver = ClauseSolver::new();
    for row in encoding.formula().rows() {
        solver.add_row(row);
    }
    solver.solve().is_some()
}

/// What became of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// Packages with one release are a restriction, as far as is known.
    Restricts,
    /// With one release and with several, there is no solution.
    Neither,
    /// There is one with both.
    Both,
    /// There is one with several releases only: the argument is wrong.
    Several,
}

/// Compares random parts of the rules of a universe, with random packages that have one release.
fn compare(universe: &Universe, random: &mut Random) -> Compared {
    let described = Encoded::new(&request(universe), &records(universe));
    let described = described.expect("universes have no models");
    let everything = Scope::everything(&described, Tiers::Both);
    let several = everything.sample(|| random.chance(80));
    let single = several.with_single(|| random.chance(60));
    if !single.holds_for_both_tiers(&described) {
        return Compared::Restricts;
    }
    let found = [&single, &several].map(|scope| has_solution(&described, scope));
    match found {
        [false, true] => Compared::Several,
        [true, _] => Compared::Both,
        [false, false] => Compared::Neither,
    }
}

#[test]
fn one_release_is_no_restriction_where_it_is_said_to_be_none() {
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let universe = match seed % 3 {
            0 => Universe::random(seed),
            1 => Universe::around_hubs(seed),
            _ => Universe::entangled(seed),
        };
        let mut random = Random::new(seed);
        let compared: Vec<Compared> = (0..20).map(|_| compare(&universe, &mut random)).collect();
        assert!(!compared.contains(&Compared::Several), "{seed}\n{universe}");
        compared
    });
    let all: Vec<Compared> = results.into_iter().flatten().collect();
    let count = |what| all.iter().filter(|one| **one == what).count();
    let (neither, both) = (count(Compared::Neither), count(Compared::Both));
    println!(
        "{neither} scopes without solutions, {both} with, and {} that restrict",
        count(Compared::Restricts)
    );
    assert!(
        neither > all.len() / 100 && both > all.len() / 100,
        "{neither}, {both}"
    );
}
