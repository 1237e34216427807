//! Pages for people: search, packages, classes and interfaces, as HTML without scripts and without anything from
//! elsewhere.
//!
//! Clients that prefer HTML to JSON get a page at the base, where others get the versions of the API,
//! and pages for errors at paths that belong to no API. Links are relative, because a proxy may put the
//! server below any path. `maud` escapes everything that it renders; `text` also shows characters that
//! hide or reorder text.

mod class;
mod classes;
mod conformance;
mod content;
mod contract;
mod diagram;
mod errors;
mod interface;
mod layout;
mod licence;
mod markdown;
mod members;
mod package;
mod release;
mod search;
mod slash;
mod start;
mod text;
mod version;

use http::HeaderMap;
use http::header::HeaderValue;

use super::error_response::errors_document;
use super::negotiate;
use super::response::Response;
use super::route::{self, Access, GET, Handler, Route, RouteMatch, Surface};
use crate::index::Document;
use crate::problem::{Problem, ProblemCode};

/// The handler that those of pages are declared from. Parameters of others are ignored: they are added to links that
/// people pass on.
const PAGE: Handler = Handler {
    media_type: HTML,
    has_open_query: true,
    ..GET
};

/// The parameters of a search.
const SEARCH: [&str; 2] = ["q", "marker"];

/// The routes of pages, which `v1/openapi.json` describes beside the routes of the surfaces.
pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "",
        handlers: &[Handler {
            summary: "The start page",
            run: start::show,
            ..PAGE
        }],
    },
    Route {
        path: "packages",
        handlers: &[Handler {
            summary: "The page of search results",
            query: &SEARCH,
            run: search::show,
            ..PAGE
        }],
    },
    Route {
        path: "packages/{name}",
        handlers: &[Handler {
            summary: "The page of a package",
            run: package::show,
            problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchPackage],
            ..PAGE
        }],
    },
    Route {
        path: "packages/{name}/{version}",
        handlers: &[Handler {
            summary: "The page of a version",
            run: version::show,
            problems: &[
                ProblemCode::NameInvalid,
                ProblemCode::VersionInvalid,
                ProblemCode::NoSuchPackage,
                ProblemCode::NoSuchVersion,
            ],
            ..PAGE
        }],
    },
    Route {
        path: "classes/{class}",
        handlers: &[Handler {
            summary: "The page of a class, or of a part of a collection",
            run: class::show,
            problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchClass],
            ..PAGE
        }],
    },
    Route {
        path: "interfaces/{interface}",
        handlers: &[Handler {
            summary: "The page of an interface",
            run: interface::show,
            problems: &[ProblemCode::NameInvalid, ProblemCode::NoSuchInterface],
            ..PAGE
        }],
    },
    Route {
        path: "packages/",
        handlers: &[Handler {
            query: &SEARCH,
            run: slash::search,
            ..slash::MOVED
        }],
    },
    Route {
        path: "packages/{name}/",
        handlers: &[slash::MOVED],
    },
    Route {
        path: "packages/{name}/{version}/",
        handlers: &[slash::MOVED],
    },
    Route {
        path: "classes/{class}/",
        handlers: &[slash::MOVED],
    },
    Route {
        path: "interfaces/{interface}/",
        handlers: &[slash::MOVED],
    },
    Route {
        path: "style.css",
        handlers: &[Handler {
            summary: "The style sheet of the pages",
            access: Access::Public,
            media_type: "text/css",
            run: |_, _| Ok(asset("text/css; charset=utf-8", include_str!("style.css"))),
            ..GET
        }],
    },
    Route {
        path: "icon.svg",
        handlers: &[Handler {
            summary: "The icon of the pages",
            access: Access::Public,
            media_type: "image/svg+xml",
            run: |_, _| Ok(asset("image/svg+xml", include_str!("icon.svg"))),
            ..GET
        }],
    },
];

/// The media type of pages.
pub(super) const HTML: &str = "text/html";

/// The surface of the pages, with one form of errors.
const fn surface(error: fn(&Problem, &str) -> Response) -> Surface {
    Surface {
        prefix: "",
        routes: ROUTES,
        has_microversions: false,
        error_schema: "Errors",
        error,
    }
}

