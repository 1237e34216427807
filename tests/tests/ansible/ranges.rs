//! Ranges against rows that were measured on ansible-core.

use pkgres_formats::ansible::ECOSYSTEM;
use pkgres_tests::shared;
use serde_json::Value;

#[test]
fn ranges_match_every_measured_row() {
    let Some(path) = shared::path("oracles/ansible_spec.ndjson") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the rows can be read");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in text.lines() {
        rows += 1;
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let range = row["spec"].as_str().expect("a row has a range");
        let version = row["version"].as_str().expect("a row has a version");
        let version = ECOSYSTEM.version(version).expect("the versions are valid");
        let answer = match ECOSYSTEM.spec(range) {
            Ok(spec) => Value::Bool(spec.matches(&version)),
            Err(_) => Value::from("error"),
        };
        if answer != row["pkgres"] {
            wrong.push(format!("{answer}: {line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows: {wrong:#?}",
        wrong.len()
    );
    assert!(rows >= 2_600, "there are {rows} rows");
}
