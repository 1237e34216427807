//! NodeSet files, and index records of OPC UA models.

use pkgres_formats::opcua::{ECOSYSTEM, ModelRelease, NodeSets, read_node_set};
use pkgres_formats::{Format as _, FormatFile, ReleaseLookup};
use pkgres_manifest::{IndexRecord, Limits, PackageName, ReadOptions};

use crate::property::{are_safe, checked, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz targets of OPC UA models.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "nodeset",
        run: node_set,
        seeds: || {
            let mut seeds = files(|path| path.ends_with(".xml"));
            seeds.extend(texts(&NODE_SETS));
            seeds
        },
        words: &[
            "<Models>",
            "</Models>",
            "<Model ModelUri=\"",
            "<RequiredModel ",
            "<UAObjectType NodeId=\"ns=1;i=1\"",
            "<Reference ReferenceType=\"HasSubtype\" IsForward=\"false\">",
            "</Reference>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "&amp;",
            "&#0;",
            "&x;",
            "<!DOCTYPE a>",
            "nsu=",
            "s=",
            "xmlns=",
            "/>",
            "\u{feff}",
            "ns=65535;i=1",
        ],
        quick: 4_000,
    },
    Target {
        name: "model_record",
        run: model_record,
        seeds: || texts(&MODEL_RECORDS),
        words: &[
            "\"ecosystem\":\"opcua\"",
            "\"model_version\":",
            "\"published\":",
            "\"require\":[[",
            "\"classes\":{",
            "\"kind\":\"ObjectType\"",
            "\"extends\":[",
            "\"interfaces\":[",
            "nsu=",
            ";s=",
            "@2024-01-01",
            " (1.0.0-rc.1)",
            "null",
            "%41",
            "\\u0000",
        ],
        quick: 6_000,
    },
];

const NODE_SETS: [&str; 2] = [
    "<u:UANodeSet xmlns:u='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><u:Models><u:Model ModelUri=\
     'http://opcfoundation.org/UA/' Version='1' PublicationDate='2024-02-02T12:00:00Z' ModelVersion='1.0.0-a.1'/>\
     </u:Models><u:UAObjectType NodeId='s=a&lt;&#x62;' BrowseName='&amp;'/></u:UANodeSet>",
    "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><NamespaceUris><Uri>a:b</Uri></NamespaceUris>\
     <Models><Model ModelUri='a:b'/></Models><UADataType NodeId='nsu=a:b;g=09087e75-8e5e-499b-954f-f2a9603db28a'>\
     <Definition><Field DataType='b=AA=='/></Definition></UADataType></UANodeSet>",
];

const MODEL_RECORDS: [&str; 3] = [
    r#"{"ecosystem":"opcua","name":"http://a.example/","version":"1.2@2024-03-01","model_version":"1.2.0-rc.1","published":"2024-03-01T00:00:00Z","require":[["http://opcfoundation.org/UA/","1.05.03",null,"2023-12-15T00:00:00Z"],["b:c",null,null,null]],"classes":{"i=1":{"name":"1:A","kind":"ObjectType","extends":["i=2","nsu=b:c;s=x y"],"uses":["nsu=b:c;i=4"]},"i=2":{"kind":"VariableType","interfaces":["i=1"]}},"uses":["nsu=b:c;i=9"],"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":12,"yanked":true}"#,
    r#"{"ecosystem":"opcua","name":"a","version":"@"}"#,
    r#"{"ecosystem":"opcua","name":"urn:a","version":"1.0 RC@2020-01-01T00:00:00.5Z","classes":{}}"#,
];

/// No releases.
pub(crate) struct NoReleases;

impl ReleaseLookup for NoReleases {
    fn releases(&self, _: &PackageName) -> Option<Vec<IndexRecord>> {
        None
    }
}

/// A NodeSet file: what is read of it can be written and read again, and its findings can be shown.
fn node_set(input: &[u8]) {
    let file = FormatFile {
        path: "model.xml",
        bytes: input,
    };
    let options = ReadOptions::default();
    let _ = NodeSets.release_extent(&file);
    let node_set = checked(read_node_set("model.xml", input));
    are_safe(&NodeSets.check_root(&file, &(), &NoReleases, &options));
    checked(NodeSets.read_root(&file, &(), &options));
    checked(NodeSets.declarations(&file, &(), &options));
    let releases = checked(NodeSets.read_releases(&file, &(), &options));
    for release in releases.into_iter().flatten() {
        assert!(node_set.is_some());
        round_trip(&release.record);
    }
}

/// A line of an index: what is read can be written, and reads as the same again.
fn model_record(input: &[u8]) {
    let Ok(line) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(record) = ECOSYSTEM.read_record(line, &Limits::default()) {
        round_trip(&record);
    }
    if let Ok(version) = ECOSYSTEM.version(line) {
        is_safe_line(&version.to_string());
        let release = ModelRelease::of(&version).expect("it is a release");
        assert_eq!(release.to_version(), version);
    }
    if let Ok(spec) = ECOSYSTEM.spec(line) {
        is_safe_line(spec.written());
        assert_eq!(ECOSYSTEM.spec(spec.written()).as_ref(), Ok(&spec));
    }
}

fn round_trip(record: &IndexRecord) {
    is_safe_line(&record.version.to_string());
    let line = record.to_line();
    let again = ECOSYSTEM.read_record(&line, &Limits::default());
    let again = again.unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(again.to_line(), line);
    assert_eq!(again.version, record.version);
    assert_eq!(again.requirements.len(), record.requirements.len());
}
