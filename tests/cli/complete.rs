//! The tests are complete: some document shows every exit code that the help of a command lists, and every error code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_manifest::diagnostic::Code;

/// The exit codes that no document can show, and the tests that do.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("serve", "0", "tests/serve/ends.rs"),
    ("apply", "130", "tests/cli/deployment.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The contents of the files in a folder with an extension.
fn texts(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder of the project");
    let paths = entries.map(|entry| entry.expect("an entry of it").path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    wanted
        .map(|path| std::fs::read_to_string(path).expect("a file of the project"))
        .collect()
}

/// The documents whose commands are run by tests.
fn documents() -> Vec<String> {
    let mut all = texts("tests/cli", "md");
    all.extend(texts("tests/cli/server", "md"));
    all.extend(texts("docs", "md"));
    all
}

/// Exit codes by command. The names of subcommands, such as `cache list`, have two words.
type ExitCodes = BTreeMap<String, BTreeSet<String>>;

/// The exit codes in the help of each command.
fn documented() -> ExitCodes {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["reference", "commands"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let mut exit_codes = ExitCodes::new();
    for section in text.split("\n#").skip(1) {
        let name = section
            .split('`')
            .nth(1)
            .and_then(|path| path.strip_prefix("pkgres "));
        let codes = section.split("\nExit codes:\n").nth(1);
        if let Some((name, codes)) = name.zip(codes) {
            let codes = codes.lines().map_while(|line| {
                let word = line.split_whitespace().next()?;
                word.parse::<u8>().ok().map(|_| word.to_owned())
            });
            exit_codes.insert(name.to_owned(), codes.collect());
        }
    }
    exit_codes
}

/// The exit codes of each command in the documents.
fn shown(documented: &ExitCodes) -> ExitCodes {
    let mut exit_codes = ExitCodes::new();
    for document in documents() {
        let mut lines = document.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((_, words)) = line
                .strip_prefix("$ ")
                .and_then(|it| it.split_once("pkgres "))
            else {
                continue;
            };
            let words: Vec<&str> = words.split(' ').collect();
            let in_two = words.windows(2).map(|two| two.join(" "));
            let in_one = words.iter().map(|word| (*word).to_owned());
            let Some(name) = in_two
                .chain(in_one)
                .find(|name| documented.contains_key(name))
            else {
                continue;
            };
            let code = lines.peek().and_then(|next| next.strip_prefix("? "));
            let code = code.unwrap_or("0").to_owned();
            exit_codes.entry(name).or_default().insert(code);
        }
    }
    exit_codes
}

#[test]
fn documents_show_every_exit_code_of_every_command() {
    let documented = documented();
    assert!(documented.len() > 30, "{documented:?}");
    let mut shown = shown(&documented);
    for (name, code, test) in ELSEWHERE {
        let text = std::fs::read_to_string(root().join(test)).expect("a test of the project");
        assert!(text.contains(&format!("\"{name}\"")), "{test}");
        shown
            .entry(name.to_owned())
            .or_default()
            .insert(code.to_owned());
    }
    let mut missing = Vec::new();
    for (name, codes) in &documented {
        let shown = shown.remove(name).unwrap_or_default();
        for code in codes.difference(&shown) {
            missing.push(format!(
                "no document shows `pkgres {name}` with exit code {code}"
            ));
        }
        for code in shown.difference(codes) {
            missing.push(format!("the help of `pkgres {name}` does not list {code}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn tests_show_every_error_code() {
    let mut all = documents();
    for folder in [
        "tests/cli",
        "tests/cli/network",
        "tests/serve",
        "registry-client/tests/http",
        "registry-server/tests",
    ] {
        if root().join(folder).is_dir() {
            all.extend(texts(folder, "rs"));
        }
    }
    // The example of a code is one that a test runs, or that is compared with one.
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
