//! Commands with guards, and commands that are only asked.

use std::path::Path;
use std::time::Duration;

use pkgres_engine::{
    Checked, Command, Exec, Guard, Identifier, Input, Kinds, Machine, Outcome, Probe as _, Query,
    Resource, Watching, Wish, attempt,
};
use pkgres_manifest::{PropertyValue, ResourceDescription};

use crate::debian::{Debian, change, is_in_order, try_change};

#[test]
fn the_timeout_of_a_command_is_that_of_its_guards() {
    let words = |words: &[&str]| PropertyValue::list(words.iter().map(|word| (*word).into()));
    let id = "exec:slow".parse().expect("it is an identity");
    let description = ResourceDescription::new(id)
        .with("command", words(&["true"]))
        .with("timeout", "7");
    for guard in ["unless", "only_if"] {
        let description = description.clone().with(guard, words(&["sleep", "100"]));
        let resource = Kinds::default().read(&description).expect("it is valid");
        let definition = resource.definition();
        assert_eq!(definition.matches("timeout: 7s").count(), 2, "{definition}");
    }
}

fn script(text: &str) -> Command {
    Command::new("sh").arguments(["-c", text])
}

/// What a resource sends if all is in order.
fn sent(machine: &Machine, resource: &dyn Resource) -> Option<String> {
    match resource.check(machine, &Input::default()) {
        Ok(Checked::InOrder(values)) => values.get("stdout").map(ToString::to_string),
        other => panic!("{other:?}"),
    }
}

/// A command that does not do what its guard asks for fails, and the guard is named.
#[test]
fn a_command_that_does_not_satisfy_its_guard_has_failed() {
    let machine = Machine::local().expect("this machine is there");
    for (guard, name) in [
        (Guard::Unless(script("false")), "`unless`"),
        (Guard::OnlyIf(script("true")), "`only_if`"),
    ] {
        let exec = Exec::new(Command::new("true"), guard);
        let outcome = attempt(&exec, &machine, &Input::default(), false);
        let Outcome::Unfinished(_, error) = outcome else {
            panic!("{outcome:?}");
        };
        let message = format!("`true` succeeded, and would run again according to {name}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn guards_decide_whether_a_command_runs() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let make = Exec::new(
        script("touch /made; echo one; echo two"),
        Guard::creates("/made"),
    );
    let differences = change(machine, &make);
    assert_eq!(
        differences,
        ["command: sh -c 'touch /made; echo one; echo two'"]
    );
    assert_eq!(sent(machine, &make).as_deref(), Some("one\ntwo"));
    let again = Exec::new(Command::new("false"), Guard::creates("/made"));
    assert_eq!(sent(machine, &again), None, "it has not run");

    let append = script("echo line >> /lines");
    let unless = Exec::new(append.clone(), Guard::Unless(script("test -e /lines")));
    change(machine, &unless);
    assert!(is_in_order(machine, &unless));
    let only_if = Guard::OnlyIf(script("test $(wc -l < /lines) -lt 2"));
    let only_if = Exec::new(append.clone(), only_if);
    change(machine, &only_if);
    assert_eq!(debian.text("/lines"), "line\nline\n");
    // All guards have to agree.
    let both = Exec::new(append, Guard::creates("/nothing"));
    let both = both.with_guard(Guard::OnlyIf(Command::new("false")));
    assert!(is_in_order(machine, &both));

    let reload = Exec::new(script("echo reloaded >> /log"), Guard::OnRefresh);
    assert!(reload.is_refreshable());
    assert!(is_in_order(machine, &reload));
    let notified = Input {
        refresh: true,
        ..Input::default()
    };
    match reload.check(machine, &notified).expect("it can be checked") {
        Checked::Drift(change) => change.apply(machine).expect("it runs"),
        Checked::InOrder(_) | Checked::Kept(_) => panic!("it was notified"),
    }
    assert_eq!(debian.text("/log"), "reloaded\n");
    assert!(is_in_order(machine, &reload));
}

#[test]
fn a_guard_and_a_query_cannot_write() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let guard = Guard::Unless(script("touch /written"));
    let exec = Exec::new(Command::new("true"), guard);
    assert!(!is_in_order(machine, &exec));
    let error = try_change(machine, &Query::new(script("touch /written"))).expect_err("it writes");
    assert!(
        error.to_string().ends_with("Read-only file system"),
        "{error}"
    );
    let written = machine.entry(Path::new("/written"));
    assert_eq!(written.expect("it can be read"), None);
    let query = Query::new(script("cat /etc/hostname | wc -l; echo; echo"));
    assert_eq!(sent(machine, &query).as_deref(), Some("1"));
}

