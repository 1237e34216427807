//! Tests of the README and the book: commands print what the pages show, settings can be read, links
//! lead somewhere, and no example is added that no test looks at.
//!
//! `PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test readme` writes what commands print now into the pages.

mod answers;
mod console;
mod page;
mod reference;

use std::collections::BTreeSet;
use std::process::Command;

use pkgres_checks::{ApiRule, Impact, RecordRule};
use pkgres_manifest::diagnostic::Code;
use pkgres_tests::skip;

use crate::page::{Page, root};

/// Pages whose commands are run by another test: they need a server, and a program of others.
const RUN_ELSEWHERE: [(&str, &str); 1] = [("docs/murano-clients.md", "tests/serve/murano.rs")];

/// Blocks that are not examples of using pkgres, by page and language.
const NOT_RUN: [(&str, &[&str]); 15] = [
    // How to run witnesses, which `tests/cli/semver.md` does.
    ("docs/compatibility.md", &["text"]),
    // How to run a server of one's own, and what other programs need for it.
    ("docs/operating.md", &["sh", "ini", "nginx"]),
    // Commands of ansible-galaxy with a server, as in `tests/serve/galaxy.rs`.
    ("docs/ansible.md", &["sh", "ini"]),
    // Machines that are reached by ssh, as in `tests/cli/deployment.rs`.
    ("docs/deployment.md", &["sh"]),
    // Units of systemd and a configuration of ssh.
    ("docs/scheduling.md", &["ini", "text"]),
    // Overlays need rights that not every machine for tests gives, as `engine/tests/validators` says.
    ("docs/validating.md", &["sh"]),
    // How another program loads what was vendored.
    ("docs/opcua.md", &["python"]),
    // Commands that need a server.
    ("docs/publishing.md", &["sh"]),
    // Errors of servers, which `an_error_of_a_server_is_one_that_tests_show` looks for.
    ("docs/errors.md", &["text"]),
    // How to build and test this project.
    ("README.md", &["sh"]),
    ("CONTRIBUTING.md", &["sh"]),
    // How to copy the folder that tests copy themselves.
    ("docs/start.md", &["sh"]),
    // The help of commands; the page is generated.
    ("docs/commands.md", &["text"]),
    // How to run programs that take minutes.
    ("docs/benchmarks.md", &["sh"]),
    // Requests and answers; `tests/serve` and `registry-client/tests` check the protocol.
    ("docs/registry-protocol.md", &["json", "text"]),
];

fn is_run_elsewhere(page: &Page) -> bool {
    RUN_ELSEWHERE.iter().any(|(name, _)| *name == page.name)
}

#[test]
fn commands_print_the_output_on_pages() {
    let is_update = std::env::var_os("PKGRES_UPDATE_DOCS").is_some();
    let mut faults = Vec::new();
    let mut count = 0;
    for page in Page::all() {
        if is_run_elsewhere(&page) || !page.has_block_in("console") {
            continue;
        }
        count += 1;
        let outcome = console::run(&page);
        faults.extend(outcome.wrong_exits);
        if !is_update {
            faults.extend(outcome.differences);
        } else if outcome.updated != page.text {
            #[expect(clippy::disallowed_methods, reason = "a file of the project")]
            std::fs::write(root().join(&page.name), outcome.updated).expect("it can be written");
        }
    }
    assert!(
        faults.is_empty(),
        "{}\n\nto write down what is printed now: \
         PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test readme",
        faults.join("\n")
    );
    assert!(count > 3, "the book has examples");
}

