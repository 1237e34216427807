//! Changes the metadata of a release in the catalog with a JSON patch.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::representation::{self, check_name, invalid_body};
use super::upload::{check_description, check_label_count, check_labels};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::store::catalog::CatalogRow;

/// An operation of a patch.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    op: String,
    path: String,
    /// The new value; for `remove`, the values that are removed from a list.
    value: Value,
}

/// The limit of operations in a patch.
const MAX_OPERATIONS: usize = 100;

/// Changes a release.
pub(super) fn update(service: &Service, request: &Request) -> Result<Response, Problem> {
    let operations: Vec<Operation> = request.json()?;
    if operations.len() > MAX_OPERATIONS {
        return Err(invalid_body(format!(
            "there are at most {MAX_OPERATIONS} operations"
        )));
    }
    let changes = |row: &mut CatalogRow| {
        operations
            .iter()
            .try_for_each(|operation| apply(row, operation))
    };
    let principal = request.principal()?;
    let entry = service
        .registry
        .change_entry(principal, request.part(0), &changes)?;
    Ok(Response::json(&representation::package(&entry)))
}

/// Applies an operation to a row.
fn apply(row: &mut CatalogRow, operation: &Operation) -> Result<(), Problem> {
    let path = operation.path.strip_prefix('/').unwrap_or_default();
    if path.is_empty() || path.contains('/') {
        return Err(invalid_body("`path` is a slash and a name, as in `/tags`"));
    }
    if !matches!(&*operation.op, "add" | "replace" | "remove") {
        return Err(invalid_body("`op` is add, replace or remove"));
    }
    let value = &operation.value;
    match (&*operation.op, path) {
        (op, "tags") => change_labels(&mut row.tags, op, value),
        (op, "categories") => change_labels(&mut row.categories, op, value),
        ("replace", "name") => {
            row.name = read(value, "a text")?;
            check_name(&row.name)
        }
        ("replace", "description") => {
            row.description = read(value, "a text")?;
            check_description(&row.description)
        }
        ("replace", "is_public") => {
            row.is_public = read(value, "true or false")?;
            Ok(())
        }
        ("replace", "enabled") => {
            row.enabled = read(value, "true or false")?;
            Ok(())
        }
        _ => {
            let detail = "tags and categories can be added, replaced and removed; \
                name, description, is_public and enabled replaced; nothing else can be changed";
            Err(Problem::new(ProblemCode::NotChangeable, detail))
        }
    }
}

/// Changes tags or categories.
fn change_labels(labels: &mut Vec<String>, op: &str, value: &Value) -> Result<(), Problem> {
    let values: Vec<String> = read(value, "a list of texts")?;
    match op {
        // Labels of a manifest, which can be removed, may be longer than others.
        "remove" => {
            for label in &values {
                let Some(at) = labels.iter().position(|known| known == label) else {
                    let detail = "a value that is to be removed is not there";
                    return Err(Problem::new(ProblemCode::NoSuchEntry, detail));
                };
                labels.remove(at);
            }
            return Ok(());
        }
        "replace" => labels.clear(),
        _ => {}
    }
    check_labels(&values)?;
    for label in values {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    check_label_count(labels)
}

/// A value of a type that the message names.
fn read<T: DeserializeOwned>(value: &Value, what: &str) -> Result<T, Problem> {
    serde_json::from_value(value.clone())
        .map_err(|_| invalid_body(format!("`value` is {what} here")))
}
