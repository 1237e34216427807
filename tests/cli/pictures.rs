//! Pictures that are too large to be drawn, which need more packages than a document has room for.

use std::path::Path;
use std::process::Output;

use super::program::{pkgres, write};

/// A picture of a root and a chain of packages.
fn picture(folder: &Path, format: &str) -> Output {
    let options = ["--no-core-library", "--registry", "index:index.ndjson"];
    pkgres(
        folder,
        &[&["graph", "--format", format], &options[..]].concat(),
    )
}

#[test]
fn a_picture_of_too_many_packages_is_left_to_other_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: a.Root\nVersion: 1.0.0\nRequire: {a.P1: 1}\n",
    );
    // Each requires those that come next.
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
    let output = picture(folder, "svg");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"<?xml"));
    // There are more paths than could ever be followed.
    write(&folder.join("index.ndjson"), &chain(80, 3));
    let output = picture(folder, "svg");
    assert_eq!(output.status.code(), Some(0));
    write(&folder.join("index.ndjson"), &chain(80, 20));
    let output = picture(folder, "svg");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("so many edges"), "{said}");
    write(&folder.join("index.ndjson"), &chain(500, 1));
    let output = picture(folder, "svg");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("error[PK0001]: a picture of 501 nodes is not drawn"),
        "{said}"
    );
    assert!(said.contains("`--format dot`"), "{said}");
    let output = picture(folder, "dot");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"digraph"));
}
