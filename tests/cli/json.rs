//! `--format json`: stdout is one JSON document on every path, also for errors, unknown names and empty answers.

use std::path::Path;
use std::process::Command;

/// Command lines that succeed, fail, find nothing or do not parse.
const LINES: &[&str] = &[
    "add org.example.Nothing@1 --manifest-path app",
    "add 1.0 --manifest-path app",
    "cache clean",
    "cache dir",
    "cache forget nothing",
    "cache list",
    "cache verify",
    "check app",
    "check nowhere",
    "completions bash",
    "config list",
    "diff app app",
    "diff app nowhere",
    "explain PK0012",
    "explain PK9999",
    "explain app",
    "explain clash",
    "export app",
    "export nowhere",
    "fetch nowhere",
    "fetch clash",
    "graph app",
    "graph clash",
    "index nowhere",
    "init app",
    "lock app --check",
    "lock clash",
    "lock nowhere",
    "login nothing",
    "man",
    "nothing",
    "outdated app",
    "outdated clash",
    "pack nowhere",
    "pin nowhere.yaml",
    "publish nowhere",
    "remove org.example.Nothing --manifest-path app",
    "repair app",
    "repair clash",
    "repair clash --apply 9",
    "repair nowhere",
    "resolve app",
    "resolve app --max-steps 0",
    "resolve app --registry index:nowhere.ndjson",
    "resolve clash",
    "resolve nowhere",
    "schema manifest",
    "serve --data index.ndjson",
    "spec >=1 2.0.0",
    "spec >=1 <2",
    "spec 1 2.0.0",
    "tree app",
    "tree app --depth 1",
    "tree app --duplicates",
    "tree app --invert org.example.Nothing",
    "tree --bogus",
    "unpack nowhere.zip new",
    "update --manifest-path clash",
    "update org.example.Nothing --manifest-path app",
    "vendor new clash",
    "verify clash",
    "why org.example.Nothing app",
    "why org.example.Web app",
    "yank org.example.Web@1.0.0 --reason x",
];

#[test]
fn stdout_is_one_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/views.in");
    let copied = Command::new("cp")
        .arg("-R")
        .args([&source, folder.path()])
        .status()
        .expect("`cp` is there");
    assert!(copied.success());
    let state = folder.path().join("state");
    let mut wrong = Vec::new();
    for line in LINES {
        let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
            .args(line.split(' '))
            .args(["--format", "json"])
            .current_dir(folder.path().join("views.in"))
            .env("NO_COLOR", "1")
            .env("PKGRES_CACHE", &state)
            .env("PKGRES_STATE", &state)
            .env("PKGRES_CREDENTIALS", &state)
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the program starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(&stdout);
        let is_document = parsed.is_ok_and(|document| document.is_object());
        if !is_document {
            wrong.push(format!("{line} ({}): {stdout:?}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
