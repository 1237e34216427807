//! Pages for errors, and for packages and classes that do not exist.

use http::StatusCode;
use http::header::{self, HeaderValue};
use maud::{Markup, html};
use pkgres_manifest::most_similar_name;

use super::layout::{self, Page};
use super::text;
use crate::http::error_response::status_of;
use crate::http::response::{NO_CACHE, Response};
use crate::problem::{Problem, ProblemCode};

/// The page of a problem. `root` is the path to the base, `id` the id of the request.
pub(super) fn problem_page(root: &'static str, problem: &Problem, id: &str) -> Response {
    let status = status_of(problem);
    let title = status.canonical_reason().unwrap_or("Error");
    let mut response = Page {
        root,
        title: &format!("{title} · pkgres"),
        query: "",
        has_search: true,
        content: html! {
            div.failure {
                p.status { (status.as_u16()) }
                h1 { (title) }
                @for line in problem.detail.lines() { p.lead { (text::shown(line)) } }
                @if problem.code == ProblemCode::Unauthorized {
                    p {
                        "This registry is private. Enter a token with the scope " code { "read" }
                        " as the password, with any user name. On the command line, "
                        code { "pkgres login" } " stores the token."
                    }
                }
                @if problem.code.status() == 404 { (layout::search(root, "", "main-search")) }
                p.quiet { code { (problem.code.as_str()) } " · request " code { (id) } }
            }
        },
    }
    .response(status);
    response.headers.remove(header::ETAG);
    if problem.code == ProblemCode::Unauthorized {
        let value = HeaderValue::from_static("Basic realm=\"pkgres\", charset=\"UTF-8\"");
        response.headers.insert(header::WWW_AUTHENTICATE, value);
    }
    response.header(header::CACHE_CONTROL, NO_CACHE)
}

/// The limit of names that are compared with a missing one.
const MAX_COMPARED: usize = 20_000;

/// The page of a package or class that does not exist, with a link to the probably intended one.
pub(super) fn missing_page(
    kind: &str,
    root: &'static str,
    name: &str,
    suggestion: Option<Markup>,
) -> Response {
    let (_, last) = text::halves(name);
    let mut response = Page {
        root,
        title: &format!("No {kind} {name} · pkgres"),
        query: "",
        has_search: true,
        content: html! {
            div.failure {
                p.status { "404" }
                h1 { "No such " (kind) }
                p.lead { "There is no " (kind) " " code { (layout::name(name)) } " in this registry." }
                @if let Some(link) = suggestion { p.meant { "Did you mean " (link) "?" } }
                (layout::search(root, last, "main-search"))
            }
        },
    }
    .response(StatusCode::NOT_FOUND);
    response.headers.remove(header::ETAG);
    response
}

/// The probably intended name: the same name in other case, or a similar one.
pub(super) fn suggestion<'name>(
    name: &str,
    names: impl Iterator<Item = &'name str> + Clone,
) -> Option<&'name str> {
    let same = names.clone().find(|known| known.eq_ignore_ascii_case(name));
    same.or_else(|| most_similar_name(name, names.take(MAX_COMPARED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_prefix_is_not_enough() {
        let names = ["org.example.Db", "org.example.Web"];
        let suggestion = |name| suggestion(name, names.iter().copied());
        assert_eq!(suggestion("ORG.example.db"), Some("org.example.Db"));
        assert_eq!(suggestion("com.vendor.Web"), Some("org.example.Web"));
        assert_eq!(suggestion("org.example.Wbe"), Some("org.example.Web"));
        assert_eq!(suggestion("org.example.Log"), None);
    }
}
