//! The API of Galaxy, version 3, as far as clients need it to publish and install Ansible collections.
//!
//! `ansible-galaxy` finds it at the base and at `api/`.
//!
//! A publish is complete when it is answered. Clients nevertheless expect the address of a task: it contains the
//! digest of the artifact, so that every node knows it.

mod collections;
mod document_addresses;
mod list_pages;
mod publish;

use http::Method;
use serde_json::json;

use super::error_response::errors_document;
use super::response::Response;
use super::route::{Access, AnswerBody, BodyKind, GET, Handler, Route, Surface};
use crate::access::Scope;
use crate::problem::ProblemCode;

/// `api/`: the API of Galaxy.
pub(crate) const SURFACE: Surface = Surface {
    prefix: "api",
    routes: &[
        Route {
            path: "api",
            handlers: &[DISCOVERY],
        },
        Route {
            path: "api/",
            handlers: &[Handler {
                summary: "The versions of the API of Galaxy, as clients ask for them",
                ..DISCOVERY
            }],
        },
        Route {
            path: "api/v3/collections/",
            handlers: &[Handler {
                summary: "The collections, sorted by name; `namespace` and `name` select some",
                query: &["limit", "offset", "marker", "namespace", "name"],
                has_open_query: true,
                run: collections::list,
                answers: &[(200, AnswerBody::Json("GalaxyCollectionList"))],
                ..GET
            }],
        },
        Route {
            path: "api/v3/collections/{namespace}/{name}/",
            handlers: &[Handler {
                summary: "A collection",
                has_open_query: true,
                run: collections::show,
                answers: &[(200, AnswerBody::Json("GalaxyCollection"))],
                problems: &[ProblemCode::NoSuchPackage],
                ..GET
            }],
        },
        Route {
            path: "api/v3/collections/{namespace}/{name}/versions/",
            handlers: &[Handler {
                summary: "The versions of a collection that are not yanked, the newest first",
                query: &["limit", "offset", "marker"],
                has_open_query: true,
                run: collections::versions,
                answers: &[(200, AnswerBody::Json("GalaxyVersionList"))],
                problems: &[ProblemCode::NoSuchPackage],
                ..GET
            }],
        },
        Route {
            path: "api/v3/collections/{namespace}/{name}/versions/{version}/",
            handlers: &[
                Handler {
                    summary: "A version of a collection",
                    has_open_query: true,
                    run: collections::version,
                    answers: &[(200, AnswerBody::Json("GalaxyVersion"))],
                    problems: &[ProblemCode::NoSuchPackage, ProblemCode::NoSuchVersion],
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Delete a version of a collection (scope `delete`)",
                    access: Access::TokenOrPassword,
                    permits: |principal, request| {
                        principal.require_for(Scope::Delete, &collections::name(request)?)
                    },
                    run: collections::delete,
                    answers: &[(204, AnswerBody::Nothing)],
                    problems: &[
                        ProblemCode::NoSuchPackage,
                        ProblemCode::NoSuchVersion,
                        ProblemCode::NotOwner,
                    ],
                    ..GET
                },
            ],
        },
        Route {
            path: "api/v3/artifacts/collections/",
            handlers: &[Handler {
                method: Method::POST,
                summary: "Publish a collection",
                access: Access::TokenOrPassword,
                has_open_query: true,
                body: BodyKind::CollectionForm,
                permits: |principal, _| principal.require(Scope::Publish),
                run: publish::publish,
                answers: &[(202, AnswerBody::Json("GalaxyTask"))],
                problems: &[
                    ProblemCode::PackageInvalid,
                    ProblemCode::ReleaseMismatch,
                    ProblemCode::VersionExists,
                    ProblemCode::NameTaken,
                    ProblemCode::NotOwner,
                ],
                ..GET
            }],
        },
        Route {
            path: "api/v3/artifacts/collections/{digest}/{file}",
            handlers: &[Handler {
                summary: "The artifact of a collection, or a range of it",
                media_type: "application/gzip",
                run: collections::download,
                answers: &[(200, AnswerBody::Raw), (206, AnswerBody::Raw)],
                problems: &[ProblemCode::NoSuchBlob, ProblemCode::RangeNotSatisfiable],
                ..GET
            }],
        },
        Route {
            path: "api/v3/imports/collections/{digest}/",
            handlers: &[Handler {
                summary: "A publish that is over",
                access: Access::Token,
                run: publish::task,
                answers: &[(200, AnswerBody::Json("GalaxyImport"))],
                problems: &[ProblemCode::NoSuchAddress],
                ..GET
            }],
        },
    ],
    has_microversions: false,
    error_schema: "Errors",
    error: errors_document,
};

/// The discovery of versions.
const DISCOVERY: Handler = Handler {
    summary: "The versions of the API of Galaxy",
    access: Access::Public,
    has_open_query: true,
    fast_path: Some(|_, _| Some(Ok(discovery()))),
    answers: &[(200, AnswerBody::Json("GalaxyDiscovery"))],
    ..GET
};

fn discovery() -> Response {
    Response::json(&json!({
        "description": "pkgres",
        "current_version": "v3",
        "available_versions": { "v3": "v3/" },
    }))
}