/// The tutorial in a terminal of 60 and of 120 columns shows what was recorded: no line is wider than the terminal unless
/// it is a command or a word that cannot be broken, and no word is broken.
#[test]
fn the_tutorial_fits_into_narrow_and_wide_terminals() {
    if Command::new("script").arg("--version").output().is_err() {
        skip::without_service("`script` is not there");
        return;
    }
    let page = Page::read("docs/tutorial.md");
    let is_update = std::env::var_os("PKGRES_UPDATE_DOCS").is_some();
    for columns in [60, 120] {
        let recording = console::record(&page, columns);
        let path = root().join(format!("cli/tests/readme/tutorial-{columns}.txt"));
        if is_update {
            #[expect(clippy::disallowed_methods, reason = "a file of the project")]
            std::fs::write(&path, &recording).expect("it can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            recording == expected,
            "{} differs; to write down what the terminal shows now: \
             PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test readme\n{recording}",
            path.display()
        );
        for line in recording.lines().filter(|line| !line.starts_with("$ ")) {
            let width = line.chars().count();
            let longest = line.split(' ').map(|word| word.chars().count()).max();
            let is_long_word = longest.is_some_and(|longest| longest + 20 > columns);
            assert!(
                width <= columns || line.contains('`') || is_long_word,
                "{width} characters in {columns} columns: {line}"
            );
        }
        // The words are those of the page: none was broken.
        let words = |text: &str| -> BTreeSet<String> {
            text.split_whitespace().map(str::to_owned).collect()
        };
        let known = words(&page.text);
        let shown: Vec<&str> = recording
            .lines()
            .filter(|line| !line.starts_with("[exit "))
            .collect();
        let shown = words(&shown.join("\n"));
        let broken: Vec<String> = shown.difference(&known).cloned().collect();
        assert!(broken.is_empty(), "{columns}: {broken:?}");
    }
}

/// The first commands of the README are what a new clone can run: cargo finds the program, and it ends well.
#[test]
fn commands_with_cargo_run() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let default = metadata["workspace_default_members"]
        .as_array()
        .expect("a list");
    let packages = metadata["packages"].as_array().expect("a list");
    let runnable: Vec<&serde_json::Value> = packages
        .iter()
        .filter(|package| default.contains(&package["id"]))
        .map(|package| &package["default_run"])
        .filter(|run| !run.is_null())
        .collect();
    assert_eq!(runnable, ["pkgres"], "what `cargo run` runs");
    let mut count = 0;
    for page in Page::all() {
        for block in page.blocks() {
            let commands = block.text.lines().map(|line| line.trim_start_matches("$ "));
            for command in commands.filter_map(|line| line.strip_prefix("cargo run -- ")) {
                let words = command.split(" #").next().unwrap_or_default();
                let home = tempfile::tempdir().expect("a temporary folder");
                let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
                    .args(words.split_whitespace())
                    .current_dir(root())
                    .env("HOME", home.path())
                    .env_remove("PKGRES_REGISTRY")
                    .output()
                    .expect("the program starts");
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.success(),
                    "{}: {command}: {errors}",
                    page.name
                );
                count += 1;
            }
        }
    }
    assert!(count > 0, "the README has a command");
}

#[test]
fn every_block_is_tested_or_listed() {
    let mut unused: BTreeSet<(&str, &str)> = NOT_RUN
        .iter()
        .flat_map(|(page, languages)| languages.iter().map(move |language| (*page, *language)))
        .collect();
    for page in Page::all() {
        for block in page.blocks() {
            let is_file = page.has_files() && block.file().is_some();
            let is_tested = match block.language {
                _ if is_file => true,
                "console" | "toml" | "yaml" => true,
                // `tests/tests/merges.rs` merges with this line.
                "gitattributes" => block.text == "pkgres.lock merge=union\n",
                // By `cargo test --doc`, and by `engine/tests/own_kind.rs` and `own_validator.rs`.
                "rust" => [
                    "docs/embedding.md",
                    "docs/resource-kinds.md",
                    "docs/validating.md",
                ]
                .contains(&page.name.as_str()),
                _ => false,
            };
            let is_listed = NOT_RUN
                .iter()
                .any(|(name, languages)| *name == page.name && languages.contains(&block.language));
            assert!(
                is_tested || is_listed,
                "{}:{}: no test looks at this block in `{}`",
                page.name,
                block.line,
                block.language
            );
            unused.retain(|listed| *listed != (page.name.as_str(), block.language));
        }
    }
    assert!(unused.is_empty(), "no such blocks: {unused:?}");
    for (page, test) in RUN_ELSEWHERE {
        assert!(
            root().join(page).is_file() && root().join(test).is_file(),
            "{page}"
        );
    }
}

/// Every block of settings is a settings file, and every setting in it is one.
#[test]
fn settings_can_be_read() {
    let mut count = 0;
    for page in Page::all() {
        for block in page.blocks() {
            // A `Cargo.toml` is TOML, too.
            if block.language != "toml" || block.text.starts_with("[dependencies]") {
                continue;
            }
            let folder = tempfile::tempdir().expect("a temporary folder");
            #[expect(clippy::disallowed_methods, reason = "a file of a test")]
            std::fs::write(folder.path().join("pkgres.toml"), block.text)
                .expect("it can be written");
            let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
                .args(["config", "list"])
                .current_dir(&folder)
                .env("NO_COLOR", "1")
                .output()
                .expect("the program starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{}:{}: {errors}",
                page.name,
                block.line
            );
            count += 1;
        }
    }
    assert!(count > 2, "there are examples of settings");
}

