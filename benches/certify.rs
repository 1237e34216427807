//! `cargo bench -p pkgres-benches --bench certify [FILTER]`: whole runs of `pkgres resolve` with and without
//! `--certificate`, and of `pkgres verify-certificate`. Times are medians of CPU time.
//!
//! A run with certificates may take at most three times as long as one without, and checking them at most ten times as
//! long. `FILTER` selects the cases whose names contain it. `RUNS` is the number of runs of which the median is taken,
//! `SEED` generates other universes, and `PKGRES` names a binary to measure instead of the one of this workspace.

// The table is what this program is run for, and what it writes is thrown away.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use pkgres_benches::cases;
use pkgres_benches::engine::{index, manifest};
use pkgres_benches::process::{Repeated, Usage, binary, medians};
use pkgres_benches::universe::Universe;

/// The roots of a universe that are measured; the others are like these.
const ROOTS: usize = 4;

/// The most that a run with certificates may take, as a multiple of one without.
const MOST_WITH: f64 = 3.0;

/// The most that checking may take, as a multiple of a run without certificates.
const MOST_CHECKING: f64 = 10.0;

fn main() -> ExitCode {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let number = |name: &str, usual: usize| {
        let value = std::env::var(name).ok();
        value.map_or(usual, |value| value.parse().expect("a number"))
    };
    let (runs, seed) = (number("RUNS", 11), number("SEED", 1));
    let binary = binary().expect("the binary can be built");
    println!("| case | result | without | with | ratio | checking | ratio |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    let mut is_within = true;
    for case in cases::all(seed as u64) {
        if !filter
            .as_ref()
            .is_none_or(|filter| case.name.contains(filter.as_str()))
        {
            continue;
        }
        let Some(universe) = case.universe() else {
            eprintln!("{}: skipped, its file is not there", case.name);
            continue;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("index.ndjson"), index(&universe)).expect("it is written");
        let every = (universe.roots.len() / ROOTS).max(1);
        for root in (0..universe.roots.len()).step_by(every).take(ROOTS) {
            let name = match universe.roots.len() {
                1 => case.name.clone(),
                _ => format!("{}, root {root}", case.name),
            };
            let row = measured(&universe, root, folder.path(), &binary, runs);
            match row.expect("the programs can be run") {
                Ok(row) => is_within &= row.print(&name),
                Err(error) => eprintln!("{name}: skipped, {error}"),
            }
        }
    }
    if is_within {
        ExitCode::SUCCESS
    } else {
        eprintln!("certificates take longer than they may");
        ExitCode::FAILURE
    }
}

/// The cost of certificates for one root.
struct Row {
    result: &'static str,
    without: Usage,
    with: Usage,
    /// `None` if there is no certificate.
    checking: Option<Usage>,
}

impl Row {
    /// Prints it; returns whether it is within the limits.
    fn print(&self, name: &str) -> bool {
        let milliseconds = |usage: Usage| usage.computing.as_secs_f64() * 1000.0;
        let (without, with) = (milliseconds(self.without), milliseconds(self.with));
        let checking = self.checking.map(milliseconds);
        let [ratio, of_checking] =
            [Some(with), checking].map(|time| time.map(|time| time / without));
        let shown = |number: Option<f64>, unit: &str| {
            number.map_or_else(String::new, |number| format!("{number:.1}{unit}"))
        };
        println!(
            "| {name} | {} | {without:.1} ms | {with:.1} ms | {} | {} | {} |",
            self.result,
            shown(ratio, "x"),
            shown(checking, " ms"),
            shown(of_checking, "x"),
        );
        ratio.is_none_or(|ratio| ratio <= MOST_WITH)
            && of_checking.is_none_or(|ratio| ratio <= MOST_CHECKING)
    }
}

/// Measures the runs for one root. The inner error is that of a program that does not get as far as an answer.
fn measured(
    universe: &Universe,
    root: usize,
    folder: &Path,
    binary: &Path,
    runs: usize,
) -> io::Result<Result<Row, String>> {
    let project = folder.join("root");
    fs::create_dir_all(&project)?;
    fs::write(project.join("manifest.yaml"), manifest(universe, root))?;
    let resolve = || {
        let mut command = Command::new(binary);
        command.current_dir(folder);
        command.args(["resolve", "root", "--registry", "index:index.ndjson"]);
        command.args(["--no-core-library", "--single-version", "--quiet"]);
        command.env("PKGRES_CACHE", folder.join("cache"));
        command
    };
    let certificate = folder.join("certificate");
    let mut with = resolve();
    with.arg("--certificate").arg(&certificate);
    let answer = resolve().output()?;
    let is_solved = match answer.status.code() {
        Some(0) => true,
        Some(1) => false,
        _ => return Ok(Err(String::from_utf8_lossy(&answer.stderr).into_owned())),
    };
    let mut programs = [
        Repeated {
            may_fail: !is_solved,
            ..Repeated::from(resolve())
        },
        Repeated {
            writes: vec![certificate.clone()],
            may_fail: !is_solved,
            ..Repeated::from(with)
        },
    ];
    let usages = medians(&mut programs, runs)?;
    let checking = if certificate.exists() {
        let mut check = Command::new(binary);
        check.arg("verify-certificate").arg(&certificate);
        Some(medians([&mut Repeated::from(check)], runs)?[0])
    } else {
        None
    };
    let result = match (is_solved, checking.is_some()) {
        (true, true) => "solved",
        // Each package has its newest version.
        (true, false) => "solved, nothing to prove",
        (false, true) => "no resolution",
        (false, false) => "no resolution, no certificate",
    };
    Ok(Ok(Row {
        result,
        without: usages[0],
        with: usages[1],
        checking,
    }))
}
