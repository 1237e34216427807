//! `cargo bench -p pkgres-benches --bench node_sets [FILE…]`: reading a NodeSet2 file, compared with the bare event
//! loop of quick-xml on the same bytes with the same configuration: tags have to match, and no text is trimmed.
//!
//! Without a file, one with `TYPES` types (5,000) is generated.

// The table is what this program is run for.
#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use pkgres_benches::measure::{median, thread_time};
use pkgres_formats::opcua::read_node_set;
use quick_xml::Reader;
use quick_xml::events::Event;

/// How often each is measured.
const ROUNDS: usize = 101;

fn main() {
    let paths: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let mut files: Vec<(String, String)> = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        files.push((path, text));
    }
    if files.is_empty() {
        let types =
            std::env::var("TYPES").map_or(5_000, |types| types.parse().expect("TYPES is a number"));
        files.push((format!("{types} types, generated"), generated(types)));
    }
    println!("| file | size | types | event loop | read | ratio |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, text) in &files {
        // By turns, so that other work on the machine disturbs both.
        let (mut bare, mut read) = (Vec::new(), Vec::new());
        let mut types = 0;
        for _ in 0..ROUNDS {
            let start = thread_time();
            black_box(events(text));
            bare.push(thread_time().saturating_sub(start));
            let start = thread_time();
            let parsed = read_node_set("bench.xml", text.as_bytes());
            read.push(thread_time().saturating_sub(start));
            types = parsed.value().expect("the file is valid").types.len();
        }
        let (bare, read) = (median(bare), median(read));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "| {name} | {} kB | {types} | {:.2} ms | {:.2} ms | {:.2}x |",
            text.len() / 1000,
            milliseconds(bare),
            milliseconds(read),
            milliseconds(read) / milliseconds(bare)
        );
    }
}

/// Reads all events of a document, and counts its elements.
fn events(text: &str) -> usize {
    let mut reader = Reader::from_str(text);
    let mut elements = 0;
    loop {
        match reader.read_event().expect("the file is valid") {
            Event::Start(_) | Event::Empty(_) => elements += 1,
            Event::Eof => return elements,
            _ => {}
        }
    }
}

/// A file with types, of which each has a component of its own, as real files have.
fn generated(types: usize) -> String {
    let mut text = String::from(
        r#"<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris>
    <Uri>http://acme.example/Large/</Uri>
  </NamespaceUris>
  <Models>
    <Model ModelUri="http://acme.example/Large/" Version="1.0" PublicationDate="2024-01-01T00:00:00Z">
      <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05.03" PublicationDate="2023-12-15T00:00:00Z" />
    </Model>
  </Models>
  <Aliases>
    <Alias Alias="Double">i=11</Alias>
    <Alias Alias="HasComponent">i=47</Alias>
    <Alias Alias="HasTypeDefinition">i=40</Alias>
    <Alias Alias="HasModellingRule">i=37</Alias>
    <Alias Alias="HasSubtype">i=45</Alias>
  </Aliases>
"#,
    );
    for number in 0..types {
        let parent = match number {
            0 => "i=58".to_owned(),
            _ => format!("ns=1;i={}", 1000 + number / 2),
        };
        write!(
            text,
            r#"  <UAObjectType NodeId="ns=1;i={id}" BrowseName="1:Type{number}">
    <DisplayName>Type{number}</DisplayName>
    <Documentation>https://reference.acme.example/Large/v100/docs/{number}</Documentation>
    <References>
      <Reference ReferenceType="HasComponent">ns=1;i={component}</Reference>
      <Reference ReferenceType="HasSubtype" IsForward="false">{parent}</Reference>
    </References>
  </UAObjectType>
  <UAVariable NodeId="ns=1;i={component}" BrowseName="1:Value" ParentNodeId="ns=1;i={id}" DataType="Double">
    <DisplayName>Value</DisplayName>
    <References>
      <Reference ReferenceType="HasTypeDefinition">i=63</Reference>
      <Reference ReferenceType="HasModellingRule">i=78</Reference>
      <Reference ReferenceType="HasComponent" IsForward="false">ns=1;i={id}</Reference>
    </References>
  </UAVariable>
"#,
            id = 1000 + number,
            component = 1_000_000 + number,
        )
        .expect("a string can be written to");
    }
    text.push_str("</UANodeSet>\n");
    text
}