/// Recipes for other programs are what those programs read, and each command in them is one.
#[test]
fn recipes_name_existing_commands() {
    let mut count = 0;
    for page in Page::all() {
        for block in page.blocks() {
            if block.language != "yaml" || page.has_files() {
                continue;
            }
            let place = format!("{}:{}", page.name, block.line);
            let recipe: Vec<serde_json::Value> = serde_saphyr::from_multiple(block.text)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(recipe.len(), 1, "{place}");
            let run = block
                .text
                .lines()
                .filter_map(|line| line.split_once("run: pkgres "));
            for (_, words) in run {
                let words = words.split(" >> ").next().unwrap_or_default();
                let words = words.replace("origin/$GITHUB_BASE_REF", "../stale");
                let words: Vec<String> = words
                    .split_whitespace()
                    .map(|word| word.trim_matches('"').to_owned())
                    .collect();
                let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
                    .args(["--directory", "fixtures/book/app"])
                    .args(&words)
                    .current_dir(root())
                    .env("PKGRES_REGISTRY", "")
                    .output()
                    .expect("the program starts");
                let errors = String::from_utf8_lossy(&output.stderr);
                assert_eq!(
                    output.status.code(),
                    Some(0),
                    "{place}: {words:?}: {errors}"
                );
                count += 1;
            }
        }
    }
    assert!(count >= 3, "there is a recipe");
}

/// The sections of the page of errors, by their codes.
fn sections_of_errors(page: &Page) -> Vec<(&str, &str)> {
    let sections = page.text.split("\n## ").skip(1);
    sections
        .map(|section| section.split_once(": ").expect("a heading has a code"))
        .collect()
}

/// Each code has a section with its title, what its documentation says, an example that shows it, and a remedy.
#[test]
fn every_code_has_a_page_with_an_example() {
    let page = Page::read("docs/errors.md");
    let sections = sections_of_errors(&page);
    let codes: Vec<String> = Code::ALL.iter().map(ToString::to_string).collect();
    let found: Vec<&str> = sections.iter().map(|(code, _)| *code).collect();
    assert_eq!(found, codes);
    for (code, (name, section)) in Code::ALL.iter().zip(sections) {
        let (title, rest) = section.split_once("\n\n").expect("a section has text");
        assert_eq!(title, code.title(), "{name}");
        let meaning: Vec<&str> = code.explanation().lines().map(str::trim).collect();
        let meaning = meaning.join("\n");
        assert!(rest.starts_with(meaning.trim()), "{name}: {meaning}");
        let severities = ["error", "warning"];
        let is_shown = |severity: &&str| rest.contains(&format!("\n{severity}[{name}]: "));
        assert!(severities.iter().any(is_shown), "{name} has no example");
        let (_, remedy) = rest
            .split_once("\nHow to fix it: ")
            .expect("a section has a remedy");
        assert!(remedy.len() > 15, "{name}");
        let mut explain = Command::new(env!("CARGO_BIN_EXE_pkgres"));
        let explained = explain
            .args(["explain", name])
            .output()
            .expect("the program starts");
        let explained = String::from_utf8(explained.stdout).expect("it is text");
        assert!(
            explained.starts_with(&format!("{name}: {title}\n")),
            "{explained}"
        );
        assert!(explained.contains(remedy.trim()), "{explained}");
        let has_markup = explained.contains("```") || explained.contains("<!--");
        assert!(!has_markup, "{explained}");
    }
}

/// A rule with what its section has to say.
struct Rule {
    id: &'static str,
    title: &'static str,
    explanation: &'static str,
    impact: Impact,
}

#[test]
fn every_rule_has_a_page_with_an_example() {
    let rules = ApiRule::ALL.iter().map(|rule| Rule {
        id: rule.id(),
        title: rule.title(),
        explanation: rule.explanation(),
        impact: rule.impact(),
    });
    check_sections_of_rules("docs/compatibility.md", &rules.collect::<Vec<_>>());
}

/// A rule that class packages have, too, is explained there.
#[test]
fn every_rule_of_other_ecosystems_has_a_page_with_an_example() {
    let rules = RecordRule::ALL.iter();
    let rules = rules.filter(|rule| ApiRule::with_id(rule.id()).is_none());
    let rules = rules.map(|rule| Rule {
        id: rule.id(),
        title: rule.title(),
        explanation: rule.explanation(),
        impact: rule.impact(),
    });
    let rules: Vec<Rule> = rules.collect();
    check_sections_of_rules("docs/compatibility-elsewhere.md", &rules);
}

