//! `cargo bench -p pkgres-benches --bench explain [FILTER]`: the length of explanations and the time that they take,
//! compared with the reports of the `pubgrub` crate on the same universes.
//!
//! `FILTER` selects the cases whose names contain it. `SEED` generates other random universes, and `LIMIT` is the CPU
//! time in seconds that the crate has for a root (10).

// The table is what this program is run for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::time::Duration;

use pkgres_benches::cases;
use pkgres_benches::explained::{ExplainedRow, ExplainedTable};

fn main() {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let variable = |name: &str| std::env::var(name).ok();
    let seed = variable("SEED").map_or(1, |seed| seed.parse().expect("SEED is a number"));
    let limit = variable("LIMIT").map_or(10.0, |limit| limit.parse().expect("LIMIT is a number"));
    let mut table = ExplainedTable::default();
    for case in cases::without_answers(seed) {
        let is_selected = |filter: &String| case.name.contains(filter.as_str());
        if !filter.as_ref().is_none_or(is_selected) {
            continue;
        }
        match ExplainedRow::of(&case, Duration::from_secs_f64(limit)) {
            Some(row) => table.rows.push(row),
            None => eprintln!("{}: skipped, its file is not there", case.name),
        }
    }
    print!("{table}");
}
