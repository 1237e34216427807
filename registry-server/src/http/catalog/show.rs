//! A release: what is said of it, its archive and files of it, and deleting it.

use http::StatusCode;
use http::header::{self, HeaderValue};
use pkgres_registry_client::protocol::Digest;

use super::shape;
use crate::http::range;
use crate::http::reply::{NO_CACHE, Reply};
use crate::http::request::Request;
use crate::http::service::Service;
use crate::index::Document;
use crate::problem::Problem;
use crate::registry::{CatalogEntry, CatalogPart};

fn entry(service: &Service, request: &Request) -> Result<CatalogEntry, Problem> {
    let actor = request.actor.as_ref();
    service.registry.catalog_entry(actor, request.part(0))
}

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    Ok(Reply::json(&shape::package(&entry(service, request)?)))
}

pub(super) fn download(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let entry = entry(service, request)?;
    let digest = Digest::parse(&entry.row.sha256)?;
    archive(service, request, &digest, "application/octet-stream")
}

/// An archive, or a range of it.
pub(super) fn archive(
    service: &Service,
    request: &Request,
    digest: &Digest,
    kind: &'static str,
) -> Result<Reply, Problem> {
    let missing = || Problem::internal(format!("the artifact {digest} is missing"));
    let reply = range::artifact(service, &request.headers, digest, kind, missing)?;
    Ok(reply.header(header::CACHE_CONTROL, NO_CACHE))
}

pub(super) fn part(
    service: &Service,
    request: &Request,
    part: CatalogPart,
) -> Result<Reply, Problem> {
    let entry = entry(service, request)?;
    let bytes = service.registry.catalog_part(&entry, part)?;
    let kind = match part {
        CatalogPart::Form => "text/plain",
        CatalogPart::Logo | CatalogPart::SupplierLogo => "application/octet-stream",
    };
    let kind = HeaderValue::from_static(kind);
    Ok(Reply::document(kind, &Document::new(bytes)))
}

pub(super) fn delete(service: &Service, request: &Request) -> Result<Reply, Problem> {
    service.registry.delete(request.actor()?, request.part(0))?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
