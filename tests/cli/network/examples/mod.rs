//! Every command of the help has an example, and every example does what the help says.
//!
//! `table.rs` has a set-up for each example: a new folder, perhaps a registry, and lines that run before. All examples
//! run; if there is no server of ssh, the one that needs it is skipped.

mod help;
mod run;
mod table;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::table::SET_UPS;

/// An example of the help, and what it must do.
pub(super) struct Example {
    line: &'static str,
    /// A line that runs before it, after those of the set-up.
    after: &'static str,
    exit: i32,
    /// The file that it reads from stdin.
    input: &'static str,
    /// What its output contains.
    shows: &'static str,
    /// Whether it runs until an interrupt, which comes when `shows` is there.
    is_endless: bool,
    /// A condition that holds afterwards.
    then: &'static str,
}

impl Example {
    const fn of(line: &'static str) -> Self {
        Self {
            line,
            after: ":",
            exit: 0,
            input: "/dev/null",
            shows: "",
            is_endless: false,
            then: ":",
        }
    }

    const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// The example finds something, which has an exit code.
    const fn finds(self, exit: i32) -> Self {
        Self { exit, ..self }
    }

    const fn reads(self, input: &'static str) -> Self {
        Self { input, ..self }
    }

    const fn shows(self, shows: &'static str) -> Self {
        Self { shows, ..self }
    }

    const fn until(self, shows: &'static str, exit: i32) -> Self {
        Self {
            shows,
            exit,
            is_endless: true,
            ..self
        }
    }

    const fn then(self, then: &'static str) -> Self {
        Self { then, ..self }
    }
}

#[test]
fn every_command_has_examples_that_run() {
    let commands = help::commands();
    assert!(commands.len() > 50, "{} commands", commands.len());
    let mut printed = BTreeSet::new();
    for help in &commands {
        assert!(!help.examples.is_empty(), "{} has no example", help.command);
        printed.extend(help.examples.iter().map(String::as_str));
    }
    let jobs: Vec<_> = SET_UPS
        .iter()
        .flat_map(|set_up| set_up.examples.iter().map(move |example| (set_up, example)))
        .collect();
    let known: BTreeSet<&str> = jobs.iter().map(|(_, example)| example.line).collect();
    let unknown: Vec<_> = printed.symmetric_difference(&known).collect();
    assert!(
        unknown.is_empty(),
        "either only in the help or only in the table of this test: {unknown:#?}"
    );

    // Most of an example is waiting for programs.
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((set_up, example)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(fault) = run::run(set_up, example) {
                        let mut faults = faults.lock().expect("no thread panicked");
                        faults.push(format!("{}: {fault}", example.line));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().expect("no thread panicked");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
