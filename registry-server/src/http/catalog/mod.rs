//! The catalog API of Murano, version 1, for its clients: the releases of the registry, with what the
//! catalog knows of them.
//!
//! These clients need some exceptions: errors have a form of their own, unknown parameters of queries
//! are ignored, and so is the `Content-Type` of a `GET`. `docs/murano-clients.md` describes the API.

mod categories;
mod list;
mod query;
mod repository;
mod representation;
mod show;
mod update;
mod upload;

use http::Method;

use super::route::{Access, BodyKind, GET, Handler, Route, Surface};
use crate::registry::CatalogPart;

/// `v1/catalog/`: the catalog.
pub(crate) const SURFACE: Surface = Surface {
    prefix: "v1/catalog/",
    routes: &[
        Route {
            path: "v1/catalog/packages",
            handlers: &[
                Handler {
                    summary: "List releases of the catalog",
                    access: Access::OptionalToken,
                    query: list::PARAMETERS,
                    has_open_query: true,
                    run: list::list,
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Publish a release, and set its values in the catalog",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::Form,
                    run: upload::upload,
                    ..GET
                },
            ],
        },
        Route {
            path: "v1/catalog/packages/{id}",
            handlers: &[
                Handler {
                    summary: "A release of the catalog",
                    access: Access::OptionalToken,
                    has_open_query: true,
                    run: show::show,
                    ..GET
                },
                Handler {
                    method: Method::PATCH,
                    summary: "Change the values of a release in the catalog",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::CatalogPatch,
                    run: update::update,
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Delete a release",
                    access: Access::Token,
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
                access: Access::OptionalToken,
                has_open_query: true,
                media_type: "application/octet-stream",
                run: show::download,
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/ui",
            handlers: &[Handler {
                summary: "The form of a release",
                access: Access::OptionalToken,
                has_open_query: true,
                media_type: "text/plain",
                run: |service, request| show::file(service, request, CatalogPart::Form),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/logo",
            handlers: &[Handler {
                summary: "The logo of a release",
                access: Access::OptionalToken,
                has_open_query: true,
                media_type: "application/octet-stream",
                run: |service, request| show::file(service, request, CatalogPart::Logo),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/packages/{id}/supplier_logo",
            handlers: &[Handler {
                summary: "The logo of the supplier of a release",
                access: Access::OptionalToken,
                has_open_query: true,
                media_type: "application/octet-stream",
                run: |service, request| show::file(service, request, CatalogPart::SupplierLogo),
                ..GET
            }],
        },
        Route {
            path: "v1/catalog/categories",
            handlers: &[
                Handler {
                    summary: "List categories",
                    access: Access::OptionalToken,
                    query: categories::PARAMETERS,
                    has_open_query: true,
                    run: categories::list,
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Add a category",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::Json,
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
                    access: Access::OptionalToken,
                    has_open_query: true,
                    run: categories::show,
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Remove a category without releases",
                    access: Access::Token,
                    has_open_query: true,
                    run: categories::remove,
                    ..GET
                },
            ],
        },
    ],
    has_microversions: false,
    error: representation::error,
};

/// `apps/`: archives by name and spec.
pub(crate) const APPS: Surface = Surface {
    prefix: "apps/",
    routes: &[Route {
        path: "apps/{release}.zip",
        handlers: &[Handler {
            summary: "The newest release for a spec: `<name>.zip` or `<name>.<spec>.zip`",
            has_open_query: true,
            media_type: "application/zip",
            run: repository::app,
            ..GET
        }],
    }],
    has_microversions: false,
    error: representation::error,
};

/// `bundles/`: bundles.
pub(crate) const BUNDLES: Surface = Surface {
    prefix: "bundles/",
    routes: &[Route {
        path: "bundles/{name}.bundle",
        handlers: &[
            Handler {
                summary: "A bundle: packages that are imported together",
                has_open_query: true,
                run: repository::bundle,
                ..GET
            },
            Handler {
                method: Method::PUT,
                summary: "Add or replace a bundle",
                access: Access::Token,
                body: BodyKind::Json,
                run: repository::put_bundle,
                ..GET
            },
            Handler {
                method: Method::DELETE,
                summary: "Remove a bundle",
                access: Access::Token,
                run: repository::remove_bundle,
                ..GET
            },
        ],
    }],
    has_microversions: false,
    error: representation::error,
};
