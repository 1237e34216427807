//! That nothing a user can meet is left out of these tests: every command ends in each way that its help
//! names, and every code is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_manifest::diagnostic::Code;

/// How commands end that no document can show, and the test that does.
const ELSEWHERE: [(&str, &str, &str); 1] = [("serve", "0", "tests/serve/ends.rs")];

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
    all.extend(texts("tests/cli/server", "md"));
    all.extend(texts("docs", "md"));
    all
}

/// A command as a document or the book has it, without the program: `cache` and what is below it have
/// names of two words.
type Ends = BTreeMap<String, BTreeSet<String>>;

/// The exit codes that the help of each command names, as the book has it; a test keeps that in step.
fn named() -> Ends {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["reference", "commands"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let mut ends = Ends::new();
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
            ends.insert(name.to_owned(), codes.collect());
        }
    }
    ends
}

/// The exit codes with which each command ends in some document.
fn shown(named: &Ends) -> Ends {
    let mut ends = Ends::new();
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
            let Some(name) = in_two.chain(in_one).find(|name| named.contains_key(name)) else {
                continue;
            };
            let code = lines.peek().and_then(|next| next.strip_prefix("? "));
            let code = code.unwrap_or("0").to_owned();
            ends.entry(name).or_default().insert(code);
        }
    }
    ends
}

#[test]
fn every_command_ends_in_some_document_in_each_way_that_its_help_names() {
    let named = named();
    assert!(named.len() > 30, "{named:?}");
    let mut shown = shown(&named);
    for (name, code, test) in ELSEWHERE {
        let text = std::fs::read_to_string(root().join(test)).expect("a test of the project");
        assert!(text.contains(&format!("\"{name}\"")), "{test}");
        shown
            .entry(name.to_owned())
            .or_default()
            .insert(code.to_owned());
    }
    let mut missing = Vec::new();
    for (name, codes) in &named {
        let shown = shown.remove(name).unwrap_or_default();
        for code in codes.difference(&shown) {
            missing.push(format!("`pkgres {name}` ends with {code} in no document"));
        }
        for code in shown.difference(codes) {
            missing.push(format!("the help of `pkgres {name}` does not name {code}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_code_is_shown() {
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
