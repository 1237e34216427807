//! What is read of NodeSet files, and what is wrong with them.

use pkgres_formats::opcua::{ECOSYSTEM, NodeSet, NodeSets, TypeKind, read_node_set};
use pkgres_formats::{Format as _, FormatFile, ReleaseExtent};
use pkgres_manifest::{IndexRecord, Limits, ReadOptions};

use super::file;

const UA: &str = "http://opcfoundation.org/UA/";
const PUMP: &str = "http://acme.example/Pump/";

/// The beginning of a file of a model that requires another one and OPC UA itself.
const HEAD: &str = r#"<NamespaceUris><Uri>http://acme.example/Pump/</Uri><Uri>http://acme.example/Motor/</Uri></NamespaceUris>
<Models>
  <Model ModelUri="http://acme.example/Pump/" Version="1.2" PublicationDate="2024-03-01T00:00:00Z" ModelVersion="1.2.0">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05.03" PublicationDate="2023-12-15T00:00:00Z"/>
    <RequiredModel ModelUri="http://acme.example/Motor/" Version="2.0"/>
  </Model>
</Models>
<Aliases><Alias Alias="HasSubtype">i=45</Alias><Alias Alias="HasTypeDefinition"> i=40 </Alias><Alias Alias="Speed">ns=2;i=11</Alias></Aliases>"#;

const TYPES: &str = r#"<UAObjectType NodeId="ns=1;i=1" BrowseName="1:PumpType" IsAbstract="true">
  <DisplayName>Pump &amp; type</DisplayName>
  <References>
    <Reference ReferenceType="HasSubtype" IsForward="false">ns=2;i=1</Reference>
    <Reference ReferenceType="HasSubtype" IsForward="false">ns=2;i=1</Reference>
    <Reference ReferenceType="HasSubtype">ns=1;i=2</Reference>
    <Reference ReferenceType="i=17603">i=17602</Reference>
  </References>
</UAObjectType>
<UAObjectType NodeId="ns=1;i=2" BrowseName="1:BigPumpType"><!-- the supertype knows it --></UAObjectType>
<UADataType NodeId="nsu=http://acme.example/Pump/;i=3" BrowseName="1:PumpData">
  <References><Reference ReferenceType="i=45" IsForward="0">i=22</Reference></References>
  <Definition Name="PumpData"><Field Name="speed" DataType="Speed"/><Field Name="own" DataType="ns=1;i=3"/></Definition>
</UADataType>
<UAVariableType NodeId="ns=1;s=level&lt;1&gt;" BrowseName="1:LevelType" DataType="i=11">
  <References><Reference ReferenceType="HasSubtype" IsForward="false">i=63</Reference></References>
</UAVariableType>
<UAObject NodeId="ns=1;i=100" BrowseName="1:Pump">
  <References>
    <Reference ReferenceType="HasTypeDefinition">ns=1;i=1</Reference>
    <Reference ReferenceType="ns=2;i=40">ns=1;i=101</Reference>
    <Reference ReferenceType="i=17603">ns=2;i=7</Reference>
  </References>
</UAObject>
<UAVariable NodeId="ns=1;i=101" BrowseName="1:Speed" DataType="Speed">
  <References><Reference ReferenceType="HasTypeDefinition">i=63</Reference></References>
  <Value><Double xmlns="http://opcfoundation.org/UA/2008/02/Types.xsd">1.5</Double></Value>
</UAVariable>"#;

