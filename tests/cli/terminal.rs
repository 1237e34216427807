//! What a person at a terminal sees: sessions recorded through a pseudo-terminal, which `script`
//! makes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use pkgres_tests::skip;
use tempfile::TempDir;

/// An index of so many releases of one package that reading it takes longer than a moment.
fn many_releases(folder: &Path) -> String {
    let names = ["Cache", "Core", "Db", "Web"];
    let mut text: String = names
        .map(|name| format!("{{\"name\":\"org.example.{name}\",\"version\":\"0.9.0\"}}\n"))
        .concat();
    for name in ["Cache", "Db", "Web"] {
        for patch in 0..100_000 {
            writeln!(
                text,
                r#"{{"name":"org.example.{name}","version":"1.0.{patch}","require":[["org.example.Core","0"]]}}"#
            )
            .expect("writing to a string does not fail");
        }
    }
    let path = folder.join("index.ndjson");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(&path, text).expect("a temporary folder can be written");
    path.to_string_lossy().into_owned()
}

/// What a command writes to a terminal, and its exit code; nothing if there is no `script`.
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
fn a_terminal_has_colours_unless_they_are_not_wanted() {
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
    let (shown, _) = session("pkgres tree clash --color never", &[]).expect("likewise");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn what_takes_longer_than_a_moment_shows_that_it_goes_on() {
    let folder = TempDir::new().expect("a temporary folder");
    let index = many_releases(folder.path());
    let slow = format!("pkgres tree app --ignore-lock --no-cache --registry index:{index}");
    let Some((shown, exit)) = session(&slow, &[]) else {
        return;
    };
    assert_eq!(exit, Some(0), "{shown}");
    let end = shown.rfind("Resolving").expect("it is there");
    // In the end nothing of it is left on the line.
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
    let (shown, _) = session("pkgres tree app", &[]).expect("likewise");
    assert!(!shown.contains("Resolving"), "{shown:?}");
}
