//! `cargo bench -p pkgres-benches --bench solve [FILTER]`: the solver, compared with other solvers on the same
//! universes in the same run: medians of CPU time, and peak memory.
//!
//! `FILTER` selects the cases whose names contain it. `SEED` generates other random universes, `LIMIT` is the CPU time in
//! seconds that a solver has for a case (10), and `WITHOUT_PEER` names peers to leave out, separated by commas, or `all`.
//! `CORE` adds a core library: for pkgres, every release requires it; the peers do not see it.

// The tables are what this program is run for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::Duration;

use pkgres_benches::cases;
use pkgres_benches::check::Flaw;
use pkgres_benches::compare::{Comparison, Row, Trial, take_turns};
use pkgres_benches::engine::Pkgres;
use pkgres_benches::growth;
use pkgres_benches::memory::Counting;
use pkgres_benches::peers::libsolv::Program;
use pkgres_benches::peers::{Peer, astral, pubgrub_semver, pubgrub_u32, resolvo, varisat};
use pkgres_benches::universe::{Plain, Universe};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The solvers, in the order of the columns.
const SOLVERS: [&str; 7] = [
    "pkgres",
    "pubgrub-u32",
    "pubgrub-semver",
    "astral-pubgrub",
    "resolvo",
    "libsolv",
    "varisat",
];

/// The options of the run.
struct Options {
    limit: Duration,
    left_out: Vec<String>,
    has_core: bool,
    libsolv: Option<Program>,
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == varisat::ARGUMENT) {
        return match varisat::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let variable = |name: &str| std::env::var(name).ok();
    let seed = variable("SEED").map_or(1, |seed| seed.parse().expect("SEED is a number"));
    let limit = variable("LIMIT").map_or(10.0, |limit| limit.parse().expect("LIMIT is a number"));
    let left_out = variable("WITHOUT_PEER").unwrap_or_default();
    let mut options = Options {
        limit: Duration::from_secs_f64(limit),
        left_out: left_out.split(',').map(str::to_owned).collect(),
        has_core: variable("CORE").is_some(),
        libsolv: None,
    };
    if !options.is_left_out("libsolv") {
        match Program::compile() {
            Ok(program) => options.libsolv = Some(program),
            Err(error) => eprintln!("libsolv is left out: {error}"),
        }
    }
    let is_shown = |name: &&str| match *name {
        "libsolv" => options.libsolv.is_some(),
        name => !options.is_left_out(name),
    };
    let mut comparison = Comparison {
        columns: SOLVERS.into_iter().filter(is_shown).collect(),
        rows: Vec::new(),
        limit: options.limit,
    };
    let mut is_sound = true;
    let mut cases = cases::all(seed);
    if let Some(filter) = filter {
        cases.retain(|case| case.name.contains(&filter));
    }
    // First, as the memory of a program that ran other cases before lies scattered, which shows where it is much.
    let growth = growth::table(&cases, options.has_core);
    for case in &cases {
        let Some(universe) = case.universe() else {
            eprintln!("{}: skipped, its file is not there", case.name);
            continue;
        };
        eprintln!("{}", case.name);
        let plain = Plain::of(&universe);
        let mut row = Row {
            case: case.name.clone(),
            kind: case.kind,
            solvers: Vec::new(),
        };
        let mut trials = Vec::new();
        let mut is_right = Vec::new();
        for name in &comparison.columns {
            let begun = options.solver(name, &universe, &plain);
            is_right.push(begun.is_ok());
            match begun {
                Ok(trial) => trials.push(trial),
                Err(flaw) => {
                    eprintln!("  {name}: WRONG ANSWER: {flaw}");
                    is_sound = false;
                }
            }
        }
        let mut turns: Vec<(&Universe, &mut Trial)> =
            trials.iter_mut().map(|trial| (&universe, trial)).collect();
        take_turns(options.limit, &mut turns);
        let mut measured = trials.into_iter().map(Trial::end);
        for (name, is_right) in comparison.columns.iter().zip(is_right) {
            let measured = is_right.then(|| measured.next()).flatten();
            if let Some(measured) = &measured {
                eprintln!("  {name} {:?}", measured.time);
            }
            row.solvers.push(measured);
        }
        if let Err((one, other)) = row.solvable() {
            let [one, other] = [one, other].map(|column| comparison.columns[column]);
            eprintln!("  {one} and {other} DISAGREE on whether there is an answer");
            is_sound = false;
        }
        comparison.rows.push(row);
    }
    println!("{}", comparison.times());
    println!("Peak MiB while solving + MiB kept of the universe:\n");
    println!("{}", comparison.memory());
    if comparison.columns.len() > 1 {
        println!("Geometric means; for peak memory, relative to pubgrub-u32:\n");
        println!("{}", comparison.means());
        print!("{}", comparison.losses());
    }
    if let Some(growth) = growth {
        println!(
            "\nGrowth of pkgres from 10,000 to 100,000 packages, measured in turns:\n\n{growth}"
        );
    }
    if is_sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Options {
    fn is_left_out(&self, name: &str) -> bool {
        let is_named = |word: &String| word == name || word == "all";
        name != "pkgres" && self.left_out.iter().any(is_named)
    }

    /// Has the solver of a name solve a universe for the first time.
    fn solver(&self, name: &str, universe: &Universe, plain: &Plain) -> Result<Trial, Flaw> {
        let started = "a child process can be started and receive a universe";
        Trial::begin(universe, self.limit, || -> Box<dyn Peer> {
            match name {
                "pkgres" => Box::new(Pkgres::new(universe, self.has_core)),
                "pubgrub-u32" => Box::new(pubgrub_u32::Solver::new(plain)),
                "pubgrub-semver" => Box::new(pubgrub_semver::Solver::new(plain)),
                "astral-pubgrub" => Box::new(astral::Solver::new(plain)),
                "resolvo" => Box::new(resolvo::Solver::new(plain)),
                "varisat" => Box::new(varisat::start(plain).expect(started)),
                "libsolv" => {
                    let program = self.libsolv.as_ref().expect("it was compiled");
                    Box::new(program.start(plain).expect(started))
                }
                name => unreachable!("{name} is not a solver"),
            }
        })
    }
}
