//! Parts of a document as JSON.

use serde_json::{Number, Value as Json};

use super::Node;

/// What becomes of numbers that JSON would write differently, such as `1.10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// They are numbers, by their value.
    ByValue,
    /// They are texts, as they are written: one of them may be a version.
    AsWritten,
}

/// A node as JSON. Recursion is bounded by the depth limit on documents.
pub(crate) fn as_json(node: &Node, numbers: Numbers) -> Json {
    if let Some(items) = node.as_sequence() {
        return items.iter().map(|item| as_json(item, numbers)).collect();
    }
    if let Some(mapping) = node.as_mapping() {
        let entries = mapping.entries.iter();
        let entries = entries.map(|entry| (entry.key.text.clone(), as_json(&entry.value, numbers)));
        return Json::Object(entries.collect());
    }
    let Some(scalar) = node.as_scalar() else {
        return Json::Null;
    };
    if scalar.is_null() {
        return Json::Null;
    }
    if let Some(value) = scalar.as_bool() {
        return Json::Bool(value);
    }
    // What JSON reads as a number is one in YAML, too, if it is plain.
    let number = scalar
        .is_mistakable()
        .then(|| serde_json::from_str::<Number>(&scalar.text).ok())
        .flatten();
    match number {
        Some(number) if numbers == Numbers::ByValue || number.to_string() == scalar.text => {
            Json::Number(number)
        }
        _ => Json::String(scalar.text.clone()),
    }
}
