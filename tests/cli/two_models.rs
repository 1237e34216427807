//! NodeSet files with several models.

use std::path::Path;

use crate::program::{pkgres, write};

/// A NodeSet2 file with models, each with its date, and with the content of the `Model` element.
fn node_set(models: &[(&str, &str, &str)]) -> String {
    let uris: String = models
        .iter()
        .map(|(uri, ..)| format!("<Uri>{uri}</Uri>"))
        .collect();
    let models: String = models
        .iter()
        .map(|(uri, date, required)| {
            format!(
                "<Model ModelUri=\"{uri}\" Version=\"1.0\" PublicationDate=\"{date}T00:00:00Z\">{required}</Model>"
            )
        })
        .collect();
    format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">\
         <NamespaceUris>{uris}</NamespaceUris><Models>{models}</Models></UANodeSet>\n"
    )
}

/// Runs the program; returns whether it succeeds, and what it prints.
fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = pkgres(folder, arguments);
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn models_of_one_file_are_locked_and_written_together() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("models")).expect("a folder");
    let required = |uri: &str| format!("<RequiredModel ModelUri=\"{uri}\"/>");
    let on_base = required("urn:base");
    write(
        &folder.join("models/Both.xml"),
        &node_set(&[
            ("urn:b", "2024-01-01", &on_base),
            ("urn:c", "2024-01-01", &required("urn:b")),
        ]),
    );
    write(
        &folder.join("models/Newer.xml"),
        &node_set(&[("urn:b", "2025-01-01", "")]),
    );
    write(
        &folder.join("models/Base.xml"),
        &node_set(&[("urn:base", "2020-01-01", "")]),
    );
    let root = format!("{}{}", required("urn:c"), required("urn:b"));
    write(
        &folder.join("Root.xml"),
        &node_set(&[("urn:root", "2024-06-01", &root)]),
    );

    let (is_done, index) = run(folder, &["index", "models"]);
    assert!(is_done, "{index}");
    write(&folder.join("models.ndjson"), &index);
    for registry in ["index:models.ndjson", "dir:models"] {
        let (is_done, said) = run(folder, &["resolve", "Root.xml", "--registry", registry]);
        assert!(is_done && said.contains("urn:b 1.0@2024-01-01"), "{said}");
        assert!(!said.contains("urn:b 1.0@2025-01-01"), "{said}");
    }

    let registry = ["--registry", "dir:models"];
    let command = |words: &[&str]| run(folder, &[words, &registry].concat());
    let (is_done, said) = command(&["lock", "Root.xml"]);
    assert!(is_done, "{said}");
    let (is_done, said) = command(&["vendor", "vendored", "Root.xml"]);
    assert!(is_done && said.contains("Wrote 2 archives"), "{said}");
    let names = std::fs::read_dir(folder.join("vendored")).expect("it was written");
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".xml"))
        .collect();
    names.sort();
    assert_eq!(names[0], "01-urn-base-1.0-2020-01-01.NodeSet2.xml");
    let both = std::fs::read(folder.join("models/Both.xml")).expect("it is there");
    let second = std::fs::read(folder.join("vendored").join(&names[1])).expect("it is there");
    assert!(second == both && names.len() == 2, "{names:?}");

    let update = ["update", "urn:b", "--precise", "1.0@2025-01-01"];
    let place = ["--manifest-path", "Root.xml"];
    let (is_done, said) = command(&[&update[..], &place].concat());
    assert!(
        !is_done && said.contains("requires urn:b =1.0@2024-01-01"),
        "{said}"
    );
}