fn read(text: &str) -> NodeSet<'_> {
    match read_node_set("pump.xml", text.as_bytes()).into_result() {
        Ok((node_set, findings)) => {
            assert_eq!(findings, [], "{text}");
            node_set
        }
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The findings about a file, as they are shown.
fn findings(text: &str) -> Vec<String> {
    let read = read_node_set("pump.xml", text.as_bytes());
    read.diagnostics().iter().map(ToString::to_string).collect()
}

fn record(text: &str) -> IndexRecord {
    let (mut records, warnings) = read(text).records(false).expect("the names are valid");
    assert_eq!(warnings, []);
    assert_eq!(records.len(), 1);
    records.remove(0)
}

#[test]
fn a_file_becomes_an_index_record() {
    let record = record(&file(&format!("{HEAD}{TYPES}")));
    let line = record.to_line();
    let value: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
    let expected = serde_json::json!({
        "ecosystem": "opcua",
        "name": PUMP,
        "version": "1.2@2024-03-01",
        "model_version": "1.2.0",
        "published": "2024-03-01T00:00:00Z",
        "require": [
            [UA, "1.05.03", null, "2023-12-15T00:00:00Z"],
            ["http://acme.example/Motor/", null, null, null],
        ],
        "classes": {
            "i=1": {
                "name": "1:PumpType",
                "kind": "ObjectType",
                "extends": ["nsu=http://acme.example/Motor/;i=1", "nsu=http://opcfoundation.org/UA/;i=17602"],
                "uses": ["nsu=http://opcfoundation.org/UA/;i=17603", "nsu=http://opcfoundation.org/UA/;i=45"],
            },
            "i=2": {"name": "1:BigPumpType", "kind": "ObjectType", "extends": ["i=1"]},
            "i=3": {
                "name": "1:PumpData",
                "kind": "DataType",
                "extends": ["nsu=http://opcfoundation.org/UA/;i=22"],
                "uses": ["nsu=http://acme.example/Motor/;i=11", "nsu=http://opcfoundation.org/UA/;i=45"],
            },
            "s=level<1>": {
                "name": "1:LevelType",
                "kind": "VariableType",
                "extends": ["nsu=http://opcfoundation.org/UA/;i=63"],
                "uses": ["nsu=http://opcfoundation.org/UA/;i=11", "nsu=http://opcfoundation.org/UA/;i=45"],
            },
        },
        "uses": [
            "nsu=http://acme.example/Motor/;i=11",
            "nsu=http://acme.example/Motor/;i=40",
            "nsu=http://acme.example/Motor/;i=7",
            "nsu=http://opcfoundation.org/UA/;i=17603",
            "nsu=http://opcfoundation.org/UA/;i=40",
            "nsu=http://opcfoundation.org/UA/;i=63",
        ],
    });
    assert_eq!(value, expected);
    let again = ECOSYSTEM
        .read_record(&line, &Limits::default())
        .expect("it was written");
    assert_eq!(again, record);
}

#[test]
fn byte_order_marks_prefixes_and_several_models_are_read() {
    let text = file(&format!("{HEAD}{TYPES}"));
    let expected = read(&text);
    let marked = format!("\u{feff}{text}");
    let with_mark = read(&marked);
    assert_eq!(with_mark.types, expected.types);
    let prefixed = "<u:UANodeSet xmlns:u='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'>\
        <u:NamespaceUris><u:Uri>http://a.example/</u:Uri><u:Uri>http://b.example/</u:Uri></u:NamespaceUris>\
        <u:Models><u:Model ModelUri='http://a.example/' Version='1'/>\
        <u:Model ModelUri='http://b.example/'><u:RequiredModel ModelUri='http://a.example/'/></u:Model></u:Models>\
        <u:UAObjectType NodeId='ns=1;i=1' BrowseName='1:A'/><UAObjectType NodeId='ns=1;i=2' BrowseName='not ours'/>\
        <u:UAObjectType NodeId='ns=2;i=1' BrowseName='2:B'><u:References>\
        <u:Reference ReferenceType='HasSubtype' IsForward='false'>ns=1;i=1</u:Reference></u:References></u:UAObjectType>\
        </u:UANodeSet>";
    let node_set = read(prefixed);
    assert_eq!(node_set.types.len(), 2);
    let (records, _) = node_set.records(false).expect("the names are valid");
    let names: Vec<String> = records
        .iter()
        .map(|one| format!("{} {}", one.name, one.version))
        .collect();
    assert_eq!(names, ["http://a.example/ 1@", "http://b.example/ @"]);
    assert_eq!(records[1].requirements[0].spec.written(), "*");
    // As a root they are one.
    let options = ReadOptions::default();
    let root = FormatFile {
        path: "both.xml",
        bytes: prefixed.as_bytes(),
    };
    let (root, warnings) = NodeSets
        .read_root(&root, &(), &options)
        .into_result()
        .expect("it is a root");
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("2 models"), "{}", warnings[0]);
    assert!(root.record.requirements.is_empty());
    assert_eq!(root.record.classes.expect("they are known").len(), 4);
}

