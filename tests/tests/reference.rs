//! The solver against the brute-force reference.

use pkgres_tests::examples::examples;
use pkgres_tests::reference::{Rules, is_valid, search};
use pkgres_tests::solver::solve;
use pkgres_tests::universe::Universe;

#[test]
fn known_answers() {
    for example in examples() {
        let verdict = solve(&example.universe);
        assert_eq!(
            verdict.answer().to_string(),
            example.answer.to_string(),
            "{}\n{}",
            example.name,
            example.universe
        );
    }
}

#[test]
fn random_universes() {
    let seeds: u64 = std::env::var("SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(20_000);
    let mut wrong = 0;
    for seed in 0..seeds {
        let universe = Universe::random(seed);
        let expected = search(&universe, &Rules::default());
        let verdict = solve(&universe);
        let found = verdict.answer();
        if found != expected {
            wrong += 1;
            println!("seed {seed}\n{universe}expected:\n{expected}found:\n{found}");
            if let Some(solution) = found.solution() {
                println!(
                    "valid: {:?}",
                    is_valid(&universe, solution, &Rules::default())
                );
            }
            if wrong > 3 {
                break;
            }
        }
    }
    assert_eq!(wrong, 0);
}
