//! Serves the index over HTTP: the documents that resolvers read.

use http::header::HeaderValue;
use http::{Method, StatusCode, header};
use pkgres_manifest::{ClassName, PackageName};
use pkgres_registry_client::protocol::{
    BATCH_MEDIA_TYPE, BatchRequest, LINES_MEDIA_TYPE, unescape_name,
};

use super::error_response::errors_document;
use super::request::Request;
use super::response::{JSON, NO_CACHE, Response};
use super::route::{Access, AnswerBody, BodyKind, GET, Handler, Route, Surface};
use super::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::no_such_package;

/// `index/`: the index.
pub(crate) const SURFACE: Surface = Surface {
    prefix: "index/",
    routes: &[
        Route {
            path: "index/v1/packages/{name}.ndjson",
            handlers: &[Handler {
                summary: "All releases of a package",
                media_type: LINES_MEDIA_TYPE,
                fast_path: Some(|service, request| {
                    let node = &service.registry.node;
                    let text = request.part(0);
                    // A name that the registry has is valid, and needs no check.
                    let known = unescape_name(text).and_then(|name| node.package_in_memory(&name));
                    if let Some(document) = known {
                        return Some(Ok(Response::document(LINES, &document)));
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
                    Ok(Response::document(LINES, &document))
                },
                problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchPackage],
                ..GET
            }],
        },
        Route {
            path: "index/config.json",
            handlers: &[Handler {
                summary: "What the registry offers",
                // A client without a token learns here that it needs one.
                access: Access::Public,
                fast_path: Some(|service, _| Some(Ok(Response::document(JSON, &service.config)))),
                answers: &[(200, AnswerBody::Json("Config"))],
                ..GET
            }],
        },
        Route {
            path: "index/v1/classes/{class}.json",
            handlers: &[Handler {
                summary: "The packages that define a class",
                run: class,
                answers: &[(200, AnswerBody::Json("ClassPackages"))],
                problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchClass],
                ..GET
            }],
        },
        Route {
            path: "index/v1/names.ndjson",
            handlers: &[Handler {
                summary: "The digest of every index document",
                media_type: LINES_MEDIA_TYPE,
                run: |service, _| {
                    let names = service.registry.node.state().names();
                    Ok(Response::document(LINES, &names))
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
                    Ok(Response::document(JSON, &signed.document))
                },
                answers: &[(200, AnswerBody::Json("SignedSnapshot"))],
                ..GET
            }],
        },
        Route {
            path: "index/v1/batch",
            handlers: &[Handler {
                method: Method::POST,
                summary: "Many index documents in one response",
                body: BodyKind::Batch,
                media_type: BATCH_MEDIA_TYPE,
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
                answers: &[(200, AnswerBody::Json("Changes"))],
                ..GET
            }],
        },
    ],
    has_microversions: false,
    error_schema: "Errors",
    error: errors_document,
};

const LINES: HeaderValue = HeaderValue::from_static(LINES_MEDIA_TYPE);

fn invalid_name(reason: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::NameInvalid, reason)
}

/// The name of a package or class that is a parameter of a path, without its escapes.
fn unescaped(part: &str) -> Result<String, Problem> {
    let name = unescape_name(part);
    name.ok_or_else(|| invalid_name("an upper case letter X of a name is written !x here"))
}

fn escaped_name(part: &str) -> Result<PackageName, Problem> {
    PackageName::parse(&unescaped(part)?).map_err(|error| invalid_name(error.to_string()))
}

/// The document of a class.
fn class(service: &Service, request: &Request) -> Result<Response, Problem> {
    let name = unescaped(request.part(0))?;
    let class = ClassName::parse(&name).map_err(|error| invalid_name(error.to_string()))?;
    if let Some(document) = service.registry.node.class(&class)? {
        Ok(Response::document(JSON, &document))
    } else {
        let detail = format!("no package defines the class {class}");
        Err(Problem::new(ProblemCode::NoSuchClass, detail))
    }
}

/// The response to a batch request.
fn batch(service: &Service, request: &Request) -> Result<Response, Problem> {
    let limit = service.registry.options.batch_names;
    let batch = BatchRequest::parse(&request.body, limit as u64)
        .map_err(|error| Problem::new(ProblemCode::BodyInvalid, error.to_string()))?;
    let pieces = service.registry.node.batch(&batch, limit)?;
    let kind = HeaderValue::from_static(BATCH_MEDIA_TYPE);
    Ok(Response::with_pieces(kind, pieces).header(header::CACHE_CONTROL, NO_CACHE))
}

/// The changes after a serial.
fn changes(service: &Service, request: &Request) -> Result<Response, Problem> {
    let since = request.query.number("since", 0, 0..=u64::MAX >> 1)?;
    let limit = request.query.number("limit", 1000, 1..=10_000)?;
    let changes = service.registry.changes(since, limit)?;
    let response = Response::with_body(StatusCode::OK, JSON, changes.to_json().into());
    Ok(response.header(header::CACHE_CONTROL, NO_CACHE))
}
