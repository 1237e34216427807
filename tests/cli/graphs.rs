//! Graphs that are too large to draw, with more packages than fit a document.

use std::path::Path;
use std::process::Output;

use super::program::{pkgres, write};

/// Draws the graph of a root and a chain of packages.
fn graph(folder: &Path, format: &str) -> Output {
    let options = ["--no-core-library", "--registry", "index:index.ndjson"];
    pkgres(
        folder,
        &[&["graph", "--format", format], &options[..]].concat(),
    )
}

#[test]
fn graphs_that_are_too_large_are_not_drawn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: a.Root\nVersion: 1.0.0\nRequire: {a.P1: 1}\n",
    );
    // Each package requires the next ones.
    let chain = |length: usize, next: usize| -> String {
        let line = |at: usize| {
            let next = at + 1..=length.min(at + next);
            let required: Vec<String> = next.map(|at| format!(r#"["a.P{at}","1"]"#)).collect();
            let required = required.join(",");
            format!(r#"{{"name":"a.P{at}","version":"1.0.0","require":[{required}]}}"#) + "\n"
        };
        (1..=length).map(line).collect()
    };
    write(&folder.join("index.ndjson"), &chain(40, 1));
    let output = graph(folder, "svg");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"<?xml"));
    // There are too many paths to follow them all.
    write(&folder.join("index.ndjson"), &chain(80, 3));
    let output = graph(folder, "svg");
    assert_eq!(output.status.code(), Some(0));
    write(&folder.join("index.ndjson"), &chain(80, 20));
    let output = graph(folder, "svg");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("so many edges"), "{stderr}");
    write(&folder.join("index.ndjson"), &chain(500, 1));
    let output = graph(folder, "svg");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.starts_with("error[PK0001]: a graph of 501 nodes is not drawn"),
        "{stderr}"
    );
    assert!(stderr.contains("`--format dot`"), "{stderr}");
    let output = graph(folder, "dot");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"digraph"));
}
