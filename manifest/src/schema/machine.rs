//! The schemas of the files about machines: validation files and resources files.

use serde_json::{Value, json};

use super::{DIALECT, NAME};
use crate::name::MAX_NAME_BYTES;

/// A resource as `kind:name`.
const RESOURCE: &str = r"^[a-z][a-z0-9-]*:";

/// Returns the schema of a resources file.
pub fn resources_schema() -> Value {
    let switch = |description: &str| json!({"description": description, "type": "boolean"});
    let number = |description: &str, least: i32| json!({"description": description, "type": "integer", "minimum": least});
    let edges = |description: &str| {
        let id = json!({"type": "string", "pattern": RESOURCE});
        json!({
            "description": description,
            "anyOf": [{"type": "null"}, id, {"type": "array", "items": id}],
        })
    };
    let semaphore = json!({"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9_.-]*(:[0-9]+)?$"});
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/resources.json",
        "title": "The resources of a package",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "Package": {
                "description": "The resources of the release.",
                "$ref": "#/$defs/resources",
            },
            "Classes": {
                "description": "The resources of each object of a class.",
                "type": ["object", "null"],
                "propertyNames": {"pattern": NAME, "maxLength": MAX_NAME_BYTES},
                "additionalProperties": {"$ref": "#/$defs/resources"},
            },
        },
        "$defs": {
            "resources": {"type": ["array", "null"], "items": {"$ref": "#/$defs/resource"}},
            "resource": {
                "description": "A resource. The first key is its kind, with the name as value; the other keys are its properties.",
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": "^[a-z][a-z0-9_-]*$"},
                "properties": {
                    "after": edges("The resources that come before this one, as `kind:name`."),
                    "before": edges("The resources that come after this one."),
                    "notifies": edges("The resources that come after this one and are refreshed once it has changed something."),
                    "members": {
                        "description": "Of a resource of the kind `all`: the resources that it stands for, one after another.",
                        "if": {"type": "array"},
                        "then": {"items": {"if": {"type": "object"}, "then": {"$ref": "#/$defs/resource"}}},
                    },
                    "receives": {
                        "description": "Properties whose values are outputs of other resources.",
                        "type": ["object", "null"],
                        "additionalProperties": {
                            "type": "object",
                            "propertyNames": {"pattern": RESOURCE},
                            "minProperties": 1,
                            "maxProperties": 1,
                            "additionalProperties": {"type": ["string", "number", "boolean"]},
                        },
                    },
                    "meta": {
                        "description": "The parameters that every kind has.",
                        "type": ["object", "null"],
                        "additionalProperties": false,
                        "properties": {
                            "noop": switch("Check it only, and change nothing."),
                            "retry": number("How often a failed attempt is repeated; -1 for ever.", -1),
                            "retryreset": switch("A successful attempt gives back all retries."),
                            "delay": number("The milliseconds before a failed attempt is repeated.", 0),
                            "timeout": number("The longest time of an attempt in milliseconds.", 1),
                            "poll": number("The seconds between two checks; -1 to check once, 0 to watch.", -1),
                            "limit": {"description": "How many events a second lead to a check.", "type": "number", "exclusiveMinimum": 0},
                            "burst": number("How many events may come at once.", 1),
                            "sema": {
                                "description": "The semaphores that are held during an attempt, as `name` or `name:count`.",
                                "anyOf": [semaphore, {"type": "array", "items": semaphore}],
                            },
                            "reset": switch("A new graph gives back all retries."),
                            "rewatch": switch("A new graph starts it again after it has failed for good."),
                            "hidden": switch("It is part of the graph, but neither checked nor changed."),
                            "autoedge": switch("Edges to other resources are found automatically."),
                            "autogroup": switch("It may be changed together with others."),
                            "reverse": switch("What was there before is kept, and restored once the resource is gone."),
                        },
                        "dependentRequired": {"limit": ["burst"], "burst": ["limit"]},
                    },
                },
            },
        },
    })
}

