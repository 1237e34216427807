//! Whole runs with a simulated machine, clock and order of events, each from a seed: random graphs with effects that
//! fail, crashes between any two effects, changes by others, lost and repeated notifications, jumps of the clock, other
//! graphs and interrupts. What was there before resources that are gone is restored, and no crash loses a refresh.
//!
//! Every run ends converged, failed with a cause, or interrupted. `SEEDS=1000000 cargo test --release -p pkgres-engine
//! --test simulation` makes more runs; `SEED=N` repeats one.

mod actions;
mod judgement;
mod plans;
mod random;
mod resources;
mod restoration;
mod simulation;
mod world;

use simulation::{Defect, Simulation};

/// How many runs the test makes unless `SEEDS` says otherwise.
const RUNS: u64 = 10_000;

/// After how many violations the test ends.
const MOST_VIOLATIONS: usize = 20;

/// Within how many runs a defect has to be found.
const RUNS_TO_FIND: u64 = 10_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_run_ends_right() {
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(RUNS),
    };
    let mut endings = std::collections::BTreeMap::new();
    let mut violations = Vec::new();
    for seed in seeds {
        match Simulation::new(seed, None).run() {
            Ok(ending) => *endings.entry(ending).or_insert(0_u64) += 1,
            Err(violation) => violations.push(format!("SEED={seed}: {violation}")),
        }
        if violations.len() == MOST_VIOLATIONS {
            break;
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    if number("SEED").is_none() {
        // Runs that all end alike test little.
        assert_eq!(endings.len(), 3, "{endings:?}");
    }
}

#[test]
fn every_defect_is_found() {
    for defect in Defect::ALL {
        let found =
            (0..RUNS_TO_FIND).any(|seed| Simulation::new(seed, Some(defect)).run().is_err());
        assert!(found, "{defect:?}");
    }
}
