//! JSON Schemas of the formats, for editors and other programs.
//!
//! A schema checks less than the readers of this crate: it does not check specs and versions. It accepts
//! everything that a reader accepts without a finding. It rejects unknown keys of a manifest, which are a
//! warning of the reader, so that editors show them.

mod machine;

pub use machine::{resources_schema, validation_schema};

use serde_json::{Value, json};

use crate::name::MAX_NAME_BYTES;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const NAME: &str = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$";

/// Names in `Require`, which include those of plug-ins.
const REQUIRED_NAME: &str = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$";

/// The schema of a version or spec. It is read as source text, so that YAML's numbers are accepted too.
fn text_or_number(description: &str) -> Value {
    json!({"description": description, "type": ["string", "number"]})
}

/// The schema of a path. It is read as source text, too, but cannot be null.
fn path(description: &str) -> Value {
    json!({"description": description, "type": ["string", "number", "boolean"]})
}

/// The schema of a text for people.
fn text(description: &str) -> Value {
    json!({"description": description, "type": ["string", "number", "boolean", "null"]})
}

/// Returns the schema of `manifest.yaml`.
pub fn manifest_schema() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/manifest.json",
        "title": "The manifest of a class package",
        "type": "object",
        "required": ["FullName", "Type"],
        "additionalProperties": false,
        "properties": {
            "Format": {
                "description": "The format and its version, such as MuranoPL/1.0 or Heat.HOT/1.0.",
                "type": ["string", "number", "null"],
            },
            "FullName": {
                "description": "The fully qualified name of the package.",
                "type": "string",
                "maxLength": MAX_NAME_BYTES,
                "pattern": NAME,
            },
            "Type": {
                "description": "Something to deploy, or classes for other packages.",
                "enum": ["Application", "Library"],
            },
            "Version": text_or_number("The version; 0.0.0 if it is omitted."),
            "Name": text("The name that is shown to people."),
            "Description": text("A description in prose."),
            "Author": text("The author."),
            "Supplier": {"description": "Who supplies it."},
            "Tags": {
                "description": "Words to search for.",
                "type": ["array", "null"],
                "items": {"type": ["string", "number", "boolean", "null"]},
            },
            "Classes": {
                "description": "The classes that other packages can see, each with its file below Classes/.",
                "type": ["object", "null"],
                "propertyNames": {"pattern": NAME, "maxLength": MAX_NAME_BYTES},
                "additionalProperties": path("The file of the class."),
            },
            "Interfaces": {
                "description": "The interfaces that the package defines, each with its file below Interfaces/.",
                "type": ["object", "null"],
                "propertyNames": {"pattern": NAME, "maxLength": MAX_NAME_BYTES},
                "additionalProperties": path("The file of the interface."),
            },
            "Implements": {
                "description": "For each class, the interfaces that it implements.",
                "type": ["object", "null"],
                "propertyNames": {"pattern": NAME, "maxLength": MAX_NAME_BYTES},
                "additionalProperties": {
                    "oneOf": [
                        {"type": "string", "pattern": NAME},
                        {"type": "array", "items": {"type": "string", "pattern": NAME}},
                    ],
                },
            },
            "Validate": path("The validation file, which says what a machine that runs the package must have."),
            "Resources": text("The file of the resources."),
            "Require": {
                "description": "The packages that this one requires, each with a spec. The order matters: classes are looked up and versions are decided in it.",
                "type": ["object", "null"],
                "propertyNames": {"pattern": REQUIRED_NAME, "maxLength": MAX_NAME_BYTES},
                "additionalProperties": {
                    "description": "The accepted versions, such as \"1.2\" or \">=1.2,<3\". Quote them.",
                    "type": ["string", "number", "null"],
                },
            },
            "UI": text("The file of the form, below UI/."),
            "Logo": text("The file of the picture."),
            "Meta": {"description": "Objects of meta classes that describe the package."},
            "Template": {"description": "The template, of packages of other formats."},
            "EntryPoint": {"description": "Where plug-ins begin."},
        },
    })
}

