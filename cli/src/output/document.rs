//! The JSON document of a run, with the fields that all documents have.

use pkgres_manifest::diagnostic::Diagnostic;
use serde_json::{Map, Value};

/// Warnings and notes that wait for the JSON document that they belong to.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// A document with its `status`, and with more `notes` and `diagnostics`.
pub(super) fn completed(
    fields: &Map<String, Value>,
    notes: Vec<String>,
    diagnostics: Value,
) -> Value {
    let mut fields = fields.clone();
    if let Some(version) = fields.shift_remove("schema_version") {
        fields.shift_insert(0, "schema_version".to_owned(), version);
    }
    if !fields.contains_key("status") {
        fields.shift_insert(1, "status".to_owned(), "done".into());
    }
    for (key, mut more) in [("notes", notes.into()), ("diagnostics", diagnostics)] {
        let entries = fields
            .entry(key)
            .or_insert_with(|| Value::Array(Vec::new()));
        if let (Value::Array(entries), Value::Array(more)) = (entries, &mut more) {
            more.retain(|one| !entries.contains(one));
            entries.append(more);
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_document_has_the_common_fields() {
        let document = json!({"packages": 2, "schema_version": 1, "notes": ["one"]});
        let fields = document.as_object().expect("an object");
        let notes = vec!["one".to_owned(), "two".to_owned()];
        let expected = r#"{"schema_version":1,"status":"done","packages":2,"notes":["one","two"],"diagnostics":[]}"#;
        assert_eq!(completed(fields, notes, json!([])).to_string(), expected);
    }
}
