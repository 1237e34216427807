//! Parts of a document as JSON.

use serde_json::Value as Json;

use super::Node;

/// A node as JSON. Recursion is bounded by the depth limit on documents.
pub(crate) fn as_json(node: &Node) -> Json {
    if let Some(items) = node.as_sequence() {
        return items.iter().map(as_json).collect();
    }
    if let Some(mapping) = node.as_mapping() {
        let entries = mapping.entries.iter();
        let entries = entries.map(|entry| (entry.key.text.clone(), as_json(&entry.value)));
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
        .then(|| serde_json::from_str::<serde_json::Number>(&scalar.text).ok())
        .flatten();
    number.map_or_else(|| Json::String(scalar.text.clone()), Json::Number)
}