/// Returns the schema of one document of a class file.
pub fn class_schema() -> Value {
    let contract = json!({"description": "The contract of the values, as an expression."});
    let meta = |of: &str| {
        let description = format!("Meta classes whose objects describe the {of}.");
        json!({"description": description, "$ref": "#/$defs/classes"})
    };
    let methods = json!({
        "description": "Methods; under the old name `Workflow` where `Methods` is missing.",
        "type": ["object", "null"],
        "additionalProperties": {
            "type": ["object", "null"],
            "properties": {
                "Arguments": {"type": ["array", "object", "null"]},
                "Body": {"description": "What the method does."},
                "Meta": meta("method"),
            },
        },
    });
    let usage = ["In", "Out", "InOut", "Const", "Runtime", "Static", "Config"];
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/class.json",
        "title": "A class of a package",
        "oneOf": [
            {"$ref": "#/$defs/class"},
            {"type": "null"},
        ],
        "$defs": {
            "name": {
                "description": "A class name, which may have a prefix of `Namespaces`, as in `sys:Class`.",
                "type": "string",
                "pattern": r"^(:|=:|[A-Za-z_][A-Za-z0-9_]*:)?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$",
            },
            "classes": {
                "anyOf": [
                    {"$ref": "#/$defs/classOrObject"},
                    {"type": "array", "items": {"$ref": "#/$defs/classOrObject"}},
                ],
            },
            "classOrObject": {
                "description": "A class, or classes each with the properties of an object of it.",
                "anyOf": [
                    {"$ref": "#/$defs/name"},
                    {"type": "object", "propertyNames": {"$ref": "#/$defs/name"}},
                    {"type": "null"},
                ],
            },
            "class": {
                "type": "object",
                "properties": {
                    "Namespaces": {
                        "description": "Prefixes, each with its namespace; `=` is the namespace of the class.",
                        "type": ["object", "null"],
                        "additionalProperties": {"type": ["string", "boolean", "null"]},
                    },
                    "Name": {"$ref": "#/$defs/name"},
                    "Usage": {"enum": ["Class", "Meta"]},
                    "Extends": {
                        "description": "The classes that it inherits from.",
                        "oneOf": [
                            {"$ref": "#/$defs/name"},
                            {"type": "array", "items": {"$ref": "#/$defs/name"}},
                            {"type": "null"},
                        ],
                    },
                    "Import": {
                        "description": "The classes whose extension methods it calls.",
                        "$ref": "#/$defs/classes",
                    },
                    "Meta": meta("class"),
                    // Only the deployment engine reads these.
                    "Applies": {"description": "What a meta class describes, such as Package, Type, Method, Property or Argument; one or a list."},
                    "Cardinality": {"description": "Whether One or Many objects of a meta class describe the same."},
                    "Inherited": {"description": "Whether a meta class of a class applies to the classes that extend it."},
                    "Properties": {
                        "type": ["object", "null"],
                        "additionalProperties": {
                            "type": ["object", "null"],
                            "properties": {
                                "Contract": contract,
                                "Usage": {"enum": usage.map(Some).into_iter().chain([None]).collect::<Vec<_>>()},
                                "Default": {"description": "The value if the model has none."},
                                "Meta": meta("property"),
                            },
                        },
                    },
                    "Methods": methods,
                    "Workflow": methods,
                },
            },
        },
    })
}

/// Returns the schema of an interface file.
pub fn interface_schema() -> Value {
    let platforms = |description: &str| {
        let value = json!({"type": ["string", "number", "boolean"]});
        json!({
            "description": description,
            "type": ["object", "null"],
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [value, {"type": "array", "minItems": 1, "items": value}],
            },
        })
    };
    let name = &class_schema()["$defs"]["name"];
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/interface.json",
        "title": "An interface that classes implement",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "Name": name,
            "Namespaces": {
                "description": "Prefixes, each with its namespace, for the names in contracts.",
                "type": ["object", "null"],
                "additionalProperties": {"type": ["string", "boolean", "null"]},
            },
            "Description": {"description": "What the interface is for."},
            "Functions": {
                "description": "The functions, by name.",
                "type": ["object", "null"],
                "additionalProperties": {
                    "type": ["object", "null"],
                    "additionalProperties": false,
                    "properties": {
                        "Description": {"description": "What the function does."},
                        "Arguments": {
                            "description": "The arguments in order, as those of a method.",
                            "type": ["array", "object", "null"],
                        },
                        "Returns": {
                            "description": "A JSON Schema of the least that the function returns; more is allowed unless the schema forbids it.",
                            "type": ["object", "boolean", "null"],
                        },
                        "Supported": platforms("The platforms that support the function, by their facts; all if it is omitted."),
                        "NotApplicable": platforms("The platforms on which the function does not apply, by their facts. A call returns the default of `Returns`."),
                        "Deprecated": {
                            "description": "Announces that the function will be removed.",
                            "type": ["object", "boolean", "null"],
                            "additionalProperties": false,
                            "properties": {
                                "since": text_or_number("The first version of the package in which it is deprecated."),
                                "removed_in": text_or_number("The first version of the package without it."),
                                "successor": {"description": "The function to call instead.", "type": "string"},
                            },
                        },
                    },
                },
            },
        },
    })
}

