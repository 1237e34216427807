//! The native API: publishing, packages, releases and tokens.

mod packages;
mod releases;
mod tokens;

use http::Method;
use serde_json::json;

use super::error_response::errors_document;
use super::microversion::Microversion;
use super::response::Response;
use super::route::{Access, AnswerBody, BodyKind, GET, Handler, Route, Surface};
use crate::access::Scope;
use crate::problem::ProblemCode;

/// The base and `v1/`: the native API, and every path of no other surface.
pub(crate) const SURFACE: Surface = Surface {
    prefix: "",
    routes: &[
        Route {
            path: "",
            handlers: &[Handler {
                summary: "The versions of the API",
                access: Access::Public,
                fast_path: Some(|_, _| Some(Ok(versions()))),
                answers: &[(200, AnswerBody::Json("Versions"))],
                ..GET
            }],
        },
        Route {
            path: "v1/openapi.json",
            handlers: &[Handler {
                summary: "This description",
                access: Access::Public,
                run: |service, _| Ok(Response::json(&service.description)),
                answers: &[(200, AnswerBody::Json("Description"))],
                ..GET
            }],
        },
        Route {
            path: "v1/packages",
            handlers: &[Handler {
                summary: "Search packages by words and phrases",
                query: &["q", "class", "owner", "limit", "marker"],
                run: packages::search,
                answers: &[(200, AnswerBody::Json("PackageList"))],
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}",
            handlers: &[Handler {
                summary: "A package: description, owners, versions",
                run: packages::show,
                answers: &[(200, AnswerBody::Json("Package"))],
                problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchPackage],
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/owners",
            handlers: &[Handler {
                method: Method::PUT,
                summary: "Replace the owners of a package",
                access: Access::Token,
                body: BodyKind::Json("NewOwners"),
                permits: |principal, request| {
                    principal.require_for(Scope::Owners, &request.package(0)?)
                },
                run: packages::set_owners,
                answers: &[(200, AnswerBody::Json("Package"))],
                problems: &[
                    ProblemCode::NameInvalid,
                    ProblemCode::NoSuchPackage,
                    ProblemCode::NotOwner,
                    ProblemCode::ConcurrentUpdate,
                ],
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/dependants",
            handlers: &[Handler {
                since: Microversion::new(1, 1),
                summary: "Packages with a release that requires a package",
                run: packages::dependants,
                answers: &[(200, AnswerBody::Json("Dependants"))],
                problems: &[ProblemCode::NameInvalid],
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/versions/{version}",
            handlers: &[
                Handler {
                    summary: "A release",
                    run: releases::show,
                    answers: &[(200, AnswerBody::Json("Release"))],
                    problems: &[
                        ProblemCode::NameInvalid,
                        ProblemCode::VersionInvalid,
                        ProblemCode::NoSuchPackage,
                        ProblemCode::NoSuchVersion,
                    ],
                    ..GET
                },
                Handler {
                    method: Method::PUT,
                    summary: "Publish a release",
                    access: Access::Token,
                    query: &["allow_unsatisfiable"],
                    body: BodyKind::Archive,
                    problems: &[
                        ProblemCode::NameInvalid,
                        ProblemCode::VersionInvalid,
                        ProblemCode::PackageInvalid,
                        ProblemCode::ReleaseMismatch,
                        ProblemCode::VersionExists,
                        ProblemCode::NameTaken,
                        ProblemCode::Unsatisfiable,
                        ProblemCode::NotOwner,
                    ],
                    permits: |principal, request| {
                        principal.require_for(Scope::Publish, &request.package(0)?)
                    },
                    run: releases::publish,
                    answers: &[
                        (200, AnswerBody::Json("Release")),
                        (201, AnswerBody::Json("Release")),
                    ],
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/packages/{name}/versions/{version}/yank",
            handlers: &[
                Handler {
                    method: Method::PUT,
                    summary: "Yank a release",
                    access: Access::Token,
                    body: BodyKind::Json("Yank"),
                    permits: |principal, request| {
                        principal.require_for(Scope::Yank, &request.package(0)?)
                    },
                    run: releases::yank,
                    answers: &[(204, AnswerBody::Nothing)],
                    problems: &[
                        ProblemCode::NameInvalid,
                        ProblemCode::VersionInvalid,
                        ProblemCode::NoSuchPackage,
                        ProblemCode::NoSuchVersion,
                        ProblemCode::NotOwner,
                    ],
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Undo a yank",
                    access: Access::Token,
                    permits: |principal, request| {
                        principal.require_for(Scope::Yank, &request.package(0)?)
                    },
                    run: releases::unyank,
                    answers: &[(204, AnswerBody::Nothing)],
                    problems: &[
                        ProblemCode::NameInvalid,
                        ProblemCode::VersionInvalid,
                        ProblemCode::NoSuchPackage,
                        ProblemCode::NoSuchVersion,
                        ProblemCode::NotOwner,
                    ],
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/tokens",
            handlers: &[
                Handler {
                    summary: "The tokens of an owner, without their secrets (scope `tokens`)",
                    access: Access::Token,
                    run: tokens::list,
                    answers: &[(200, AnswerBody::Json("TokenList"))],
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Create a token that permits no more and expires no later (scope `tokens`)",
                    access: Access::Token,
                    body: BodyKind::Json("NewToken"),
                    permits: |principal, _| principal.require(Scope::Tokens),
                    run: tokens::create,
                    answers: &[(201, AnswerBody::Json("CreatedToken"))],
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/tokens/{id}",
            handlers: &[Handler {
                method: Method::DELETE,
                summary: "Remove a token: itself, or another one (scope `tokens`); tokens that it created stay",
                access: Access::Token,
                run: tokens::remove,
                answers: &[(204, AnswerBody::Nothing)],
                problems: &[ProblemCode::NoSuchToken, ProblemCode::NotChangeable],
                ..GET
            }],
        },
        Route {
            path: "v1/whoami",
            handlers: &[Handler {
                summary: "The owner and the scopes of the token",
                access: Access::Token,
                run: tokens::whoami,
                answers: &[(200, AnswerBody::Json("Principal"))],
                ..GET
            }],
        },
    ],
    has_microversions: true,
    error_schema: "Errors",
    error: errors_document,
};

/// Version discovery, at the base. The links are relative, because no node knows the address that a
/// proxy has for it.
fn versions() -> Response {
    Response::json(&json!({
        // Clients of Galaxy take the base for its API if it says so.
        "available_versions": { "v3": "api/v3/" },
        "versions": [{
            "id": "v1.0",
            "status": "CURRENT",
            "min_version": Microversion::OLDEST.to_string(),
            "max_version": Microversion::NEWEST.to_string(),
            "links": [{ "rel": "self", "href": "v1/" }, { "rel": "index", "href": "index/config.json" }],
        }],
    }))
}
