//! The JSON documents of the state, which people and other programs can read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PropertyValue, ResourceDescription, ResourceId};
use serde_json::{Map, Value, json};

use super::error::StateError;
use crate::resource::{SentValue, Values};

/// The version of all documents.
const VERSION: u64 = 1;

/// What was there before the first change of a resource.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// The resource.
    pub(super) resource: ResourceId,
    /// The position among the records: what was changed later has a higher one. Members of a group share one.
    pub(super) position: u64,
    /// The resources that came before it.
    pub(super) after: BTreeSet<ResourceId>,
    /// The resource that restores what was there; `None` if there is nothing to restore.
    pub(super) before: Option<ResourceDescription>,
    /// The SHA-256 of each content that is kept for it.
    pub(super) contents: BTreeSet<String>,
}

impl Record {
    /// Whether there can be properties that it does not have, and that a later change touches first. What is to be
    /// absent has none.
    pub(super) fn can_be_extended(&self) -> bool {
        self.before
            .as_ref()
            .is_some_and(|before| !is_absence(before))
    }

    /// The record with the properties of a later description that it does not have yet; `None` if there are none.
    /// `contents` are those that the description refers to.
    pub(super) fn extended(
        &self,
        later: Option<ResourceDescription>,
        contents: &BTreeMap<String, Vec<u8>>,
    ) -> Option<Self> {
        let before = self.before.clone()?;
        let mut later = later?;
        let known: BTreeSet<String> = before.properties.keys().map(str::to_owned).collect();
        let keys: Vec<String> = later.properties.keys().map(str::to_owned).collect();
        // It was removed meanwhile: what it had is lost.
        if is_absence(&later) {
            return None;
        }
        let new: Vec<String> = keys
            .into_iter()
            .filter(|key| !known.contains(key))
            .collect();
        if new.is_empty() {
            return None;
        }
        let mut record = self.clone();
        let mut extended = before;
        for key in new {
            let value = later.properties.take(&key)?.value;
            if let PropertyValue::Text(path) = &value {
                let name = path.rsplit('/').next().unwrap_or_default();
                record.contents.extend(
                    contents
                        .get_key_value(name)
                        .map(|(digest, _)| digest.clone()),
                );
            }
            extended = extended.with(&key, value);
        }
        record.before = Some(extended);
        Some(record)
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let after: Vec<String> = self.after.iter().map(identity).collect();
        text(&json!({
            "state": VERSION,
            "resource": identity(&self.resource),
            "position": self.position,
            "after": after,
            "before": self.before.as_ref().map(description_to_json),
            "contents": self.contents,
        }))
    }

    pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<Self, StateError> {
        let document = Document::parse(path, bytes)?;
        let before = match document.0.get("before") {
            None | Some(Value::Null) => None,
            Some(before) => {
                Some(description_from_json(before).ok_or_else(|| document.damaged("`before`"))?)
            }
        };
        let contents = document.texts("contents")?;
        Ok(Self {
            resource: document.identity("resource")?,
            position: (document.0.get("position").and_then(Value::as_u64))
                .ok_or_else(|| document.damaged("`position`"))?,
            after: document.identities("after")?,
            before,
            contents: contents.into_iter().collect(),
        })
    }
}

/// Whether a description says that something is not there, or was not done. A service also has a `state`.
pub(super) fn is_absence(description: &ResourceDescription) -> bool {
    let state = description.properties.clone().take("state");
    let state = state.map(|state| state.value);
    matches!(&state, Some(PropertyValue::Text(state)) if matches!(state.as_str(), "absent" | "absent-if-empty" | "undone"))
}

/// The resources of an application that were applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Applied {
    /// Those that a run has brought into order.
    pub(super) ended: BTreeSet<ResourceId>,
    /// Others, of runs that go on, were killed, or ended during their change.
    pub(super) begun: BTreeSet<ResourceId>,
    /// Those of both that belong to objects.
    pub(super) of_objects: BTreeSet<ResourceId>,
    /// Those that were to be refreshed after a change, and were not, as their refresh or the run failed.
    pub(super) owed: BTreeSet<ResourceId>,
    /// The values sent to resources that are not in order yet, by their sender.
    pub(super) sent: BTreeMap<ResourceId, Sent>,
}