#[test]
fn a_namespace_that_is_not_required_is_required_in_any_release() {
    let head = HEAD.replace(
        r#"<RequiredModel ModelUri="http://acme.example/Motor/" Version="2.0"/>"#,
        "",
    );
    let text = file(&format!("{head}{TYPES}"));
    let (records, warnings) = read(&text).records(true).expect("the names are valid");
    let motor = &records[0].requirements[1];
    assert_eq!(motor.package.as_str(), "http://acme.example/Motor/");
    assert_eq!(motor.spec.written(), "*");
    let shown: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(
        shown[0].starts_with(
            "pump.xml:13:61: warning[PK0085]: `1:PumpType` extends a type of `http://acme.example/Motor/`, which \
             `http://acme.example/Pump/` does not require; any release of it is accepted"
        ),
        "{}",
        shown[0]
    );
    assert!(motor.location.is_some());
    let sibling = r#"<Model ModelUri="http://acme.example/Motor/" Version="2.0"/></Models>"#;
    let text = file(&format!("{}{TYPES}", head.replace("</Models>", sibling)));
    let (_, warnings) = read(&text).records(true).expect("the names are valid");
    let end = "does not require; 2.0@ is in the same file";
    assert!(warnings[0].message.ends_with(end), "{}", warnings[0]);
}

#[test]
fn what_is_no_release_is_told_apart() {
    let plain = file(&format!("{HEAD}{TYPES}"));
    let extent = |name: &str, text: &str| {
        let file = FormatFile {
            path: name,
            bytes: &text.as_bytes()[..text.len().min(4096)],
        };
        let is_named = NodeSets.is_release_name(file.name());
        is_named.then(|| NodeSets.release_extent(&file)).flatten()
    };
    for name in [
        "a/Opc.Ua.Di.NodeSet2.xml",
        "x.XML",
        "Opc.Ua.CNC.NodeSet.xml",
        "Opc.Ua.Services.xml",
    ] {
        assert_eq!(extent(name, &plain), Some(ReleaseExtent::File), "{name}");
    }
    for name in [
        "Opc.Ua.NodeSet2.Services.xml",
        "Opc.Ua.NodeSet2.Part8.xml",
        "Opc.Ua.Di.NodeSet2_WithNames.xml",
        "Opc.Ua.Di.NodeSet2-old.xml",
        "Opc.Ua.Di.Types.xsd",
        "xml",
    ] {
        assert_eq!(extent(name, &plain), None, "{name}");
    }
    for other in [
        "",
        "{}",
        "<NodeSet/>",
        "<!-- a --><opc:ModelDesign/>",
        "plain",
    ] {
        assert_eq!(extent("a.xml", other), None, "{other}");
    }
    let long = format!("<!-- {} -->{}", "licence ".repeat(1000), "<other/>");
    let file = |text: &str| {
        let file = FormatFile {
            path: "a.xml",
            bytes: text.as_bytes(),
        };
        NodeSets
            .read_releases(&file, &(), &ReadOptions::default())
            .into_result()
    };
    assert_eq!(extent("a.xml", &long), Some(ReleaseExtent::File));
    assert_eq!(file(&long).expect("it is something else").0, []);
    let (none, _) = file(&self::file("<Aliases/>")).expect("it is a file without models");
    assert_eq!(none, []);
}

