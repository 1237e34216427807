//! Runs that go on: whatever is changed on the machine is noticed and repaired.

// The tests change files themselves.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pkgres_engine::{
    Control, Directory, DriveOptions, Ending, File, Graph, GraphBuilder, Machine, RunOptions,
    Status, Step, drive,
};
use pkgres_manifest::{MetaParameters, Polling, ResourceId};

/// The longest time that a test waits for something.
const TIME_LIMIT: Duration = Duration::from_mins(5);

struct Run {
    control: Sender<Control>,
    steps: Receiver<Step>,
    thread: JoinHandle<Ending>,
}

impl Run {
    fn start(root: &Path, graph: Graph) -> Self {
        Self::start_with(root, graph, RunOptions::default())
    }

    fn start_with(root: &Path, graph: Graph, run: RunOptions) -> Self {
        let machine = Arc::new(Machine::root_folder(root).expect("it is a folder"));
        let options = DriveOptions {
            run: RunOptions { watch: true, ..run },
            ..DriveOptions::default()
        };
        let (control, controlled) = channel();
        let (sender, steps) = channel();
        let thread = std::thread::spawn(move || {
            drive(graph, machine, &options, controlled, |progress| {
                let step = match &progress.step {
                    Step::Converged => Step::Converged,
                    Step::Changed(id, differences) => {
                        Step::Changed(id.clone(), differences.clone())
                    }
                    Step::Failed(id, error) => Step::Failed(id.clone(), error.clone()),
                    Step::Replaced(report) => Step::Replaced(report.clone()),
                    Step::NotWatched(id, reason) => Step::NotWatched(id.clone(), reason.clone()),
                    _ => return,
                };
                // The test may have ended.
                let _ = sender.send(step);
            })
        });
        Self {
            control,
            steps,
            thread,
        }
    }

    /// Waits until a step is as wanted.
    fn wait(&self, is_wanted: impl Fn(&Step) -> bool) {
        loop {
            let step = self.steps.recv_timeout(TIME_LIMIT);
            if is_wanted(&step.expect("it happens in time")) {
                return;
            }
        }
    }

    fn converged(&self) {
        self.wait(|step| matches!(step, Step::Converged));
    }

    fn end(self) -> Ending {
        self.control
            .send(Control::Interrupt)
            .expect("the run goes on");
        self.thread.join().expect("it does not panic")
    }
}

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

fn one_file() -> Graph {
    let mut builder = GraphBuilder::new();
    for folder in ["/srv", "/srv/web"] {
        let id = id(&format!("directory:{folder}"));
        builder.add(id, Directory::new(folder), MetaParameters::default());
    }
    let file = File::new("/srv/web/page")
        .with_content("page\n")
        .with_mode(0o640);
    builder.add(id("file:page"), file, MetaParameters::default());
    builder.build().expect("it has no cycle")
}

#[test]
fn every_change_of_a_file_is_repaired() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let run = Run::start(root.path(), one_file());
    run.converged();
    let page = root.path().join("srv/web/page");
    let folder = root.path().join("srv/web");
    let elsewhere = root.path().join("elsewhere");
    let changes: [(&str, &dyn Fn()); 6] = [
        ("other content", &|| {
            fs::write(&page, "other").expect("it is there");
        }),
        ("removed", &|| fs::remove_file(&page).expect("it is there")),
        ("other mode", &|| {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(&page, mode).expect("it is there");
        }),
        ("replaced", &|| {
            fs::write(root.path().join("new"), "new").expect("the root is there");
            fs::rename(root.path().join("new"), &page).expect("the folder is there");
        }),
        ("folder moved away", &|| {
            fs::rename(&folder, &elsewhere).expect("it is there");
        }),
        ("folder around it moved away", &|| {
            let away = root.path().join("away");
            fs::rename(root.path().join("srv"), away).expect("it is there");
        }),
    ];
    for (name, change) in changes {
        change();
        run.wait(|step| matches!(step, Step::Changed(at, _) if *at == id("file:page")));
        run.converged();
        let content = fs::read_to_string(&page).expect(name);
        assert_eq!(content, "page\n", "{name}");
    }
    let ending = run.end();
    assert_eq!(ending.status, Status::Interrupted);
}

#[test]
fn what_can_no_longer_be_watched_is_polled() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let folder = root.path().join("srv");
    fs::create_dir(&folder).expect("the root is there");
    let mut builder = GraphBuilder::new();
    let file = File::new("/srv/page").with_content("page\n");
    builder.add(id("file:page"), file, MetaParameters::default());
    let graph = builder.build().expect("it has no cycle");
    let options = RunOptions {
        polling: Duration::from_millis(10),
        ..RunOptions::default()
    };
    let run = Run::start_with(root.path(), graph, options);
    run.converged();

    // A link to itself leads nowhere, so that nothing below it can be watched.
    fs::rename(&folder, root.path().join("old")).expect("it is there");
    symlink("srv", &folder).expect("nothing is there");
    run.wait(|step| matches!(step, Step::NotWatched(at, _) if *at == id("file:page")));

    fs::remove_file(&folder).expect("it is there");
    fs::create_dir(&folder).expect("nothing is there");
    run.wait(|step| matches!(step, Step::Changed(at, _) if *at == id("file:page")));
    run.end();
}

