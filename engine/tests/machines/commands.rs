//! Commands on targets.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use pkgres_engine::{
    Cancellable, Cancellation, Command, EntryAttributes, Target as _, TargetError,
};
use pkgres_tests::lifeline::Lifeline;

use crate::{script, with_commands};

#[test]
fn commands_have_no_environment_but_their_own() {
    for subject in with_commands() {
        let value = "a\"; $(id) `id` \\ 'b\n\n";
        let command = Command::new("env").argument("-0").variable("VALUE", value);
        let output = subject.target.run(&command).expect("it runs");
        let text = output.text();
        let mut variables: Vec<_> = text
            .split_terminator('\0')
            .filter(|line| !line.starts_with("PWD=") && !line.starts_with("_="))
            .filter(|line| !line.starts_with("SHLVL=") && !line.starts_with("OLDPWD="))
            .collect();
        variables.sort_unstable();
        assert_eq!(variables.len(), 3, "{}: {variables:?}", subject.kind);
        assert_eq!(variables[0], "LC_ALL=C.UTF-8");
        assert_eq!(variables[2], format!("VALUE={value}"));

        let name = Command::new("true").variable("A=$(id) B", "");
        let error = subject.target.run(&name).expect_err("this is no name");
        assert!(
            error
                .to_string()
                .contains("cannot be the name of a variable"),
            "{error}"
        );
        for name in [
            "folder", "line", "word", "count", "nonce", "program", "PATH",
        ] {
            let command = script(&format!("echo \"${name}\"")).variable(name, "/none");
            assert_eq!(
                subject.target.run(&command).expect("it runs").text(),
                "/none\n",
                "{name}"
            );
        }
    }
}

#[test]
fn words_input_and_outputs_are_kept_byte_by_byte() {
    let words = [
        "",
        " ",
        "-n",
        "--",
        "a b",
        "$(id)",
        "it's",
        "\"",
        "\\0101",
        "%s",
        "*",
        "ü",
        "line\nbreak\n",
    ];
    for subject in with_commands() {
        let command = Command::new("printf").arguments(["%s\\0"]).arguments(words);
        let output = subject.target.run(&command).expect("it runs");
        let read = output.text();
        assert_eq!(
            read.split_terminator('\0').collect::<Vec<_>>(),
            words,
            "{}",
            subject.kind
        );

        let input: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(4096);
        let command = script("cat; printf 'no end of line' >&2; exit 7").input(input.clone());
        let output = subject.target.query(&command).expect("it runs");
        assert_eq!(output.code, Some(7));
        assert!(
            output.stdout == input,
            "{}: {} bytes",
            subject.kind,
            output.stdout.len()
        );
        assert_eq!(output.stderr, b"no end of line");
        // A command need not read its input.
        let ignored = Command::new("true").input(input);
        assert!(subject.target.run(&ignored).expect("it runs").is_success());

        let command = Command::new("pwd").folder("/usr");
        assert_eq!(
            subject.target.run(&command).expect("it runs").text(),
            "/usr\n"
        );
        let missing = subject.target.run(&Command::new("no-such-program"));
        let missing = missing.expect("the shell says so");
        assert_eq!(missing.code, Some(127), "{}", subject.kind);
    }
}

#[test]
fn a_daemon_that_keeps_the_outputs_is_not_waited_for() {
    for subject in with_commands() {
        let (number, late) = (subject.outside("number"), subject.outside("late"));
        let daemon = format!(
            "echo $$ > {0}.new; mv {0}.new {0}; sleep 30; touch {1}",
            number.display(),
            late.display()
        );
        let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", number.display());
        let text = format!("setsid sh -c '{daemon}' & {wait}; echo begun");
        // It does not read its input either.
        let command = script(&text).input(vec![0; 1 << 20]);
        let output = subject.target.run(&command).expect("it runs");
        assert_eq!(output.text(), "begun\n", "{}", subject.kind);
        assert!(output.is_success(), "{}", subject.kind);
        assert!(!late.exists(), "{}: it was waited for", subject.kind);
        let number = fs::read_to_string(number).expect("it has begun");
        let end = script(&format!("kill -KILL -{}", number.trim()));
        let ended = subject.target.run(&end).expect("it runs");
        assert!(ended.is_success(), "the daemon goes on: {ended:?}");
    }
}

