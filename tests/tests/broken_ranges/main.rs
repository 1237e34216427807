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

/// The pairs that `execute.py` ran, which `.ci/run` runs again.
const SAMPLE: &str = include_str!("sample.jsonl");

/// The version of ansible-core that ran them, of which `.ci/run` installs a patch release.
const ANSIBLE_CORE: &str = "2.19";

/// How many pairs of the page were executed.
struct Sample {
    pairs: usize,
    /// Those in which an import failed.
    failing: usize,
}

impl Sample {
    /// Checks that the pairs are broken ones, and counts them.
    fn read(collections: &BrokenCollections) -> Self {
        let lines = SAMPLE.lines().map(serde_json::from_str);
        let lines: Result<Vec<Value>, _> = lines.collect();
        let lines = lines.expect("the lines are JSON");
        for line in &lines {
            let pair = ["collection", "version", "dependency", "lacking"];
            let pair = pair.map(|key| line[key].as_str().expect("a text").to_owned());
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

#[test]
fn the_page_is_what_the_corpora_say() {
    let (Some(collections), Some(models)) =
        (BrokenCollections::of_corpus(), BrokenModels::of_corpus())
    else {
        return;
    };
    let sample = Sample::read(&collections);
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
        ("{executed_pairs}", sample.pairs.to_string()),
        ("{executed_failing}", sample.failing.to_string()),
        (
            "{executed_guarded}",
            (sample.pairs - sample.failing).to_string(),
        ),
        ("{ansible_core}", ANSIBLE_CORE.to_owned()),
        ("{model_releases}", grouped(models.releases)),
        ("{model_pairs}", grouped(models.pairs)),
        ("{model_broken}", grouped(models.broken)),
        ("{model_requirements}", grouped(models.requirements)),
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
