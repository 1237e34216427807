//! What a run says about resources that it does not change, cannot check, or changes in part.

// The tests change files themselves.
#![allow(clippy::disallowed_methods)]

mod commands;

use std::path::Path;
use std::sync::Arc;

use pkgres_engine::{
    Command, Directory, DriveOptions, Exec, File, Graph, GraphBuilder, Guard, Link, Machine,
    NodeStatus, ResourceState, RunOptions, RunRecord, Step, User, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

/// The steps of a run, and the states at its end.
struct Run {
    steps: Vec<String>,
    states: Vec<String>,
}

fn run(root: &Path, graph: Graph, noop: bool) -> Run {
    let machine = Arc::new(Machine::root_folder(root).expect("it is a folder"));
    let options = DriveOptions {
        run: RunOptions {
            noop,
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let mut steps = Vec::new();
    let (_control, controlled) = std::sync::mpsc::channel();
    let ending = drive(graph, machine, &options, controlled, |progress| {
        if !matches!(progress.step, Step::Started(..)) {
            steps.push(format!("{:?}", progress.step));
        }
    });
    let states = ending.nodes.iter();
    let states = states.map(|(id, status)| format!("{id} {status:?}"));
    Run {
        steps,
        states: states.collect(),
    }
}

fn with(resources: impl FnOnce(&mut GraphBuilder)) -> Graph {
    let mut builder = GraphBuilder::new();
    resources(&mut builder);
    builder.build().expect("it has no cycle")
}

fn noop() -> MetaParameters {
    MetaParameters {
        noop: true,
        ..MetaParameters::default()
    }
}

fn default() -> MetaParameters {
    MetaParameters::default()
}

/// A machine that seems to have these programs.
fn machine_with(programs: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for the test");
    let folder = root.path().join("bin");
    std::fs::create_dir(&folder).expect("the root is there");
    for program in programs {
        let path = folder.join(program);
        std::fs::write(&path, "").expect("the folder is there");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("the file is there");
    }
    root
}

#[test]
fn a_dry_run_does_not_promise_what_the_machine_refuses() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::write(root.path().join("plain"), "").expect("the root is there");
    let graph = with(|builder| {
        builder.add(id("file:/none/a"), File::new("/none/a"), default());
        builder.add(id("link:/none/b"), Link::new("/none/b", "/"), default());
        let inside = Directory::new("/plain/c");
        builder.add(id("directory:/plain/c"), inside, default());
        let user = User::new("web").with_group("none");
        builder.add(id("user:web"), user, default());
        // Its folder is made before it.
        builder.add(id("directory:/new"), Directory::new("/new"), default());
        builder.add(id("file:/new/d"), File::new("/new/d"), default());
    });
    let run = run(root.path(), graph, true);
    let problems = [
        r#"file:/none/a Failed("the folder /none does not exist: add a resource `directory: /none`, or `parents: true`, or say `after` what makes it")"#,
        r#"link:/none/b Failed("the folder /none does not exist: add a resource `directory: /none`, or `parents: true`, or say `after` what makes it")"#,
        r#"directory:/plain/c Failed("cannot write in /plain: Not a directory (os error 20)")"#,
        r#"user:web Failed("the machine has no group `none`")"#,
    ];
    assert_eq!(run.states[..4], problems);
    for state in &run.states[4..] {
        assert!(state.contains("Pending"), "{state}");
    }
}

/// Only what may change the folder is waited for.
#[test]
fn a_dry_run_does_not_promise_a_file_below_a_file_behind_something_else() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::write(root.path().join("plain"), "").expect("the root is there");
    let state_of = |first: &'static str, before: Box<dyn Fn(&mut GraphBuilder)>| {
        let graph = with(|builder| {
            before(builder);
            builder.add(id("file:/plain/c"), File::new("/plain/c"), default());
            builder.order(id(first), id("file:/plain/c"));
        });
        let run = run(root.path(), graph, true);
        let mut states = run.states.iter();
        let file = states.find(|state| state.starts_with("file:/plain/c"));
        file.expect("it is in the graph").clone()
    };
    let other = state_of(
        "directory:/other",
        Box::new(|builder| {
            let other = Directory::new("/other");
            builder.add(id("directory:/other"), other, default());
        }),
    );
    assert!(other.contains("Failed(\"cannot write in /plain"), "{other}");
    let removed = state_of(
        "file:/plain",
        Box::new(|builder| {
            builder.add(id("file:/plain"), File::new("/plain").absent(), default());
        }),
    );
    assert!(removed.contains("Pending("), "{removed}");
}

