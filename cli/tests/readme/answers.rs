//! The page about the JSON documents of commands is made of their schemas, and each command has one.

use std::fmt::Write as _;
use std::process::Command;

use pkgres_tests::answers;
use serde_json::Value;

use crate::page::{Page, root};

const PAGE: &str = "docs/answers.md";

/// The line after which the page is generated.
const MARK: &str = "<!-- The rest is made of docs/schemas/answers. -->\n";

/// A schema in words.
fn words(schema: &Value) -> String {
    if let Some(part) = schema["$ref"].as_str() {
        let (_, name) = part.rsplit_once('/').expect("it refers to a part");
        return format!("[{name}](#{name})");
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let mut options: Vec<String> = options.iter().map(words).collect();
        options.dedup();
        return options.join(" or ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{}`", value.to_string().trim_matches('"'));
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().filter_map(Value::as_str);
        return values
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let one = |name: &str| match name {
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match words(&schema["items"]).as_str() {
            "anything" => "list".to_owned(),
            items => format!("list of {items}"),
        },
        "object"
            if schema
                .get("additionalProperties")
                .is_some_and(Value::is_object) =>
        {
            format!(
                "object with {} by name",
                words(&schema["additionalProperties"])
            )
        }
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            let names: Vec<String> = names.iter().filter_map(Value::as_str).map(one).collect();
            names.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

/// The object that a schema describes, in lists or by itself, and how a path goes on in it.
fn inner<'schema>(schema: &'schema Value, path: &str) -> Option<(&'schema Value, String)> {
    if schema.get("properties").is_some() {
        return Some((schema, format!("{path}.")));
    }
    if let Some(items) = schema.get("items") {
        return inner(items, &format!("{path}[]"));
    }
    let mut options = schema["anyOf"].as_array()?.iter();
    options.find_map(|option| inner(option, path))
}

/// The rows of the fields of an object.
fn rows(object: &Value, before: &str, left_out: &[&str], text: &mut String) {
    let required = object["required"].as_array();
    let fields = object["properties"].as_object().expect("it has fields");
    for (name, schema) in fields {
        if left_out.contains(&name.as_str()) {
            continue;
        }
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        let suffix = if is_required || before.is_empty() && !left_out.is_empty() {
            ""
        } else {
            ", can be missing"
        };
        let meaning = schema["description"].as_str();
        let meaning = meaning.unwrap_or_else(|| panic!("{before}{name} has no description"));
        assert!(meaning.ends_with('.'), "{meaning}");
        let path = format!("{before}{name}");
        let words = words(schema);
        writeln!(text, "| `{path}` | {words}{suffix} | {meaning} |").expect("text grows");
        if let Some((inner, before)) = inner(schema, &path) {
            rows(inner, &before, &[], text);
        }
    }
}

/// When a document has which fields.
fn conditions(schema: &Value) -> String {
    let mut text = String::new();
    for condition in schema["allOf"].as_array().into_iter().flatten() {
        let listed = |value: &Value, conjunction: &str| {
            let values = value.as_array().expect("a list").iter();
            let values = values.filter_map(Value::as_str);
            let mut values: Vec<String> = values.map(|value| format!("`{value}`")).collect();
            let last = values.pop().expect("a list has an item");
            if values.is_empty() {
                return last;
            }
            format!("{} {conjunction} {last}", values.join(", "))
        };
        let statuses = listed(&condition["if"]["properties"]["status"]["enum"], "or");
        let document = match &condition["if"]["not"]["required"] {
            Value::Null => "the document".to_owned(),
            fields => format!("a document without {}", listed(fields, "or")),
        };
        let fields = listed(&condition["then"]["required"], "and");
        writeln!(
            text,
            "- If the status is {statuses}, {document} has {fields}."
        )
        .expect("text grows");
    }
    text
}

fn generated() -> String {
    const HEAD: &str = "| field | type | meaning |\n|---|---|---|\n";
    let mut text = String::new();
    for command in answers::commands() {
        let schema = answers::schema(&command);
        let description = schema["description"].as_str().expect("it is described");
        let statuses = words(&schema["properties"]["status"]);
        write!(
            text,
            "\n## {command}\n\n{description} Schema: [{command}.json](schemas/answers/{command}.json). Status: {statuses}.\n\n{HEAD}"
        )
        .expect("text grows");
        let common = ["schema_version", "status", "notes", "diagnostics"];
        rows(&schema, "", &common, &mut text);
        let conditions = conditions(&schema);
        if !conditions.is_empty() {
            write!(text, "\n{conditions}").expect("text grows");
        }
    }
    text.push_str("\n## Parts\n\nSeveral documents have these objects. Schema: [common.json](schemas/answers/common.json).\n");
    let common = answers::schema("common");
    for (name, part) in common["$defs"].as_object().expect("it has parts") {
        let description = part["description"].as_str().expect("it is described");
        write!(text, "\n### {name}\n\n{description}\n\n{HEAD}").expect("text grows");
        rows(part, "", &[], &mut text);
    }
    text
}

#[test]
fn the_page_about_answers_is_made_of_the_schemas() {
    let page = Page::read(PAGE);
    let (before, after) = page.text.split_once(MARK).expect("the page has a mark");
    let expected = generated();
    if std::env::var_os("PKGRES_UPDATE_DOCS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a file of the project")]
        std::fs::write(root().join(PAGE), format!("{before}{MARK}{expected}"))
            .expect("it can be written");
    } else {
        assert!(after == expected, "{PAGE} is not as the schemas say");
    }
}

/// The places in a schema that allow anything.
fn untyped(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Some(parts) = schema.as_object() else {
        return;
    };
    if ["type", "anyOf", "enum", "const", "$ref"]
        .iter()
        .all(|key| !parts.contains_key(*key))
    {
        found.push(path.to_owned());
    }
    let lists = parts.get("anyOf").and_then(Value::as_array);
    for (at, option) in lists.into_iter().flatten().enumerate() {
        untyped(option, &format!("{path}/{at}"), found);
    }
    for key in ["items", "additionalProperties"] {
        untyped(&schema[key], &format!("{path}/{key}"), found);
    }
    let fields = parts.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        untyped(field, &format!("{path}/{name}"), found);
    }
}

/// Only methods return anything.
#[test]
fn every_field_has_a_type() {
    let mut found = Vec::new();
    for command in answers::commands() {
        untyped(&answers::schema(&command), &command, &mut found);
    }
    let common = answers::schema("common");
    for (name, part) in common["$defs"].as_object().expect("it has parts") {
        untyped(part, name, &mut found);
    }
    assert_eq!(found, ["call/value"]);
}

#[test]
fn every_command_has_a_schema() {
    let help = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .arg("--help")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    let help = String::from_utf8(help.stdout).expect("it is text");
    let lines = help.lines().take_while(|line| *line != "Options:");
    let named = lines.filter_map(|line| line.strip_prefix("  "));
    let named = named.filter_map(|line| line.split(' ').next());
    let mut named: Vec<&str> = named
        .filter(|name| !name.is_empty() && !answers::OTHER_FORMATS.contains(name))
        .collect();
    named.sort_unstable();
    assert_eq!(named, answers::commands());
}
