//! Checks the values that functions return against a JSON Schema, which states the minimum that an interface requires.
//!
//! Unless a schema says otherwise, it allows more data than it names, so a platform can return additional data. A
//! schema cannot refer to other files: nothing is loaded.

use pkgres_manifest::InterfaceFunction;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use serde_json::{Map, Value};

/// The most violations of one value that are listed.
const LISTED_VIOLATIONS: usize = 8;

/// How deep a default is derived from a schema.
const DEFAULT_DEPTH: usize = 16;

/// A part of a returned value that violates the schema of the function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", if .path.is_empty() { "the value" } else { .path.as_str() })]
pub struct ReturnViolation {
    /// The place in the value, as a JSON Pointer; empty for the value itself.
    pub path: String,
    /// The problem.
    pub message: String,
}

/// The schema of the values that a function returns, ready to check many.
#[derive(Debug, Clone)]
pub struct ReturnSchema(jsonschema::Validator);

impl ReturnSchema {
    /// Compiles the schema of a function; `None` if it has none. An invalid schema is an error at its place, and so is a
    /// `default` that the schema does not allow: calls return it where the function makes no sense.
    pub fn of(function: &InterfaceFunction) -> Result<Option<Self>, Box<Diagnostic>> {
        let Some(returns) = &function.returns else {
            return Ok(None);
        };
        let name = Escaped::shortened(&function.name.value);
        let error = |message: String| {
            let error = Diagnostic::error(Code::Interface, message);
            Box::new(error.at(returns.location.clone()))
        };
        let schema = schema_of(function);
        let validator = jsonschema::validator_for(&schema).map_err(|invalid| {
            let invalid = invalid.to_string();
            let invalid = Escaped::shortened(&invalid);
            error(format!(
                "`Returns` of `{name}` is not a JSON Schema: {invalid}"
            ))
        })?;
        let compiled = Self(validator);
        let default = schema.get("default");
        if let Some(Err(violations)) = default.map(|default| compiled.check(default)) {
            let violation = violations.first().map(ToString::to_string);
            let violation = violation.unwrap_or_default();
            return Err(error(format!(
                "`Returns` of `{name}` does not allow its own `default`: {violation}"
            )));
        }
        Ok(Some(compiled))
    }

    /// Checks a returned value.
    pub fn check(&self, value: &Value) -> Result<(), Vec<ReturnViolation>> {
        let violations: Vec<ReturnViolation> = (self.0.iter_errors(value))
            .take(LISTED_VIOLATIONS)
            .map(|error| ReturnViolation {
                path: Escaped::shortened(error.instance_path().as_str()).to_string(),
                message: Escaped::shortened(&error.to_string()).to_string(),
            })
            .collect();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(violations)
        }
    }
}

/// The schema of a function as a value; one that allows everything if there is none.
fn schema_of(function: &InterfaceFunction) -> Value {
    let returns = function.returns.as_ref();
    let schema = returns.and_then(|returns| serde_json::from_str(&returns.value).ok());
    schema.unwrap_or(Value::Bool(true))
}

/// The value that a call returns where the function makes no sense: the default of the schema, or else the smallest
/// value of its type with the properties that it requires. Null without a schema.
pub(super) fn default_of(function: &InterfaceFunction) -> Value {
    if function.returns.is_none() {
        return Value::Null;
    }
    default_value(&schema_of(function), DEFAULT_DEPTH)
}

fn default_value(schema: &Value, depth: usize) -> Value {
    let Some(schema) = schema.as_object().filter(|_| depth > 0) else {
        return Value::Null;
    };
    let first = |key: &str| schema.get(key)?.as_array()?.first().cloned();
    let stated = schema.get("default").or_else(|| schema.get("const"));
    if let Some(stated) = stated.cloned().or_else(|| first("enum")) {
        return stated;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "null") => "null",
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        _ if properties.is_some() || required.is_some() => "object",
        _ => "null",
    };
    match kind {
        "object" => {
            let required = required.into_iter().flatten().filter_map(Value::as_str);
            let members: Map<String, Value> = required
                .map(|name| {
                    let schema = properties.and_then(|properties| properties.get(name));
                    let value = schema.map_or(Value::Null, |it| default_value(it, depth - 1));
                    (name.to_owned(), value)
                })
                .collect();
            Value::Object(members)
        }
        "array" => Value::Array(Vec::new()),
        "string" => Value::String(String::new()),
        "integer" | "number" => Value::from(0),
        "boolean" => Value::Bool(false),
        _ => Value::Null,
    }
}
