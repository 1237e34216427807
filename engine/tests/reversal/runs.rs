//! Runs, one after another.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};

use pkgres_engine::{
    AppliedState, Control, Directory, DriveOptions, File, Graph, GraphBuilder, GraphError, Kinds,
    Link, Machine, NodeStatus, RunOptions, StateError, Status, Step, drive,
};
use pkgres_manifest::MetaParameters;

use crate::support::{Root, graph, location, reversed};

fn motd(content: &str) -> Graph {
    let file = File::new("/motd").with_content(content);
    graph(vec![("file:/motd", Box::new(file))])
}

#[test]
fn what_was_there_before_the_first_version_comes_back() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    root.apply(motd("two\n"));
    assert_eq!(
        root.planned(Graph::default()),
        [
            "file:/motd Drift([Difference { property: \"content\", is: Some(\"4 bytes\"), wanted: Some(\"6 bytes\") }])"
        ]
    );
    let ending = root.apply(Graph::default());
    assert_eq!(ending.nodes.len(), 1);
    assert_eq!(root.text("/motd").as_deref(), Some("hello\n"));

    // It is forgotten with its content: a later version begins anew.
    root.write("/motd", b"other\n");
    root.apply(motd("three\n"));
    root.apply(Graph::default());
    assert_eq!(root.text("/motd").as_deref(), Some("other\n"));
    let contents = std::fs::read_dir(root.path("/state/org.example.Web/contents"));
    assert_eq!(contents.expect("it is a folder").count(), 0);
}

#[test]
fn a_property_that_a_later_version_adds_comes_back() {
    let file = |file: File| graph(vec![("file:/motd", Box::new(file))]);
    let mode_of = |root: &Root| {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(root.path("/motd")).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    for content_first in [true, false] {
        let root = Root::new();
        root.write("/motd", b"hello\n");
        let before = mode_of(&root);
        let only_content = File::new("/motd").with_content("one\n");
        let only_mode = File::new("/motd").with_mode(0o600);
        root.apply(file(if content_first {
            only_content
        } else {
            only_mode
        }));
        root.apply(file(
            File::new("/motd").with_content("two\n").with_mode(0o640),
        ));
        root.apply(file(
            File::new("/motd").with_content("three\n").with_mode(0o600),
        ));
        root.apply(Graph::default());
        assert_eq!(root.text("/motd").as_deref(), Some("hello\n"));
        assert_eq!(mode_of(&root), before);
        let contents = std::fs::read_dir(root.path("/state/org.example.Web/contents"));
        assert_eq!(contents.expect("it is a folder").count(), 0);
    }
}

#[test]
fn what_cannot_be_kept_any_more_does_not_stop_a_repair() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    let file = std::fs::File::create(root.path("/motd")).expect("it can be replaced");
    file.set_len(1 << 33).expect("it can have a hole");
    let ending = root.apply(motd("one\n"));
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    root.apply(Graph::default());
    assert_eq!(root.text("/motd").as_deref(), Some("hello\n"));
}

/// The file did not exist before the first run, so it is removed.
#[test]
fn a_property_of_what_was_not_there_does_not_come_back() {
    let root = Root::new();
    root.apply(motd("one\n"));
    let file = File::new("/motd").with_content("two\n").with_mode(0o600);
    root.apply(graph(vec![("file:/motd", Box::new(file))]));
    root.apply(Graph::default());
    assert_eq!(root.text("/motd"), None);
}

#[test]
fn a_second_run_changes_nothing_not_even_the_state() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    let state = root.path("/state/org.example.Web");
    let written = || {
        let files = [
            state.join("applied.json"),
            state.join("before/file:%2Fmotd.json"),
        ];
        files.map(|file| {
            use std::os::unix::fs::MetadataExt as _;
            std::fs::metadata(file).expect("it is there").ino()
        })
    };
    let before = written();
    root.apply(motd("one\n"));
    assert_eq!(written(), before, "files were replaced");
}