#[test]
fn errors_have_their_places() {
    let with = |content: &str| findings(&file(content));
    let head = |content: &str| with(&format!("{HEAD}{content}"));
    for (found, expected) in [
        (
            with("<Models><Model/></Models>"),
            "pump.xml:3:10: error[PK0007]: a `Model` without the attribute `ModelUri`",
        ),
        (
            with("<Models><Model ModelUri='http://a.example/'/></Models>"),
            "pump.xml:3:26: error[PK0007]: the model `http://a.example/` is not among the `NamespaceUris`",
        ),
        (
            with(
                "<Models><Model ModelUri='http://opcfoundation.org/UA/' PublicationDate='soon'/></Models>",
            ),
            "pump.xml:3:73: error[PK0009]: the `PublicationDate` `soon` is not a time such as `2023-12-15T00:00:00Z`",
        ),
        (
            with(
                "<Models><Model ModelUri='http://opcfoundation.org/UA/'><RequiredModel ModelUri='http://opcfoundation.org/UA/'/></Model></Models>",
            ),
            "pump.xml:3:81: error[PK0017]: the model `http://opcfoundation.org/UA/` requires itself",
        ),
        (
            with("<Models><Model ModelUri='http://a b/'/></Models>"),
            "pump.xml:3:26: error[PK0008]: the URI `http://a b/` cannot be used: a name begins with a letter, a digit or `_`, \
             does not end with `:`, and cannot have ` `",
        ),
        (
            head("<UAObjectType NodeId='ns=9;i=1'/>"),
            "pump.xml:10:165: error[PK0007]: the file has no namespace 9: the `NamespaceUris` are 2",
        ),
        (
            head("\n<UAObjectType NodeId='58'/>"),
            "pump.xml:11:23: error[PK0007]: `58` is not a NodeId such as `ns=1;i=58`",
        ),
        (
            head(
                "\n<UAObjectType NodeId='ns=1;i=1'><References><Reference ReferenceType='HasSubtype' IsForward='false'>Motor</Reference></References></UAObjectType>",
            ),
            "pump.xml:11:101: error[PK0007]: `Motor` is neither a NodeId nor an alias",
        ),
        (
            head("\n<UAObjectType NodeId='ns=1;i=1'/><UADataType NodeId='ns=1;i=1'/>"),
            "pump.xml:11:54: error[PK0007]: the type `ns=1;i=1` is defined twice",
        ),
        (
            head(
                "\n<UAObject NodeId='ns=1;i=1'><References><Reference ReferenceType='HasPumps'>ns=1;i=2</Reference></References></UAObject>",
            ),
            "pump.xml:11:67: warning[PK0007]: `HasPumps` is neither a NodeId nor an alias; references of this type are skipped",
        ),
        (
            with("<Models><Models></Model></Models>"),
            "pump.xml:3:17: error[PK0002]: ill-formed document: expected `</Models>`, but `</Model>` was found",
        ),
        (
            findings("<UANodeSet xmlns='http://acme.example/'/>"),
            "pump.xml:1:2: error[PK0018]: `UANodeSet` is in the namespace `http://acme.example/`, and that of NodeSet \
             files is `http://opcfoundation.org/UA/2011/03/UANodeSet.xsd`",
        ),
        (
            findings("<UANodeSet/>"),
            "pump.xml:1:2: error[PK0018]: `UANodeSet` has no namespace, and that of NodeSet files is \
             `http://opcfoundation.org/UA/2011/03/UANodeSet.xsd`",
        ),
        (
            with("<Extensions>\u{1}</Extensions>"),
            "pump.xml:3:13: error[PK0002]: U+0001 is not a character of XML",
        ),
        (
            with("<Extensions>&#0;</Extensions>"),
            "pump.xml:3:17: error[PK0002]: the entity `#0` is not defined",
        ),
        (
            findings(" <?xml version='1.0'?><UANodeSet/>"),
            "pump.xml:1:1: error[PK0002]: there is something before the XML declaration",
        ),
        (
            findings("<!DOCTYPE a [<!ENTITY a 'b'>]><UANodeSet/>"),
            "pump.xml:1:31: error[PK0002]: a document type definition is not allowed",
        ),
        (
            with("<Aliases><Alias Alias='a'>&file;</Alias></Aliases>"),
            "pump.xml:3:33: error[PK0002]: the entity `file` is not defined",
        ),
        (
            with("<Models><Model ModelUri='a&b\nc;'/></Models>"),
            "pump.xml:3:26: error[PK0002]: at 2..5: unrecognized entity `b\\u{a}c`",
        ),
        (
            with("<Models><Model ModelUri='http://opcfoundation.org/UA/' ModelUri='x'/></Models>"),
            "pump.xml:3:66: error[PK0002]: the attribute `ModelUri` appears twice",
        ),
        (
            findings("<NodeSet/>"),
            "pump.xml:1:2: error[PK0018]: `NodeSet` is not the root element of a NodeSet file, which is `UANodeSet` of \
             http://opcfoundation.org/UA/2011/03/UANodeSet.xsd",
        ),
        (
            findings("not XML"),
            "pump.xml:1:1: error[PK0002]: the root element is missing",
        ),
        (
            findings("<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'>"),
            "pump.xml:1:70: error[PK0002]: the document ends within an element",
        ),
        (
            findings(&format!("{}\n  more\n", file(HEAD).trim_end())),
            "pump.xml:12:3: error[PK0002]: the document goes on after its root element",
        ),
    ] {
        assert_eq!(found.first().map(String::as_str), Some(expected));
    }
}

