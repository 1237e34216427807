//! Files with several models, which require each other.

use pkgres_formats::opcua::{ECOSYSTEM, NodeSets};
use pkgres_formats::{Format as _, FormatFile};
use pkgres_manifest::{Limits, ReadOptions};

use super::file;

#[test]
fn models_of_a_root_meet_the_requirements_on_each_other() {
    let read = |date: &str| {
        let text = file(&format!(
            "<NamespaceUris><Uri>urn:a</Uri><Uri>urn:c</Uri></NamespaceUris><Models>\
             <Model ModelUri=\"urn:a\" Version=\"1.0\" PublicationDate=\"2024-01-01T00:00:00Z\"/>\
             <Model ModelUri=\"urn:c\" Version=\"1.0\" PublicationDate=\"2024-01-01T00:00:00Z\">\
             <RequiredModel ModelUri=\"urn:a\" PublicationDate=\"{date}T00:00:00Z\"/></Model></Models>"
        ));
        let file = FormatFile {
            path: "pump.xml",
            bytes: text.as_bytes(),
        };
        NodeSets
            .read_root(&file, &(), &ReadOptions::default())
            .into_result()
            .map(|(root, _)| root.record.requirements.len())
            .map_err(|errors| errors[0].message.clone())
    };
    assert_eq!(read("2023-01-01"), Ok(0));
    let error = read("2030-01-01").expect_err("the sibling is older");
    assert!(error.contains("the file has 1.0@2024-01-01"), "{error}");
}

#[test]
fn a_requirement_of_several_models_is_at_the_strictest() {
    let text = |second: &str| {
        file(&format!(
            "<NamespaceUris><Uri>urn:a</Uri><Uri>urn:c</Uri><Uri>urn:x</Uri></NamespaceUris><Models>\n\
             <Model ModelUri=\"urn:a\"><RequiredModel ModelUri=\"urn:x\" PublicationDate=\"2020-01-01T00:00:00Z\"/></Model>\n\
             <Model ModelUri=\"urn:c\">{second}</Model></Models>"
        ))
    };
    let place = |second: &str| {
        let text = text(second);
        let file = FormatFile {
            path: "pump.xml",
            bytes: text.as_bytes(),
        };
        let root = NodeSets.read_root(&file, &(), &ReadOptions::default());
        let (root, _) = root.into_result().expect("it can be read");
        let requirements = &root.record.requirements;
        assert_eq!(requirements.len(), 1);
        let place = requirements[0].location.as_ref().expect("it is in a file");
        format!("{place} {}", requirements[0].spec.written())
    };
    let required = |date: &str| {
        format!("<RequiredModel ModelUri=\"urn:x\" PublicationDate=\"{date}T00:00:00Z\"/>")
    };
    let (first, second) = ("pump.xml:4:50 >=@2020-01-01", "pump.xml:5:50 >=@2025-01-01");
    assert_eq!(place(&required("2020-01-01")), first);
    assert_eq!(place(&required("2019-01-01")), first);
    assert_eq!(place(&required("2025-01-01")), second);
    // The same requirement twice says nothing more.
    assert_eq!(place(&required("2025-01-01").repeat(2)), second);
}

#[test]
fn releases_of_a_file_require_each_other_exactly() {
    let read = |date: &str| {
        let text = file(&format!(
            "<NamespaceUris><Uri>urn:a</Uri><Uri>urn:b</Uri><Uri>urn:c</Uri></NamespaceUris><Models>\
             <Model ModelUri=\"urn:a\" Version=\"1.0\" PublicationDate=\"2024-01-01T00:00:00Z\"/>\
             <Model ModelUri=\"urn:b\" ModelVersion=\"1.2.3\"><RequiredModel ModelUri=\"urn:x\"/></Model>\
             <Model ModelUri=\"urn:c\" Version=\"1.0\" PublicationDate=\"2024-01-01T00:00:00Z\">\
             <RequiredModel ModelUri=\"urn:a\" PublicationDate=\"{date}T00:00:00Z\"/></Model></Models>"
        ));
        let file = FormatFile {
            path: "several.xml",
            bytes: text.as_bytes(),
        };
        NodeSets
            .read_releases(&file, &(), &ReadOptions::default())
            .into_result()
            .map_err(|errors| errors[0].message.clone())
    };
    let (releases, _) = read("2023-01-01").expect("the models fit together");
    let lines: Vec<String> = releases.iter().map(|one| one.record.to_line()).collect();
    let require = |line: &str| {
        let (_, rest) = line.split_once("\"require\":").expect("it requires others");
        rest.split_once(",\"classes\"")
            .expect("it has types")
            .0
            .to_owned()
    };
    assert_eq!(
        lines.iter().map(|line| require(line)).collect::<Vec<_>>(),
        [
            r#"[["urn:b",null,"1.2.3",null,"="]]"#,
            r#"[["urn:x",null,null,null],["urn:c","1.0",null,"2024-01-01T00:00:00Z","="]]"#,
            r#"[["urn:a","1.0",null,"2024-01-01T00:00:00Z","="]]"#,
        ]
    );
    for (release, line) in releases.iter().zip(&lines) {
        let again = ECOSYSTEM.read_record(line, &Limits::default());
        let again = again.expect("it was written");
        assert_eq!(again.requirements, release.record.requirements);
    }
    let error = read("2030-01-01").expect_err("the sibling is older");
    assert!(error.contains("the file has 1.0@2024-01-01"), "{error}");
}
