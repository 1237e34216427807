//! A release: what is said of it, its archive and files of it, and deleting it.

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderValue};

use super::shape;
use crate::http::dispatch::Service;
use crate::http::range;
use crate::http::reply::{NO_CACHE, Reply};
use crate::http::request::Request;
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
    let (digest, bytes) = service.registry.catalog_archive(&entry)?;
    let kind = HeaderValue::from_static("application/octet-stream");
    archive(
        request,
        kind,
        Document::of_digest(bytes.clone(), digest),
        &bytes,
    )
}

/// An archive, or a range of it.
pub(super) fn archive(
    request: &Request,
    kind: HeaderValue,
    document: Document,
    bytes: &Bytes,
) -> Result<Reply, Problem> {
    let reply = Reply::with_body(StatusCode::OK, kind, document.body)
        .header(header::ETAG, document.etag)
        .header(header::CACHE_CONTROL, NO_CACHE);
    range::apply(&request.headers, bytes, reply)
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
