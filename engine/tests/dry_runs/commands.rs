//! What a run says about commands, their guards, and content that is not sent.

use std::path::Path;

use pkgres_engine::{
    Change, Checked, Command, Difference, Directory, EntryAttributes, Exec, File, Graph, Guard,
    Input, Machine, Outcome, Probe, Query, Receipt, Resource, ResourceError, Service, Target,
    attempt,
};
use pkgres_manifest::MetaParameters;

use crate::{Run, default, id, machine_with, run, with};

/// What becomes of a command on a machine.
fn states_of(root: &Path, exec: &Exec, noop: bool) -> Run {
    let graph = with(|builder| {
        builder.add(id("exec:it"), exec.clone(), default());
    });
    run(root, graph, noop)
}

#[test]
fn a_command_that_cannot_be_started_is_neither_promised_nor_begun() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let exec = |command: Command| Exec::new(command, Guard::creates("/made"));
    let refused = |command: Command, reason: &str| {
        for noop in [true, false] {
            let run = states_of(root.path(), &exec(command.clone()), noop);
            assert_eq!(run.states.len(), 1, "{:?}", run.states);
            assert!(run.states[0].contains("Failed("), "{:?}", run.states);
            assert!(run.states[0].contains(reason), "{:?}", run.states);
            let has_begun = run.steps.iter().any(|step| step.starts_with("Unfinished"));
            assert!(!has_begun, "{:?}", run.steps);
        }
    };
    refused(Command::new("/bin/sh"), "the machine has no /bin/sh");
    std::fs::create_dir(root.path().join("bin")).expect("it can be made");
    std::fs::write(root.path().join("bin/sh"), "").expect("it can be written");
    refused(Command::new("make"), "the machine has no program `make`");
    refused(Command::new("/bin/make"), "has no program `/bin/make`");
    refused(Command::new("/bin/sh"), "/bin/sh is not executable");
    std::fs::write(root.path().join("bin/make"), "").expect("it can be written");
    let elsewhere = Command::new("make").folder("/srv");
    refused(
        elsewhere.clone(),
        "the folder /srv, which it starts in, does not exist",
    );
    refused(
        Command::new("make").user("web"),
        "the machine has no user `web`",
    );
    std::fs::create_dir(root.path().join("etc")).expect("it can be made");
    let etc = |file: &str, text: &str| {
        std::fs::write(root.path().join("etc").join(file), text).expect("it can be written");
    };
    etc("passwd", "web:x:7:7::/:/bin/sh\n");
    etc(
        "nsswitch.conf",
        "passwd: files systemd\ngroup: files # ldap\n",
    );
    refused(
        Command::new("make").user("web").group("staff"),
        "the machine has no group `staff`",
    );
    let promised = |command: Command| {
        let run = states_of(root.path(), &exec(command), true);
        assert!(run.states[0].contains("Pending("), "{:?}", run.states);
    };
    promised(Command::new("make").user("web"));
    promised(Command::new("make").user("1000"));
    // Where users come from elsewhere, too, nobody knows.
    etc("nsswitch.conf", "passwd: files ldap\n");
    promised(Command::new("make").user("root"));

    // Something before it makes the folder.
    let graph = with(|builder| {
        builder.add(id("directory:/srv"), Directory::new("/srv"), default());
        builder.add(id("exec:it"), exec(elsewhere), default());
    });
    let planned = run(root.path(), graph, true);
    let pending = planned
        .states
        .iter()
        .filter(|state| state.contains("Pending("));
    assert_eq!(pending.count(), 2, "{:?}", planned.states);
    // Where it begins at its folder, or in a shell that has programs in itself, nobody knows.
    promised(Command::new("bin/nothing"));
    std::fs::rename(root.path().join("bin/sh"), root.path().join("bin/busybox"))
        .expect("it can be renamed");
    std::os::unix::fs::symlink("busybox", root.path().join("bin/sh")).expect("it can be made");
    promised(Command::new("touch"));
}

/// A file that is unlike the program of a command does not provide it.
#[test]
fn a_command_whose_program_nothing_provides_has_failed() {
    let graph = |made: &str| {
        with(|builder| {
            builder.add(id("file:it"), File::new(made), default());
            let command = Command::new("tool").variable("PATH", "/bin");
            let exec = Exec::new(command, Guard::creates("/none"));
            builder.add(id("exec:it"), exec, default());
            builder.order(id("file:it"), id("exec:it"));
        })
    };
    let root = machine_with(&["sh"]);
    for (made, state) in [
        ("/other", "exec:it Failed("),
        ("/bin/tool", "exec:it Pending("),
    ] {
        let dry = run(root.path(), graph(made), true);
        assert!(dry.states[1].starts_with(state), "{made}: {:?}", dry.states);
    }
}

/// A file that receives what a command writes.
fn rendered(guard: Guard, meta: MetaParameters) -> Graph {
    let command = Command::new("sh").arguments(["-c", "echo rendered"]);
    with(|builder| {
        builder.add(id("exec:render"), Exec::new(command, guard), default());
        builder.add(id("file:/page"), File::new("/page"), meta);
        let receipt = Receipt {
            property: "content".to_owned(),
            from: id("exec:render"),
            value: "stdout".to_owned(),
        };
        builder.add_receipt(&id("file:/page"), receipt);
    })
}

