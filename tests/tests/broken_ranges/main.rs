//! The page about combinations that ranges allow and that do not work, which is made from the corpora.
//!
//! `PKGRES_UPDATE_DOCS=1 cargo test -p pkgres-tests --test broken_ranges` writes it.

#![allow(
    unused_crate_dependencies,
    reason = "each test target uses some of them"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a page that is half written is written again"
)]

mod cases;
mod collections;
mod models;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use collections::BrokenCollections;
use models::BrokenModels;
use serde_json::Value;

/// The page, with `{…}` where tables and figures go.
const TEMPLATE: &str = include_str!("page.md");

/// The pairs of collections that `execute.py` ran, which `.ci/run` runs again.
const EXECUTED: &str = include_str!("collections.jsonl");

/// The version of ansible-core that ran them, of which `.ci/run` installs a patch release.
const ANSIBLE_CORE: &str = "2.19";

/// The releases of models that `load.js` loaded, which `.ci/run` loads again.
const LOADED: &str = include_str!("models.jsonl");

/// The version of node-opcua that loaded them, of which `.ci/run` installs a patch release.
const NODE_OPCUA: &str = "2.182";

fn json_lines(text: &str) -> Vec<Value> {
    let lines: Result<_, _> = text.lines().map(serde_json::from_str).collect();
    lines.expect("the lines are JSON")
}

/// The texts of a line with these keys.
fn texts<const COUNT: usize>(line: &Value, keys: [&str; COUNT]) -> [String; COUNT] {
    keys.map(|key| line[key].as_str().expect("a text").to_owned())
}

/// How many pairs of the page were executed.
struct Executed {
    pairs: usize,
    /// Those in which an import failed.
    failing: usize,
}

impl Executed {
    /// Checks that the pairs are broken ones, and counts them.
    fn read(collections: &BrokenCollections) -> Self {
        let lines = json_lines(EXECUTED);
        for line in &lines {
            let pair = texts(line, ["collection", "version", "dependency", "lacking"]);
            assert!(collections.broken_pairs.contains(&pair), "{pair:?}");
        }
        let has = |result: &str| lines.iter().filter(|line| line["result"] == result).count();
        assert_eq!(has("fails") + has("guarded"), lines.len());
        let rows: BTreeSet<_> = lines
            .iter()
            .map(|line| (line["dependency"].as_str(), line["collection"].as_str()))
            .collect();
        assert_eq!(
            rows.len(),
            collections.named(),
            "a collection of the page is not in the sample"
        );
        Self {
            pairs: lines.len(),
            failing: has("fails"),
        }
    }
}

/// The number of releases of models that were loaded, after a check that they are those of the page and that what was
/// loaded lacks the same types as the releases that it replaces.
fn loaded_models(models: &BrokenModels) -> usize {
    let lines = json_lines(LOADED);
    for line in &lines {
        let [model, version, required, loaded] =
            texts(line, ["model", "version", "required", "loaded"]);
        let types = &models.types[&[required.clone(), loaded]];
        let lacking = line["lacking"].as_array().expect("releases");
        assert!(!lacking.is_empty(), "{line}");
        for lacking in lacking {
            let lacking = lacking.as_str().expect("a release").to_owned();
            let pair = [&model, &version, &required, &lacking].map(Clone::clone);
            assert!(models.broken_pairs.contains(&pair), "{pair:?}");
            assert_eq!(types, &models.types[&[required.clone(), lacking]], "{line}");
        }
    }
    lines.len()
}

#[test]
fn the_page_is_what_the_corpora_say() {
    let (Some(collections), Some(models)) =
        (BrokenCollections::of_corpus(), BrokenModels::of_corpus())
    else {
        return;
    };
    let executed = Executed::read(&collections);
    let mut page = TEMPLATE.to_owned();
    for (place, content) in [
        ("{collection_releases}", grouped(collections.releases)),
        ("{collection_pairs}", grouped(collections.pairs)),
        ("{collection_broken}", grouped(collections.broken)),
        ("{collection_modules}", grouped(collections.without_module)),
        (
            "{collection_share}",
            rounded(collections.pairs, collections.broken).to_string(),
        ),
        ("{collection_tables}", collections.tables()),
        ("{executed_pairs}", executed.pairs.to_string()),
        ("{executed_failing}", executed.failing.to_string()),
        (
            "{executed_guarded}",
            (executed.pairs - executed.failing).to_string(),
        ),
        ("{ansible_core}", ANSIBLE_CORE.to_owned()),
        ("{model_releases}", grouped(models.releases)),
        ("{model_pairs}", grouped(models.pairs)),
        ("{model_broken}", grouped(models.broken)),
        ("{model_requirements}", grouped(models.requirements)),
        ("{loaded_models}", loaded_models(&models).to_string()),
        ("{node_opcua}", NODE_OPCUA.to_owned()),
        ("{model_table}", models.table()),
    ] {
        assert!(page.contains(place), "{place} is not in the template");
        page = page.replace(place, &content);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/broken-ranges.md");
    if std::env::var_os("PKGRES_UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "{} is out of date: PKGRES_UPDATE_DOCS=1 cargo test -p pkgres-tests --test broken_ranges",
        path.display()
    );
}

/// The whole number that is closest to a quotient.
fn rounded(dividend: usize, divisor: usize) -> usize {
    (dividend + divisor / 2) / divisor
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Versions that follow each other as `first to last`.
fn span(versions: &[String]) -> String {
    match versions {
        [] => String::new(),
        [only] => only.clone(),
        [first, .., last] => format!("{first} to {last}"),
    }
}
