//! What releases and errors look like.

use http::header;
use serde_json::{Value, json};

use crate::http::refuse::status_of;
use crate::http::reply::{NO_CACHE, Reply};
use crate::problem::{Problem, ProblemCode};
use crate::registry::CatalogEntry;
use crate::store::releases::exported;

/// How long the name of a release or a category is, in characters.
pub(super) const NAME: usize = 80;

/// A problem in the only shape that the client can read: every value at the top is an object, and
/// what it shows is called `message`.
pub(super) fn error(problem: &Problem, id: &str) -> Reply {
    // A release that cannot be resolved is no conflict with one that is there, which is what
    // clients take 409 for: they would delete that one and try again.
    let problem = match problem.code {
        ProblemCode::Unsatisfiable => &Problem::new(
            ProblemCode::PackageInvalid,
            format!("the requirements cannot be satisfied: {}", problem.detail),
        ),
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
    Reply::json_with(status, &body).header(header::CACHE_CONTROL, NO_CACHE)
}

/// A time as the catalog writes it, without a zone.
pub(super) fn time(text: &str) -> &str {
    text.strip_suffix('Z').unwrap_or(text)
}

/// What the catalog says of a release.
pub(super) fn package(entry: &CatalogEntry) -> Value {
    let (row, record) = (&entry.row, &entry.record);
    let classes: Vec<&str> = exported(record)
        .map(pkgres_manifest::ClassName::as_str)
        .collect();
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

/// What makes no sense in a body.
pub(super) fn wrong(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BodyInvalid, detail)
}

/// Refuses what cannot be the name of a release or a category.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    let is_name = !name.trim().is_empty()
        && name.chars().count() <= NAME
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(wrong(format!("a name has 1 to {NAME} characters")))
}