/// Only what makes the very folder is waited for.
#[test]
fn a_dry_run_does_not_promise_a_file_in_a_folder_that_nothing_makes() {
    let root = tempfile::tempdir().expect("a folder for the test");
    for is_made in [false, true] {
        let graph = with(|builder| {
            builder.add(id("directory:/b"), Directory::new("/b"), default());
            builder.add(id("file:/b/c/f"), File::new("/b/c/f"), default());
            if is_made {
                let made = File::new("/b/c/d/e").with_parents();
                builder.add(id("file:/b/c/d/e"), made, default());
                builder.order(id("file:/b/c/d/e"), id("file:/b/c/f"));
            }
        });
        let run = run(root.path(), graph, true);
        let mut states = run.states.iter();
        let file = states.find(|state| state.starts_with("file:/b/c/f"));
        let file = file.expect("it is in the graph");
        let expected = if is_made {
            "Pending"
        } else {
            r#"Failed("the folder /b/c does not exist"#
        };
        assert!(file.contains(expected), "{file}");
    }
}

#[test]
fn a_dry_run_foresees_a_file_below_a_link() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir(root.path().join("srv")).expect("it can be made");
    let graph = || {
        with(|builder| {
            builder.add(id("link:/web"), Link::new("/web", "/srv"), default());
            let file = File::new("/web/page").with_content("x");
            builder.add(id("file:/web/page"), file, default());
        })
    };
    let planned = run(root.path(), graph(), true);
    assert!(
        !planned.states.iter().any(|state| state.contains("Failed")),
        "{:?}",
        planned.states
    );
    let made = run(root.path(), graph(), false);
    assert_eq!(made.states, ["link:/web InOrder", "file:/web/page InOrder"]);
}

#[test]
fn missing_folders_are_made_around_what_asks_for_them() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let graph = || {
        with(|builder| {
            let file = File::new("/a/b/file").with_parents();
            builder.add(id("file:/a/b/file"), file, default());
            let folder = Directory::new("/a/c/folder").with_parents();
            builder.add(id("directory:/a/c/folder"), folder, default());
            let link = Link::new("/d/link", "/a").with_parents();
            builder.add(id("link:/d/link"), link, default());
        })
    };
    let dry = run(root.path(), graph(), true);
    let parents = |number: usize, folders: &str| {
        let part = format!(r#"property: "parents", is: None, wanted: Some("{folders}")"#);
        assert!(dry.states[number].contains(&part), "{:?}", dry.states);
    };
    parents(0, "/a, /a/b");
    parents(1, "/a, /a/c");
    parents(2, "/d");
    assert!(!root.path().join("a").exists());
    for _ in 0..2 {
        let real = run(root.path(), graph(), false);
        let is_in_order = |state: &String| state.ends_with("InOrder");
        assert!(real.states.iter().all(is_in_order), "{:?}", real.states);
    }
    assert!(root.path().join("a/b/file").is_file());
    assert!(root.path().join("d/link").is_symlink());
}

#[test]
fn a_folder_that_goes_if_it_is_empty_goes_in_the_run_that_empties_it() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir_all(root.path().join("a/b")).expect("it can be made");
    std::fs::write(root.path().join("a/b/c"), "").expect("it can be written");
    let graph = || {
        with(|builder| {
            for path in ["/a", "/a/b"] {
                let folder = Directory::new(path).absent_if_empty();
                builder.add(id(&format!("directory:{path}")), folder, default());
            }
            builder.add(id("file:/a/b/c"), File::new("/a/b/c").absent(), default());
        })
    };
    let planned = run(root.path(), graph(), true);
    let starts = [
        "file:/a/b/c Pending",
        "directory:/a/b Unknown",
        "directory:/a Unknown",
    ];
    for (state, start) in planned.states.iter().zip(starts) {
        assert!(state.starts_with(start), "{:?}", planned.states);
    }
    run(root.path(), graph(), false);
    assert!(!root.path().join("a").exists());

    // Another order that the packages ask for is no cycle.
    with(|builder| {
        let folder = Directory::new("/x").absent_if_empty();
        builder.add(id("directory:/x"), folder, default());
        builder.add(id("file:/x/a"), File::new("/x/a").absent(), default());
        builder.order(id("directory:/x"), id("file:/x/a"));
    });

    // Nothing before it would change, so that it stays.
    std::fs::create_dir_all(root.path().join("a/b/d")).expect("it can be made");
    let planned = run(root.path(), graph(), true);
    assert!(
        planned
            .states
            .iter()
            .all(|state| state.ends_with("InOrder")),
        "{:?}",
        planned.states
    );
}

#[test]
fn what_waits_for_a_change_that_is_not_made_has_not_failed() {
    let root = machine_with(&["sh", "useradd"]);
    let graph = || {
        with(|builder| {
            builder.add(id("user:web"), User::new("web"), default());
            let owned = Directory::new("/d").with_owner("web");
            builder.add(id("directory:/d"), owned, default());
        })
    };
    let dry = run(root.path(), graph(), true);
    let waits = r#"directory:/d Deferred(ResourceId { kind: "user", name: "web" }, "the machine has no user `web`")"#;
    assert_eq!(dry.states[1], waits);

    // The same holds behind a resource that is only checked, or not even that.
    for meta in [
        noop(),
        MetaParameters {
            hidden: true,
            ..default()
        },
    ] {
        let graph = with(|builder| {
            builder.add(id("directory:/e"), Directory::new("/e"), meta);
            builder.add(id("file:/e/f"), File::new("/e/f"), default());
        });
        let real = run(root.path(), graph, false);
        let waits = r#"file:/e/f Deferred(ResourceId { kind: "directory", name: "/e" }, "the folder /e does not exist: "#;
        assert!(real.states[1].starts_with(waits), "{:?}", real.states);
        assert!(!root.path().join("e").exists());
    }
}