#[test]
fn content_that_was_not_sent_is_neither_checked_nor_made_up() {
    let root = machine_with(&["sh"]);
    let page = root.path().join("page");
    // The command has nothing to do, so it does not run, and sends nothing.
    let done = || Guard::creates("/");
    for noop in [true, false] {
        let run = run(root.path(), rendered(done(), default()), noop);
        let unknown = "file:/page Failed(\"the file does not exist, and its content is not known: `exec:render` has not \
                       sent `stdout`, which it only does after it has run, if the text is UTF-8 and has at most 16 MiB: \
                       it runs again once its guards ask for it, such as when what it `creates` is removed\")";
        assert_eq!(run.states[1], unknown);
        assert!(!page.exists(), "an empty file was made");
    }
    std::fs::write(&page, "broken").expect("the root is there");
    let run_again = run(root.path(), rendered(done(), default()), false);
    assert!(
        run_again.states[1].starts_with(
            "file:/page Unknown(\"its content is not known: `exec:render` has not sent"
        ),
        "{:?}",
        run_again.states
    );
    assert_eq!(
        std::fs::read_to_string(&page).expect("it is there"),
        "broken"
    );

    // A dry run in which the command would run says that the content comes with it.
    let dry = run(
        root.path(),
        rendered(Guard::creates("/none"), default()),
        true,
    );
    assert!(
        dry.states[1].contains("wanted: Some(\"known after apply\")"),
        "{:?}",
        dry.states
    );
}

/// A file that is written, but never as it shall be.
struct Crooked;

impl Resource for Crooked {
    fn definition(&self) -> String {
        "Crooked".to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::drift(Self))
    }
}

impl Change for Crooked {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("shape", Some("crooked"), Some("straight"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let attributes = EntryAttributes::with_mode(0o644);
        Ok(target.write_file(Path::new("/made"), b"", attributes)?)
    }
}

#[test]
fn a_change_that_does_not_lead_anywhere_is_reported_as_one() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let graph = with(|builder| {
        builder.add(id("crooked:made"), Crooked, default());
    });
    let run = run(root.path(), graph, false);
    assert!(root.path().join("made").exists());
    assert!(run.steps[0].starts_with("Unfinished("), "{:?}", run.steps);
    assert!(run.steps[1].starts_with("Failed("), "{:?}", run.steps);
}

#[test]
fn a_guard_that_tries_to_change_something_does_not_look_as_if_nothing_had_to_be_done() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::local().expect("it is this machine");
    if !machine.enforces_read_only() {
        pkgres_tests::skip::without_service("file systems cannot be made read-only");
        return;
    }
    let place = folder.path().join("tried");
    let script = format!("touch {}", place.display());
    let guard = Guard::OnlyIf(Command::new("/bin/sh").arguments(["-c", &script]));
    let exec = Exec::new(Command::new("true"), guard);
    let error = exec.check(&machine, &Input::default());
    let text = error.expect_err("the guard failed").to_string();
    let beginning = "the guard `only_if` failed: it must change nothing, and tried to: touch:";
    assert!(text.starts_with(beginning), "{text}");
    assert!(!place.exists());
}

#[test]
fn a_command_that_does_not_make_what_it_is_for_has_failed_with_that_reason() {
    let machine = Machine::local().expect("it is this machine");
    let exec = Exec::new(Command::new("true"), Guard::creates("/none"));
    let outcome = attempt(&exec, &machine, &Input::default(), false);
    let Outcome::Unfinished(_, error) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        error.to_string(),
        "`true` succeeded, and did not make /none"
    );
}

#[test]
fn a_guard_that_cannot_run_gives_no_answer() {
    let machine = Machine::local().expect("it is this machine");
    for (name, guard) in [
        ("unless", Guard::Unless(Command::new("/none"))),
        ("only_if", Guard::OnlyIf(Command::new("/none"))),
    ] {
        let exec = Exec::new(Command::new("true"), guard);
        let error = exec.check(&machine, &Input::default()).expect_err(name);
        let text = error.to_string();
        let beginning = format!("the guard `{name}` failed: `/none` exited with code 127");
        assert!(text.starts_with(&beginning), "{text}");
    }
}

#[test]
fn what_is_no_text_is_not_sent() {
    let machine = Machine::local().expect("it is this machine");
    let query = Query::new(Command::new("printf").argument(r"\377\376"));
    let error = query
        .check(&machine, &Input::default())
        .expect_err("no text");
    assert!(error.to_string().ends_with("is not UTF-8"), "{error}");
}

#[test]
fn a_service_that_a_package_may_bring_is_not_promised_to_be_in_order() {
    let root = tempfile::tempdir().expect("a folder for the test");
    for folder in ["etc/service", "etc/sv"] {
        std::fs::create_dir_all(root.path().join(folder)).expect("the root is there");
    }
    let graph = || {
        with(|builder| {
            // In place of a package.
            let file = File::new("/brought").with_content("by it");
            builder.add(id("file:/brought"), file, default());
            let service = Service::new("web").stopped().disabled();
            builder.add(id("service:web"), service, default());
            builder.order(id("file:/brought"), id("service:web"));
        })
    };
    let planned = run(root.path(), graph(), true);
    let expected = "service:web Unknown(\"the machine does not have this service yet";
    assert!(
        planned.states[1].starts_with(expected),
        "{:?}",
        planned.states
    );
    let applied = run(root.path(), graph(), false);
    assert_eq!(applied.states[1], "service:web InOrder");
    assert_eq!(
        run(root.path(), graph(), true).states[1],
        "service:web InOrder"
    );
}
