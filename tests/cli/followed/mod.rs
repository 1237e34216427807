//! The hints that commands print are followed: each document is replayed, and every command that a hint of it names
//! runs in a copy of the folder as it was at that moment.
//!
//! A suggested command must be understood and must not end with the same finding and the same hint. If it writes, it
//! is to fix the finding, so the first command must not print the finding again.

pub(crate) mod document;
mod exceptions;
mod hint;
pub(crate) mod sandbox;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::document::{Document, Step};
use self::hint::{Hint, Suggestion, hints};
use self::sandbox::Sandbox;

/// The variable that asks for all suggestions of all commands. Without it, those that need the network are not followed,
/// and one of a kind in each document.
const ALL: &str = "PKGRES_ALL_HINTS";

fn follows_all() -> bool {
    std::env::var_os(ALL).is_some()
}

/// What was found in documents.
#[derive(Default)]
struct Tally {
    hints: usize,
    suggestions: usize,
    run: usize,
    fixes: usize,
    not_run: BTreeSet<String>,
    faults: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.hints += other.hints;
        self.suggestions += other.suggestions;
        self.run += other.run;
        self.fixes += other.fixes;
        self.not_run.extend(other.not_run);
        self.faults.extend(other.faults);
    }
}

/// A document that is replayed, and what was found in it.
struct Replay<'a> {
    document: &'a Document,
    sandbox: Sandbox,
    /// A copy of the sandbox as it is now, in which no command has written yet.
    copy: Option<Sandbox>,
    /// The kinds of suggestions that were followed.
    kinds: BTreeSet<String>,
    tally: Tally,
}

/// Follows the hints of a document.
fn follow(document: &Document) -> Tally {
    let is_cached_elsewhere = document.name == "cache";
    let mut replay = Replay {
        document,
        sandbox: Sandbox::new(&document.folder, is_cached_elsewhere),
        copy: None,
        kinds: BTreeSet::new(),
        tally: Tally::default(),
    };
    let is_last = |step: &&Step| replay.is_hinting(step);
    let count = document
        .steps
        .iter()
        .rev()
        .skip_while(|step| !is_last(step))
        .count();
    for step in &document.steps[..count] {
        replay.step(step);
    }
    replay.tally
}

