//! `cargo bench -p pkgres-benches --bench solve [FILTER]`: solving, next to the `pubgrub` crate
//! with `Ranges<semver::Version>`, medians of computing time.

// The table is what this program is run for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::time::Duration;

use pkgres_benches::generated::Shape;
use pkgres_benches::measure::median;
use pkgres_benches::peer::Pubgrub;
use pkgres_benches::table::{Row, Table};
use pkgres_benches::universe::Universe;
use pkgres_benches::{engine, files};

/// How long a case is measured, for each side.
const ENOUGH: Duration = Duration::from_millis(500);

/// When the peer is broken off.
const LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_wanted = |name: &str| filter.as_ref().is_none_or(|filter| name.contains(filter));
    let seed: u64 = std::env::var("SEED")
        .ok()
        .map_or(1, |seed| seed.parse().expect("SEED is a number"));
    let mut table = Table {
        peer: "pubgrub",
        rows: Vec::new(),
    };
    for name in ["large_case", "large_case_1", "large_case_2"] {
        if !is_wanted(name) {
            continue;
        }
        match files::random_registry(name) {
            Some(universe) => measure(&universe, &mut table),
            None => eprintln!("skipped: the file of {name} is not there"),
        }
    }
    let shapes = [
        Shape::without_conflicts(1_000, 20),
        Shape::without_conflicts(1_000, 20).with_conflicts(300, 1000),
        Shape::without_conflicts(1_000, 20)
            .with_conflicts(300, 1000)
            .unsolvable(),
        Shape::without_conflicts(10_000, 20),
        Shape::without_conflicts(10_000, 20).with_conflicts(10, 20),
        Shape::without_conflicts(10_000, 20).with_conflicts(20, 100),
        Shape::without_conflicts(10_000, 20)
            .with_conflicts(20, 100)
            .unsolvable(),
        Shape::without_conflicts(100_000, 10),
        Shape::without_conflicts(100_000, 10).with_conflicts(20, 50),
    ];
    for shape in shapes {
        if is_wanted(&shape.name()) {
            measure(&shape.universe(seed), &mut table);
        }
    }
    println!("{table}");
}

fn measure(universe: &Universe, table: &mut Table) {
    eprintln!("{} ...", universe.name);
    let registries = engine::registries(engine::records(universe));
    let roots = engine::roots(universe);
    let (solved, ours) = median(ENOUGH, || engine::solve(&registries, &roots));
    drop(registries);
    eprintln!("  ours {ours:?}");
    if std::env::var_os("WITHOUT_PEER").is_some() {
        return;
    }
    let mut pubgrub = Pubgrub::new(universe);
    let (theirs, peer) = median(ENOUGH, || pubgrub.solve(universe, LIMIT));
    eprintln!("  peer {peer:?}");
    if let Ok(theirs) = theirs {
        assert_eq!(solved, theirs, "the answers differ");
    }
    table.rows.push(Row {
        case: universe.name.clone(),
        result: match universe.roots.len() {
            1 if solved == 1 => "solved".to_owned(),
            1 => "no solution".to_owned(),
            several => format!("{solved} of {several} solved"),
        },
        ours,
        peer: theirs.is_ok().then_some(peer),
    });
}