/// An attempt that waits has not failed, and one that the user ended has not either.
#[test]
fn what_waits_is_no_failure_among_the_steps() {
    let root = machine_with(&["sh", "useradd"]);
    let graph = with(|builder| {
        builder.add(id("user:web"), User::new("web"), noop());
        let owned = Directory::new("/d").with_owner("web");
        builder.add(id("directory:/d"), owned, default());
        builder.add(
            id("file:/e"),
            File::new("/e"),
            MetaParameters {
                hidden: true,
                ..default()
            },
        );
    });
    let mut record = RunRecord::new(&graph);
    let machine = Machine::root_folder(root.path()).expect("it is a folder");
    let (_control, controlled) = std::sync::mpsc::channel();
    let options = DriveOptions::default();
    let mut steps = Vec::new();
    let ending = drive(graph, Arc::new(machine), &options, controlled, |progress| {
        record.note(progress);
        steps.push(format!("{:?}", progress.step));
    });
    let waits = r#"Deferred(ResourceId { kind: "directory", name: "/d" }, ResourceId { kind: "user", name: "web" }, "the machine has no user `web`")"#;
    assert!(steps.iter().any(|step| step == waits), "{steps:?}");
    assert!(
        !steps.iter().any(|step| step.contains("Failed")),
        "{steps:?}"
    );
    assert_eq!(record.count(ResourceState::Waiting), 1);
    assert_eq!(record.resources().len(), 2);
    assert_eq!(ending.nodes[2].1, NodeStatus::Hidden);
}

/// A change that is not made only excuses what it may remove: a plan says what a run fails at.
#[test]
fn what_no_change_before_it_can_remedy_has_failed() {
    let root = machine_with(&["sh", "useradd"]);
    let folder = root.path().join("d");
    std::fs::create_dir_all(folder.join("link")).expect("they can be made");
    std::fs::create_dir(folder.join("file")).expect("it can be made");
    std::fs::write(folder.join("folder"), "").expect("it can be written");
    let graph = || {
        with(|builder| {
            let narrow = Directory::new("/d").with_mode(0o700);
            builder.add(id("directory:/d"), narrow, default());
            builder.add(id("file:/d/file"), File::new("/d/file"), default());
            builder.add(id("link:/d/link"), Link::new("/d/link", "x"), default());
            builder.add(
                id("directory:/d/folder"),
                Directory::new("/d/folder"),
                default(),
            );
            let owned = File::new("/d/owned").with_owner("nobody-here");
            builder.add(id("file:/d/owned"), owned, default());
            builder.add(id("user:web"), User::new("web"), default());
            builder.order(id("user:web"), id("file:/d/owned"));
        })
    };
    let failures = |states: &[String]| {
        let states = states.iter().filter(|state| state.contains(" Failed("));
        states.cloned().collect::<Vec<_>>()
    };
    let dry = run(root.path(), graph(), true);
    assert_eq!(failures(&dry.states).len(), 4, "{:?}", dry.states);
    let real = run(root.path(), graph(), false);
    for failure in failures(&dry.states) {
        // It waits for the user, which has failed here.
        assert!(
            failure.contains("/d/owned") || real.states.contains(&failure),
            "{failure} {:?}",
            real.states
        );
    }
}

#[test]
fn what_was_changed_in_part_has_failed_behind_a_change_that_is_not_made() {
    let root = machine_with(&["sh", "false"]);
    let graph = with(|builder| {
        builder.add(id("directory:/e"), Directory::new("/e"), noop());
        let fails = Exec::new(Command::new("false"), Guard::creates("/none"));
        builder.add(id("exec:fails"), fails, default());
        builder.order(id("directory:/e"), id("exec:fails"));
    });
    let real = run(root.path(), graph, false);
    assert!(
        real.states[1].starts_with("exec:fails Failed("),
        "{:?}",
        real.states
    );
}

#[test]
fn a_dry_run_shows_what_would_be_refreshed() {
    let root = machine_with(&["sh", "true"]);
    let graph = |content: &str| {
        let file = File::new("/conf").with_content(content);
        with(|builder| {
            builder.add(id("file:/conf"), file, default());
            let reload = Exec::new(Command::new("true"), Guard::OnRefresh);
            builder.add(id("exec:reload"), reload, default());
            builder.notify(id("file:/conf"), id("exec:reload"));
        })
    };
    let dry = run(root.path(), graph("a"), true);
    assert!(
        dry.states[1].starts_with("exec:reload Pending"),
        "{:?}",
        dry.states
    );
    std::fs::write(root.path().join("conf"), "a").expect("the root is there");
    let dry = run(root.path(), graph("a"), true);
    assert_eq!(dry.states[1], "exec:reload InOrder");
}
