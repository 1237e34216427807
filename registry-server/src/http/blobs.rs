//! Artifacts by digest.

use http::header::{self, HeaderValue};
use pkgres_registry_client::protocol::Digest;

use super::range;
use super::refuse::errors_document;
use super::reply::Reply;
use super::request::Request;
use super::route::{GET, Handler, Route, Surface};
use super::service::Service;
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
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    let reply = range::artifact(
        service,
        &request.headers,
        &digest,
        "application/zip",
        missing,
    )?;
    Ok(reply.header(header::CACHE_CONTROL, forever))
}
