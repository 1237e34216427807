//! Resources that only say what to watch once they are in order, such as an archive that is unpacked.

// The tests change files themselves.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use pkgres_engine::{
    Action, Change, Checked, Control, Difference, DriveOptions, EntryAttributes, Event, Graph,
    GraphBuilder, Input, Machine, Outcome, Probe, Resource, ResourceError, RunOptions, Runner,
    Status, Step, Target, Values, Watching, drive,
};
use pkgres_manifest::MetaParameters;

/// The longest time that a test waits for something. Polling takes longer.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// A folder with a file. Nobody knows that there is such a file before it is unpacked.
#[derive(Debug)]
struct Unpacked(PathBuf);

impl Unpacked {
    fn file(&self) -> PathBuf {
        self.0.join("inner/file")
    }
}

impl Resource for Unpacked {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let is = match probe.entry(&self.file())? {
            Some(_) => probe.read(&self.file(), 100)?,
            None => Vec::new(),
        };
        if is == b"unpacked" {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(Unpack(Self(self.0.clone()))))
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        match probe.entry(&self.file()) {
            Ok(Some(_)) => Watching::path(self.file()),
            _ => Watching::UntilInOrder(Vec::new()),
        }
    }
}

struct Unpack(Unpacked);

impl Change for Unpack {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("file", None::<&str>, Some("unpacked"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let file = self.0.file();
        for folder in [self.0.0.as_path(), file.parent().unwrap_or(&self.0.0)] {
            if target.entry(folder)?.is_none() {
                target.make_folder(folder, EntryAttributes::with_mode(0o755))?;
            }
        }
        let attributes = EntryAttributes::with_mode(0o644);
        Ok(target.write_file(&file, b"unpacked", attributes)?)
    }
}

fn graph(path: &str) -> Graph {
    let mut builder = GraphBuilder::new();
    let id = "unpacked:it".parse().expect("it is an identity");
    let resource = Unpacked(Path::new(path).to_owned());
    builder.add(id, resource, MetaParameters::default());
    builder.build().expect("it has no cycle")
}

fn watched() -> RunOptions {
    RunOptions {
        watch: true,
        polling: Duration::from_hours(1),
        ..RunOptions::default()
    }
}

#[test]
fn what_a_run_has_made_is_watched_from_then_on() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let machine = Arc::new(Machine::root_folder(root.path()).expect("it is a folder"));
    let (control, controlled) = channel();
    let (sender, converged) = channel();
    let options = DriveOptions {
        run: watched(),
        ..DriveOptions::default()
    };
    let run = std::thread::spawn(move || {
        let mut changes = 0;
        let observe = |progress: &pkgres_engine::Progress| match &progress.step {
            Step::Changed(..) => changes += 1,
            Step::Converged => {
                // The test may have ended.
                let _ = sender.send(changes);
            }
            _ => {}
        };
        drive(graph("/it"), machine, &options, controlled, observe).status
    });
    let wait_for = |changes: usize| {
        while converged
            .recv_timeout(TIME_LIMIT)
            .expect("it happens in time")
            < changes
        {}
    };
    wait_for(1);
    let file = root.path().join("it/inner/file");
    for times in 2..5 {
        fs::write(&file, "other").expect("it was made");
        wait_for(times);
        assert_eq!(fs::read(&file).expect("it was repaired"), b"unpacked");
    }
    control.send(Control::Interrupt).expect("the run goes on");
    let status = run.join().expect("it does not panic");
    assert_eq!(status, Status::Interrupted);
}

/// Runs until nothing is left to do before the next alarm; the watches that are asked for are all only in part. Returns
/// how many there were, and how many attempts.
fn watches_and_attempts(outcomes: &mut dyn Iterator<Item = Outcome>) -> (usize, usize) {
    let mut runner = Runner::new(graph("/it"), watched());
    let now = Duration::ZERO;
    let (mut watches, mut attempts) = (0, 0);
    runner.handle(Event::Time, now);
    while let Some(action) = runner.next_action() {
        match action {
            Action::Watch(node, _) => {
                watches += 1;
                runner.handle(Event::WatchedInPart(node), now);
            }
            Action::Attempt { node, .. } => {
                attempts += 1;
                let outcome = outcomes.next();
                let outcome = outcome.unwrap_or_else(|| Outcome::InOrder(Values::new()));
                runner.handle(Event::Finished(node, outcome), now);
            }
            _ => {}
        }
    }
    assert!(runner.next_alarm().is_some(), "it is polled");
    (watches, attempts)
}

#[test]
fn a_resource_that_never_says_what_to_watch_is_asked_twice() {
    let difference = || vec![Difference::new("file", None::<&str>, Some("unpacked"))];
    let changed = || Outcome::Changed(difference(), Values::new());
    assert_eq!(watches_and_attempts(&mut std::iter::empty()), (2, 2));
    assert_eq!(watches_and_attempts(&mut [changed()].into_iter()), (2, 2));
    let twice = &mut [changed(), changed()].into_iter();
    assert_eq!(watches_and_attempts(twice), (2, 2));
    // What is not in order has no reason to know more.
    let pending = &mut [Outcome::Pending(difference())].into_iter();
    assert_eq!(watches_and_attempts(pending), (1, 1));
}
