//! Commands in what the program prints: each must be one that it understands.

use std::path::Path;
use std::process::{Command, Stdio};

/// The commands in backticks in a text, without those that have placeholders or are cut off.
pub fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    // In JSON, quotation marks are escaped.
    let text = text.replace("\\\"", "\"");
    for line in text.lines() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let begins = quoted.starts_with("pkgres ")
                || quoted.starts_with("PKGRES_") && quoted.contains(" pkgres ");
            let is_whole = !quoted.contains("...") && !quoted.contains('\u{2026}');
            if begins && is_whole {
                commands.push(quoted.to_owned());
            }
        }
    }
    commands.sort();
    commands.dedup();
    commands
}

/// The commands in a text that the program does not understand, each with what it says. They are not run: with
/// `--help`, the program reads its arguments and prints help.
///
/// # Panics
///
/// If `sh` cannot be started.
pub fn faults(program: &Path, text: &str) -> Vec<String> {
    let run = |line: &str| {
        let program = program.to_string_lossy();
        let line = match line.split_once("pkgres ") {
            Some((before, rest)) => format!("{before}'{program}' {rest} --help"),
            None => line.to_owned(),
        };
        let output = Command::new("sh")
            .args(["-c", &line])
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .expect("`sh` is there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (!output.status.success()).then_some(said)
    };
    let commands = commands(text).into_iter();
    commands
        .filter_map(|line| run(&line).map(|said| format!("`{line}`: {said}")))
        .collect()
}

#[test]
fn commands_are_found_in_text_and_json() {
    let text = "hint: `pkgres lock app` writes it, or `--offline`\n\"`pkgres add 'a b' \\\"c\\\"`\", `pkgres`, `pkgres add ...`\n\
                `PKGRES_LOCKED=false pkgres lock`\n";
    assert_eq!(
        commands(text),
        [
            "PKGRES_LOCKED=false pkgres lock",
            "pkgres add 'a b' \"c\"",
            "pkgres lock app"
        ]
    );
    assert_eq!(faults(Path::new("/bin/true"), text), [""; 0]);
    assert_eq!(faults(Path::new("/bin/false"), text).len(), 3);
}
