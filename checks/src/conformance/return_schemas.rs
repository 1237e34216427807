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

/// The most bytes of text in a derived default, where each value counts as some of them.
const DEFAULT_BYTES: usize = 100_000;

/// The bytes that a value counts, besides its text.
const VALUE_BYTES: usize = 16;

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
pub struct ReturnSchema {
    validator: jsonschema::Validator,
    has_own_default: bool,
    default: Result<Value, Box<Diagnostic>>,
}

impl ReturnSchema {
    /// Compiles the schema of a function; `None` if it has none. An invalid schema is an error at its place.
    pub fn of(function: &InterfaceFunction) -> Result<Option<Self>, Box<Diagnostic>> {
        let Some(returns) = &function.returns else {
            return Ok(None);
        };
        let name = Escaped::shortened(&function.name.value);
        let error = |message: String| {
            let error = Diagnostic::error(Code::Interface, message);
            Box::new(error.at(returns.location.clone()))
        };
        let schema: Value = serde_json::from_str(&returns.value).unwrap_or(Value::Bool(true));
        let validator = jsonschema::validator_for(&schema).map_err(|invalid| {
            let invalid = invalid.to_string();
            let invalid = Escaped::shortened(&invalid);
            error(format!(
                "`Returns` of `{name}` is not a JSON Schema: {invalid}"
            ))
        })?;
        let has_own_default = schema.get("default").is_some();
        let mut compiled = Self {
            validator,
            has_own_default,
            default: Ok(Value::Null),
        };
        compiled.default = if let Some(own) = schema.get("default") {
            compiled
                .check(own)
                .map(|()| own.clone())
                .map_err(|violations| {
                    let violation = violations.first().map(ToString::to_string);
                    let violation = violation.unwrap_or_default();
                    error(format!(
                        "`Returns` of `{name}` does not allow its own `default`: {violation}"
                    ))
                })
        } else {
            let derived = Derivation::of(&schema).filter(|value| compiled.check(value).is_ok());
            derived.ok_or_else(|| {
                let message = format!(
                    "`{name}` does not apply on some platforms, and no value can be derived from its `Returns`"
                );
                let hint = "add a `default` to the schema, which calls return there";
                Box::new(error(message).hint(hint))
            })
        };
        Ok(Some(compiled))
    }

    /// Whether the schema has a `default`.
    pub(super) fn has_own_default(&self) -> bool {
        self.has_own_default
    }

    /// The value that a call returns where the function does not apply: the `default` of the schema, or else a minimal
    /// value that it allows: a number near zero, an empty text, only what is required.
    ///
    /// # Errors
    ///
    /// The schema does not allow its `default`, or has none and no value can be derived from it.
    pub fn default(&self) -> Result<&Value, &Diagnostic> {
        self.default.as_ref().map_err(|error| &**error)
    }

    /// Checks a returned value.
    pub fn check(&self, value: &Value) -> Result<(), Vec<ReturnViolation>> {
        let violations: Vec<ReturnViolation> = (self.validator.iter_errors(value))
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

/// Derives a default from a schema. The result still has to be checked: not every keyword is heeded.
struct Derivation<'schema> {
    /// The whole schema, which has what references name.
    root: &'schema Value,
    /// How many more bytes the default may have.
    remaining: usize,
}

impl Derivation<'_> {
    /// A minimal value that a schema probably allows; `None` if it would be too large or too deep.
    fn of(schema: &Value) -> Option<Value> {
        let mut derivation = Derivation {
            root: schema,
            remaining: DEFAULT_BYTES,
        };
        derivation.value(schema, DEFAULT_DEPTH)
    }

    /// Counts bytes of the default.
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.remaining = self.remaining.checked_sub(bytes)?;
        Some(())
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.take(VALUE_BYTES)?;
        let Some(schema) = schema.as_object() else {
            return Some(Value::Null);
        };
        let depth = depth.checked_sub(1)?;
        let first = |key: &str| schema.get(key)?.as_array()?.first();
        let stated = schema.get("default").or_else(|| schema.get("const"));
        if let Some(stated) = stated.or_else(|| first("enum")) {
            self.take(size(stated))?;
            return Some(stated.clone());
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "null") => "null",
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
            _ if schema.contains_key("properties") || schema.contains_key("required") => "object",
            _ => {
                let referred = schema.get("$ref").and_then(Value::as_str);
                let referred = referred.and_then(|it| self.root.pointer(it.strip_prefix('#')?));
                let alternative = referred.or_else(|| first("anyOf"));
                return match alternative.or_else(|| first("oneOf")) {
                    Some(alternative) => self.value(alternative, depth),
                    None => Some(Value::Null),
                };
            }
        };
        Some(match kind {
            "object" => Value::Object(self.required(schema, depth)?),
            "array" => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let items = schema.get("items").unwrap_or(&Value::Null);
                let items = (0..least).map(|_| self.value(items, depth));
                Value::Array(items.collect::<Option<_>>()?)
            }
            "string" => Value::String(String::new()),
            "integer" => smallest_integer(schema),
            "number" => smallest_number(schema),
            "boolean" => Value::Bool(false),
            _ => Value::Null,
        })
    }

    /// The properties that a schema requires.
    fn required(
        &mut self,
        schema: &Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").unwrap_or(&Value::Null);
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let members = required.map(|name| {
            self.take(name.len())?;
            let schema = properties.and_then(|properties| properties.get(name));
            let value = self.value(schema.unwrap_or(others), depth)?;
            Some((name.to_owned(), value))
        });
        members.collect()
    }
}

/// How many bytes a value counts.
fn size(value: &Value) -> usize {
    let content = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| key.len() + size(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    VALUE_BYTES + content
}

/// The number nearest to zero inside the bounds of a schema.
fn smallest_number(schema: &Map<String, Value>) -> Value {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    match [schema.get("minimum"), schema.get("maximum")] {
        [Some(least), _] if number(least) > 0.0 => least.clone(),
        [_, Some(most)] if number(most) < 0.0 => most.clone(),
        _ => Value::from(0),
    }
}

/// The integer nearest to zero inside the bounds of a schema.
fn smallest_integer(schema: &Map<String, Value>) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    let step = bound("multipleOf").unwrap_or(1).max(1);
    let after = bound("exclusiveMinimum").map(|it| it.saturating_add(1));
    let before = bound("exclusiveMaximum").map(|it| it.saturating_sub(1));
    let least = bound("minimum").max(after).unwrap_or(i64::MIN);
    let most = [bound("maximum"), before].into_iter().flatten().min();
    let most = most.unwrap_or(i64::MAX);
    // A multiple of the step, on the side of the bound that is allowed.
    let multiple = |bound: i64| {
        let steps = bound / step + (bound % step).signum();
        steps.saturating_mul(step)
    };
    Value::from(if least > 0 {
        multiple(least)
    } else if most < 0 {
        multiple(most)
    } else {
        0
    })
}