/// Returns the schema of a validation file.
pub fn validation_schema() -> Value {
    // Values are read as they are written, whatever YAML takes them for.
    let value = |description: &str| json!({"description": description, "type": ["string", "number", "boolean"]});
    let argument = json!({"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_-]*$"});
    let variable = json!({"type": ["string", "null"], "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"});
    let validators = json!({"$ref": "#/$defs/validators"});
    let script = |description: &str| {
        json!({
            "description": description,
            "anyOf": [
                {"type": ["string", "number", "boolean"]},
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": {"$ref": "#/$defs/script"},
                },
            ],
        })
    };
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/validation.json",
        "title": "What a machine must have that runs a package",
        "type": "object",
        "required": ["validators"],
        "additionalProperties": false,
        "properties": {
            "arguments": {
                "description": "The arguments, by name.",
                "type": ["object", "null"],
                "propertyNames": argument,
                "additionalProperties": {"$ref": "#/$defs/argument"},
            },
            "validators": validators,
        },
        "$defs": {
            "argument": {
                "description": "An argument, which has a default or is required.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "description": {
                        "description": "What it is for.",
                        "type": ["string", "number", "boolean", "null"],
                    },
                    "default": {
                        "description": "The value if no other is given; one of the choices.",
                        "type": ["string", "number", "boolean", "null"],
                    },
                    "required": {"description": "Whether a value must be given.", "type": ["boolean", "null"]},
                    "choices": {
                        "description": "The values that are allowed; all if they are omitted.",
                        "type": ["array", "null"],
                        "minItems": 1,
                        "uniqueItems": true,
                        "items": value("A value."),
                    },
                    "target_variable": {
                        "description": "The variable that scripts get the value in; by default, it has the name of the argument.",
                        "anyOf": [variable],
                    },
                    "hidden": {"description": "It has no meaning.", "deprecated": true},
                },
                "anyOf": [
                    {"required": ["default"], "properties": {"default": {"not": {"type": "null"}}}},
                    {"required": ["required"], "properties": {"required": {"const": true}}},
                ],
            },
            "validators": {
                "description": "Validators, which run in order until one fails.",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/validator"},
            },
            "validator": {
                "description": "A validator: one key, and what it validates.",
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": {
                    "package": {
                        "description": "Packages of the operating system, which are installed in one step.",
                        "anyOf": [
                            {"$ref": "#/$defs/package"},
                            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/package"}},
                        ],
                    },
                    "script": script("A script that ends with 0: its path, beside the validation file or in the folder Resources."),
                    "copy_script": script("A script that /tmp has, with its content. It is not run."),
                    "all": {"description": "All of them succeed.", "anyOf": [validators]},
                    "any": {
                        "description": "One of them succeeds.",
                        "type": "array",
                        "minItems": 1,
                        "items": {"$ref": "#/$defs/validator"},
                    },
                    "os_case": {
                        "description": "The validators of the first case succeed that names the operating system or its family.",
                        "type": "array",
                        "items": {
                            "type": "object",
                            "minProperties": 1,
                            "maxProperties": 1,
                            "propertyNames": {"pattern": "^[a-z0-9._-]+$"},
                            "additionalProperties": validators,
                        },
                    },
                    "argument_case": {
                        "description": "The validators for the value of an argument succeed.",
                        "type": "object",
                        "required": ["argument_name", "cases"],
                        "additionalProperties": false,
                        "properties": {
                            "argument_name": argument,
                            "cases": {"type": ["object", "null"], "additionalProperties": validators},
                        },
                    },
                    "argument_set": {
                        "description": "An argument gets a value.",
                        "type": "object",
                        "required": ["argument_name", "value"],
                        "additionalProperties": false,
                        "properties": {"argument_name": argument, "value": value("The new value.")},
                    },
                },
            },
            "package": {
                "anyOf": [
                    {"type": ["string", "number"]},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "maxProperties": 1,
                        "propertyNames": {"pattern": "^[A-Za-z0-9][A-Za-z0-9+._:-]*$"},
                        "additionalProperties": {
                            "type": ["object", "null"],
                            "additionalProperties": false,
                            "properties": {
                                "version": {
                                    "description": "The one version that it must have. Quote it.",
                                    "type": ["string", "number", "null"],
                                },
                            },
                        },
                    },
                ],
            },
            "script": {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "env_vars": {
                        "description": "The arguments whose values it gets as variables.",
                        "type": ["array", "null"],
                        "items": argument,
                    },
                    "inline": {
                        "description": "Its text, if it is no file.",
                        "type": ["string", "number", "boolean", "null"],
                    },
                    "output": {
                        "description": "The argument whose value is what it prints.",
                        "anyOf": [{"type": "null"}, argument],
                    },
                },
            },
        },
    })
}