/// For clients that prefer JSON.
static FOR_PROGRAMS: Surface = surface(errors_document);

/// For clients that prefer HTML, by the depth of the path, on which links depend.
static FOR_PEOPLE: [Surface; 8] = [
    surface(error_page::<0>),
    surface(error_page::<1>),
    surface(error_page::<2>),
    surface(error_page::<3>),
    surface(error_page::<4>),
    surface(error_page::<5>),
    surface(error_page::<6>),
    // Nothing is as deep as this. Behind a path of a proxy, the links of its errors are wrong.
    surface(|problem, id| errors::problem_page("/", problem, id)),
];

/// The page of an error at a path of a depth.
fn error_page<const DEPTH: usize>(problem: &Problem, id: &str) -> Response {
    const LINKS_UP: &str = "../../../../../../";
    errors::problem_page(&LINKS_UP[.."../".len() * DEPTH], problem, id)
}

/// The surface and the route of a path without its leading slash, if it belongs to the pages and not to
/// one of the `surfaces`.
pub(super) fn find<'path>(
    surfaces: &'static [&'static Surface],
    path: &'path str,
    headers: &HeaderMap,
) -> Option<(&'static Surface, Option<RouteMatch<'path>>)> {
    // Most requests are for the index: their headers need not be read.
    if !are_negotiated(surfaces, path) {
        return None;
    }
    let is_page = is_page(path);
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

/// Whether the form of what a path returns depends on the media types that the client accepts: the path is that of a
/// page, or belongs to no API.
pub(super) fn are_negotiated(surfaces: &'static [&'static Surface], path: &str) -> bool {
    let surface = route::surface(surfaces, path);
    let is_free = surface.prefix.is_empty() && first_segment(path) != "v1";
    path.is_empty() || is_free || is_page(path)
}

/// Whether a path is that of a page, or below one.
fn is_page(path: &str) -> bool {
    let first = first_segment(path);
    let begins = |route: &Route| {
        let rest = route.path.strip_prefix(first);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !first.is_empty() && ROUTES.iter().any(begins)
}

fn first_segment(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

/// A file of the pages.
fn asset(kind: &'static str, text: &'static str) -> Response {
    Response::document(HeaderValue::from_static(kind), &Document::new(text))
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::super::dispatch::SURFACES;
    use super::*;

    fn found(path: &str, accept: &str) -> Option<(bool, bool)> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_str(accept).expect("a header"),
        );
        let (surface, route) = find(SURFACES, path, &headers)?;
        Some((
            !std::ptr::eq(surface, &raw const FOR_PROGRAMS),
            route.is_some(),
        ))
    }

    #[test]
    fn browsers_get_pages_and_programs_do_not() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (path, in_browser, in_program) in [
            ("", Some((true, true)), None),
            ("packages", Some((true, true)), Some((false, true))),
            ("packages/a.B", Some((true, true)), Some((false, true))),
            ("packages/a.B/", Some((true, true)), Some((false, true))),
            ("packages//", Some((true, false)), Some((false, false))),
            ("packages/a.B/1", Some((true, true)), Some((false, true))),
            (
                "packages/a.B/1/c",
                Some((true, false)),
                Some((false, false)),
            ),
            ("classes/a.B", Some((true, true)), Some((false, true))),
            ("interfaces/a.B", Some((true, true)), Some((false, true))),
            ("style.css", Some((true, true)), Some((false, true))),
            ("nothing/at/all/here", Some((true, false)), None),
            ("packages-of-others", Some((true, false)), None),
            ("v1/packages", None, None),
            ("v1/nothing", None, None),
            ("index/config.json", None, None),
            ("index/nothing", None, None),
            ("blobs/nothing", None, None),
            ("healthz", None, None),
        ] {
            assert_eq!(found(path, browser), in_browser, "{path}");
            assert_eq!(found(path, "*/*"), in_program, "{path}");
        }
    }

    #[test]
    fn no_page_has_the_path_of_an_api() {
        for route in ROUTES.iter().filter(|route| !route.path.is_empty()) {
            let (_, other) = route::find(SURFACES, route.path);
            assert!(other.is_none(), "{}", route.path);
            for handler in route.handlers {
                assert!(!handler.summary.is_empty(), "{}", route.path);
            }
        }
    }
}