/// Each rule has a section with its title, what its documentation says, its impact, an example that shows it, a remedy
/// and a reference, which `pkgres explain` prints.
fn check_sections_of_rules(page: &str, rules: &[Rule]) {
    let page = Page::read(page);
    let sections: Vec<(&str, &str)> = (page.text.split("\n## ").skip(1))
        .filter_map(|section| section.split_once(": "))
        .filter(|(id, _)| !id.contains([' ', '\n']))
        .collect();
    let ids: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
    let found: Vec<&str> = sections.iter().map(|(id, _)| *id).collect();
    assert_eq!(found, ids);
    for (rule, (id, section)) in rules.iter().zip(sections) {
        let (title, rest) = section.split_once("\n\n").expect("a section has text");
        assert_eq!(title, rule.title, "{id}");
        let meaning: Vec<&str> = rule.explanation.lines().map(str::trim).collect();
        let meaning = meaning.join("\n");
        assert!(rest.starts_with(meaning.trim()), "{id}: {meaning}");
        assert!(
            rest.contains(&format!("\nImpact: {}.\n", rule.impact)),
            "{id}"
        );
        assert!(rest.contains(&format!(" ({id})\n")), "{id} has no example");
        for part in ["\nHow to fix it: ", "\nReference: "] {
            assert!(rest.contains(part), "{id}");
        }
        let mut explain = Command::new(env!("CARGO_BIN_EXE_pkgres"));
        let explained = explain.args(["explain", id]).output();
        let explained = explained.expect("the program starts").stdout;
        let explained = String::from_utf8(explained).expect("it is text");
        assert!(
            explained.starts_with(&format!("{id}: {title}\n")),
            "{explained}"
        );
    }
}

/// An example that needs a server shows the message of a test with a server; `…` is what differs.
#[test]
fn an_error_of_a_server_is_one_that_tests_show() {
    let tests = [
        "tests/cli/server/registry.md",
        "tests/cli/server/changed.md",
        "tests/serve/database.rs",
        "tests/cli/network/publishing.rs",
    ];
    let tests = tests.map(|path| std::fs::read_to_string(root().join(path)).expect("a test"));
    let page = Page::read("docs/errors.md");
    let mut count = 0;
    for block in page.blocks() {
        if block.language != "text" {
            continue;
        }
        for line in block.text.lines() {
            let has_parts = |test: &&str| {
                let mut rest: &str = test;
                line.split('\u{2026}')
                    .all(|part| match rest.split_once(part) {
                        Some((_, after)) => {
                            rest = after;
                            true
                        }
                        None => false,
                    })
            };
            let mut lines = tests.iter().flat_map(|test| test.lines());
            assert!(lines.any(|test| has_parts(&test)), "no test shows: {line}");
            count += 1;
        }
    }
    assert!(count >= 6, "{count}");
}

/// The hooks that a project names are those that there are.
#[test]
fn hooks_exist() {
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("hooks");
    let page = Page::read("docs/automation.md");
    let named: Vec<&str> = page
        .text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- id: "))
        .collect();
    assert_eq!(named.len(), 2);
    for id in named {
        assert!(hooks.contains(&format!("- id: {id}\n")), "{id}");
    }
}

/// Links between pages lead to files and headings that exist.
#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for page in Page::all() {
        let prose = page.prose().join("\n");
        for link in links(&prose) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let this = root().join(&page.name);
            let folder = this.parent().expect("a page is in a folder");
            let target = if path.is_empty() {
                this.clone()
            } else {
                folder.join(path)
            };
            assert!(target.exists(), "{}: {link}", page.name);
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).expect("a page can be read");
                let name = link.to_owned();
                let anchors: Vec<String> = Page { name, text }
                    .prose()
                    .iter()
                    .filter(|line| line.starts_with('#'))
                    .map(|heading| anchor_of(heading))
                    .collect();
                assert!(
                    anchors.iter().any(|found| found == anchor),
                    "{}: {link} is none of {anchors:?}",
                    page.name
                );
            }
            count += 1;
        }
    }
    assert!(count > 10, "pages link to each other");
}

/// Every page of the book is in its summary, once, and every link of a page stays in the book or has an address: the
/// website has nothing else.
#[test]
fn the_book_has_every_page_and_no_link_out_of_it() {
    let summary = Page::read("docs/SUMMARY.md");
    let listed: Vec<&str> = links(&summary.text).collect();
    for page in Page::all() {
        let Some(name) = page.name.strip_prefix("docs/") else {
            continue;
        };
        if name == "SUMMARY.md" {
            continue;
        }
        let count = listed.iter().filter(|link| **link == name).count();
        assert_eq!(count, 1, "{name} in the summary");
        let prose = page.prose().join("\n");
        for link in links(&prose) {
            assert!(
                !link.starts_with("../"),
                "{name}: {link} leads out of the book"
            );
        }
    }
    assert!(listed.len() > 10, "{listed:?}");
}

/// The targets of links in Markdown.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let links = prose.split("](").skip(1);
    links.map(|link| link.split(')').next().unwrap_or_default())
}

/// The anchor that a heading gets where Markdown is shown as HTML.
fn anchor_of(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|character| character.is_alphanumeric() || " -_".contains(*character))
        .map(|character| if character == ' ' { '-' } else { character })
        .flat_map(char::to_lowercase)
        .collect()
}
