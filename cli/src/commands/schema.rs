//! `pkgres schema`

use pkgres_manifest::{
    class_schema, interface_schema, lock_schema, manifest_schema, resources_schema,
    validation_schema,
};
use pkgres_settings::{DECLARED, Kind};
use serde_json::{Map, Value, json};

use crate::args::{SchemaArgs, SchemaKind};
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(args: &SchemaArgs, output: &mut Output) -> Exit {
    output.json(&match args.kind {
        SchemaKind::Manifest => manifest_schema(),
        SchemaKind::Class => class_schema(),
        SchemaKind::Interface => interface_schema(),
        SchemaKind::Resources => resources_schema(),
        SchemaKind::Validation => validation_schema(),
        SchemaKind::Lock => lock_schema(),
        SchemaKind::Settings => settings_schema(),
    });
    Exit::Done
}

/// The schema of settings files, generated from their declarations.
fn settings_schema() -> Value {
    let mut properties = Map::new();
    for setting in DECLARED {
        let mut schema = match (setting.key, setting.kind) {
            ("overrides", _) => json!({
                "type": "object",
                "additionalProperties": {
                    "oneOf": [
                        {"type": "string"},
                        {
                            "type": "object",
                            "required": ["path"],
                            "additionalProperties": false,
                            "properties": {"path": {"type": "string"}},
                        },
                    ],
                },
            }),
            ("workspace", _) => json!({
                "type": "object",
                "required": ["members"],
                "additionalProperties": false,
                "properties": {
                    "members": {"type": "array", "items": {"type": "string"}},
                    "one-solve": {"type": "boolean"},
                },
            }),
            (_, Kind::Flag) => json!({"type": "boolean"}),
            (_, Kind::Number) => json!({"type": "integer", "minimum": 0}),
            (_, Kind::Choice(words)) => json!({"enum": words}),
            (_, Kind::Text) => json!({"type": "string"}),
            ("registries", _) => registries(),
            (_, Kind::List) => json!({"type": "array", "items": {"type": "string"}}),
            (_, Kind::Table) => json!({"type": "object"}),
        };
        schema["description"] = json!(setting.help);
        properties.insert(setting.key.to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://pkgres.dev/schema/settings.json",
        "title": "The settings of a project (pkgres.toml) or a user",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The schema of `registries`: a list of locations, or a table for each registry.
fn registries() -> Value {
    let text = json!({"type": "string"});
    let limit = json!({"type": "integer", "minimum": 0});
    json!({"anyOf": [
        {"type": "array", "items": text},
        {"type": "object", "additionalProperties": {
            "type": "object",
            "required": ["location"],
            "additionalProperties": false,
            "properties": {
                "location": text,
                "namespaces": {"type": "array", "items": text},
                "key": text,
                "ca": text,
                "max-download": limit,
                "max-packages": limit,
                "network-min-rate": limit,
                "network-timeout": limit,
            },
        }},
    ]})
}
