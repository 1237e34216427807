//! Comparing the JSON documents of commands with their schemas in `docs/schemas/answers`.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;

/// Commands that print JSON in formats of their own, or none.
pub const OTHER_FORMATS: [&str; 4] = ["completions", "help", "man", "schema"];

/// How schemas refer to the parts that several have.
const COMMON: &str = "common.json#/$defs/";

/// The folder with the schemas of the documents.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas/answers")
}

/// The names of the commands that have a schema, sorted.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn commands() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of the schemas");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().replace(".json", ""));
    let mut names: Vec<String> = names.filter(|name| name != "common").collect();
    names.sort();
    names
}

/// A schema as it is in its file.
///
/// # Panics
///
/// If there is none.
pub fn schema(name: &str) -> Value {
    let path = folder().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).expect("a schema is JSON")
}

/// The validator of the documents of a command, with the parts that several schemas have.
fn validator(command: &str) -> Validator {
    let mut schema = schema(command);
    schema["$defs"] = self::schema("common")["$defs"].clone();
    let text = schema.to_string().replace(COMMON, "#/$defs/");
    let schema = serde_json::from_str(&text).expect("it is still JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("it is a schema");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// The command of a command line: its first word that is one with a schema.
pub fn command_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let commands = commands();
    let mut words = words.into_iter();
    words.find(|word| commands.iter().any(|command| command == word))
}

/// Returns where a document violates the schema of its command. Events, which are lines before a document, and
/// documents in the formats of other programs are skipped.
///
/// # Panics
///
/// If there is no schema.
pub fn faults(command: &str, stdout: &str) -> Vec<String> {
    let mut rest = stdout;
    while let Some((event, after)) = rest.split_once('\n')
        && event.starts_with("{\"event\":")
    {
        rest = after;
    }
    let Ok(document) = serde_json::from_str::<Value>(rest) else {
        return Vec::new();
    };
    if document.get("schema_version").is_none() {
        return Vec::new();
    }
    let validator = validator(command);
    let errors = validator.iter_errors(&document);
    errors
        .map(|error| format!("{command}: {}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn documents_that_are_not_described_are_found() {
    let fine = r#"{"schema_version":1,"status":"done","package":"a","paths":[],"notes":[],"diagnostics":[]}"#;
    assert_eq!(faults("why", fine), [""; 0]);
    for (from, to) in [
        ("\"paths\":[]", "\"paths\":1"),
        ("\"notes\":[],", ""),
        ("\"paths\"", "\"more\":1,\"paths\""),
        ("done", "nothing"),
        ("\"diagnostics\":[]", "\"diagnostics\":[{}]"),
    ] {
        assert!(!faults("why", &fine.replace(from, to)).is_empty(), "{to}");
    }
    let event = format!("{{\"event\":\"started\"}}\n{fine}");
    assert_eq!(faults("why", &event), [""; 0]);
    assert_eq!(command_of(["-C", "a", "why", "lock"]), Some("why"));
}

#[test]
fn every_schema_is_one() {
    let commands = commands();
    assert!(commands.len() > 40, "{}", commands.len());
    for command in commands {
        validator(&command);
    }
}