#[test]
fn a_namespace_that_does_not_exist_is_reported_once() {
    let text = file(&format!(
        r#"{HEAD}<UAObject NodeId="ns=1;i=5" DataType="ns=8;i=1"><References><Reference ReferenceType="HasTypeDefinition">ns=9;i=1</Reference></References></UAObject>"#
    ));
    let found = findings(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    for (finding, number) in found.iter().zip([8, 9]) {
        assert!(
            finding.contains(&format!("the file has no namespace {number}")),
            "{finding}"
        );
    }
}

#[test]
fn references_that_look_alike_have_their_own_places() {
    let node = |id: u32, references: &str| {
        format!(
            "<UAObjectType NodeId='ns=1;i={id}'><References>{references}</References></UAObjectType>\n"
        )
    };
    let wrong = "<Reference ReferenceType='i=45' IsForward='no'>i=58</Reference>";
    let found = findings(&file(&format!(
        "{HEAD}\n{}{}",
        node(1, wrong),
        node(2, wrong)
    )));
    assert_eq!(
        found,
        [11, 12].map(|line| format!(
            "pump.xml:{line}:46: error[PK0007]: `IsForward` is `true` or `false`, not `no`"
        ))
    );
    // The name is reported once, however the other attributes are.
    let unknown = "<Reference ReferenceType='HasPumps'>i=1</Reference>\
                   <Reference ReferenceType='HasPumps' IsForward='false'>i=1</Reference>";
    let found = findings(&file(&format!(
        "{HEAD}\n{}{}",
        node(1, unknown),
        node(2, unknown)
    )));
    assert_eq!(found.len(), 1, "{found:?}");
    let component = "<Reference ReferenceType='i=47'>i=1</Reference>";
    let text = file(&format!(
        "{HEAD}\n{}{}",
        node(1, component),
        node(2, &format!("{component}{component}"))
    ));
    let node_set = read(&text);
    let places = node_set.types.iter().map(|one| {
        let [used] = &one.uses[..] else {
            panic!("one use: {:?}", one.uses);
        };
        used.span.start - one.span.start
    });
    assert_eq!(places.collect::<Vec<_>>(), [48, 48]);
    assert!(node_set.types.iter().all(|one| {
        let span = one.uses[0].span;
        text[span.start..span.end] == *"i=47"
    }));
}

#[test]
fn the_depth_is_limited_everywhere() {
    // The first is within the node set, the second within the text of an alias.
    for (before, after, depth) in [
        ("", "", 63),
        ("<Aliases><Alias Alias='a'>i=1", "</Alias></Aliases>", 61),
    ] {
        let nested = |depth: usize, inner: &str| {
            let (open, close) = ("<a>".repeat(depth), "</a>".repeat(depth));
            findings(&file(&format!("{before}{open}{inner}{close}{after}")))
        };
        assert_eq!(nested(depth, "x"), Vec::<String>::new());
        assert_eq!(nested(depth - 1, "<a/>"), Vec::<String>::new());
        for found in [nested(depth, "<a/>"), nested(depth + 1, "")] {
            assert!(
                found[0].ends_with("more than the limit of 64 nested elements"),
                "{found:?}"
            );
        }
        assert!(nested(1, "&file;")[0].ends_with("the entity `file` is not defined"));
    }
}

#[test]
fn limits_hold() {
    let deep = |depth: usize| {
        let text = file(&format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth)));
        findings(&text)
    };
    assert_eq!(deep(63), Vec::<String>::new());
    assert_eq!(
        deep(64),
        ["pump.xml:3:193: error[PK0001]: more than the limit of 64 nested elements"]
    );
    let large = vec![b' '; (32 << 20) + 1];
    let read = read_node_set("pump.xml", &large);
    assert!(
        read.diagnostics()[0]
            .message
            .contains("more than the limit of 33554432 bytes")
    );
    let uris = file(&format!(
        "<NamespaceUris>{}</NamespaceUris>",
        "<Uri>u</Uri>".repeat(1001)
    ));
    assert!(findings(&uris)[0].contains("more than the limit of 1000 namespaces"));
    let required = |uri: &dyn Fn(usize) -> String| {
        let models: String = (0..1001)
            .map(|at| format!("<RequiredModel ModelUri='urn:{}'/>", uri(at)))
            .collect();
        findings(&file(&format!(
            "<NamespaceUris><Uri>urn:m</Uri></NamespaceUris><Models><Model ModelUri='urn:m'>{models}</Model></Models>"
        )))
    };
    let limit = "more than the limit of 1000 requirements of a model";
    assert!(required(&|at| at.to_string())[0].contains(limit));
    assert!(required(&|_| "same".to_owned())[0].contains(limit));
    let latin = read_node_set("pump.xml", b"<a>\xe9</a>");
    assert_eq!(
        latin.diagnostics()[0].to_string(),
        "pump.xml:1:1: error[PK0006]: the file is not UTF-8 text"
    );
    let declared = b"<?xml version='1.0' encoding='Windows-1252'?><a>\xe9</a>";
    assert_eq!(
        read_node_set("pump.xml", declared).diagnostics()[0].to_string(),
        "pump.xml:1:1: error[PK0006]: the file declares the encoding `windows-1252`, which is not read"
    );
}

