//! Artifacts by digest.

use http::header::HeaderValue;
use http::{StatusCode, header};
use pkgres_registry_client::protocol::Digest;

use super::dispatch::Service;
use super::range;
use super::refuse::errors_document;
use super::reply::Reply;
use super::request::Request;
use super::route::{GET, Handler, Route, Surface};
use crate::index::Document;
use crate::problem::{Problem, ProblemCode};

pub(crate) const SURFACE: Surface = Surface {
    prefix: "blobs/",
    routes: &[Route {
        path: "blobs/sha256/{digest}",
        handlers: &[Handler {
            summary: "An artifact, or a range of it",
            gives: "application/zip",
            run: blob,
            ..GET
        }],
    }],
    has_microversions: false,
    error: errors_document,
};

fn blob(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let missing = || {
        let detail = "there is no artifact with this digest";
        Problem::new(ProblemCode::NoSuchBlob, detail)
    };
    let digest = Digest::parse(request.part(0)).map_err(|_| missing())?;
    let bytes = service.registry.artifact(&digest)?.ok_or_else(missing)?;
    let document = Document::of_digest(bytes.clone(), digest);
    let kind = HeaderValue::from_static("application/zip");
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    let reply = Reply::with_body(StatusCode::OK, kind, document.body)
        .header(header::ETAG, document.etag)
        .header(header::CACHE_CONTROL, forever);
    range::apply(&request.headers, &bytes, reply)
}
