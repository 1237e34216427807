//! Renders releases and errors as JSON for the catalog API.

use http::header;
use pkgres_manifest::ClassName;
use serde_json::{Value, json};

use crate::http::checked_text::check_line;
use crate::http::error_response::status_of;
use crate::http::response::{NO_CACHE, Response};
use crate::problem::{Problem, ProblemCode};
use crate::registry::{CatalogEntry, MAX_NAME};
use crate::store::releases::exported;

/// A problem in the only form that the client can read: every value at the top is an object, and the
/// text that it shows is called `message`.
pub(super) fn error(problem: &Problem, id: &str) -> Response {
    // For clients, 409 is a conflict with a release that exists: they would delete that and try again.
    // Requirements that cannot be satisfied are not such a conflict.
    let problem = match problem.code {
        ProblemCode::Unsatisfiable => {
            let mut detail = format!("the requirements cannot be satisfied: {}", problem.detail);
            for hint in &problem.hints {
                detail.push_str(&format!("; hint: {hint}"));
            }
            &Problem::new(ProblemCode::PackageInvalid, detail)
        }
        _ => problem,
    };
    let status = status_of(problem);
    let body = json!({ "error": {
        "code": status.as_u16(),
        "title": status.canonical_reason().unwrap_or_default(),
        "message": problem.detail,
        "type": problem.code.as_str(),
        "request_id": id,
    } });
    Response::json_with(status, &body).header(header::CACHE_CONTROL, NO_CACHE)
}

/// A time in the catalog, which has no zone.
pub(super) fn time(text: &str) -> &str {
    text.strip_suffix('Z').unwrap_or(text)
}

/// A release as JSON.
pub(super) fn package(entry: &CatalogEntry) -> Value {
    let (row, record) = (&entry.row, &entry.record);
    let classes: Vec<&str> = exported(record).map(ClassName::as_str).collect();
    json!({
        "id": row.id,
        "name": row.name,
        "fully_qualified_name": row.package,
        "version": record.version,
        "type": row.kind,
        "author": row.author,
        "supplier": {},
        "description": row.description,
        "tags": row.tags,
        "categories": row.categories,
        "class_definitions": classes,
        "is_public": row.is_public,
        "enabled": row.enabled,
        "owner_id": row.owner,
        "created": time(&row.created),
        "updated": time(&row.updated),
    })
}

/// The problem of an invalid body.
pub(super) fn invalid_body(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BodyInvalid, detail)
}

/// An error if a text is not valid as the name of a release, a category or a bundle.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME {
        let detail = format!("a name has 1 to {MAX_NAME} characters");
        return Err(invalid_body(detail));
    }
    check_line("the name", name)
}