/// The values that a resource sends only after its change, so that no check finds them again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    /// The SHA-256 of the definition of the resource: another one with its name has not sent them.
    pub(super) definition: String,
    pub(super) values: Values,
}

impl Applied {
    pub(super) fn to_json(&self, application: &str) -> Vec<u8> {
        let [ended, begun] = [&self.ended, &self.begun]
            .map(|ids| -> Vec<String> { ids.iter().map(identity).collect() });
        let mut document = json!({
            "state": VERSION,
            "application": application,
            "resources": ended,
            "begun": begun,
        });
        if !self.owed.is_empty() {
            let owed: Vec<String> = self.owed.iter().map(identity).collect();
            document["refreshes"] = json!(owed);
        }
        if !self.of_objects.is_empty() {
            let of_objects: Vec<String> = self.of_objects.iter().map(identity).collect();
            document["of_objects"] = json!(of_objects);
        }
        if !self.sent.is_empty() {
            let sent = self.sent.iter().map(|(id, sent)| {
                let values = sent.values.iter();
                let values = values.map(|(name, value)| (name.clone(), sent_to_json(value)));
                let values: Map<String, Value> = values.collect();
                let sent = json!({"definition": sent.definition, "values": values});
                (identity(id), sent)
            });
            document["sent"] = Value::Object(sent.collect());
        }
        text(&document)
    }

    pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<Self, StateError> {
        let document = Document::parse(path, bytes)?;
        Ok(Self {
            ended: document.identities("resources")?,
            begun: document.identities("begun")?,
            of_objects: document.identities_if_any("of_objects")?,
            owed: document.identities_if_any("refreshes")?,
            sent: document.sent()?,
        })
    }

    /// All of them.
    pub(super) fn ids(&self) -> impl Iterator<Item = &ResourceId> {
        self.ended.union(&self.begun)
    }
}

fn text(document: &Value) -> Vec<u8> {
    format!("{document:#}\n").into_bytes()
}

/// An identity without the escapes that it has in messages.
fn identity(id: &ResourceId) -> String {
    format!("{}:{}", id.kind(), id.name())
}

/// A document of the state.
struct Document<'path>(Map<String, Value>, &'path Path);

