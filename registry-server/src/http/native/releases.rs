//! The routes of the native API about releases: publishing, reading and yanking.

use http::StatusCode;
use pkgres_manifest::IndexRecord;
use serde_json::Value;

use crate::http::checked_text::check_lines;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::{Published, RequirementCheck};

/// A release as JSON.
fn described(record: &IndexRecord, yank_reason: Option<&str>) -> Result<Value, Problem> {
    let mut value = serde_json::to_value(record).map_err(Problem::internal)?;
    value["yanked"] = record.yanked.into();
    value["yank_reason"] = yank_reason.into();
    Ok(value)
}

/// Shows a release.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let (found, changed) = service.registry.dated_release(&name, &version)?;
    let document = described(&found.record, found.yank_reason.as_deref())?;
    Ok(Response::json(&document).modified(&changed))
}

/// Publishes a release.
pub(super) fn publish(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let check = if request.query.flag("allow_unsatisfiable")? {
        RequirementCheck::Skipped
    } else {
        RequirementCheck::Required
    };
    let archive = &request.body;
    let principal = request.principal()?;
    let published = service
        .registry
        .publish(principal, &name, &version, archive, check)?;
    let (status, record) = match &published {
        Published::Created(record) => (StatusCode::CREATED, record),
        Published::Unchanged(record) => (StatusCode::OK, record),
    };
    let mut release = described(record, None)?;
    release["warnings"] = service.publish_warnings(principal, &name).into();
    Ok(Response::json_with(status, &release))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Yank {
    reason: String,
}

/// The limit of a reason, in bytes.
const MAX_REASON: usize = 1000;

/// Yanks a release.
pub(super) fn yank(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let Yank { reason } = request.json()?;
    if reason.trim().is_empty() || reason.len() > MAX_REASON {
        let detail = format!("`reason` has 1 to {MAX_REASON} bytes");
        return Err(Problem::new(ProblemCode::BodyInvalid, detail));
    }
    check_lines("`reason`", &reason)?;
    service
        .registry
        .set_yanked(request.principal()?, &name, &version, Some(&reason))?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Undoes a yank.
pub(super) fn unyank(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    service
        .registry
        .set_yanked(request.principal()?, &name, &version, None)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}
