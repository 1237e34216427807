//! Growth: how many times as long pkgres takes for ten times as many packages.
//!
//! Both sizes are measured in turns, because a shared machine can be twice as fast in one minute as in the next.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cases::Case;
use crate::compare::{Trial, take_turns};
use crate::engine::Pkgres;
use crate::table::shown;
use crate::universe::Universe;

/// Pairs of cases that differ only in the number of packages.
fn pairs(cases: &[Case]) -> impl Iterator<Item = [&Case; 2]> {
    let grown = |case: &Case| {
        let rest = case.name.strip_prefix("gen:10000:")?;
        let grown = format!("gen:100000:{rest}");
        cases.iter().find(|other| other.name == grown)
    };
    cases
        .iter()
        .filter_map(move |case| Some([case, grown(case)?]))
}

/// A table of the pairs among some cases; nothing if there are none.
pub fn table(cases: &[Case], has_core: bool) -> Option<String> {
    let mut table = String::new();
    for pair in pairs(cases) {
        let [small, large] = pair.map(|case| measured(case, has_core));
        let (Some(small), Some(large)) = (small, large) else {
            continue;
        };
        let mut trials = [small, large];
        let mut turns = trials
            .each_mut()
            .map(|(universe, trial)| (&*universe, trial));
        take_turns(Duration::MAX, &mut turns);
        let times = trials.map(|(_, trial)| trial.end().time);
        let [Some(small), Some(large)] = times else {
            continue;
        };
        let growth = large.as_secs_f64() / small.as_secs_f64();
        let (small, large) = (shown(small), shown(large));
        let [from, to] = pair.map(|case| &case.name);
        writeln!(
            table,
            "| {from} | {to} | {small} | {large} | {growth:.1}x |"
        )
        .expect("a text can be written");
    }
    let head = "| from | to | time | | growth |\n|---|---|---:|---:|---:|\n";
    (!table.is_empty()).then(|| format!("{head}{table}"))
}

/// A case that pkgres solved for the first time.
fn measured(case: &Case, has_core: bool) -> Option<(Universe, Trial)> {
    let universe = case.universe()?;
    let make = || Box::new(Pkgres::new(&universe, has_core)) as _;
    let trial = Trial::begin(&universe, Duration::MAX, make).ok()?;
    Some((universe, trial))
}