impl<'path> Document<'path> {
    fn parse(path: &'path Path, bytes: &[u8]) -> Result<Self, StateError> {
        let parsed = serde_json::from_slice(bytes);
        let document = parsed.map_err(|error| StateError::Damaged {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let document = Self(document, path);
        match document.0.get("state") {
            Some(version) if *version == json!(VERSION) => Ok(document),
            None => Err(document.damaged("`state`")),
            Some(version) => Err(StateError::Version {
                path: path.to_owned(),
                // It can be any JSON.
                version: Escaped::shortened(&version.to_string()).to_string(),
            }),
        }
    }

    fn damaged(&self, what: &str) -> StateError {
        StateError::Damaged {
            path: self.1.to_owned(),
            reason: format!("{what} is missing or wrong"),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, StateError> {
        let error = || self.damaged(&format!("`{key}`"));
        let items = self.0.get(key).and_then(Value::as_array);
        let items = items.ok_or_else(error)?.iter();
        let texts = items.map(|item| item.as_str().map(str::to_owned).ok_or_else(error));
        texts.collect()
    }

    fn identity(&self, key: &str) -> Result<ResourceId, StateError> {
        let text = self.0.get(key).and_then(Value::as_str);
        let id = text.and_then(|text| text.parse().ok());
        id.ok_or_else(|| self.damaged(&format!("`{key}`")))
    }

    fn identities_if_any(&self, key: &str) -> Result<BTreeSet<ResourceId>, StateError> {
        if self.0.contains_key(key) {
            self.identities(key)
        } else {
            Ok(BTreeSet::new())
        }
    }

    /// Reads the values that were sent, by their sender; empty if there are none.
    fn sent(&self) -> Result<BTreeMap<ResourceId, Sent>, StateError> {
        let Some(sent) = self.0.get("sent") else {
            return Ok(BTreeMap::new());
        };
        let read = || -> Option<BTreeMap<ResourceId, Sent>> {
            let sent = sent.as_object()?.iter().map(|(id, sent)| {
                let values = sent.get("values")?.as_object()?.iter();
                let values =
                    values.map(|(name, value)| Some((name.clone(), sent_from_json(value)?)));
                let sent = Sent {
                    definition: sent.get("definition")?.as_str()?.to_owned(),
                    values: values.collect::<Option<Values>>()?,
                };
                Some((id.parse().ok()?, sent))
            });
            sent.collect()
        };
        read().ok_or_else(|| self.damaged("`sent`"))
    }

    fn identities(&self, key: &str) -> Result<BTreeSet<ResourceId>, StateError> {
        let texts = self.texts(key)?.into_iter();
        let ids = texts.map(|text| text.parse().map_err(|_| self.damaged(&format!("`{key}`"))));
        ids.collect()
    }
}

fn sent_to_json(value: &SentValue) -> Value {
    match value {
        SentValue::Text(text) => json!(text),
        SentValue::Integer(number) => json!(number),
        SentValue::Boolean(value) => json!(value),
        SentValue::List(items) => json!(items),
    }
}

fn sent_from_json(value: &Value) -> Option<SentValue> {
    Some(match value {
        Value::String(text) => SentValue::Text(text.clone()),
        Value::Number(number) => SentValue::Integer(number.as_i64()?),
        Value::Bool(value) => SentValue::Boolean(*value),
        Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str().map(str::to_owned));
            SentValue::List(items.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

/// A description as JSON. Its edges and parameters are not part of what restores something.
fn description_to_json(description: &ResourceDescription) -> Value {
    let mut properties = description.properties.clone();
    let keys: Vec<String> = properties.keys().map(str::to_owned).collect();
    let values = keys.into_iter().filter_map(|key| {
        let value = properties.take(&key)?;
        Some((key, value_to_json(&value.value)))
    });
    let values: Map<String, Value> = values.collect();
    let id = &description.id.value;
    json!({"kind": id.kind(), "name": id.name(), "properties": values})
}

fn value_to_json(value: &PropertyValue) -> Value {
    match value {
        PropertyValue::Text(text) => json!(text),
        PropertyValue::List(items) => {
            let items = items.iter().map(|item| value_to_json(&item.value));
            items.collect()
        }
        PropertyValue::Mapping(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.value.clone(), value_to_json(&value.value)));
            Value::Object(entries.collect())
        }
    }
}

fn description_from_json(value: &Value) -> Option<ResourceDescription> {
    let text = |key: &str| value.get(key)?.as_str();
    let id = ResourceId::new(text("kind")?, text("name")?).ok()?;
    let mut description = ResourceDescription::new(id);
    for (key, value) in value.get("properties")?.as_object()? {
        description = description.with(key, value_from_json(value)?);
    }
    Some(description)
}

fn value_from_json(value: &Value) -> Option<PropertyValue> {
    Some(match value {
        Value::String(text) => PropertyValue::Text(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(value_from_json).collect();
            PropertyValue::list(items?)
        }
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), value_from_json(value)?)));
            PropertyValue::mapping(entries.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gets_the_properties_that_are_new() {
        let described = |properties: &[(&str, &str)]| {
            let id = "service:web".parse().expect("it is an identity");
            let description = ResourceDescription::new(id);
            let properties = properties.iter();
            properties.fold(description, |description, (key, value)| {
                description.with(key, *value)
            })
        };
        let record = |properties: &[(&str, &str)]| Record {
            resource: "service:web".parse().expect("it is an identity"),
            position: 0,
            after: BTreeSet::new(),
            before: Some(described(properties)),
            contents: BTreeSet::new(),
        };
        let extended = |before: &[(&str, &str)], later: &[(&str, &str)]| {
            let record = record(before);
            assert!(record.can_be_extended());
            let extended = record.extended(Some(described(later)), &BTreeMap::new());
            extended.map(|record| record.before.expect("it has one").properties)
        };
        let both = described(&[("state", "running"), ("enabled", "false")]).properties;
        assert_eq!(
            extended(
                &[("state", "running")],
                &[("state", "stopped"), ("enabled", "false")]
            ),
            Some(both)
        );
        let both = described(&[("enabled", "false"), ("state", "stopped")]).properties;
        assert_eq!(
            extended(
                &[("enabled", "false")],
                &[("state", "stopped"), ("enabled", "true")]
            ),
            Some(both)
        );
        assert_eq!(extended(&[("mode", "0644")], &[("mode", "0600")]), None);
        assert_eq!(extended(&[("mode", "0644")], &[("state", "absent")]), None);
        assert!(!record(&[("state", "absent")]).can_be_extended());
    }
}
