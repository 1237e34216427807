//! Specs against rows that were measured on the reference implementation of Murano.

use pkgres_manifest::{Spec, Version};
use pkgres_tests::shared;
use serde_json::Value;

#[test]
fn specs_match_every_measured_row() {
    let Some(path) = shared::path("oracles/spec_match.ndjson") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the oracle can be read");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in text.lines() {
        rows += 1;
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let spec = Spec::parse(row["spec"].as_str().unwrap_or(""));
        let is_right = match (&spec, row.get("error")) {
            (Err(_), Some(_)) => true,
            (Ok(spec), None) => {
                let version = row["version"].as_str().expect("a row has a version");
                let version = Version::parse(version).expect("the versions are valid");
                Some(spec.matches(&version)) == row["matches"].as_bool()
            }
            _ => false,
        };
        if !is_right {
            wrong.push(line);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows: {wrong:#?}",
        wrong.len()
    );
    assert_eq!(rows, 15_738);
}