#[test]
fn commands_run_as_the_user_that_they_name() {
    if fs::metadata("/proc/self").expect("it is there").uid() != 0 {
        pkgres_tests::skip::without_rights("only root can become another user");
        return;
    }
    for subject in with_commands() {
        let command = script("id -u; id -g").user("nobody").group("daemon");
        let output = subject.target.run(&command).expect("it runs");
        let expected = subject
            .target
            .run(&script("id -u nobody; getent group daemon | cut -d: -f3"));
        assert_eq!(
            output.text(),
            expected.expect("it runs").text(),
            "{}",
            subject.kind
        );
    }
}

#[test]
fn a_command_that_takes_too_long_is_killed_with_what_it_started() {
    for subject in with_commands() {
        let held = subject.outside("held");
        let lifeline = Lifeline::new(&held);
        let text = format!("(exec 9>{}; sleep 1000) & sleep 1000", held.display());
        let command = script(&text).timeout(Duration::from_millis(500));
        let error = subject.target.run(&command).expect_err("it sleeps");
        assert!(
            matches!(error, TargetError::Timeout { .. }),
            "{}: {error}",
            subject.kind
        );
        let kind = subject.kind;
        assert!(lifeline.is_released(), "{kind}: its child lives on");
    }
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    for subject in with_commands() {
        let held = subject.outside("held");
        let lifeline = Lifeline::new(&held);
        let text = format!("(exec 9>{}; sleep 1000) & echo done", held.display());
        let output = subject.target.run(&script(&text)).expect("it runs");
        assert_eq!(output.text(), "done\n", "{}", subject.kind);
        let kind = subject.kind;
        assert!(lifeline.is_released(), "{kind}: its child lives on");
    }
}

/// Whether a shell can react to an interrupt. In the background of a script, interrupts are ignored, and no shell can
/// change that.
fn can_be_interrupted() -> bool {
    let shell = std::process::Command::new("/bin/sh")
        .args(["-c", "trap 'exit 3' INT; kill -INT $$; exit 0"])
        .status();
    shell.expect("there is a shell").code() == Some(3)
}

#[test]
fn a_cancelled_command_ends_and_nothing_new_starts() {
    if !can_be_interrupted() {
        pkgres_tests::skip::without_rights("this process ignores interrupts, as in the background");
        return;
    }
    for subject in with_commands() {
        let cancellation = Cancellation::default();
        let target = Cancellable::new(&*subject.target, cancellation.clone());
        let started = subject.outside("started");
        let interrupted = subject.outside("interrupted");
        let text = format!(
            // The loop starts nothing: some shells lose a signal that comes while they start a program.
            "trap 'touch {}; exit 3' INT; : > {}; while :; do :; done",
            interrupted.display(),
            started.display()
        );
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| target.run(&script(&text)));
            while !started.exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            cancellation.interrupt();
            let ended = waiting
                .join()
                .expect("it does not panic")
                .expect("it ends by itself");
            assert_eq!(ended.code, Some(3), "{}", subject.kind);
        });
        assert!(interrupted.exists(), "{}", subject.kind);
        let path = subject.path("file");
        let written = target.write_file(&path, b"", EntryAttributes::with_mode(0o644));
        assert!(matches!(written, Err(TargetError::Cancelled)));
        assert!(!path.exists());

        let cancellation = Cancellation::default();
        let target = Cancellable::new(&*subject.target, cancellation.clone());
        let text = format!("rm {}; sleep 1000", started.display());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| target.run(&script(&text)));
            while started.exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            cancellation.kill();
            let ended = waiting.join().expect("it does not panic");
            assert!(
                matches!(ended, Err(TargetError::Cancelled)),
                "{}: {ended:?}",
                subject.kind
            );
        });
    }
}