/// Returns the schema of `pkgres.lock`.
pub fn lock_schema() -> Value {
    let version = json!({"type": ["string", "number"]});
    let bound = json!({
        "description": "The version that each requirement is bound to.",
        "type": ["object", "null"],
        "propertyNames": {"$ref": "#/$defs/name"},
        "additionalProperties": version,
    });
    json!({
        "$schema": DIALECT,
        "$id": "https://pkgres.dev/schema/lock.json",
        "title": "A locked resolution",
        "type": "object",
        "required": ["lock", "order", "complete"],
        "additionalProperties": false,
        "properties": {
            "lock": {"description": "The number of the format.", "const": crate::lockfile::LOCK_FORMAT},
            "order": {"description": "The number of the decision order.", "const": crate::lockfile::DECISION_ORDER},
            "ecosystem": {"description": "The ecosystem of all packages, unless they are class packages.", "type": "string"},
            "roots": {
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "additionalProperties": false,
                    "properties": {
                        "name": {"$ref": "#/$defs/name"},
                        "requires": {
                            "type": ["object", "null"],
                            "propertyNames": {"$ref": "#/$defs/name"},
                            "additionalProperties": {
                                "type": "object",
                                "required": ["spec", "version"],
                                "additionalProperties": false,
                                "properties": {"spec": {"type": "string"}, "version": version},
                            },
                        },
                    },
                },
            },
            "overrides": {
                "description": "The specs that replace all requirements for a package.",
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "required": ["name", "spec"],
                    "additionalProperties": false,
                    "properties": {"name": {"$ref": "#/$defs/name"}, "spec": {"type": "string"}},
                },
            },
            "side_by_side": {
                "description": "The packages that may have several releases.",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/name"},
            },
            "packages": {
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "required": ["name", "version", "source"],
                    "additionalProperties": false,
                    "properties": {
                        "name": {"$ref": "#/$defs/name"},
                        "version": version,
                        "order": {"description": "The position of a version whose text does not determine it.", "type": "string"},
                        "source": {"description": "The name of the registry, or `host`, `built-in` or `workspace`.", "type": "string"},
                        "sha256": {"type": "string", "pattern": "^(tree:)?[0-9a-f]{64}$"},
                        "requires": bound,
                    },
                },
            },
            "capabilities": {
                "description": "Which functions of its interfaces each class implements, on every platform.",
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "required": ["class", "release", "interface"],
                    "additionalProperties": false,
                    "properties": {
                        "class": {"$ref": "#/$defs/class"},
                        "release": {"description": "The package and version that define the class.", "type": "string"},
                        "interface": {"$ref": "#/$defs/class"},
                        "defined_by": {"description": "The package and version that define the interface.", "type": "string"},
                        "functions": {
                            "description": "Cases with conditions on facts, of which the first that holds counts.",
                            "type": ["object", "null"],
                            "additionalProperties": {"type": "string"},
                        },
                    },
                },
            },
            "complete": {"const": true},
        },
        "$defs": {
            "name": {"description": "A package, as its ecosystem names it.", "type": "string", "minLength": 1},
            "class": {"type": "string", "pattern": NAME},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{class_file, interface, package, resources, validation};

    #[test]
    fn schemas_and_readers_know_the_same_keys() {
        let keys = |properties: &Value| -> Vec<String> {
            let properties = properties.as_object().expect("properties are an object");
            properties.keys().cloned().collect()
        };
        let mut known = package::KNOWN_KEYS.to_vec();
        known.sort_unstable();
        let mut described = keys(&manifest_schema()["properties"]);
        described.sort_unstable();
        assert_eq!(described, known);
        let mut known = class_file::KNOWN_KEYS.to_vec();
        known.sort_unstable();
        let mut described = keys(&class_schema()["$defs"]["class"]["properties"]);
        described.sort_unstable();
        assert_eq!(described, known);
        let properties = &interface_schema()["properties"];
        let function = &properties["Functions"]["additionalProperties"]["properties"];
        let of_resources = resources_schema();
        let resource = &of_resources["$defs"]["resource"]["properties"];
        let of_validation = validation_schema();
        // One that stands for others has keys of its own.
        let members = resources::ALL_KEYS.iter();
        let members = members.filter(|key| !resources::RESERVED_KEYS.contains(key));
        let of_resource: Vec<&str> = (resources::RESERVED_KEYS.iter().chain(members))
            .copied()
            .collect();
        for (properties, known) in [
            (properties, &interface::INTERFACE_KEYS[..]),
            (function, &interface::FUNCTION_KEYS),
            (&of_resources["properties"], &resources::RESOURCES_KEYS),
            (resource, &of_resource),
            (&resource["meta"]["properties"], &resources::META_KEYS),
            (
                &of_validation["properties"],
                &validation::VALIDATION_KEYS[..],
            ),
            (
                &of_validation["$defs"]["argument"]["properties"],
                &validation::ARGUMENT_KEYS,
            ),
            (
                &of_validation["$defs"]["validator"]["properties"],
                &validation::KINDS,
            ),
        ] {
            let mut described = keys(properties);
            described.sort_unstable();
            let mut known = known.to_vec();
            known.sort_unstable();
            assert_eq!(described, known);
        }
    }
}