#[test]
fn the_state_can_be_read_by_people_and_by_nobody_else() {
    use std::os::unix::fs::PermissionsExt as _;

    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    let record = root.text("/state/org.example.Web/before/file:%2Fmotd.json");
    let content = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let expected = format!(
        "{{\n  \"state\": 1,\n  \"resource\": \"file:/motd\",\n  \"position\": 0,\n  \"after\": [],\n  \"before\": {{\n    \
         \"kind\": \"file\",\n    \"name\": \"/motd\",\n    \"properties\": {{\n      \
         \"copy_of\": \"/state/org.example.Web/contents/{content}\"\n    }}\n  }},\n  \"contents\": [\n    \"{content}\"\n  ]\n}}\n"
    );
    assert_eq!(record.as_deref(), Some(expected.as_str()));
    for path in ["/state", "/state/org.example.Web/contents"] {
        let mode = std::fs::metadata(root.path(path)).expect("it is there");
        assert_eq!(mode.permissions().mode() & 0o777, 0o700, "{path}");
    }
}

#[test]
fn a_resource_that_does_not_ask_for_it_stays() {
    let root = Root::new();
    let mut builder = GraphBuilder::new();
    let id = || "file:/motd".parse().expect("it is an identity");
    builder.add(id(), File::new("/motd"), MetaParameters::default());
    root.apply(builder.build().expect("it is valid"));
    let state = AppliedState::read(&*root.machine, location(), Kinds::default());
    let state = state.expect("it can be read");
    assert_eq!(state.left_behind(&Graph::default()), [id()]);
    assert!(state.with_reversals(Graph::default()).nodes().is_empty());
    root.apply(Graph::default());
    assert!(root.text("/motd").is_some());
    let state = AppliedState::read(&*root.machine, location(), Kinds::default());
    assert!(
        state
            .expect("it can be read")
            .left_behind(&Graph::default())
            .is_empty()
    );
}

#[test]
fn a_resource_that_no_longer_asks_for_it_stays() {
    let root = Root::new();
    root.apply(motd("one\n"));
    let mut builder = GraphBuilder::new();
    let file = File::new("/motd").with_content("one\n");
    builder.add(
        "file:/motd".parse().expect("an identity"),
        file,
        MetaParameters::default(),
    );
    root.apply(builder.build().expect("it is valid"));
    root.apply(Graph::default());
    assert_eq!(root.text("/motd").as_deref(), Some("one\n"));
}

#[test]
fn what_is_gone_is_reversed_before_anything_new() {
    let root = Root::new();
    root.apply(graph(vec![("file:/srv", Box::new(File::new("/srv")))]));
    // A folder in place of the file: it can only be made once the file is gone.
    let folder = graph(vec![("directory:/srv", Box::new(Directory::new("/srv")))]);
    let ending = root.apply(folder);
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert!(root.path("/srv").is_dir());
    let ids: Vec<_> = ending.nodes.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["file:/srv", "directory:/srv"]);
}

/// A folder goes if nothing is left in it, which a plan cannot know.
#[test]
fn a_plan_does_not_fail_where_a_run_replaces_a_folder() {
    let root = Root::new();
    root.apply(graph(vec![
        ("directory:/srv", Box::new(Directory::new("/srv"))),
        ("file:/srv/page", Box::new(File::new("/srv/page"))),
    ]));
    let link = || graph(vec![("link:/srv", Box::new(Link::new("/srv", "/opt")))]);
    let ending = root.plan(link());
    assert_ne!(ending.status, Status::Failed, "{ending:?}");
    let (_, status) = ending.nodes.last().expect("the link");
    assert!(matches!(status, NodeStatus::Deferred(..)), "{status:?}");
    let ending = root.apply(link());
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert!(root.path("/srv").is_symlink());
}

