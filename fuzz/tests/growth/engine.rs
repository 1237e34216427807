//! Shapes of what the engine reads: inventories, the state that it keeps on a machine, and facts.

use pkgres_fuzzing::target;

use super::documents::{Parts, of_parts};
use crate::Shape;

/// The limits of inventories and of documents of the state.
const INVENTORY: usize = 1 << 20;
const STATE: usize = 64 << 20;

fn run(name: &str, input: &[u8]) {
    let target = target(name).expect("there is a target of this name");
    (target.run)(input);
}

const INVENTORIES: [Parts; 4] = [
    ("machines", "targets:\n", "- ssh://host#\n", ""),
    (
        "machines of one name",
        "targets:\n",
        "- {name: a, target: 'local:'}\n",
        "",
    ),
    (
        "facts",
        "targets:\n- target: 'local:'\n  facts:\n",
        "    a#: b\n",
        "",
    ),
    (
        "arguments",
        "targets:\n- target: 'local:'\n  arguments:\n",
        "    a#: b\n",
        "",
    ),
];

const STATES: [Parts; 4] = [
    (
        "resources",
        r#"{"state":1,"begun":[],"resources":["file:/a""#,
        r#","file:/a#""#,
        "]}",
    ),
    (
        "properties",
        r#"{"state":1,"resource":"file:/a","position":1,"after":[],"contents":[],"before":{"kind":"file","name":"/a","properties":{"a":"b""#,
        r#","a#":"b""#,
        "}}}",
    ),
    (
        "lists",
        r#"{"state":1,"resource":"file:/a","position":1,"after":[],"contents":[],"before":{"kind":"file","name":"/a","properties":{"a":["b""#,
        r#",["b"]"#,
        "]}}}",
    ),
    ("a long version", r#"{"state":""#, "1", r#""}"#),
];

const FACTS: [Parts; 3] = [
    ("lines", "", "A#=b\n", "ID=debian\n"),
    ("similar systems", "ID=a\nID_LIKE=\"", "a# ", "\"\n"),
    ("a long value", "ID=", "a", "\n"),
];

/// All shapes of what the engine reads.
pub(crate) fn shapes() -> Vec<Shape> {
    let inventory = |input: &[u8]| run("inventory", input);
    let state = |input: &[u8]| run("machine_state", input);
    let facts = |input: &[u8]| run("machine_facts", input);
    let mut shapes: Vec<Shape> = Vec::new();
    shapes.extend(INVENTORIES.map(|parts| of_parts("inventory", inventory, INVENTORY, "", parts)));
    shapes.extend(STATES.map(|parts| of_parts("state", state, STATE, "", parts)));
    shapes.extend(FACTS.map(|parts| of_parts("facts of a machine", facts, STATE, "", parts)));
    shapes
}