#[test]
fn an_output_that_is_too_long_is_not_sent_in_part() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let most = 16 << 20;
    let print = |count: usize| format!("head -c {count} /dev/zero | tr '\\0' x");
    let whole = Query::new(script(&print(most)));
    assert_eq!(sent(machine, &whole).map(|text| text.len()), Some(most));

    let long = print(most + 1);
    let query = Query::new(script(&long));
    let error = query.check(machine, &Input::default()).err();
    let error = error.expect("the text is not whole").to_string();
    assert!(error.contains("more than 16 MiB"), "{error}");
    let made = Exec::new(
        script(&format!("touch /long; {long}")),
        Guard::creates("/long"),
    );
    change(machine, &made);
    assert_eq!(sent(machine, &made), None);
}

#[test]
fn a_command_has_a_user_a_folder_and_an_end() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let command =
        script("printf '%s:%s in %s with %s' $(id -un) $(id -gn) $(pwd) $VALUE > /tmp/as")
            .user("games")
            .group("mail")
            .folder("/var")
            .variable("VALUE", "value");
    change(machine, &Exec::new(command, Guard::creates("/tmp/as")));
    assert_eq!(debian.text("/tmp/as"), "games:mail in /var with value");
    let late = script("sleep 60").timeout(Duration::from_millis(100));
    let error = try_change(machine, &Exec::new(late, Guard::creates("/late")));
    let error = error.expect_err("it takes too long").to_string();
    assert_eq!(
        error,
        "`sh -c 'sleep 60'` was killed: it did not end in 0.1 s"
    );
    let failing = Exec::new(script("echo because >&2; exit 7"), Guard::creates("/late"));
    let error = try_change(machine, &failing)
        .expect_err("it fails")
        .to_string();
    assert!(error.ends_with("exited with code 7: because"), "{error}");
}

#[test]
fn only_commands_whose_guards_properties_can_express_are_reversible() {
    let exec = Exec::new(Command::new("make"), Guard::creates("/one"));
    let exec = exec.with_undo(Command::new("unmake"));
    let only_if = || Guard::OnlyIf(Command::new("check"));
    assert!(exec.clone().with_guard(only_if()).is_reversible());
    // A record could hold only one of them, so the undo would ignore the other.
    let two_paths = exec.clone().with_guard(Guard::creates("/two"));
    assert!(!two_paths.is_reversible());
    let two_commands = exec.with_guard(only_if()).with_guard(only_if());
    assert!(!two_commands.is_reversible());
}

#[test]
fn a_command_goes_after_what_it_needs() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let command = Command::new("/opt/tool")
        .user("web")
        .group("www")
        .folder("/srv");
    let exec = Exec::new(command, Guard::creates("/srv/made"));
    let [after_folder, before_emptied] = Wish::around(Path::new("/srv/made"));
    assert_eq!(
        exec.wishes(),
        [
            Wish::after(Identifier::path("/opt/tool")),
            Wish::after(Identifier::path("/srv")),
            Wish::after(Identifier::User("web".to_owned())),
            Wish::after(Identifier::Group("www".to_owned())),
            after_folder,
            before_emptied,
        ]
    );
    assert_eq!(exec.watching(&machine), Watching::path("/srv/made"));
    let guarded = exec.with_guard(Guard::OnlyIf(Command::new("check")));
    assert_eq!(guarded.watching(&machine), Watching::Polling);
    let program = Identifier::path("/usr/local/bin/check");
    let found = guarded
        .wishes()
        .iter()
        .any(|wish| wish.alternatives.contains(&program));
    assert!(found, "the program of a guard is needed, too");
    let notified = Exec::new(Command::new("true"), Guard::OnRefresh);
    assert_eq!(notified.watching(&machine), Watching::Nothing);
}
