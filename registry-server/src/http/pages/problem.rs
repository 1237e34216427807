//! Errors as pages.

use http::header::{self, HeaderValue};
use maud::html;

use super::layout::{self, Page};
use crate::http::refuse::status_of;
use crate::http::reply::{NO_CACHE, Reply};
use crate::problem::{Problem, ProblemCode};

/// A problem as a page. `root` leads to the base, `id` is that of the request.
pub(super) fn page(root: &'static str, problem: &Problem, id: &str) -> Reply {
    let status = status_of(problem);
    let title = status.canonical_reason().unwrap_or("Error");
    let mut reply = Page {
        root,
        title: &format!("{title} · pkgres"),
        query: "",
        has_search: true,
        content: html! {
            div.failure {
                p.status { (status.as_u16()) }
                h1 { (title) }
                @for line in problem.detail.lines() { p.lead { (super::text::shown(line)) } }
                @if problem.code == ProblemCode::Unauthorized {
                    p {
                        "This registry is private: a token with the scope " code { "read" }
                        " is the password that the browser asks for, whatever the user name. On the \
                         command line, " code { "pkgres login" } " keeps it."
                    }
                }
                @if problem.code.status() == 404 { (layout::search(root, "", "main-search")) }
                p.quiet { code { (problem.code.as_str()) } " · request " code { (id) } }
            }
        },
    }
    .reply(status);
    reply.headers.remove(header::ETAG);
    if problem.code == ProblemCode::Unauthorized {
        let value = HeaderValue::from_static("Basic realm=\"pkgres\", charset=\"UTF-8\"");
        reply.headers.insert(header::WWW_AUTHENTICATE, value);
    }
    reply.header(header::CACHE_CONTROL, NO_CACHE)
}
