//! The index: everything that a resolver reads.

use http::header::HeaderValue;
use http::{Method, StatusCode, header};
use pkgres_manifest::{ClassName, PackageName};
use pkgres_registry_client::protocol::{
    BATCH_MEDIA_TYPE, BatchRequest, LINES_MEDIA_TYPE, unescape_name,
};

use super::refuse::errors_document;
use super::reply::{JSON, NO_CACHE, Reply};
use super::request::Request;
use super::route::{GET, Handler, Route, Surface, Takes};
use super::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::no_such_package;

pub(crate) const SURFACE: Surface = Surface {
    prefix: "index/",
    routes: &[
        Route {
            path: "index/v1/packages/{name}.ndjson",
            handlers: &[Handler {
                summary: "All releases of a package",
                gives: LINES_MEDIA_TYPE,
                quick: Some(|service, request| {
                    let node = &service.registry.node;
                    let text = request.part(0);
                    // Whatever the registry has is a name, and need not be looked at as one.
                    let known = unescape_name(text).and_then(|name| node.package_in_memory(&name));
                    if let Some(document) = known {
                        return Some(Ok(Reply::document(LINES, &document)));
                    }
                    match escaped_name(text) {
                        Err(problem) => Some(Err(problem)),
                        Ok(name) if node.has_package(&name) => None,
                        Ok(name) => Some(Err(no_such_package(&name))),
                    }
                }),
                run: |service, request| {
                    let name = escaped_name(request.part(0))?;
                    let document = service.registry.node.package(&name)?;
                    let document = document.ok_or_else(|| no_such_package(&name))?;
                    Ok(Reply::document(LINES, &document))
                },
                ..GET
            }],
        },
        Route {
            path: "index/config.json",
            handlers: &[Handler {
                summary: "What the registry offers",
                // Whoever has no token yet learns here that one is needed.
                access: super::route::Access::Everyone,
                quick: Some(|service, _| Some(Ok(Reply::document(JSON, &service.config)))),
                ..GET
            }],
        },
        Route {
            path: "index/v1/classes/{class}.json",
            handlers: &[Handler {
                summary: "The packages that define a class",
                run: class,
                ..GET
            }],
        },
        Route {
            path: "index/v1/names.ndjson",
            handlers: &[Handler {
                summary: "The digest of every index document",
                gives: LINES_MEDIA_TYPE,
                run: |service, _| {
                    let names = service.registry.node.state().names();
                    Ok(Reply::document(LINES, &names))
                },
                ..GET
            }],
        },
        Route {
            path: "index/v1/snapshot.json",
            handlers: &[Handler {
                summary: "The signed state of the index",
                run: |service, _| {
                    let signed = service.registry.node.snapshot();
                    Ok(Reply::document(JSON, &signed.document))
                },
                ..GET
            }],
        },
        Route {
            path: "index/v1/batch",
            handlers: &[Handler {
                method: Method::POST,
                summary: "Many index documents in one answer",
                takes: Takes::Batch,
                gives: BATCH_MEDIA_TYPE,
                run: batch,
                ..GET
            }],
        },
        Route {
            path: "index/v1/changes",
            handlers: &[Handler {
                summary: "What changed after a serial",
                query: &["since", "limit"],
                run: changes,
                ..GET
            }],
        },
    ],
    has_microversions: false,
    error: errors_document,
};

const LINES: HeaderValue = HeaderValue::from_static(LINES_MEDIA_TYPE);

fn escaped_name(part: &str) -> Result<PackageName, Problem> {
    let invalid = |reason: String| Problem::new(ProblemCode::NameInvalid, reason);
    let name = unescape_name(part)
        .ok_or_else(|| invalid("an upper case letter X of a name is written !x here".to_owned()))?;
    PackageName::parse(&name).map_err(|error| invalid(error.to_string()))
}

fn class(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let invalid = |reason: String| Problem::new(ProblemCode::NameInvalid, reason);
    let name = unescape_name(request.part(0))
        .ok_or_else(|| invalid("an upper case letter X of a name is written !x here".to_owned()))?;
    let class = ClassName::parse(&name).map_err(|error| invalid(error.to_string()))?;
    if let Some(document) = service.registry.node.class(&class)? {
        Ok(Reply::document(JSON, &document))
    } else {
        let detail = format!("no package defines the class {class}");
        Err(Problem::new(ProblemCode::NoSuchClass, detail))
    }
}

fn batch(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let limit = service.registry.settings.batch_names;
    let asked = BatchRequest::parse(&request.body, limit as u64)
        .map_err(|error| Problem::new(ProblemCode::BodyInvalid, error.to_string()))?;
    let batch = service.registry.node.batch(&asked, limit)?;
    let kind = HeaderValue::from_static(BATCH_MEDIA_TYPE);
    Ok(Reply::with_pieces(kind, batch.pieces).header(header::CACHE_CONTROL, NO_CACHE))
}

fn changes(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let since = request.query.number("since", 0, 0..=u64::MAX >> 1)?;
    let limit = request.query.number("limit", 1000, 1..=10_000)?;
    let changes = service.registry.changes(since, limit)?;
    let reply = Reply::with_body(StatusCode::OK, JSON, changes.to_json().into());
    Ok(reply.header(header::CACHE_CONTROL, NO_CACHE))
}