impl Replay<'_> {
    /// Whether a command of the document prints something to follow.
    fn is_hinting(&self, step: &Step) -> bool {
        let hints = hints(&step.output);
        let mut suggestions = hints.iter().flat_map(Hint::suggestions);
        // The page of a code quotes hints.
        !step.line.contains("explain PK")
            && suggestions.any(|suggestion| self.is_wanted(&suggestion, &step.line))
    }

    /// Whether to follow a suggestion of a command. Nobody answers at addresses, which takes time.
    fn is_wanted(&self, suggestion: &Suggestion, printed_by: &str) -> bool {
        let is_new = !self.kinds.contains(&suggestion.kind(printed_by));
        let has_address = suggestion.line(printed_by).contains("://");
        let is_possible = exceptions::why_not_run(suggestion).is_none() && !has_address;
        follows_all() || is_possible && is_new
    }

    /// Runs a command of the document, and follows its hints.
    fn step(&mut self, step: &Step) {
        let is_hinting = self.is_hinting(step);
        if !is_hinting && (!self.document.is_writing || step.only_reads()) {
            return;
        }
        if self.document.is_writing {
            self.copy = None;
        }
        let finished = self.sandbox.run(&step.line);
        if !is_hinting {
            return;
        }
        let (found, expected) = (hints(&finished.output), hints(&step.output));
        if found.len() != expected.len() && !exceptions::has(exceptions::NOT_REPLAYED, &step.line) {
            let numbers = (found.len(), expected.len());
            let fault = format!("prints {} hints instead of {}", numbers.0, numbers.1);
            self.fault(step, &fault, &finished.output);
        }
        let mut seen = Vec::new();
        for hint in found {
            self.tally.hints += 1;
            for suggestion in hint.suggestions() {
                self.tally.suggestions += 1;
                if !seen.contains(&suggestion) {
                    self.follow(step, &hint, &suggestion);
                    seen.push(suggestion);
                }
            }
        }
    }

    /// Runs what a hint suggests.
    fn follow(&mut self, step: &Step, hint: &Hint, suggestion: &Suggestion) {
        let shown = suggestion.text();
        let line = suggestion.line(&step.line);
        let reason = exceptions::why_not_run(suggestion);
        if let Some(reason) = reason {
            self.tally.not_run.insert(format!("`{shown}` {reason}"));
            return;
        }
        if !self.is_wanted(suggestion, &step.line) {
            return;
        }
        self.kinds.insert(suggestion.kind(&step.line));
        let copy = self.copy.take().unwrap_or_else(|| self.sandbox.copy());
        let before = copy.files();
        let finished = copy.run(&copy.line_of(&self.sandbox, &line));
        self.tally.run += 1;
        let is_same = |output: &str| hint.is_marked && hints(output).contains(hint);
        let has_written = copy.files() != before;
        let fault = if finished.exit.is_none() {
            Some(("does not end", finished))
        } else if loses_dry_run(&step.line, hint, &line) {
            Some(("is no dry run", finished))
        } else if finished.exit == Some(2) {
            Some(("is wrong usage", finished))
        } else if is_same(&finished.output) {
            Some(("leads in a cycle", finished))
        } else if has_written && is_fix(step, suggestion) {
            self.tally.fixes += 1;
            let again = copy.run(&copy.line_of(&self.sandbox, &step.line));
            is_same(&again.output).then_some(("does not fix it", again))
        } else {
            None
        };
        if let Some((fault, finished)) =
            fault.filter(|_| !exceptions::has(exceptions::ANOTHER_FAILURE, &line))
        {
            let fault = format!(
                "says\n{}\n{}\nbut `{line}` {fault}",
                hint.finding, hint.text
            );
            self.fault(step, &fault, &finished.output);
        }
        if !has_written {
            self.copy = Some(copy);
        }
    }

    fn fault(&mut self, step: &Step, fault: &str, output: &str) {
        let Self {
            document, tally, ..
        } = self;
        let fault = format!("{}: `{}` {fault}:\n{output}", document.name, step.line);
        tally.faults.push(fault);
    }
}

/// The name of the command in a line.
fn command_in(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| *word != "pkgres");
    words.next();
    loop {
        match words.next()? {
            // The folder of the run.
            "-C" => _ = words.next(),
            option if option.starts_with('-') => {}
            command => return Some(command),
        }
    }
}

/// Whether the command of a dry run suggests itself as a run that writes, and does not say so.
fn loses_dry_run(line: &str, hint: &Hint, suggested: &str) -> bool {
    let is_dry = |line: &str| {
        let mut words = line.split(' ');
        words.any(|word| ["--dry-run", "--noop"].contains(&word))
    };
    is_dry(line)
        && !is_dry(suggested)
        && !hint.text.contains("with `--dry-run`")
        && command_in(line) == command_in(suggested)
}

/// Whether a suggested command prepares the one that printed the hint, which then succeeds. A command of the same name
/// runs instead of it, except after a check.
fn is_fix(step: &Step, suggestion: &Suggestion) -> bool {
    let Suggestion::Command(line) = suggestion else {
        return false;
    };
    step.line.contains("--check") || command_in(line) != command_in(&step.line)
}

#[test]
#[expect(clippy::print_stdout, reason = "the summary is shown on request")]
fn hints_can_be_followed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli");
    let documents = document::all(&folder);
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = follow(document);
                    tally.lock().expect("no thread panicked").add(found);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no thread panicked");
    println!(
        "{} hints, {} suggestions, {} run, {} fixes; not run:\n{}",
        tally.hints,
        tally.suggestions,
        tally.run,
        tally.fixes,
        tally.not_run.iter().cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(tally.run > 100 && tally.fixes > 40, "too few were run");
    assert!(
        tally.faults.is_empty(),
        "{} faults:\n{}",
        tally.faults.len(),
        tally.faults.join("\n\n")
    );
}
