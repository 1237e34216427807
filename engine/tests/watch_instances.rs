//! Runs on several machines share one inotify instance. This test counts those of its process, so it is alone in it.

// The test looks at files itself.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use pkgres_engine::{
    Control, DriveOptions, File, GraphBuilder, Machine, RunOptions, SharedWatches, Step, drive,
};
use pkgres_manifest::MetaParameters;

/// The number of inotify instances of this process.
fn instances() -> usize {
    let open = fs::read_dir("/proc/self/fd").expect("it is there");
    let links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links
        .filter(|link| link == Path::new("anon_inode:inotify"))
        .count()
}

/// Starts a run that watches a file in a folder. Returns the channel that ends it, and one with a message for each change
/// that it made to the file.
fn start(folder: &Path, watches: &SharedWatches) -> (Sender<Control>, Receiver<()>) {
    let (control, controlled) = channel();
    let (seen, changes) = channel();
    let machine = Arc::new(Machine::root_folder(folder).expect("it is a folder"));
    let options = DriveOptions {
        run: RunOptions {
            watch: true,
            ..RunOptions::default()
        },
        watches: watches.clone(),
        ..DriveOptions::default()
    };
    let mut builder = GraphBuilder::new();
    let id = "file:/motd".parse().expect("it is an identity");
    let file = File::new("/motd").with_content("hello\n");
    builder.add(id, file, MetaParameters::default());
    let graph = builder.build().expect("it has no cycle");
    std::thread::spawn(move || {
        drive(graph, machine, &options, controlled, |progress| {
            if matches!(progress.step, Step::Changed(..)) {
                let _ = seen.send(());
            }
        });
    });
    (control, changes)
}

#[test]
fn several_machines_share_an_instance_and_each_notices_its_own_changes() {
    let around = tempfile::tempdir().expect("a folder for the test");
    let watches = SharedWatches::default();
    // One is inside of another one, so that both watch the folder between them.
    let folders = ["one", "two", "one/inside"].map(|name| around.path().join(name));
    let runs = folders.each_ref().map(|folder| {
        fs::create_dir(folder).expect("nothing is there");
        let (control, changes) = start(folder, &watches);
        changes.recv().expect("it is made");
        (folder, control, changes)
    });
    assert_eq!(instances(), 1);
    for (folder, _, changes) in &runs {
        fs::write(folder.join("motd"), "broken\n").expect("it is there");
        changes.recv().expect("it is noticed");
        let text = fs::read_to_string(folder.join("motd"));
        assert_eq!(text.expect("it is there"), "hello\n");
    }

    // What one no longer watches, the others still do.
    let [(_, first, ended), second, third] = runs;
    first.send(Control::Interrupt).expect("it runs");
    while ended.recv().is_ok() {}
    for (folder, _, changes) in [&second, &third] {
        fs::remove_file(folder.join("motd")).expect("it is there");
        changes.recv().expect("it is noticed");
    }
    assert_eq!(instances(), 1);
}
