//! Bundles: lists of packages to be imported together.

use http::StatusCode;
use pkgres_manifest::{PackageName, Spec};
use serde_json::Value;

use super::shape::{check_name, wrong};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::Problem;

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    #[serde(rename = "Packages")]
    packages: Vec<Listed>,
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(rename = "Name")]
    name: String,
    /// A spec; clients put it behind the name in the address of the archive.
    #[serde(rename = "Version", default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let body = service.registry.bundle(request.part(0))?;
    let value: Value = serde_json::from_str(&body).map_err(Problem::internal)?;
    Ok(Reply::json(&value))
}

pub(super) fn put(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let bundle: Bundle = request.json()?;
    check_name(request.part(0))?;
    for listed in &bundle.packages {
        PackageName::parse(&listed.name).map_err(|error| wrong(error.to_string()))?;
        if let Some(version) = &listed.version {
            Spec::parse(version).map_err(|error| wrong(error.to_string()))?;
        }
    }
    let body = serde_json::to_string(&bundle).map_err(Problem::internal)?;
    service
        .registry
        .set_bundle(request.actor()?, request.part(0), &body)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

pub(super) fn remove(service: &Service, request: &Request) -> Result<Reply, Problem> {
    service
        .registry
        .remove_bundle(request.actor()?, request.part(0))?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
