//! This machine and root folders: what commands may do on them, and what they may not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{
    Command, ContentDifference, DriveOptions, EntryAttributes, Exec, File, GraphBuilder, Guard,
    Machine, Overlay, Probe as _, Status, Step, Target as _, TargetLocation, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};
use pkgres_tests::skip;

use crate::script;

#[test]
fn a_query_cannot_write() {
    let machine = Machine::local().expect("this machine has a root");
    if !machine.enforces_read_only() {
        skip::without_service("mount namespaces");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("written");
    let command = script(&format!("echo lie > {}", file.display()));
    let output = machine.query(&command).expect("it runs");
    assert!(!output.is_success());
    let words = output.last_words().expect("it says why");
    assert!(words.contains("Read-only file system"), "{words}");
    assert!(!file.exists());

    let reading = script("cat /etc/passwd > /dev/null && echo ok");
    let output = machine.query(&reading).expect("it runs");
    assert_eq!(output.text(), "ok\n");
    // The same command may write where changes are allowed.
    assert!(machine.run(&command).expect("it runs").is_success());
    assert!(file.exists());
}

/// Whoever runs a graph closes the connection to the machine by dropping it.
#[test]
fn a_run_that_has_ended_has_given_the_machine_back() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for _ in 0..20 {
        let machine = Arc::new(Machine::root_folder(folder.path()).expect("it is a folder"));
        let kept = Arc::downgrade(&machine);
        let mut builder = GraphBuilder::new();
        let id = "file:/motd".parse().expect("it is an identity");
        builder.add(
            id,
            File::new("/motd").with_content("hi\n"),
            MetaParameters::default(),
        );
        let graph = builder.build().expect("it has no cycle");
        let (_control, controlled) = channel();
        let ending = drive(graph, machine, &DriveOptions::default(), controlled, |_| {});
        assert_eq!(ending.status, Status::Converged);
        assert_eq!(kept.strong_count(), 0, "a thread still has it");
    }
}

#[test]
fn a_file_that_a_later_command_overwrites_is_not_in_order() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("settings");
    let spoil = script(&format!("echo two > {}", path.display()));
    let guard = Guard::Unless(script(&format!("grep -q two {}", path.display())));
    let mut builder = GraphBuilder::new();
    let (file, exec) = ("file:/settings".parse(), "exec:spoil".parse());
    let (file, exec): (ResourceId, ResourceId) = (file.expect("one"), exec.expect("one"));
    let content = File::new(&path).with_content("one\n");
    builder.add(file.clone(), content, MetaParameters::default());
    builder.add(
        exec.clone(),
        Exec::new(spoil, guard),
        MetaParameters::default(),
    );
    builder.order(file.clone(), exec);
    let graph = builder.build().expect("it has no cycle");
    let machine = Arc::new(Machine::local().expect("this machine has a root"));
    let (_control, controlled) = channel();
    let mut failed = Vec::new();
    let ending = drive(
        graph,
        machine,
        &DriveOptions::default(),
        controlled,
        |progress| {
            if let Step::Failed(id, reason) = &progress.step {
                failed.push((id.clone(), reason.clone()));
            }
        },
    );
    assert_eq!(ending.status, Status::Failed);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, file);
    assert!(
        failed[0].1.contains("changed after it: exec:spoil"),
        "{failed:?}"
    );
}

#[test]
fn what_runs_before_a_command_does_not_see_its_variables() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let trap = folder.path().join("chroot");
    fs::write(&trap, "#!/bin/sh\ntouch trapped\n").expect("the folder exists");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&trap, mode).expect("it was written");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let command = Command::new("true").variable("PATH", folder.path().to_string_lossy());
    // There is no shell in this root, so that the command cannot run.
    let ended = machine.run(&command);
    assert!(!ended.is_ok_and(|output| output.is_success()));
    assert!(!Path::new("trapped").exists());
}

