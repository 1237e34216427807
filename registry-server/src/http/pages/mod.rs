//! Pages for people: search, packages, classes, as HTML that needs no script and nothing from
//! elsewhere.
//!
//! Links are relative, because nobody knows below which path a proxy puts the server. The base
//! itself is a page for who prefers HTML, and the versions of the API for everyone else; an error
//! at an address that belongs to no API is a page for who prefers HTML as well.

mod class;
mod classes;
mod layout;
mod missing;
mod package;
mod picture;
mod problem;
mod search;
mod start;
mod text;
mod versions;

use http::HeaderMap;
use http::header::{self, HeaderValue};

use super::negotiate;
use super::refuse::errors_document;
use super::reply::Reply;
use super::route::{self, Access, Found, GET, Handler, Route, Surface};
use crate::index::Document;
use crate::problem::Problem;

/// The addresses of pages, which `v1/openapi.json` describes beside those of the surfaces.
pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "",
        handlers: &[Handler {
            summary: "The start page",
            gives: HTML,
            run: start::show,
            ..GET
        }],
    },
    Route {
        path: "packages",
        handlers: &[Handler {
            summary: "What a search finds, as a page",
            query: &["q", "marker"],
            gives: HTML,
            run: search::show,
            ..GET
        }],
    },
    Route {
        path: "packages/{name}",
        handlers: &[Handler {
            summary: "The page of a package",
            gives: HTML,
            run: package::show,
            ..GET
        }],
    },
    Route {
        path: "classes/{class}",
        handlers: &[Handler {
            summary: "The page of a class",
            gives: HTML,
            run: class::show,
            ..GET
        }],
    },
    Route {
        path: "style.css",
        handlers: &[Handler {
            summary: "How pages look",
            access: Access::Everyone,
            gives: "text/css",
            run: |_, _| Ok(asset("text/css; charset=utf-8", include_str!("style.css"))),
            ..GET
        }],
    },
    Route {
        path: "icon.svg",
        handlers: &[Handler {
            summary: "The icon of pages",
            access: Access::Everyone,
            gives: "image/svg+xml",
            run: |_, _| Ok(asset("image/svg+xml", include_str!("icon.svg"))),
            ..GET
        }],
    },
];

pub(super) const HTML: &str = "text/html";

/// The same addresses for people and for programs, whose errors look different.
const fn surface(error: fn(&Problem, &str) -> Reply) -> Surface {
    Surface {
        prefix: "",
        routes: ROUTES,
        has_microversions: false,
        error,
    }
}

static FOR_PROGRAMS: Surface = surface(|problem, id| varying(errors_document(problem, id)));

/// For people, by how many folders deep the address is: links of a page depend on it.
static FOR_PEOPLE: [Surface; 4] = [
    surface(|problem, id| problem::page("", problem, id)),
    surface(|problem, id| problem::page("../", problem, id)),
    surface(|problem, id| problem::page("../../", problem, id)),
    // No page is as deep as this. Behind a path of a proxy, links of its errors lead astray.
    surface(|problem, id| problem::page("/", problem, id)),
];

/// The surface and the route of a path without its leading slash, if it is for these pages and not for
/// one of the `surfaces`.
pub(super) fn find<'path>(
    surfaces: &'static [&'static Surface],
    path: &'path str,
    headers: &HeaderMap,
) -> Option<(&'static Surface, Option<Found<'path>>)> {
    let first = path.split('/').next().unwrap_or_default();
    let begins = |route: &Route| {
        let rest = route.path.strip_prefix(first);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_page = !first.is_empty() && ROUTES.iter().any(begins);
    // Most requests are for the index, and know what they want.
    if !is_page && !is_free(surfaces, path, first) {
        return None;
    }
    let prefers_pages = negotiate::prefers(headers, HTML, "application/json");
    if !is_page && !prefers_pages {
        return None;
    }
    let surface = if prefers_pages {
        let depth = path.matches('/').count();
        &FOR_PEOPLE[depth.min(FOR_PEOPLE.len() - 1)]
    } else {
        &FOR_PROGRAMS
    };
    Some((surface, surface.find(path)))
}

/// Whether an address belongs to no API.
fn is_free(surfaces: &'static [&'static Surface], path: &str, first: &str) -> bool {
    let surface = route::surface(surfaces, path);
    path.is_empty() || (surface.prefix.is_empty() && first != "v1")
}

/// Something that belongs to pages and never changes while the server runs.
fn asset(kind: &'static str, text: &'static str) -> Reply {
    Reply::document(HeaderValue::from_static(kind), &Document::new(text))
}

/// Says that the answer is another one for who accepts something else.
fn varying(reply: Reply) -> Reply {
    reply.header(header::VARY, HeaderValue::from_static("accept"))
}

#[cfg(test)]
mod tests;
