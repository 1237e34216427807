//! How a run ends that is interrupted while a command runs.

// The tests look at files of commands.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, ThreadId, current, sleep, spawn};
use std::time::{Duration, Instant};

use pkgres_engine::{
    Checked, Command, Control, DriveOptions, Ending, Exec, File, GraphBuilder, Guard, Input,
    Machine, Probe, Resource, ResourceError, Status, Step, Watching, drive,
};
use pkgres_manifest::MetaParameters;

const TIME_LIMIT: Duration = Duration::from_mins(5);

/// A run of a command on this machine, which says that it has begun, and with which number.
struct Run {
    begun: PathBuf,
    control: Sender<Control>,
    /// What the run says that its end waits for.
    waits_for: Receiver<Vec<String>>,
    thread: JoinHandle<Ending>,
    _folder: tempfile::TempDir,
}

impl Run {
    fn start(script: &str, options: DriveOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let begun = folder.path().join("begun");
        let never = folder.path().join("never");
        let script = format!("echo $$ > {}; {script}", begun.display());
        let command = Command::new("/bin/sh").arguments(["-c", &script]);
        let mut builder = GraphBuilder::new();
        let id = "exec:it".parse().expect("it is an identity");
        let exec = Exec::new(command, Guard::creates(never));
        builder.add(id, exec, MetaParameters::default());
        let graph = builder.build().expect("it has no cycle");
        let machine = Arc::new(Machine::local().expect("this machine is there"));
        let (control, controlled) = channel();
        let (said, waits_for) = channel();
        let thread = spawn(move || {
            drive(graph, machine, &options, controlled, |progress| {
                if let Step::Ending(running) = &progress.step {
                    let running = running.iter().map(ToString::to_string);
                    said.send(running.collect()).expect("the test listens");
                }
            })
        });
        let run = Self {
            begun,
            control,
            waits_for,
            thread,
            _folder: folder,
        };
        let start = Instant::now();
        while run.process().is_none() {
            assert!(start.elapsed() < TIME_LIMIT, "the command does not begin");
            sleep(Duration::from_millis(5));
        }
        run
    }

    /// The folder of the running command in `/proc`.
    fn process(&self) -> Option<PathBuf> {
        let text = std::fs::read_to_string(&self.begun).ok()?;
        let text = text.strip_suffix('\n')?;
        Some(Path::new("/proc").join(text))
    }

    fn interrupt(&self) {
        self.control
            .send(Control::Interrupt)
            .expect("the run goes on");
    }

    /// Waits for the end; returns it, and whether the command still runs.
    fn end(self) -> (Ending, bool) {
        let process = self.process().expect("it has begun");
        let ending = self.thread.join().expect("it does not panic");
        (ending, process.exists())
    }
}

#[test]
fn the_third_interrupt_kills_a_command_before_the_run_ends() {
    let run = Run::start("trap '' INT TERM; sleep 100; :", DriveOptions::default());
    for _ in 0..2 {
        run.interrupt();
        sleep(Duration::from_millis(100));
        assert!(!run.thread.is_finished() && run.process().is_some_and(|process| process.exists()));
    }
    run.interrupt();
    let (ending, is_running) = run.end();
    assert_eq!(ending.status, Status::Interrupted);
    assert!(!is_running, "it is killed");
}

#[test]
fn the_first_interrupt_waits_and_the_second_one_asks() {
    let gate = tempfile::tempdir().expect("a folder for the test");
    let gate = gate.path().join("gate");
    let text = format!("until [ -e {} ]; do sleep 0.01; done", gate.display());
    let run = Run::start(&text, DriveOptions::default());
    run.interrupt();
    // Whoever interrupts it sees at once what it waits for, and does not interrupt it again for want of an answer.
    let waits_for = run.waits_for.recv_timeout(TIME_LIMIT);
    assert_eq!(waits_for, Ok(vec!["exec:it".to_owned()]));
    std::fs::write(&gate, "").expect("the file can be written");
    let (ending, is_running) = run.end();
    // It was done, and did not make what was asked for.
    assert_eq!(ending.status, Status::Interrupted);
    assert!(
        format!("{:?}", ending.nodes).contains("Failed("),
        "{ending:?}"
    );
    assert!(!is_running);

    let run = Run::start("sleep 100; :", DriveOptions::default());
    run.interrupt();
    run.interrupt();
    let (ending, is_running) = run.end();
    assert_eq!(ending.status, Status::Interrupted);
    assert!(
        format!("{:?}", ending.nodes).contains("Cancelled"),
        "{ending:?}"
    );
    assert!(!is_running);
}

/// A resource in order that notes which threads ask what to watch for it.
struct Asked(Arc<Mutex<Vec<ThreadId>>>);

impl Resource for Asked {
    fn definition(&self) -> String {
        "Asked".to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::in_order())
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        self.0.lock().expect("no test panics").push(current().id());
        Watching::path("/asked")
    }
}

#[test]
fn the_thread_that_can_be_interrupted_does_not_wait_for_the_verification() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let threads = Arc::default();
    let id = |text: &str| text.parse().expect("it is an identity");
    let mut builder = GraphBuilder::new();
    let asked = Asked(Arc::clone(&threads));
    builder.add(id("asked:it"), asked, MetaParameters::default());
    let file = File::new("/file").with_content("text");
    builder.add(id("file:/file"), file, MetaParameters::default());
    builder.notify(id("asked:it"), id("file:/file"));
    let graph = builder.build().expect("it has no cycle");
    let (_control, controlled) = channel();
    let options = DriveOptions::default();
    let ending = drive(graph, Arc::new(machine), &options, controlled, |_| {});
    assert_eq!(ending.status, Status::Converged);
    let threads = threads.lock().expect("no test panics");
    assert!(!threads.is_empty(), "the first resource is verified");
    assert!(!threads.contains(&current().id()));
}
