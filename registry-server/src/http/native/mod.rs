//! The API to publish, and to ask about packages.

mod discovery;
mod packages;
mod releases;
mod tokens;

use http::Method;

use super::Microversion;
use super::refuse::errors_document;
use super::reply::Reply;
use super::route::{Access, GET, Handler, Route, Surface, Takes};

pub(crate) const SURFACE: Surface = Surface {
    prefix: "",
    routes: &[
        Route {
            path: "",
            handlers: &[Handler {
                summary: "The versions of the API",
                access: Access::Everyone,
                quick: Some(|_, _| Some(Ok(discovery::versions()))),
                ..GET
            }],
        },
        Route {
            path: "v1/openapi.json",
            handlers: &[Handler {
                summary: "This description",
                access: Access::Everyone,
                run: |service, _| Ok(Reply::json(&service.description)),
                ..GET
            }],
        },
        Route {
            path: "v1/packages",
            handlers: &[Handler {
                summary: "Search packages",
                query: &["q", "class", "owner", "limit", "marker"],
                run: packages::search,
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}",
            handlers: &[Handler {
                summary: "A package: description, owners, versions",
                run: packages::show,
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/owners",
            handlers: &[Handler {
                method: Method::PUT,
                summary: "Exchange the owners of a package",
                access: Access::Holders,
                takes: Takes::Json,
                run: packages::set_owners,
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/dependants",
            handlers: &[Handler {
                since: Microversion::new(1, 1),
                summary: "Packages with a release that requires a package",
                run: packages::dependants,
                ..GET
            }],
        },
        Route {
            path: "v1/packages/{name}/versions/{version}",
            handlers: &[
                Handler {
                    summary: "A release",
                    run: releases::show,
                    ..GET
                },
                Handler {
                    method: Method::PUT,
                    until: Microversion::new(1, 1),
                    summary: "Publish a release",
                    access: Access::Holders,
                    query: &["allow_unsatisfiable"],
                    takes: Takes::Archive,
                    run: releases::publish,
                    ..GET
                },
                Handler {
                    method: Method::PUT,
                    since: Microversion::new(1, 2),
                    summary: "Publish a release; the answer has warnings",
                    access: Access::Holders,
                    query: &["allow_unsatisfiable"],
                    takes: Takes::Archive,
                    run: releases::publish_warning,
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
                    access: Access::Holders,
                    takes: Takes::Json,
                    run: releases::yank,
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Take a yank back",
                    access: Access::Holders,
                    run: releases::unyank,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/tokens",
            handlers: &[
                Handler {
                    summary: "The tokens of an owner, without their secrets (scope `tokens`)",
                    access: Access::Holders,
                    run: tokens::list,
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Make a token that is good for no more and no longer (scope `tokens`)",
                    access: Access::Holders,
                    takes: Takes::Json,
                    run: tokens::create,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/tokens/{id}",
            handlers: &[Handler {
                method: Method::DELETE,
                summary: "Remove a token: itself, or another one (scope `tokens`); those that it made stay",
                access: Access::Holders,
                run: tokens::remove,
                ..GET
            }],
        },
        Route {
            path: "v1/whoami",
            handlers: &[Handler {
                summary: "The owner and the scopes of the token",
                access: Access::Holders,
                run: tokens::whoami,
                ..GET
            }],
        },
    ],
    has_microversions: true,
    error: errors_document,
};
