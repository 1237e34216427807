//! Changing what the catalog says of a release: a JSON patch of few operations.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::shape::{self, check_name, wrong};
use super::upload::check_labels;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::store::catalog::CatalogRow;

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    op: String,
    path: String,
    /// Also for `remove`, which says what is taken out of a list.
    value: Value,
}

/// How many operations there are at once.
const OPERATIONS: usize = 100;

pub(super) fn update(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let operations: Vec<Operation> = request.json()?;
    if operations.len() > OPERATIONS {
        return Err(wrong(format!("there are at most {OPERATIONS} operations")));
    }
    let changes = |row: &mut CatalogRow| {
        operations
            .iter()
            .try_for_each(|operation| apply(row, operation))
    };
    let actor = request.actor()?;
    let entry = service
        .registry
        .change_entry(actor, request.part(0), &changes)?;
    Ok(Reply::json(&shape::package(&entry)))
}

fn apply(row: &mut CatalogRow, operation: &Operation) -> Result<(), Problem> {
    let path = operation.path.strip_prefix('/').unwrap_or_default();
    if path.is_empty() || path.contains('/') {
        return Err(wrong("`path` is a slash and a name, as in `/tags`"));
    }
    if !matches!(&*operation.op, "add" | "replace" | "remove") {
        return Err(wrong("`op` is add, replace or remove"));
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
            Ok(())
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

fn change_labels(labels: &mut Vec<String>, op: &str, value: &Value) -> Result<(), Problem> {
    let given: Vec<String> = read(value, "a list of texts")?;
    check_labels(&given)?;
    match op {
        "remove" => {
            for label in &given {
                let Some(at) = labels.iter().position(|known| known == label) else {
                    let detail = "what is to be removed is not there";
                    return Err(Problem::new(ProblemCode::NoSuchEntry, detail));
                };
                labels.remove(at);
            }
            return Ok(());
        }
        "replace" => labels.clear(),
        _ => {}
    }
    for label in given {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    check_labels(labels)
}

fn read<T: DeserializeOwned>(value: &Value, what: &str) -> Result<T, Problem> {
    serde_json::from_value(value.clone()).map_err(|_| wrong(format!("`value` is {what} here")))
}