#[test]
fn a_reversal_that_fails_is_tried_again_and_holds_back_what_is_new() {
    let root = Root::new();
    let both = |with_new: bool| {
        let mut resources: Vec<(&str, Box<dyn pkgres_engine::Resource>)> =
            vec![("file:/kept", Box::new(File::new("/kept").with_content("k")))];
        if with_new {
            resources.push(("file:/new", Box::new(File::new("/new"))));
        } else {
            resources.push(("file:/gone", Box::new(File::new("/gone"))));
        }
        graph(resources)
    };
    root.apply(both(false));
    std::fs::remove_file(root.path("/gone")).expect("it is there");
    std::fs::create_dir(root.path("/gone")).expect("nothing is there");
    std::fs::remove_file(root.path("/kept")).expect("it is there");
    let ending = root.apply(both(true));
    assert_eq!(ending.status, Status::Failed);
    let statuses: Vec<_> = ending.nodes.iter().map(|(_, status)| status).collect();
    assert!(matches!(statuses[0], NodeStatus::Failed(_)), "{statuses:?}");
    assert!(
        matches!(statuses[2], NodeStatus::Blocked(_)),
        "{statuses:?}"
    );
    assert_eq!(root.text("/kept").as_deref(), Some("k"), "it is not new");

    std::fs::remove_dir(root.path("/gone")).expect("it is there");
    let ending = root.apply(both(true));
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert!(root.text("/new").is_some());
}

#[test]
fn a_reversal_that_fails_is_tried_again_in_a_run_that_goes_on() {
    let root = Root::new();
    root.apply(graph(vec![("file:/gone", Box::new(File::new("/gone")))]));
    std::fs::remove_file(root.path("/gone")).expect("it is there");
    std::fs::create_dir(root.path("/gone")).expect("nothing is there");
    let new = graph(vec![("file:/new", Box::new(File::new("/new")))]);
    let ending = root.apply_watched(new, |step| match step {
        Step::Failed(..) => {
            // The second time it is gone already.
            let _ = std::fs::remove_dir(root.path("/gone"));
            false
        }
        step => matches!(step, Step::Converged),
    });
    assert!(!ending.is_out_of_time, "{ending:?}");
    assert!(root.text("/new").is_some(), "{ending:?}");
}

#[test]
fn a_graph_that_replaces_another_one_reverses_what_it_lacks() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    let target: Arc<dyn pkgres_engine::Target> = root.machine.clone();
    let state = AppliedState::lock(&*target, location(), Kinds::default());
    let state = state.expect("nobody else works on it");
    let graph = state
        .begin(&*target, motd("one\n"))
        .expect("it can be written");
    let (control, controlled) = channel();
    let options = DriveOptions {
        run: RunOptions {
            watch: true,
            ..RunOptions::default()
        },
        state: Some(Arc::clone(&state)),
        max_runtime: Some(std::time::Duration::from_secs(20)),
        ..DriveOptions::default()
    };
    let mut seen = Vec::new();
    let ending = drive(
        graph,
        target,
        &options,
        controlled,
        |progress| match &progress.step {
            Step::Changed(id, _) => {
                seen.push(format!("{id} {:?}", root.text("/motd")));
                let next = match seen.len() {
                    1 => Control::Replace(Graph::default()),
                    _ => Control::Interrupt,
                };
                control.send(next).expect("it runs");
            }
            Step::NotReplaced(error) => panic!("{error}"),
            _ => {}
        },
    );
    assert_eq!(ending.status, Status::Interrupted);
    assert_eq!(
        seen,
        [
            "file:/motd Some(\"one\\n\")",
            "file:/motd Some(\"hello\\n\")"
        ]
    );
}

#[test]
fn a_second_engine_is_refused() {
    let root = Root::new();
    let first = AppliedState::lock(&*root.machine, location(), Kinds::default());
    let first = first.expect("nobody else works on it");
    let again = Machine::root_folder(&root.path("/")).expect("it is a folder");
    let error = AppliedState::lock(&again, location(), Kinds::default());
    let process = std::process::id();
    assert_eq!(
        error.expect_err("it is locked").to_string(),
        format!("cannot use the state in /state: the process {process} works with /state/.lock")
    );
    // Reading for a plan needs no lock.
    AppliedState::read(&again, location(), Kinds::default()).expect("it can be read");
    drop(first);
    AppliedState::lock(&again, location(), Kinds::default()).expect("nobody else works on it");
}

