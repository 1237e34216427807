//! The corpus of OPC UA models, as index records.

use std::collections::BTreeSet;
use std::io::Read as _;

use flate2::read::GzDecoder;
use pkgres_formats::ECOSYSTEMS;
use pkgres_manifest::diagnostic::{Location, SourceText};
use pkgres_manifest::{IndexReader, IndexRecord, Limits};
use serde_json::{Map, Value, json};

use crate::shared;

/// The lines of the corpus; `None` if it is not there.
pub fn lines() -> Option<Vec<Value>> {
    let bytes = std::fs::read(shared::path("corpus/opcua/index.jsonl.gz")?);
    let mut text = String::new();
    let read = GzDecoder::new(&*bytes.expect("it can be read")).read_to_string(&mut text);
    read.expect("the corpus is compressed");
    let lines = text.lines().map(serde_json::from_str);
    Some(lines.collect::<Result<_, _>>().expect("the lines are JSON"))
}

/// The releases of the corpus that are no drafts; `None` if it is not there. Of a release with two contents, the one
/// that is named first counts.
pub fn releases() -> Option<Vec<IndexRecord>> {
    let lines = lines()?;
    let is_release =
        |line: &&Value| line["released"] == true && line.get("variant").is_none_or(Value::is_null);
    let releases = lines.iter().filter(is_release);
    Some(
        releases
            .map(|line| read(&record_of(line).to_string()))
            .collect(),
    )
}

/// A line of the corpus as an index record.
pub fn record_of(line: &Value) -> Value {
    let text = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
    let published = text(&line["published"]).unwrap_or_default();
    let date = published.strip_suffix("T00:00:00Z").unwrap_or(&published);
    let version = format!("{}@{date}", text(&line["version"]).unwrap_or_default());
    let ids = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let types = line["types"].as_object().expect("there are types");
    let classes: Map<String, Value> = types
        .iter()
        .map(|(id, one)| {
            let kind = one[0].as_str().expect("a type has a kind");
            let mut class = json!({"name": one[1], "kind": kind, "extends": ids(&one[2])});
            let interfaces = ids(&one[3]);
            if kind == "ObjectType" {
                let extends = class["extends"].as_array_mut().expect("it is a list");
                extends.extend(interfaces);
            } else {
                class["interfaces"] = interfaces.into();
            }
            (id.clone(), class)
        })
        .collect();
    let uses = line["uses"].as_array().expect("there are uses").iter();
    let uses: BTreeSet<&str> = uses.filter_map(|used| used[0].as_str()).collect();
    json!({
        "ecosystem": "opcua",
        "name": line["uri"],
        "version": version,
        "model_version": line["model_version"],
        "published": line["published"],
        "require": line["required"],
        "classes": classes,
        "uses": uses,
    })
}

/// Reads a record through the reader of all index records.
pub fn read(line: &str) -> IndexRecord {
    let mut reader = IndexReader::of_ecosystems(Limits::default(), ECOSYSTEMS);
    let locate = |span| Location::new(&SourceText::new("index record", line), span);
    match reader.read_line(line, &locate) {
        Ok(record) => record,
        Err(error) => panic!("{error}: {}", &line[..line.len().min(300)]),
    }
}
