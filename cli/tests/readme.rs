//! The examples in the README and the guide: commands print what is shown, and settings can be read. New examples are
//! run as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages whose commands other tests run, because they need a server and a foreign client.
const RUN_BY_OTHER_TESTS: [(&str, &str); 1] = [("docs/murano-clients.md", "tests/serve/murano.rs")];

/// Blocks by page and language that are not examples of using pkgres.
const NOT_RUN: [(&str, &[&str]); 4] = [
    // How to build and test this project.
    ("README.md", &["sh"]),
    // The help of commands, which is generated.
    ("docs/commands.md", &["text"]),
    // Programs that take minutes.
    ("docs/benchmarks.md", &["sh"]),
    // Requests and responses, which `tests/serve` and `registry-client/tests` check.
    ("docs/registry-protocol.md", &["json", "text"]),
];

/// The root of the project, where the commands run.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The README and the pages of the guide, by path.
fn pages() -> BTreeMap<String, String> {
    let docs = std::fs::read_dir(root().join("docs")).expect("the book is there");
    let docs = docs.map(|entry| entry.expect("an entry of it").path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a page can be read");
        let name = path.strip_prefix(root()).expect("it is below").to_owned();
        (name.to_string_lossy().into_owned(), text)
    };
    docs.chain([root().join("README.md")]).map(read).collect()
}

/// The blocks of a page: language and text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(language), false) => {
                found.push((language.to_owned(), String::new()));
                is_inside = true;
            }
            (Some(_), true) => is_inside = false,
            (None, true) => {
                let (_, text) = found.last_mut().expect("a block was begun");
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => {}
        }
    }
    found
}

fn has(page: &str, language: &str) -> bool {
    blocks(page).iter().any(|(found, _)| found == language)
}

fn is_run_by_other_test(page: &str) -> bool {
    RUN_BY_OTHER_TESTS.iter().any(|(path, _)| *path == page)
}

#[test]
fn commands() {
    std::env::set_current_dir(root()).expect("the root of the project is there");
    let cache = tempfile::tempdir().expect("a temporary folder");
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .env("NO_COLOR", "1")
        .env("PKGRES_REGISTRY", "")
        .env("PKGRES_CACHE", cache.path().to_string_lossy());
    for (page, text) in pages() {
        if has(&text, "console") && !is_run_by_other_test(&page) {
            cases.case(page);
        }
    }
    cases.run();
}

#[test]
fn every_block_is_tested() {
    for (page, text) in pages() {
        for (language, block) in blocks(&text) {
            let is_other = NOT_RUN
                .iter()
                .any(|(path, languages)| *path == page && languages.contains(&language.as_str()));
            let is_tested = match language.as_str() {
                "console" | "toml" | "yaml" => true,
                // `tests/tests/merges.rs` merges with this line.
                "gitattributes" => block == "pkgres.lock merge=union\n",
                // By `cargo test --doc`.
                "rust" => page == "docs/embedding.md",
                _ => false,
            };
            assert!(
                is_tested || is_other,
                "{page}: no test covers this block in `{language}`:\n{block}"
            );
        }
    }
    for (page, test) in RUN_BY_OTHER_TESTS {
        assert!(
            pages().contains_key(page) && root().join(test).is_file(),
            "{page}"
        );
    }
}

/// Every block of settings is a valid settings file.
#[test]
fn settings_can_be_read() {
    let mut count = 0;
    for (page, text) in pages() {
        for (_, block) in blocks(&text)
            .iter()
            .filter(|(language, _)| language == "toml")
        {
            let folder = tempfile::tempdir().expect("a temporary folder");
            #[expect(clippy::disallowed_methods, reason = "a file of a test")]
            std::fs::write(folder.path().join("pkgres.toml"), block).expect("it can be written");
            let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
                .args(["config", "list"])
                .current_dir(&folder)
                .env("NO_COLOR", "1")
                .output()
                .expect("the program starts");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {stderr}\n{block}");
            count += 1;
        }
    }
    assert!(count > 2, "there are examples of settings");
}

/// Recipes for other programs are valid YAML, and their commands run.
#[test]
fn recipes_name_existing_commands() {
    let mut count = 0;
    for (page, text) in pages() {
        for (_, block) in blocks(&text)
            .iter()
            .filter(|(language, _)| language == "yaml")
        {
            let recipe: Vec<serde_json::Value> = serde_saphyr::from_multiple(block)
                .unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
            assert_eq!(recipe.len(), 1, "{page}: {block}");
            let run = block
                .lines()
                .filter_map(|line| line.split_once("run: pkgres "));
            for (_, words) in run {
                let words = words.split(" >> ").next().unwrap_or_default();
                let words = words.replace("origin/$GITHUB_BASE_REF", "fixtures/book/stale");
                let words: Vec<String> = words
                    .split_whitespace()
                    .map(|word| word.trim_matches('"').to_owned())
                    .collect();
                let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
                    .args(["--directory", "fixtures/book/app"])
                    .args(
                        words
                            .iter()
                            .map(|word| word.replace("fixtures/book/", "../")),
                    )
                    .current_dir(root())
                    .env("PKGRES_REGISTRY", "")
                    .output()
                    .expect("the program starts");
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(0), "{page}: {words:?}: {stderr}");
                count += 1;
            }
        }
    }
    assert!(count >= 3, "there is a recipe");
    // Hooks in the recipes exist.
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("hooks");
    let page = &pages()["docs/automation.md"];
    let named: Vec<&str> = page
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- id: "))
        .collect();
    assert_eq!(named.len(), 2);
    for id in named {
        assert!(hooks.contains(&format!("- id: {id}\n")), "{id}");
    }
}