#[test]
fn first_runs_at_the_same_time_wait_for_each_other() {
    for _ in 0..50 {
        let root = Root::new();
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let machine = Machine::root_folder(&root.path("/")).expect("it is a folder");
                    start.wait();
                    match AppliedState::lock(&machine, location(), Kinds::default()) {
                        Ok(_) => {}
                        Err(error) => {
                            assert!(error.to_string().contains(" works with "), "{error}");
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn damaged_and_newer_states_are_errors() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    let folder = "/state/org.example.Web";
    let read = || AppliedState::read(&*root.machine, location(), Kinds::default());

    let record = format!("{folder}/before/file:%2Fmotd.json");
    let whole = root.text(&record).expect("it is there");
    for damaged in [
        "",
        "[]",
        "{\"state\": 1}",
        "{\"state\": 1, \"resource\": 4}",
    ] {
        root.write(&record, damaged.as_bytes());
        let error = read().expect_err("it is damaged");
        assert!(matches!(error, StateError::Damaged { .. }), "{error}");
    }
    root.write(
        &record,
        whole.replace("\"state\": 1", "\"state\": 2").as_bytes(),
    );
    let error = read().expect_err("it is newer").to_string();
    assert!(error.contains("has version 2 of the state"), "{error}");
    root.write(&record, whole.as_bytes());

    let content = std::fs::read_dir(root.path(&format!("{folder}/contents")));
    let mut content = content.expect("it is a folder");
    let content = content
        .next()
        .expect("there is one")
        .expect("it can be read");
    std::fs::write(content.path(), "something else").expect("it is ours");
    let state = AppliedState::lock(&*root.machine, location(), Kinds::default());
    let error = state
        .expect("it can be read")
        .begin(&*root.machine, Graph::default())
        .expect_err("the content is damaged");
    assert!(
        error
            .to_string()
            .starts_with("the saved state of `file:/motd` cannot be restored: "),
        "{error}"
    );
    assert_eq!(
        root.text("/motd").as_deref(),
        Some("one\n"),
        "nothing was changed"
    );
    // As the error says, it stays as it is without the record.
    let StateError::Lost {
        record, content, ..
    } = error
    else {
        panic!("{error}");
    };
    std::fs::remove_file(root.path(&content.display().to_string())).expect("it is there");
    std::fs::remove_file(root.path(&record.display().to_string())).expect("it is there");
    root.apply(Graph::default());
    assert_eq!(root.text("/motd").as_deref(), Some("one\n"));
}

#[test]
fn what_cannot_be_reversed_is_an_error_of_the_graph() {
    let mut builder = GraphBuilder::new();
    let id: pkgres_manifest::ResourceId = "directory:/srv".parse().expect("it is an identity");
    builder.add(id.clone(), Directory::new("/srv").absent(), reversed());
    let errors = builder.build().expect_err("the folder would be lost");
    assert_eq!(errors, [GraphError::Irreversible(id)]);
}

#[test]
fn a_reversal_that_changes_nothing_is_no_change() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    root.apply(motd("one\n"));
    // Somebody has restored it by hand.
    root.write("/motd", b"hello\n");
    let mut steps = Vec::new();
    root.apply_observed(Graph::default(), |step| steps.push(format!("{step:?}")));
    assert!(
        steps.iter().any(|step| step.starts_with("InOrder")),
        "{steps:?}"
    );
    assert!(
        !steps.iter().any(|step| step.starts_with("Changed")),
        "{steps:?}"
    );
    // It is forgotten all the same.
    let records = std::fs::read_dir(root.path("/state/org.example.Web/before"));
    assert_eq!(records.map_or(0, Iterator::count), 0);
}