#[test]
fn what_has_failed_is_tried_again_when_something_happens() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let page = root.path().join("srv/page");
    let mut builder = GraphBuilder::new();
    let file = File::new("/srv/page").with_content("page\n");
    builder.add(id("file:page"), file, MetaParameters::default());
    let polled = MetaParameters {
        poll: Polling::Every(Duration::from_secs(1)),
        ..MetaParameters::default()
    };
    let file = File::new("/polled").with_content("polled\n");
    builder.add(id("file:polled"), file, polled);
    fs::create_dir(root.path().join("polled")).expect("the root is there");
    let run = Run::start(root.path(), builder.build().expect("it has no cycle"));
    let fails = |name: &str| {
        run.wait(|step| matches!(step, Step::Failed(at, _) if *at == id(name)));
    };
    let is_mended = |name: &str| {
        run.wait(|step| matches!(step, Step::Changed(at, _) if *at == id(name)));
    };
    // The folder around it comes later.
    fails("file:page");
    fs::create_dir(root.path().join("srv")).expect("the root is there");
    is_mended("file:page");
    // A folder takes its place, and goes again.
    fs::remove_file(&page).expect("it is there");
    while fs::create_dir(&page).is_err() {
        // It was restored in between.
        fs::remove_file(&page).expect("it is there");
    }
    fails("file:page");
    fs::remove_dir(&page).expect("it is there");
    is_mended("file:page");
    assert_eq!(fs::read_to_string(&page).expect("it is there"), "page\n");

    fails("file:polled");
    fs::remove_dir(root.path().join("polled")).expect("it is there");
    is_mended("file:polled");
    run.end();
}

#[test]
fn a_file_behind_a_link_is_watched() {
    let root = tempfile::tempdir().expect("a folder for the test");
    fs::create_dir(root.path().join("data")).expect("the root is there");
    symlink("/data", root.path().join("srv")).expect("the root is there");
    let mut builder = GraphBuilder::new();
    let file = File::new("/srv/page").with_content("page\n");
    builder.add(id("file:page"), file, MetaParameters::default());
    let run = Run::start(root.path(), builder.build().expect("it has no cycle"));
    run.converged();
    let page = root.path().join("data/page");
    fs::write(&page, "other").expect("it is there");
    run.wait(|step| matches!(step, Step::Changed(..)));
    run.converged();
    assert_eq!(fs::read_to_string(&page).expect("it is there"), "page\n");
    run.end();
}

#[test]
fn a_file_follows_the_one_that_it_is_a_copy_of() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let (source, copy) = (root.path().join("source"), root.path().join("copy"));
    fs::write(&source, "one").expect("the root is there");
    let mut builder = GraphBuilder::new();
    let file = File::new("/copy").with_copy_of("/source");
    builder.add(id("file:/copy"), file, MetaParameters::default());
    let run = Run::start(root.path(), builder.build().expect("it has no cycle"));
    run.converged();
    fs::write(&source, "two").expect("it is there");
    run.wait(|step| matches!(step, Step::Changed(..)));
    run.converged();
    assert_eq!(fs::read_to_string(&copy).expect("it is there"), "two");
    run.end();
}

#[test]
fn another_graph_keeps_what_stays_the_same() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let run = Run::start(root.path(), one_file());
    run.converged();
    let mut builder = GraphBuilder::new();
    for folder in ["/srv", "/srv/web"] {
        let id = id(&format!("directory:{folder}"));
        builder.add(id, Directory::new(folder), MetaParameters::default());
    }
    let file = File::new("/srv/web/page").with_content("second\n");
    builder.add(id("file:page"), file, MetaParameters::default());
    let graph = builder.build().expect("it has no cycle");
    run.control
        .send(Control::Replace(graph))
        .expect("the run goes on");
    run.wait(|step| match step {
        Step::Replaced(report) => {
            assert_eq!(
                report.kept,
                [id("directory:/srv"), id("directory:/srv/web")]
            );
            assert_eq!(report.added, [id("file:page")]);
            assert_eq!(report.removed, [id("file:page")]);
            true
        }
        _ => false,
    });
    run.converged();
    let page = root.path().join("srv/web/page");
    assert_eq!(fs::read_to_string(&page).expect("it is there"), "second\n");
    fs::write(&page, "other").expect("it is there");
    run.wait(|step| matches!(step, Step::Changed(..)));
    run.converged();
    run.end();
}

#[test]
fn ten_thousand_files_need_one_instance() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let mut builder = GraphBuilder::new();
    builder.add(
        id("directory:/d"),
        Directory::new("/d"),
        MetaParameters::default(),
    );
    for number in 0..10_000 {
        let path = format!("/d/{number}");
        let file = File::new(&path).with_content("x");
        fs::create_dir_all(root.path().join("d")).expect("the root is there");
        fs::write(root.path().join(&path[1..]), "x").expect("the folder is there");
        builder.add(id(&format!("file:{path}")), file, MetaParameters::default());
    }
    let run = Run::start(root.path(), builder.build().expect("it has no cycle"));
    run.converged();
    let instances = fs::read_dir("/proc/self/fd")
        .expect("this process has descriptors")
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.to_string_lossy().contains("inotify"))
        .count();
    // Other tests of this process may run at the same time, each with its own.
    assert!((1..=4).contains(&instances), "{instances} instances");
    let file = root.path().join("d/7777");
    fs::write(&file, "y").expect("it is there");
    run.wait(|step| matches!(step, Step::Changed(..)));
    run.converged();
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "x");
    run.end();
}