#[test]
fn a_type_that_became_another_kind_is_missing() {
    let line = |kind: &str| {
        format!(
            r#"{{"ecosystem":"opcua","name":"{PUMP}","version":"1@","classes":{{"i=1":{{"kind":"{kind}","extends":["i=2"]}}}}}}"#
        )
    };
    let names = |kind: TypeKind| -> Vec<String> {
        let record = ECOSYSTEM.read_record(&line(kind.as_str()), &Limits::default());
        let classes = record
            .expect("it is a record")
            .classes
            .expect("they are known");
        classes
            .iter()
            .flat_map(|class| {
                std::iter::once(class.name.to_string())
                    .chain(class.extends.iter().map(ToString::to_string))
            })
            .collect()
    };
    assert_eq!(
        names(TypeKind::DataType),
        [
            "http://acme.example/Pump/;i=1",
            "http://acme.example/Pump/;i=2(DataType)",
            "http://acme.example/Pump/;i=1(DataType)",
            "http://acme.example/Pump/;i=1",
        ]
    );
    assert!(
        ECOSYSTEM
            .read_record(&line("Object"), &Limits::default())
            .is_err()
    );
}

/// Members that contain each other have as many paths as ways lead to them: here 10 to the power of 16.
#[test]
fn the_paths_of_members_are_limited() {
    let references: String = (0..10)
        .map(|number| format!("<Reference ReferenceType=\"i=47\">ns=1;i={number}</Reference>"))
        .collect();
    let members: String = (0..10)
        .map(|number| {
            format!(
                "<UAObject NodeId=\"ns=1;i={number}\" BrowseName=\"1:m{number}\"><References>\
                 <Reference ReferenceType=\"i=37\">i=78</Reference>{references}</References></UAObject>"
            )
        })
        .collect();
    let text = file(&format!(
        "{HEAD}<UAObjectType NodeId=\"ns=1;i=99\" BrowseName=\"1:T\"><References>{references}</References>\
         </UAObjectType>{members}"
    ));
    let model = FormatFile {
        path: "pump.xml",
        bytes: text.as_bytes(),
    };
    let read = NodeSets.declarations(&model, &(), &ReadOptions::default());
    let findings: Vec<String> = read.diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let limit =
        "error[PK0001]: more than the limit of 67108864 bytes in the paths of mandatory members";
    assert!(findings[0].contains(limit), "{findings:?}");
}

#[test]
fn node_sets_that_cannot_be_read_are_recognized() {
    let set = "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"/>";
    let texts: [Vec<u8>; 4] = [
        format!("<!DOCTYPE UANodeSet>{set}").into_bytes(),
        [
            b"<?xml version=\"1.0\"?><!-- \xe9 -->".as_slice(),
            set.as_bytes(),
        ]
        .concat(),
        [
            b"<?xml version=\"1.0\" encoding=\"windows-1252\"?><!-- \xe9 -->".as_slice(),
            set.as_bytes(),
        ]
        .concat(),
        b"<!DOCTYPE ua:UANodeSet><ua:UANodeSet>".to_vec(),
    ];
    for text in &texts {
        let file = FormatFile {
            path: "pump.xml",
            bytes: text,
        };
        let shown = String::from_utf8_lossy(text);
        assert_eq!(
            NodeSets.release_extent(&file),
            Some(ReleaseExtent::File),
            "{shown}"
        );
        let read = NodeSets.read_releases(&file, &(), &ReadOptions::default());
        assert!(read.into_result().is_err(), "{shown}");
    }
    for text in [
        "<!DOCTYPE html><html>UANodeSet <b>the UANodeSet</b></html>",
        "<!DOCTYPE x><xs:element name=\"UANodeSet\"/>",
        "<!DOCTYPE x><UANodeSetList/>",
        "text about <UANodeSet>",
    ] {
        let file = FormatFile {
            path: "page.xml",
            bytes: text.as_bytes(),
        };
        assert_eq!(NodeSets.release_extent(&file), None, "{text}");
    }
}
