//! Values that resources send to each other, and their types.

use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{DriveOptions, Machine, NodeStatus, SentValue, Status, ValueType, drive};

use crate::{graph, package};

fn web(resources: &str) -> Result<pkgres_engine::Graph, Vec<String>> {
    graph(&[package("Web", &[], resources)], None)
}

#[test]
fn a_value_of_another_type_is_an_error_at_the_property() {
    let errors = web(
        "Package:\n- query: size\n  command: [nproc]\n- query: names\n  command: [ls]\n  output: list\n\
         - user: web\n  receives: {number: {query:size: stdout}}\n\
         - file: /names\n  receives: {content: {query:names: stdout}}\n\
         - service: web\n  state: running\n  receives: {enabled: {query:size: stdout}}\n\
         - query: odd\n  command: [ls]\n  output: number\n",
    );
    assert_eq!(
        errors.expect_err("types differ"),
        [
            "Web/r.yaml:16:11: error[PK0105]: `output` must be `text`, `integer`, `boolean` or `list`, not `number`",
            "Web/r.yaml:8:14: error[PK0105]: the property `number` of `user:web` takes a value of type integer, not of type text; hint: an `exec` or `query` with `output: integer` sends one",
            "Web/r.yaml:10:14: error[PK0105]: the property `content` of `file:/names` takes a value of type text, not of type list",
            "Web/r.yaml:13:14: error[PK0105]: the property `enabled` of `service:web` takes a value of type boolean, not of type text; hint: an `exec` or `query` with `output: boolean` sends one",
        ]
    );
}

#[test]
fn values_of_right_types_are_received() {
    let right = web(
        "Package:\n- query: size\n  command: [nproc]\n  output: integer\n\
         - query: names\n  command: [ls]\n  output: list\n- query: on\n  command: ['true']\n  output: boolean\n\
         - user: web\n  receives: {number: {query:size: stdout}, groups: {query:names: stdout}}\n\
         - group: web\n  receives: {number: {query:size: stdout}}\n\
         - service: web\n  state: running\n  receives: {enabled: {query:on: stdout}}\n\
         - service: other\n  receives: {enabled: {query:on: stdout}}\n\
         - file: /size\n  receives: {content: {query:size: stdout}}\n",
    );
    assert_eq!(right.expect("types fit").nodes().len(), 8);
}

#[test]
fn texts_are_read_as_their_type_says() {
    let list = SentValue::List(vec!["a".to_owned(), "b c".to_owned()]);
    assert_eq!(ValueType::List.read("a\n\n b c \n"), Ok(list.clone()));
    assert_eq!(list.to_string(), "a\nb c");
    assert_eq!(ValueType::Integer.read("-7"), Ok(SentValue::Integer(-7)));
    assert_eq!(
        ValueType::Boolean.read("true"),
        Ok(SentValue::Boolean(true))
    );
    assert_eq!(
        ValueType::Integer.read("1.5"),
        Err("`1.5` is no integer".to_owned())
    );
    for value_type in [
        ValueType::Text,
        ValueType::Integer,
        ValueType::Boolean,
        ValueType::List,
    ] {
        assert_eq!(ValueType::parse(value_type.name()), Some(value_type));
        assert!(value_type.accepts(value_type));
        assert!(value_type == ValueType::List || ValueType::Text.accepts(value_type));
        assert!(value_type == ValueType::Text || !value_type.accepts(ValueType::Text));
    }
}

/// On this machine, because a root folder has no programs.
#[test]
fn a_number_is_received_as_a_text_and_a_wrong_output_fails() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("size");
    let path = path.to_str().expect("it is text");
    let graph = web(&format!(
        "Package:\n- query: size\n  command: [echo, ' 42 ']\n  output: integer\n\
         - query: wrong\n  command: [echo, forty-two]\n  output: integer\n\
         - file: {path}\n  receives: {{content: {{query:size: stdout}}}}\n"
    ));
    let graph = graph.expect("types fit");
    let machine = Arc::new(Machine::local().expect("it is this machine"));
    let (_control, controlled) = channel();
    let ending = drive(graph, machine, &DriveOptions::default(), controlled, |_| {});
    assert_eq!(ending.status, Status::Failed);
    let (_, wrong) = &ending.nodes[1];
    assert_eq!(
        *wrong,
        NodeStatus::Failed(
            "the output of the command is not what it sends: `forty-two` is no integer".to_owned()
        )
    );
    assert_eq!(ending.nodes[2].1, NodeStatus::InOrder);
    let written = pkgres_files::read_file(path.as_ref(), 100, pkgres_files::Follow::Nothing);
    assert_eq!(written.expect("it was written"), b"42");
}