#[test]
fn an_overlay_keeps_changes_apart() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let place = tempfile::tempdir().expect("a folder for the test");
    fs::create_dir_all(folder.path().join("etc/deep")).expect("the folder exists");
    fs::write(folder.path().join("etc/old"), "old").expect("the folder exists");
    let overlay = match Overlay::new(folder.path(), place.path()) {
        Ok(overlay) => overlay,
        Err(error) => {
            skip::without_service(&error.to_string());
            return;
        }
    };
    let machine = overlay.machine();
    let attributes = EntryAttributes::with_mode(0o600);
    machine
        .write_file(Path::new("/etc/deep/new"), b"new", attributes)
        .expect("the folder exists");
    machine.remove(Path::new("/etc/old")).expect("it is there");
    let changes = overlay.changes().expect("the overlay can be read");
    let shown: Vec<_> = changes
        .iter()
        .map(|change| (change.path.display().to_string(), change.now.is_some()))
        .collect();
    let expected = [("/etc/deep/new", true), ("/etc/old", false)];
    assert_eq!(shown, expected.map(|(path, is)| (path.to_owned(), is)));
    let old = fs::read_to_string(folder.path().join("etc/old")).expect("it is as before");
    assert_eq!(old, "old");
    assert!(!folder.path().join("etc/deep/new").exists());
    drop(overlay);
    assert_eq!(fs::read_dir(place.path()).expect("it exists").count(), 0);
}

#[test]
fn an_overlay_of_this_machine_has_no_changes_at_first() {
    let overlay = match TargetLocation::Local.overlay() {
        Ok(overlay) => overlay,
        Err(error) => {
            skip::without_service(&error.to_string());
            return;
        }
    };
    // It has no mounts, and devices of its own in place of those in `/dev`.
    let null = overlay.machine().entry(Path::new("/dev/null"));
    assert!(null.expect("it can be read").is_some());
    assert_eq!(overlay.changes().expect("it can be read"), []);
}

#[test]
fn files_that_differ_on_an_overlay_are_found_with_their_texts() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let place = tempfile::tempdir().expect("a folder for the test");
    for path in ["etc", "dev", "opt/app/inner", "private"] {
        fs::create_dir_all(folder.path().join(path)).expect("a new folder");
    }
    // Its files can be readable for everybody; nobody else reaches them.
    let closed = fs::Permissions::from_mode(0o700);
    fs::set_permissions(folder.path().join("private"), closed).expect("it is ours");
    for (path, text) in [
        ("etc/kept", "same"),
        ("etc/text", "one\ntwo\n"),
        ("etc/mode", "m"),
        ("etc/bytes", "\0a"),
        ("opt/app/old", "old"),
        ("opt/app/inner/deep", "deep"),
    ] {
        fs::write(folder.path().join(path), text).expect("the folder exists");
    }
    let overlay = match Overlay::new(folder.path(), place.path()) {
        Ok(overlay) => overlay,
        Err(error) => {
            skip::without_service(&error.to_string());
            return;
        }
    };
    let machine = overlay.machine();
    let plain = EntryAttributes::with_mode(0o644);
    let write = |path: &str, text: &[u8]| {
        let written = machine.write_file(Path::new(path), text, plain);
        written.expect("its folder exists");
    };
    write("/etc/kept", b"same");
    write("/etc/text", b"one\n2\n");
    write("/etc/new", b"new\n");
    write("/etc/bytes", b"\0b");
    let mode = EntryAttributes::with_mode(0o600);
    machine
        .set_attributes(Path::new("/etc/mode"), mode)
        .expect("it is there");
    // A folder that replaces another one hides what that had.
    machine.remove(Path::new("/opt/app")).expect("it is there");
    let folders = EntryAttributes::with_mode(0o755);
    machine
        .make_folder(Path::new("/opt/app"), folders)
        .expect("its parent exists");
    write("/opt/app/new", b"n");
    write("/private/key", b"new");

    let differences = overlay.file_differences().expect("the overlay can be read");
    let shown: Vec<_> = differences
        .iter()
        .map(|difference| {
            let content = match &difference.content {
                ContentDifference::None => "same".to_owned(),
                ContentDifference::Text { before, after } => format!("{before:?} {after:?}"),
                ContentDifference::Other => "other".to_owned(),
            };
            let path = difference.path.display();
            let (before, after) = (difference.before.is_some(), difference.after.is_some());
            let private = if difference.is_public { "" } else { " private" };
            format!("{path} {before} {after} {content}{private}")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/etc/bytes true true other",
            "/etc/mode true true same private",
            "/etc/new false true \"\" \"new\\n\"",
            "/etc/text true true \"one\\ntwo\\n\" \"one\\n2\\n\"",
            "/opt/app/inner true false same",
            "/opt/app/new false true \"\" \"n\"",
            "/opt/app/old true false \"old\" \"\"",
            "/private/key false true \"\" \"new\" private",
        ]
    );
    assert!(
        folder.path().join("opt/app/inner/deep").exists(),
        "the folder stays as it is"
    );
    assert_eq!(
        fs::read_dir(folder.path().join("dev"))
            .expect("it exists")
            .count(),
        0
    );
}
