//! Releases.

use http::StatusCode;
use pkgres_manifest::IndexRecord;
use serde_json::Value;

use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::http::warnings;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Published;

fn described(record: &IndexRecord, yank_reason: Option<&str>) -> Result<Value, Problem> {
    let mut value = serde_json::to_value(record).map_err(Problem::internal)?;
    value["yanked"] = record.yanked.into();
    value["yank_reason"] = yank_reason.into();
    Ok(value)
}

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let found = service.registry.release(&name, &version)?;
    Ok(Reply::json(&described(
        &found.record,
        found.yank_reason.as_deref(),
    )?))
}

/// Publishes, and says what whoever published may want to know.
pub(super) fn publish_warning(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (status, mut release) = published(service, request)?;
    let name = request.package(0)?;
    release["warnings"] = warnings::of_publish(service, request.actor()?, &name).into();
    Ok(Reply::json_with(status, &release))
}

pub(super) fn publish(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (status, release) = published(service, request)?;
    Ok(Reply::json_with(status, &release))
}

fn published(service: &Service, request: &Request) -> Result<(StatusCode, Value), Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let may_be_unsatisfiable = request.query.flag("allow_unsatisfiable")?;
    let archive = &request.body;
    let actor = request.actor()?;
    let published =
        service
            .registry
            .publish(actor, &name, &version, archive, may_be_unsatisfiable)?;
    let (status, record) = match &published {
        Published::Created(record) => (StatusCode::CREATED, record),
        Published::Unchanged(record) => (StatusCode::OK, record),
    };
    Ok((status, described(record, None)?))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Yank {
    reason: String,
}

/// How long a reason is, in bytes.
const REASON: usize = 1000;

pub(super) fn yank(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    let Yank { reason } = request.json()?;
    if reason.trim().is_empty() || reason.len() > REASON {
        let detail = format!("`reason` has 1 to {REASON} bytes");
        return Err(Problem::new(ProblemCode::BodyInvalid, detail));
    }
    service
        .registry
        .set_yanked(request.actor()?, &name, &version, Some(&reason))?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

pub(super) fn unyank(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (name, version) = (request.package(0)?, request.release_version(1)?);
    service
        .registry
        .set_yanked(request.actor()?, &name, &version, None)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
