//! The catalog API of Murano, version 1: the releases of the registry with the metadata that Murano's clients expect.
//!
//! These clients need some exceptions: errors have a form of their own, unknown parameters of queries
//! are ignored, and so is the `Content-Type` of a `GET`. `docs/murano-clients.md` describes the API.

mod categories;
mod list;
mod murano_repository;
mod query;
mod representation;
mod show;
mod update;
mod upload;

use http::Method;

use super::route::{Access, AnswerBody, BodyKind, GET, Handler, Route, Surface};
use crate::access::Scope;
use crate::problem::ProblemCode;
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
                    answers: &[(200, AnswerBody::Json("CatalogList"))],
                    problems: &[ProblemCode::NoSuchEntry],
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Publish a release, and set its values in the catalog",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::Form,
                    permits: |principal, _| principal.require(Scope::Publish),
                    run: upload::upload,
                    answers: &[(200, AnswerBody::Json("CatalogPackage"))],
                    problems: &[
                        ProblemCode::PackageInvalid,
                        ProblemCode::VersionExists,
                        ProblemCode::NameTaken,
                        ProblemCode::NotOwner,
                    ],
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
                    answers: &[(200, AnswerBody::Json("CatalogPackage"))],
                    problems: &[ProblemCode::NoSuchEntry, ProblemCode::NotOwner],
                    ..GET
                },
                Handler {
                    method: Method::PATCH,
                    summary: "Change the values of a release in the catalog",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::CatalogPatch,
                    permits: |principal, _| principal.require(Scope::Publish),
                    run: update::update,
                    answers: &[(200, AnswerBody::Json("CatalogPackage"))],
                    problems: &[
                        ProblemCode::NoSuchEntry,
                        ProblemCode::NotOwner,
                        ProblemCode::NotChangeable,
                    ],
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Delete a release",
                    access: Access::Token,
                    has_open_query: true,
                    permits: |principal, _| principal.require(Scope::Delete),
                    run: show::delete,
                    answers: &[(200, AnswerBody::Nothing)],
                    problems: &[ProblemCode::NoSuchEntry, ProblemCode::NotOwner],
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
                answers: &[(200, AnswerBody::Raw), (206, AnswerBody::Raw)],
                problems: &[
                    ProblemCode::NoSuchEntry,
                    ProblemCode::NotOwner,
                    ProblemCode::RangeNotSatisfiable,
                ],
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
                problems: &[ProblemCode::NoSuchEntry, ProblemCode::NotOwner],
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
                problems: &[ProblemCode::NoSuchEntry, ProblemCode::NotOwner],
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
                problems: &[ProblemCode::NoSuchEntry, ProblemCode::NotOwner],
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
                    answers: &[(200, AnswerBody::Json("CategoryList"))],
                    ..GET
                },
                Handler {
                    method: Method::POST,
                    summary: "Add a category",
                    access: Access::Token,
                    has_open_query: true,
                    body: BodyKind::Json("NewCategory"),
                    permits: |principal, _| principal.require(Scope::Admin),
                    run: categories::create,
                    answers: &[(200, AnswerBody::Json("Category"))],
                    problems: &[ProblemCode::CategoryExists],
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
                    answers: &[(200, AnswerBody::Json("CategoryWithPackages"))],
                    problems: &[ProblemCode::NoSuchCategory],
                    ..GET
                },
                Handler {
                    method: Method::DELETE,
                    summary: "Remove a category without releases",
                    access: Access::Token,
                    has_open_query: true,
                    permits: |principal, _| principal.require(Scope::Admin),
                    run: categories::remove,
                    answers: &[(200, AnswerBody::Nothing)],
                    problems: &[ProblemCode::NoSuchCategory, ProblemCode::CategoryInUse],
                    ..GET
                },
            ],
        },
    ],
    has_microversions: false,
    error_schema: "CatalogError",
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
            run: murano_repository::app,
            answers: &[(200, AnswerBody::Raw), (206, AnswerBody::Raw)],
            problems: &[
                ProblemCode::NameInvalid,
                ProblemCode::VersionInvalid,
                ProblemCode::NoSuchPackage,
                ProblemCode::NoSuchVersion,
                ProblemCode::RangeNotSatisfiable,
            ],
            ..GET
        }],
    }],
    has_microversions: false,
    error_schema: "CatalogError",
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
                run: murano_repository::bundle,
                answers: &[(200, AnswerBody::Json("Bundle"))],
                problems: &[ProblemCode::NoSuchBundle],
                ..GET
            },
            Handler {
                method: Method::PUT,
                summary: "Add or replace a bundle",
                access: Access::Token,
                body: BodyKind::Json("Bundle"),
                permits: |principal, _| principal.require(Scope::Admin),
                run: murano_repository::put_bundle,
                answers: &[(201, AnswerBody::Nothing), (204, AnswerBody::Nothing)],
                ..GET
            },
            Handler {
                method: Method::DELETE,
                summary: "Remove a bundle",
                access: Access::Token,
                permits: |principal, _| principal.require(Scope::Admin),
                run: murano_repository::remove_bundle,
                answers: &[(204, AnswerBody::Nothing)],
                problems: &[ProblemCode::NoSuchBundle],
                ..GET
            },
        ],
    }],
    has_microversions: false,
    error_schema: "CatalogError",
    error: representation::error,
};
