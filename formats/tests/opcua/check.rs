//! The findings of `check` about NodeSet files.

use std::path::Path;

use pkgres_formats::opcua::{ECOSYSTEM, NodeSets};
use pkgres_formats::{Format as _, FormatFile, ReleaseLookup};
use pkgres_manifest::{ArtifactDigest, ClassName, IndexRecord, Limits, PackageName, ReadOptions};

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

/// A release with a `ModelVersion`.
const VALVE: &str = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>http://acme.example/Valve/</Uri></NamespaceUris>
<Models><Model ModelUri="http://acme.example/Valve/" Version="1.4" PublicationDate="2024-02-15T00:00:00Z" ModelVersion="1.4.12"/></Models>
</UANodeSet>"#;

/// The releases of the fixtures, and one more.
fn known() -> Known {
    let files = [
        "registry/Core/Opc.Ua.NodeSet2.1.03.xml",
        "registry/Core/Opc.Ua.NodeSet2.1.04.xml",
        "registry/Core/Opc.Ua.NodeSet2.1.05.02.xml",
        "registry/Motor/Acme.Motor.NodeSet2.1.0.xml",
        "registry/Motor/Acme.Motor.NodeSet2.1.1.xml",
    ];
    let texts = files.into_iter().map(fixture).chain([VALVE.to_owned()]);
    let read = texts.flat_map(|text| {
        let file = FormatFile {
            path: "model.xml",
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
             `http://opcfoundation.org/UA/`, which 1.03.9@2022-03-29 does not define; hint: the oldest release with all \
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
            "pump.xml:9:32: note[PK0075]: no registry has 1.04.4@2019-11-20 of `http://opcfoundation.org/UA/`; the \
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

/// A registry without the minimum release of OPC UA that the pump requires; `to` replaces an element of its type.
fn without_minimum(to: &str) -> Vec<String> {
    let text = fixture("Pump.NodeSet2.xml");
    findings(&text.replace(
        r#"<Reference ReferenceType="HasComponent">ns=1;i=6001</Reference>"#,
        to,
    ))
}

#[test]
fn types_are_looked_up_in_all_allowed_releases_if_the_least_is_nowhere() {
    let found = without_minimum(r#"<Reference ReferenceType="HasInterface">i=99999</Reference>"#);
    assert_eq!(
        found[1..],
        [
            "pump.xml:23:47: error[PK0013]: `1:PumpType` extends `i=99999` of `http://opcfoundation.org/UA/`, which no \
             release that the requirement allows defines"
        ]
    );
    // One of them has this interface.
    let found = without_minimum(r#"<Reference ReferenceType="HasInterface">i=17602</Reference>"#);
    assert_eq!(found.len(), 1, "{found:?}");
    let found = without_minimum(r#"<Reference ReferenceType="HasInterface">i=25257</Reference>"#);
    assert_eq!(
        found[1..],
        [
            "pump.xml:23:47: error[PK0013]: `1:PumpType` extends `i=25257` (IsPhysicallyConnectedTo) of \
             `http://opcfoundation.org/UA/`, which no release that the requirement allows defines as ObjectType"
        ]
    );
    let found =
        without_minimum(r#"<Reference ReferenceType="HasTypeDefinition">i=99999</Reference>"#);
    assert_eq!(
        found[1..],
        [
            "pump.xml:23:52: warning[PK0076]: the type definition `i=99999` of `http://opcfoundation.org/UA/` is used, \
             which no release that the requirement allows defines"
        ]
    );
}

#[test]
fn types_of_models_in_any_release_are_looked_up_as_well() {
    let pump = pump().replace("ns=2;i=1001", "ns=2;i=404");
    let requirement = r#"<RequiredModel ModelUri="http://acme.example/Motor/" Version="1.1" PublicationDate="2023-05-01T00:00:00Z" />"#;
    let any = r#"<RequiredModel ModelUri="http://acme.example/Motor/" Version="1.7" />"#;
    assert_eq!(
        findings(&pump.replace(requirement, any)),
        [
            "pump.xml:10:32: note[PK0007]: the `Version` 1.7 of a `RequiredModel` is not compared, so every release of \
             `http://acme.example/Motor/` satisfies the requirement; hint: add the `PublicationDate`",
            "pump.xml:24:63: error[PK0013]: `1:PumpType` extends `i=404` of `http://acme.example/Motor/`, which no \
             release that the requirement allows defines"
        ]
    );
    let found = findings(&pump.replace(requirement, ""));
    assert!(found[0].contains("PK0085"), "{found:?}");
    assert_eq!(
        found[1..],
        [
            "pump.xml:24:63: error[PK0013]: `1:PumpType` extends `i=404` of `http://acme.example/Motor/`, which no \
             release defines"
        ]
    );
}

#[test]
fn a_version_that_is_not_compared_is_noted_with_its_date() {
    let required =
        "<RequiredModel ModelUri=\"http://acme.example/Valve/\" Version=\"1.4\"/></Model>";
    assert_eq!(
        findings(&pump().replace("</Model>", required)),
        [
            "pump.xml:11:30: note[PK0007]: the `Version` 1.4 of a `RequiredModel` is not compared, so every release of \
             `http://acme.example/Valve/` satisfies the requirement; hint: add \
             `PublicationDate=\"2024-02-15T00:00:00Z\"`, which is that of 1.4"
        ]
    );
}

#[test]
fn what_a_requirement_states_identifies_the_release() {
    let minimum = r#"Version="1.03.9" PublicationDate="2022-03-29T00:00:00Z""#;
    let stated = |attributes: &str| findings(&pump().replace(minimum, attributes));
    let none: [&str; 0] = [];
    assert_eq!(stated(r#"PublicationDate="2022-03-29T00:00:00Z""#), none);
    let valve = |attributes: &str| {
        let required = format!(
            "<RequiredModel ModelUri=\"http://acme.example/Valve/\" {attributes}/></Model>"
        );
        findings(&pump().replace("</Model>", &required))
    };
    assert_eq!(valve(r#"ModelVersion="1.4.12""#), none);
    assert_eq!(valve(r#"PublicationDate="2024-02-15""#), none);
    assert_eq!(
        valve(r#"ModelVersion="1.4.11""#),
        [
            "pump.xml:11:30: note[PK0075]: no registry has ModelVersion 1.4.11 of `http://acme.example/Valve/`; the \
             next one is 1.4@2024-02-15"
        ]
    );
    assert_eq!(
        valve(r#"Version="1.4" PublicationDate="2024-02-15" ModelVersion="2.0.0""#),
        [
            "pump.xml:11:30: warning[PK0075]: no registry has 1.4@2024-02-15 (2.0.0) of `http://acme.example/Valve/`, \
             nor any that is newer"
        ]
    );
    // Two releases can have one date, and the requirement says which it means.
    assert_eq!(
        stated(r#"Version="1.04.3" PublicationDate="2022-03-29T00:00:00Z""#),
        [
            "pump.xml:9:32: note[PK0075]: no registry has 1.04.3@2022-03-29 of `http://opcfoundation.org/UA/`; the \
             next one is 1.03.9@2022-03-29"
        ]
    );
}

#[test]
fn types_that_the_file_should_define_are_looked_up_in_it() {
    let object = r#"<UAObject NodeId="ns=1;i=5" BrowseName="1:A">
      <References><Reference ReferenceType="HasTypeDefinition">ns=1;i=405</Reference></References></UAObject>
      <UAObject NodeId="ns=1;i=6" BrowseName="1:B">
      <References><Reference ReferenceType="HasTypeDefinition">ns=1;i=1001</Reference></References></UAObject>
      <UAVariable NodeId="ns=1;i=7" BrowseName="1:C" DataType="ns=1;i=406">
      <References><Reference ReferenceType="ns=1;i=407">ns=1;i=5</Reference></References></UAVariable>
      </UANodeSet>"#;
    let text = pump().replace("ns=2;i=1001", "ns=1;i=404");
    let text = text.replace("</UANodeSet>", object);
    assert_eq!(
        findings(&text),
        [
            "pump.xml:24:63: error[PK0013]: `1:PumpType` extends `i=404` of `http://acme.example/Pump/`, which the file \
             does not define",
            "pump.xml:35:64: warning[PK0076]: the type definition `i=405` of `http://acme.example/Pump/` is used, which \
             the file does not define",
            "pump.xml:38:64: warning[PK0076]: the data type `i=406` of `http://acme.example/Pump/` is used, which the \
             file does not define",
            "pump.xml:39:45: warning[PK0076]: the reference type `i=407` of `http://acme.example/Pump/` is used, which \
             the file does not define",
        ]
    );
    let found = findings(&pump().replace("ns=2;i=1001", "ns=1;i=6001"));
    assert!(
        found[0].ends_with("which the file does not define as ObjectType"),
        "{found:?}"
    );
}

#[test]
fn references_of_a_root_have_their_places() {
    let text = pump();
    let place = |class: &str| {
        let class = ClassName::native(class).expect("a name");
        let file = FormatFile {
            path: "pump.xml",
            bytes: text.as_bytes(),
        };
        let place = NodeSets.reference_place(&file, &(), &class, &ReadOptions::default());
        place.map(|place| place.to_string())
    };
    let extended = place("http://acme.example/Motor/;i=1001(ObjectType)");
    assert_eq!(extended.as_deref(), Some("pump.xml:24:63"));
    assert_eq!(place("http://acme.example/Motor/;i=1001(DataType)"), None);
    assert_eq!(place("http://acme.example/Motor/;i=1001"), None);
    let used = place("http://opcfoundation.org/UA/;i=11");
    assert_eq!(used.as_deref(), Some("pump.xml:27:70"));
}

#[test]
fn files_in_utf16_are_read_like_those_in_utf8() {
    let text = pump().replace("ns=2;i=1001", "ns=2;i=404");
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    let file = FormatFile {
        path: "pump.xml",
        bytes: &bytes,
    };
    assert!(NodeSets.is_root(&file) && NodeSets.release_extent(&file).is_some());
    let found = NodeSets.check_root(&file, &(), &known(), &ReadOptions::default());
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings(&text));
    assert!(found[0].contains("PK0013"), "{found:?}");
    let releases = NodeSets.read_releases(&file, &(), &ReadOptions::default());
    let (releases, _) = releases.into_result().expect("it is a release");
    assert_eq!(releases[0].digest, ArtifactDigest::of_archive(&bytes));
    let root = NodeSets.read_root(&file, &(), &ReadOptions::default());
    let (root, _) = root.into_result().expect("it is a root");
    assert_eq!(root.record.requirements.len(), 2);
}

#[test]
fn models_of_one_file_are_not_looked_up_in_registries() {
    let second = r#"</Model><Model ModelUri="http://acme.example/Motor/" Version="7" PublicationDate="2030-01-01T00:00:00Z"/>
  </Models>"#;
    let text = pump().replace("</Model>\n  </Models>", second);
    let text = text.replace("Version=\"1.1\"", "Version=\"6\"");
    assert_eq!(
        findings(&text),
        [
            "pump.xml:24:63: error[PK0013]: `1:PumpType` extends `i=1001` of `http://acme.example/Motor/`, which the \
             file does not define"
        ]
    );
}

#[test]
fn a_file_without_models_is_no_release() {
    let text = pump();
    let (head, rest) = text.split_once("<Models>").expect("there are models");
    let (_, tail) = rest.split_once("</Models>").expect("there are models");
    for models in ["", "<Models></Models>"] {
        assert_eq!(
            findings(&format!("{head}{models}{tail}")),
            [
                "pump.xml:1:1: error[PK0007]: the file has no `Model`, so it is not a release; hint: only NodeSet2 \
                 files with a `Model` say what they require"
            ]
        );
    }
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

#[test]
fn types_among_their_own_supertypes_are_errors() {
    let file = |types: &str| {
        format!(
            r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>urn:r</Uri></NamespaceUris>
<Models><Model ModelUri="urn:r" Version="1" PublicationDate="2024-06-01T00:00:00Z"/></Models>
<Aliases><Alias Alias="HasSubtype">i=45</Alias></Aliases>{types}</UANodeSet>"#
        )
    };
    let one = |id: u32, name: &str, parent: &str| {
        format!(
            r#"<UAObjectType NodeId="ns=1;i={id}" BrowseName="1:{name}"><References><Reference ReferenceType="HasSubtype" IsForward="false">{parent}</Reference></References></UAObjectType>"#
        )
    };
    let cycle = [
        one(1, "R", "ns=1;i=2"),
        one(2, "Q", "ns=1;i=1"),
        one(3, "Below", "ns=1;i=1"),
        one(4, "Self", "ns=1;i=4"),
        one(5, "Right", "i=58"),
        one(6, "BelowRight", "ns=1;i=5"),
    ];
    let found = findings(&file(&cycle.concat()));
    let cycles = found.iter().filter(|one| one.contains("PK0015"));
    let cycles: Vec<&str> = cycles
        .filter_map(|one| one.split("error[PK0015]: ").nth(1))
        .collect();
    assert_eq!(
        cycles,
        [
            "`1:R` is among its own supertypes",
            "`1:Q` is among its own supertypes",
            "`1:Self` is among its own supertypes"
        ]
    );
}

#[test]
fn elements_are_read_in_each_order_that_can_be_read() {
    let file = |first: &str, second: &str| {
        format!(
            r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">{first}{second}</UANodeSet>"#
        )
    };
    let uris = "<NamespaceUris><Uri>urn:x</Uri></NamespaceUris>";
    let models = r#"<Models><Model ModelUri="urn:x" Version="1" PublicationDate="2024-01-01T00:00:00Z"/></Models>"#;
    assert_eq!(findings(&file(models, uris)), [""; 0]);
    assert_eq!(findings(&file(uris, models)), [""; 0]);
    let unlisted = findings(&file(models, "<NamespaceUris/>"));
    assert!(unlisted[0].ends_with("the model `urn:x` is not among the `NamespaceUris`"));
    let node = r#"<UAObject NodeId="ns=1;i=1" BrowseName="1:A"><References><Reference ReferenceType="Mine">i=58</Reference></References></UAObject>"#;
    let aliases = r#"<Aliases><Alias Alias="Mine">i=45</Alias></Aliases>"#;
    let late = findings(&file(&format!("{uris}{models}{node}"), aliases));
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(
        late[0].ends_with("`Aliases` has to precede `UAObject`"),
        "{late:?}"
    );
    let late = findings(&file(&format!("{aliases}{models}{node}"), uris));
    assert!(
        late[0].ends_with("`NamespaceUris` has to precede `Aliases`"),
        "{late:?}"
    );
}

#[test]
fn a_namespace_that_no_registry_has_has_a_suggestion() {
    struct Similar(Known);
    impl ReleaseLookup for Similar {
        fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
            self.0.releases(package)
        }

        fn similar(&self, package: &PackageName) -> Option<PackageName> {
            PackageName::native(&format!("{package}/")).ok()
        }
    }
    let text = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>urn:x</Uri></NamespaceUris><Models><Model ModelUri="urn:x" Version="1" PublicationDate="2024-01-01T00:00:00Z"><RequiredModel ModelUri="http://opcfoundation.org/UA"/></Model></Models></UANodeSet>"#;
    let file = FormatFile {
        path: "x.xml",
        bytes: text.as_bytes(),
    };
    let found = NodeSets.check_root(&file, &(), &Similar(known()), &ReadOptions::default());
    assert_eq!(
        found[0].hints,
        ["did you mean `http://opcfoundation.org/UA/`?"]
    );
}
