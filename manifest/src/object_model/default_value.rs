//! The default of a property as a value of a model: the engine evaluates it, and then treats it as one.

#[cfg(feature = "json")]
use serde_json::Value as Json;

use super::ModelValue;
#[cfg(feature = "json")]
use super::ValueKind;
use crate::class_file::Property;
#[cfg(feature = "json")]
use crate::diagnostic::Location;

/// The default of a declaration that objects have in place of a value.
#[derive(Debug)]
pub(super) struct DefaultValue<'a> {
    pub(super) property: &'a Property,
    pub(super) value: ModelValue,
}

impl<'a> DefaultValue<'a> {
    /// The default of a declaration; `None` if only the deployment engine knows it.
    #[cfg(feature = "json")]
    pub(super) fn of(property: &'a Property) -> Option<Self> {
        let json: Json = serde_json::from_str(property.default.as_deref()?).ok()?;
        let value = value_of(&json, &property.contract.location)?;
        Some(Self { property, value })
    }

    /// Without JSON, no default can be read.
    #[cfg(not(feature = "json"))]
    pub(super) fn of(_: &'a Property) -> Option<Self> {
        None
    }
}

/// A default as a value of a model; `None` if the engine may read it as something else. Recursion is bounded by the depth
/// limit on documents, and by that of the JSON reader.
#[cfg(feature = "json")]
fn value_of(json: &Json, location: &Location) -> Option<ModelValue> {
    let kind = match json {
        Json::Null => ValueKind::Null,
        Json::Bool(value) => ValueKind::Bool(*value),
        Json::Number(number) => ValueKind::Number(number.to_string()),
        Json::String(text) if is_text(text) => ValueKind::Text(text.clone()),
        Json::String(_) => return None,
        Json::Array(items) => {
            let items = items.iter().map(|item| value_of(item, location));
            ValueKind::List(items.collect::<Option<_>>()?)
        }
        // A header makes it an object.
        Json::Object(entries) if entries.contains_key("?") => return None,
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), value_of(value, location)?)));
            ValueKind::Map(entries.collect::<Option<_>>()?)
        }
    };
    Some(ModelValue {
        kind,
        location: location.clone(),
    })
}

/// Whether the engine certainly takes a text of a class file for text: it may evaluate others as expressions, and YAML
/// 1.1 has more ways to write numbers, times and truth values.
#[cfg(feature = "json")]
fn is_text(text: &str) -> bool {
    let is_plain = |character: char| {
        character.is_alphanumeric() || character.is_whitespace() || "_.:".contains(character)
    };
    let may_be_number = |text: &str| text.starts_with(|first: char| !first.is_alphabetic());
    let is_truth = |text: &str| ["yes", "no", "on", "off"].contains(&&*text.to_ascii_lowercase());
    text.chars().all(is_plain) && !may_be_number(text) && !is_truth(text)
}
