//! The answers of the commands of all documents, with `--format json`, are as their schemas in `docs/schemas/answers`
//! say.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pkgres_manifest::{IndexRecord, Limits};
use pkgres_tests::answers;

use crate::followed::document::{self, Document};
use crate::followed::sandbox::Sandbox;

/// How often a command that writes is asked in one document, each time in a copy of its folder.
const WRITES: usize = 2;

/// What was found in documents.
#[derive(Default)]
struct Found {
    count: usize,
    commands: BTreeSet<String>,
    faults: Vec<String>,
}

/// Runs the commands of a document with `--format json`.
fn ask(document: &Document, found: &Mutex<Found>) {
    let sandbox = Sandbox::new(&document.folder, document.name == "cache");
    let mut asked: Vec<&str> = Vec::new();
    for step in &document.steps {
        let line = &step.line;
        let command = answers::command_of(line.split(' '));
        let has_other_format = line.contains("--format") && !line.contains("--format json");
        let is_asked = !has_other_format && !line.contains("-h") && !line.contains("://");
        let reads = step.only_reads();
        if let Some(command) = command.filter(|_| is_asked) {
            let json = if line.contains("--format json") {
                line.clone()
            } else {
                format!("{line} --format json")
            };
            let is_safe = reads || !document.is_writing;
            let times = asked.iter().filter(|before| **before == command).count();
            let output = if is_safe {
                Some(sandbox.run_for_stdout(&json))
            } else if times < WRITES {
                asked.push(command);
                Some(sandbox.copy().run_for_stdout(&json))
            } else {
                None
            };
            if let Some(output) = output {
                let faults = answers::faults(command, &output);
                let mut found = found.lock().expect("no thread panicked");
                found.count += 1;
                found.commands.insert(command.to_owned());
                let name = &document.name;
                let faults = faults
                    .into_iter()
                    .map(|fault| format!("{name}: {json}: {fault}"));
                found.faults.extend(faults);
            }
        }
        if document.is_writing && !reads {
            sandbox.run(line);
        }
    }
}

#[test]
fn answers_are_as_their_schemas_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli");
    let documents = document::all(&folder);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
                    ask(document, &found);
                }
            });
        }
    });
    let found = found.into_inner().expect("no thread panicked");
    assert!(found.faults.is_empty(), "{}", found.faults.join("\n"));
    assert!(found.count > 300, "{}", found.count);
    assert!(found.commands.len() > 25, "{:?}", found.commands);
}

/// The lines of the index files of all tests that can be read are as `docs/schemas/index-record.json` says, also in the
/// form in which they are written.
#[test]
fn index_records_are_as_their_schema_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let schema = std::fs::read_to_string(root.join("docs/schemas/index-record.json"));
    let schema = serde_json::from_str(&schema.expect("a schema")).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let mut rest = vec![root.join("tests/cli"), root.join("fixtures")];
    let (mut count, mut faults) = (0, Vec::new());
    while let Some(folder) = rest.pop() {
        for path in crate::entries(&folder) {
            if path.is_dir() && !path.is_symlink() {
                rest.push(path);
                continue;
            }
            if path
                .extension()
                .is_none_or(|extension| extension != "ndjson")
            {
                continue;
            }
            let text = std::fs::read(&path).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                let Ok(record) = IndexRecord::parse_line(line, &Limits::default()) else {
                    continue;
                };
                count += 1;
                for line in [line, &record.to_line()] {
                    let record = serde_json::from_str(line).expect("a record is JSON");
                    let errors = validator.iter_errors(&record);
                    faults
                        .extend(errors.map(|error| format!("{}: {error}: {line}", path.display())));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 300, "{count}");
}
