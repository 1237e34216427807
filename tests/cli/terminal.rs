//! Output on a terminal: sessions in a pseudo-terminal, which `script` provides.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use pkgres_tests::skip;

/// How long the slow registry takes to answer: longer than the delay of the spinner, even on a busy machine.
const DELAY: Duration = Duration::from_millis(600);

/// The address of a server that is slow to answer that it is not a registry.
fn slow_registry() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::sleep(DELAY);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
    });
    format!("http://{address}/")
}

/// The output of a command on a terminal, and its exit code; `None` without `script`.
fn session(command: &str, variables: &[(&str, &str)]) -> Option<(String, Option<i32>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/views.in");
    let program = trycmd::cargo::cargo_bin!("pkgres");
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--return", "--command"])
        .arg(command.replace("pkgres", &program.to_string_lossy()))
        .arg("/dev/null")
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::null());
    let Ok(output) = script.output() else {
        skip::without_service("`script` is not there");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((text, output.status.code()))
}

#[test]
fn a_terminal_has_colors_unless_they_are_disabled() {
    let conflict = "pkgres tree clash";
    let Some((shown, exit)) = session(conflict, &[]) else {
        return;
    };
    assert_eq!(exit, Some(1), "{shown}");
    assert!(
        shown.contains("\u{1b}[1m\u{1b}[31merror[PK0012]\u{1b}[0m"),
        "{shown:?}"
    );
    for variables in [
        &[("NO_COLOR", "1")][..],
        &[("TERM", "dumb")],
        &[("PKGRES_COLOR", "never")],
    ] {
        let (shown, _) = session(conflict, variables).expect("it was there before");
        assert!(
            shown.contains("error[PK0012]") && !shown.contains('\u{1b}'),
            "{variables:?} {shown:?}"
        );
    }
    let (shown, _) = session("pkgres tree clash --color never", &[]).expect("`script` exists");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn slow_work_shows_a_spinner() {
    let registry = slow_registry();
    let slow = format!("pkgres tree app --ignore-lock --no-cache --registry {registry}");
    let Some((shown, exit)) = session(&slow, &[]) else {
        return;
    };
    assert_eq!(exit, Some(3), "{shown}");
    let end = shown.rfind("Resolving").expect("it is there");
    // The spinner is erased in the end.
    assert!(shown[end..].contains("\u{1b}[2K"), "{shown:?}");
    for (more, variables) in [
        (" --no-progress", &[][..]),
        (" --quiet", &[]),
        ("", &[("CI", "true")]),
        ("", &[("TERM", "dumb")]),
        ("", &[("PKGRES_NO_PROGRESS", "1")]),
    ] {
        let (shown, _) = session(&format!("{slow}{more}"), variables).expect("it was there before");
        assert!(
            !shown.contains("Resolving"),
            "{more} {variables:?} {shown:?}"
        );
    }
    let (shown, _) = session("pkgres tree app", &[]).expect("`script` exists");
    assert!(!shown.contains("Resolving"), "{shown:?}");
}

/// Words of a session without styles.
fn words(shown: &str) -> Vec<String> {
    let plain = plain(shown);
    plain.split_whitespace().map(str::to_owned).collect()
}

/// The text of a session without styles.
fn plain(shown: &str) -> String {
    let mut parts = shown.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn a_narrow_terminal_breaks_lines_between_words() {
    for command in [
        "pkgres tree clash",
        "pkgres tree nowhere",
        "pkgres lock app --frozen",
    ] {
        let at = |columns: usize| session(&format!("stty rows 40 cols {columns}; {command}"), &[]);
        let Some((narrow, exit)) = at(60) else {
            return;
        };
        assert_ne!(exit, Some(0), "{narrow}");
        let (wide, _) = at(300).expect("it was there before");
        assert_eq!(words(&narrow), words(&wide), "{narrow}");
        for line in plain(&narrow).lines() {
            let line = line.trim_end();
            // A command is one word, so that it can be copied.
            let is_word = line.contains('`') || !line.trim().contains(' ');
            assert!(line.chars().count() <= 60 || is_word, "{line}");
        }
    }
    let (narrow, _) =
        session("stty rows 40 cols 60; pkgres tree clash", &[]).expect("`script` exists");
    let narrow = plain(&narrow);
    let location = narrow
        .lines()
        .find(|line| line.contains("manifest.yaml:"))
        .expect("one");
    assert!(
        !location.contains("requires"),
        "a location has a line of its own: {location}"
    );
}

#[test]
fn help_usage_errors_and_trees_have_colors_unless_they_are_disabled() {
    for command in [
        "pkgres --help",
        "pkgres help tree",
        "pkgres tree --bogus",
        "pkgres tree app",
    ] {
        let Some((shown, _)) = session(command, &[]) else {
            return;
        };
        assert!(shown.contains('\u{1b}'), "{command}: {shown:?}");
        for variables in [&[("NO_COLOR", "1")][..], &[("PKGRES_COLOR", "never")]] {
            let (shown, _) = session(command, variables).expect("it was there before");
            assert!(
                !shown.contains('\u{1b}'),
                "{command} {variables:?}: {shown:?}"
            );
        }
        let never = format!("{command} --color never");
        let (shown, _) = session(&never, &[]).expect("it was there before");
        assert!(!shown.contains('\u{1b}'), "{never}: {shown:?}");
    }
}
