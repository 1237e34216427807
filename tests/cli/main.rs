//! Whole runs of the binary: exit code, stdout and stderr.
//!
//! Each Markdown file beside this one is a case. Its commands run one after the other in the folder `NAME.in`. With a
//! folder `NAME.out`, they run in a copy, which must be equal to `NAME.out` in the end; a case whose commands write
//! needs one. A case with stdin is a TOML file. What documents cannot show is in the modules.

mod ansible;
mod answers;
mod changed_files;
mod complete;
mod corpus;
mod deployment;
mod documents;
mod early_ends;
mod every_kind;
mod followed;
mod generated;
mod gone_resources;
mod graphs;
mod hooks;
mod json;
mod kept_collections;
mod links_in_registries;
mod machine_state;
mod machines;
mod metrics;
mod parallel;
mod parallel_commands;
mod pinned_models;
mod preferred_registries;
mod program;
mod publishing_recipe;
mod releases;
mod repositories;
mod republished;
mod revisions;
mod roots;
mod shared_cases;
mod shared_lists;
mod steps;
mod streams;
mod tampered_locks;
mod terminal;
mod two_models;
mod vendored;
mod watched;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The case whose commands set `PKGRES_REGISTRY`, which must be empty for the others.
const ENVIRONMENT: &str = "../tests/cli/environment.md";

/// The case whose commands set `PKGRES_CACHE`.
const CACHE: &str = "../tests/cli/cache.md";

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli");
    let before = fixtures(&folder);
    // Cases share the cache, which must not affect them.
    let cache = tempfile::tempdir().expect("a temporary folder");
    let cache = cache.path().to_str().expect("a path that is text");
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .register_bin("ls", program("ls"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env("PKGRES_REGISTRY", "")
        .env("PKGRES_CACHE", cache)
        .env("PKGRES_STATE", cache)
        .env("PKGRES_CREDENTIALS", cache)
        .case("../tests/cli/*.md")
        .case("../tests/cli/*.toml")
        .skip(ENVIRONMENT)
        .skip(CACHE);
    cases.run();
    let cached = trycmd::TestCases::new();
    cached
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .register_bin("ls", program("ls"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env("PKGRES_REGISTRY", "")
        .case(CACHE);
    cached.run();
    let environment = trycmd::TestCases::new();
    environment
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .env("NO_COLOR", "1")
        .env("PKGRES_CACHE", cache)
        .case(ENVIRONMENT);
    environment.run();
    // A case that changes its own inputs could pass from the second run on.
    let after = fixtures(&folder);
    let changed: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    assert!(
        changed.is_empty(),
        "cases without a folder `NAME.out` changed their inputs: {changed:?}"
    );
}

/// The path of a system program.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .expect("the system has the program")
}

/// The input files of all cases.
fn fixtures(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut rest: Vec<PathBuf> = entries(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "in"))
        .collect();
    while let Some(path) = rest.pop() {
        if let Ok(target) = std::fs::read_link(&path) {
            // It may lead nowhere.
            files.insert(path, target.into_os_string().into_encoded_bytes());
        } else if path.is_dir() {
            rest.extend(entries(&path));
        } else {
            let bytes = std::fs::read(&path).expect("a fixture can be read");
            files.insert(path, bytes);
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("an entry of it").path())
        .collect()
}
