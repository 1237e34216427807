//! The catalog API of Murano, version 1, as its clients call it: the same releases as everywhere
//! else, with what is said of them beside the index.
//!
//! What is particular to those clients: errors have a shape of their own, unknown parameters of
//! queries are passed over, and what a client says a `GET` without a body is does not matter.

mod apps;
mod bundles;
mod categories;
mod list;
mod query;
mod shape;
mod show;
mod update;
mod upload;

use http::Method;

use super::route::{Access, GET, Handler, Route, Surface, Takes};
use crate::registry::CatalogPart;

pub(crate) const SURFACE: Surface = Surface {
    prefix: "v1/catalog/",
    routes: &[
        Route {
            path: "v1/catalog/packages",
            handlers: &[
                Handler {
                    summary: "List releases of the catalog",
                    access: Access::Known,
                    query: list::PARAMETERS,
                    has_open_query: true,
                    run: list::list,
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Publish a release with what the catalog says of it",
                    access: Access::Holders,
                    has_open_query: true,
                    takes: Takes::Form,
                    run: upload::upload,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/catalog/packages/{id}",
            handlers: &[
                Handler {
                    summary: "What the catalog says of a release",
                    access: Access::Known,
                    has_open_query: true,
                    run: show::show,
                    ..GET
                },
                Handler {
                    method: Method::PATCH,
                    summary: "Change what the catalog says of a release",
                    access: Access::Holders,
                    has_open_query: true,
                    takes: Takes::CatalogPatch,
                    run: update::update,
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Delete a release",
                    access: Access::Holders,
                    has_open_query: true,
                    run: show::delete,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/catalog/packages/{id}/download",
            handlers: &[Handler {
                summary: "The archive of a release",
                access: Access::Known,
                has_open_query: true,
                gives: "application/octet-stream",
                run: show::download,
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/ui",
            handlers: &[Handler {
                summary: "The form of a release",
                access: Access::Known,
                has_open_query: true,
                gives: "text/plain",
                run: |service, request| show::part(service, request, CatalogPart::Form),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/logo",
            handlers: &[Handler {
                summary: "The logo of a release",
                access: Access::Known,
                has_open_query: true,
                gives: "application/octet-stream",
                run: |service, request| show::part(service, request, CatalogPart::Logo),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/supplier_logo",
            handlers: &[Handler {
                summary: "The logo of who supplies a release",
                access: Access::Known,
                has_open_query: true,
                gives: "application/octet-stream",
                run: |service, request| show::part(service, request, CatalogPart::SupplierLogo),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/categories",
            handlers: &[
                Handler {
                    summary: "List categories",
                    access: Access::Known,
                    query: &["sort_keys", "sort_dir", "limit", "marker"],
                    has_open_query: true,
                    run: categories::list,
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Make a category",
                    access: Access::Holders,
                    has_open_query: true,
                    takes: Takes::Json,
                    run: categories::create,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/catalog/categories/{id}",
            handlers: &[
                Handler {
                    summary: "A category and its releases",
                    access: Access::Known,
                    has_open_query: true,
                    run: categories::show,
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Remove a category without releases",
                    access: Access::Holders,
                    has_open_query: true,
                    run: categories::remove,
                    ..GET
                },
            ],
        },
    ],
    has_microversions: false,
    error: shape::error,
};

pub(crate) const APPS: Surface = Surface {
    prefix: "apps/",
    routes: &[Route {
        path: "apps/{release}.zip",
        handlers: &[Handler {
            summary: "The newest release inside a spec: `<name>.zip` or `<name>.<spec>.zip`",
            has_open_query: true,
            gives: "application/zip",
            run: apps::app,
            ..GET
        }],
    }],
    has_microversions: false,
    error: shape::error,
};

pub(crate) const BUNDLES: Surface = Surface {
    prefix: "bundles/",
    routes: &[Route {
        path: "bundles/{name}.bundle",
        handlers: &[
            Handler {
                summary: "A list of packages to be imported together",
                has_open_query: true,
                run: bundles::show,
                ..GET
            },
            Handler {
                method: Method::PUT,
                summary: "Put a bundle in place",
                access: Access::Holders,
                takes: Takes::Json,
                run: bundles::put,
                ..GET
            },
            Handler {
                method: Method::DELETE,
                summary: "Remove a bundle",
                access: Access::Holders,
                run: bundles::remove,
                ..GET
            },
        ],
    }],
    has_microversions: false,
    error: shape::error,
};
