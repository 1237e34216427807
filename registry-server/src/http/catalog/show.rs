//! Shows and deletes a release of the catalog, and serves its archive and the files in it.

use http::StatusCode;
use http::header::{self, HeaderValue};
use pkgres_registry_client::protocol::Digest;

use super::representation;
use crate::http::artifacts;
use crate::http::request::Request;
use crate::http::response::{NO_CACHE, Response};
use crate::http::service::Service;
use crate::index::Document;
use crate::problem::Problem;
use crate::registry::{CatalogEntry, CatalogPart};

fn entry(service: &Service, request: &Request) -> Result<CatalogEntry, Problem> {
    let principal = request.principal.as_ref();
    service.registry.catalog_entry(principal, request.part(0))
}

/// Shows a release.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let entry = entry(service, request)?;
    Ok(Response::json(&representation::package(&entry)).modified(&entry.row.updated))
}

/// Downloads the archive of a release.
pub(super) fn download(service: &Service, request: &Request) -> Result<Response, Problem> {
    let entry = entry(service, request)?;
    let digest = Digest::parse(&entry.row.sha256)?;
    let response = archive(service, request, &digest, "application/octet-stream")?;
    // The archive never changes.
    Ok(response.modified(&entry.row.created))
}

/// An archive, or a range of it, with a media type.
pub(super) fn archive(
    service: &Service,
    request: &Request,
    digest: &Digest,
    kind: &'static str,
) -> Result<Response, Problem> {
    let missing = || Problem::internal(format!("the artifact {digest} is missing"));
    let response = artifacts::artifact(service, &request.headers, digest, kind, missing)?;
    Ok(response.header(header::CACHE_CONTROL, NO_CACHE))
}

/// Shows a file of a release.
pub(super) fn file(
    service: &Service,
    request: &Request,
    part: CatalogPart,
) -> Result<Response, Problem> {
    let entry = entry(service, request)?;
    let bytes = service.registry.catalog_part(&entry, part)?;
    let kind = match part {
        CatalogPart::Form => "text/plain",
        CatalogPart::Logo | CatalogPart::SupplierLogo => "application/octet-stream",
    };
    let kind = HeaderValue::from_static(kind);
    Ok(Response::document(kind, &Document::new(bytes)).modified(&entry.row.created))
}

/// Deletes a release.
pub(super) fn delete(service: &Service, request: &Request) -> Result<Response, Problem> {
    service
        .registry
        .delete(request.principal()?, request.part(0))?;
    // Murano answers 200, and not 204.
    Ok(Response::empty(StatusCode::OK))
}
