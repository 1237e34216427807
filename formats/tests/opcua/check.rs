//! The findings of `check` about NodeSet files.

use std::path::Path;

use pkgres_formats::opcua::{ECOSYSTEM, NodeSets};
use pkgres_formats::{Format as _, FormatFile, ReleaseLookup};
use pkgres_manifest::{IndexRecord, Limits, PackageName, ReadOptions};

const UA: &str = "http://opcfoundation.org/UA/";

/// Releases in memory.
struct Known(Vec<IndexRecord>);

impl ReleaseLookup for Known {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        let releases = self.0.iter().filter(|record| record.name == *package);
        let releases: Vec<IndexRecord> = releases.cloned().collect();
        (!releases.is_empty()).then_some(releases)
    }
}

fn fixture(path: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/opcua");
    std::fs::read_to_string(folder.join(path)).expect("the fixture is there")
}

/// The releases of the fixtures.
fn known() -> Known {
    let files = [
        "registry/Core/Opc.Ua.NodeSet2.1.03.xml",
        "registry/Core/Opc.Ua.NodeSet2.1.04.xml",
        "registry/Core/Opc.Ua.NodeSet2.1.05.02.xml",
        "registry/Motor/Acme.Motor.NodeSet2.1.0.xml",
        "registry/Motor/Acme.Motor.NodeSet2.1.1.xml",
    ];
    let read = files.into_iter().flat_map(|path| {
        let text = fixture(path);
        let file = FormatFile {
            path,
            bytes: text.as_bytes(),
        };
        let read = NodeSets.read_releases(&file, &(), &ReadOptions::default());
        read.into_result().expect("it is a release").0
    });
    Known(read.map(|release| release.record).collect())
}

fn findings(text: &str) -> Vec<String> {
    let file = FormatFile {
        path: "pump.xml",
        bytes: text.as_bytes(),
    };
    let found = NodeSets.check_root(&file, &(), &known(), &ReadOptions::default());
    found.iter().map(ToString::to_string).collect()
}

/// The root of the fixtures, which requires releases that the registry has.
fn pump() -> String {
    fixture("Pump.NodeSet2.xml").replace(
        r#"Version="1.04.4" PublicationDate="2019-11-20T00:00:00Z""#,
        r#"Version="1.03.9" PublicationDate="2022-03-29T00:00:00Z""#,
    )
}

#[test]
fn a_model_that_its_least_releases_are_enough_for_has_no_findings() {
    assert_eq!(findings(&pump()), Vec::<String>::new());
}

#[test]
fn types_that_the_least_release_lacks_are_named() {
    let text = pump().replace(
        r#"<Reference ReferenceType="HasComponent">ns=1;i=6001</Reference>"#,
        r#"<Reference ReferenceType="HasInterface">i=17602</Reference>"#,
    );
    assert_eq!(
        findings(&text),
        [
            "pump.xml:23:47: error[PK0013]: `1:PumpType` extends `i=17602` (BaseInterfaceType) of \
             `http://opcfoundation.org/UA/`, which 1.03.9@2022-03-29 does not define; hint: the least release with all \
             types that are extended is 1.05.02@2022-11-01: require that one",
            "pump.xml:23:33: warning[PK0076]: the reference type `i=17603` (HasInterface) of \
             `http://opcfoundation.org/UA/` is used, which 1.03.9@2022-03-29 does not define",
        ]
    );
    let text = pump().replace(
        "<UAObjectType NodeId=\"ns=1;i=1001\"",
        "<UADataType NodeId=\"ns=1;i=1001\"",
    );
    let text = text.replace("</UAObjectType>", "</UADataType>");
    let found = findings(&text);
    assert!(
        found[0].contains("extends `i=1001` (1:MotorType) of `http://acme.example/Motor/`, which 1.1@2023-05-01 does \
             not define as DataType"),
        "{found:?}"
    );
}

#[test]
fn releases_that_no_registry_has_are_named() {
    let found = findings(&fixture("Pump.NodeSet2.xml"));
    assert_eq!(
        found,
        [
            "pump.xml:9:32: warning[PK0075]: no registry has 1.04.4@2019-11-20 of `http://opcfoundation.org/UA/`; the \
             next one is 1.03.9@2022-03-29"
        ]
    );
    let text = pump().replace("http://acme.example/Motor/", "http://acme.example/Engine/");
    let found = findings(&text);
    assert!(
        found[0].contains("no registry has `http://acme.example/Engine/`"),
        "{found:?}"
    );
}

#[test]
fn a_type_has_one_supertype() {
    let supertype =
        r#"<Reference ReferenceType="HasSubtype" IsForward="false">ns=2;i=1001</Reference>"#;
    let found = findings(&pump().replace(supertype, ""));
    assert!(
        found[0].ends_with("warning[PK0053]: `1:PumpType` has no supertype"),
        "{found:?}"
    );
    let two = format!("{supertype}{}", supertype.replace("ns=2;i=1001", "i=58"));
    let found = findings(&pump().replace(supertype, &two));
    assert!(
        found[0].ends_with("`1:PumpType` has 2 supertypes, and can have one"),
        "{found:?}"
    );
}

#[test]
fn used_namespaces_are_required() {
    let text = pump().replace(
        "      <RequiredModel ModelUri=\"http://opcfoundation.org/UA/\" Version=\"1.03.9\" \
         PublicationDate=\"2022-03-29T00:00:00Z\" />\n",
        "",
    );
    let found = findings(&text);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("of `http://opcfoundation.org/UA/` is used, which `http://acme.example/Pump/` does not require"),
        "{found:?}"
    );
}

#[test]
fn artifacts_have_names_that_every_system_can_store() {
    for (uri, version, expected) in [
        (
            UA,
            "1.05.03@2023-12-15",
            "opcfoundation.org-UA-1.05.03-2023-12-15.NodeSet2.xml",
        ),
        (
            "urn:acme:Pump",
            "@2017-07-14",
            "urn-acme-Pump-2017-07-14.NodeSet2.xml",
        ),
        (
            "http://a.example/../x?y",
            "1.0@",
            "a.example-..-x-y-1.0.NodeSet2.xml",
        ),
        (
            "http://a/",
            "1@2024-02-02T12:00:00Z",
            "a-1-2024-02-02T12-00-00Z.NodeSet2.xml",
        ),
    ] {
        let package = PackageName::native(uri).expect("a name");
        let version = ECOSYSTEM.version(version).expect("a version");
        assert_eq!(NodeSets.artifact_name(&package, &version), expected);
    }
    assert!(ECOSYSTEM.read_record("{}", &Limits::default()).is_err());
}
