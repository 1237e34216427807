//! That nothing a user can meet is left out of these tests: every command is run with success and with
//! failure, and every code is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_manifest::diagnostic::Code;

/// Commands that need a server or a terminal to succeed: the test in which they do.
const SUCCEED_ELSEWHERE: [(&str, &str); 8] = [
    ("publish", "tests/cli/network.rs"),
    ("yank", "tests/cli/network.rs"),
    ("login", "tests/cli/network.rs"),
    ("vendor", "tests/cli/network.rs"),
    ("serve", "tests/serve/ends.rs"),
    ("export-static", "tests/serve/ends.rs"),
    ("completions", "tests/cli/generated.rs"),
    ("man", "tests/cli/generated.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The texts of the files of a folder with an ending.
fn texts(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder of the project");
    let paths = entries.map(|entry| entry.expect("an entry of it").path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    wanted
        .map(|path| std::fs::read_to_string(path).expect("a file of the project"))
        .collect()
}

/// The documents whose commands are run.
fn documents() -> Vec<String> {
    let mut all = texts("tests/cli", "md");
    all.extend(texts("docs", "md"));
    all
}

/// The names of the commands.
fn commands() -> BTreeSet<String> {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .arg("help")
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let (_, rest) = text.split_once("Commands:\n").expect("it lists commands");
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names
        .map(str::to_owned)
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_succeeds_and_fails_in_some_document() {
    // The exit codes with which each command ends somewhere.
    let mut ends: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for document in documents() {
        let mut lines = document.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((_, words)) = line
                .strip_prefix("$ ")
                .and_then(|it| it.split_once("pkgres "))
            else {
                continue;
            };
            let Some(name) = words.split(' ').find(|word| commands.contains(*word)) else {
                continue;
            };
            let code = lines.peek().and_then(|next| next.strip_prefix("? "));
            let code = code.unwrap_or("0").to_owned();
            ends.entry(name.to_owned()).or_default().insert(code);
        }
    }
    for name in &commands {
        let ends = ends.remove(name).unwrap_or_default();
        let elsewhere = SUCCEED_ELSEWHERE.iter().find(|(other, _)| other == name);
        let succeeds = ends.contains("0")
            || elsewhere.is_some_and(|(_, test)| {
                let text = std::fs::read_to_string(root().join(test));
                text.is_ok_and(|text| text.contains(&format!("\"{name}\"")))
            });
        assert!(succeeds, "no document shows `pkgres {name}` succeed");
        let fails = ends.iter().any(|code| code != "0");
        assert!(fails, "no document shows `pkgres {name}` fail");
    }
}

#[test]
fn every_code_is_shown() {
    let mut all = documents();
    for folder in [
        "tests/cli",
        "tests/serve",
        "registry-client/tests/http",
        "registry-server/tests",
    ] {
        if root().join(folder).is_dir() {
            all.extend(texts(folder, "rs"));
        }
    }
    // What the pages of the book say of a code is not a case of it.
    all.retain(|text| !text.starts_with("# Errors"));
    for code in Code::ALL {
        let shown = code.to_string();
        let is_case = |text: &String| {
            text.contains(&format!("[{shown}]"))
                || text.contains(&format!("\"{shown}\""))
                || text.contains(&format!("title={shown}:"))
        };
        assert!(all.iter().any(is_case), "no test shows {shown}");
    }
}
