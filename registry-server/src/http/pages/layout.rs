//! The frame of all pages: head, search field, links, and the headers that restrict what a page may do.

use http::StatusCode;
use http::header::{self, HeaderName, HeaderValue};
use maud::{DOCTYPE, Markup, html};
use pkgres_manifest::{ClassName, PackageName, Version};

use super::text;
use crate::http::response::Response;
use crate::index::Document;

/// The path to the base from the page of a package or a class.
pub(super) const ROOT: &str = "../";

/// The policy of pages: no scripts, nothing from elsewhere, and no frames around them.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);

/// A page.
pub(super) struct Page<'page> {
    /// The path to the base, such as `../`.
    pub(super) root: &'static str,
    /// The title of the tab.
    pub(super) title: &'page str,
    /// The text in the search field.
    pub(super) query: &'page str,
    /// Whether the page has a search field of its own, and needs none in its head.
    pub(super) has_search: bool,
    pub(super) content: Markup,
}

impl Page<'_> {
    /// The page as a response.
    pub(super) fn response(self, status: StatusCode) -> Response {
        let root = self.root;
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    link rel="stylesheet" href={ (root) "style.css" };
                    link rel="icon" href={ (root) "icon.svg" } type="image/svg+xml";
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top {
                        div.wide {
                            a.brand href=(home(root)) { (logo()) "pkgres" span.quiet { " registry" } }
                            @if !self.has_search { (search(root, self.query, "top-search")) }
                        }
                    }
                    main #content.wide tabindex="-1" { (self.content) }
                    footer {
                        div.wide {
                            span { "Packages, their versions and requirements." }
                            nav aria-label="For programs" {
                                a href={ (root) "v1/openapi.json" } { "API" }
                                a href={ (root) "index/config.json" } { "Index" }
                            }
                        }
                    }
                }
            }
        };
        let document = Document::new(markup.into_string());
        let kind = HeaderValue::from_static("text/html; charset=utf-8");
        let mut response = Response::document(kind, &document);
        response.status = status;
        response
            .header(header::CONTENT_SECURITY_POLICY, POLICY)
            .header(
                header::REFERRER_POLICY,
                HeaderValue::from_static("same-origin"),
            )
            .header(
                HeaderName::from_static("cross-origin-opener-policy"),
                HeaderValue::from_static("same-origin"),
            )
    }
}

/// The link to the base. An empty link would lead to the page itself.
fn home(root: &'static str) -> &'static str {
    if root.is_empty() { "./" } else { root }
}

/// The logo.
fn logo() -> Markup {
    html! {
        svg.mark viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false" {
            path d="M12 2 21 7v10l-9 5-9-5V7z" {}
            path d="M3 7l9 5 9-5M12 12v10" {}
        }
    }
}

/// The search field.
pub(super) fn search(root: &str, query: &str, id: &str) -> Markup {
    html! {
        form.search role="search" action={ (root) "packages" } method="get" {
            label.hidden for=(id) { "Search packages" }
            input #(id) type="search" name="q" value=(query) maxlength="200" autocomplete="off"
                autocapitalize="off" spellcheck="false" placeholder="Name, text, tag, author or class";
            button type="submit" { "Search" }
        }
    }
}

/// A name, with line breaks allowed after dots.
pub(super) fn name(name: &str) -> Markup {
    let (namespace, last) = text::halves(name);
    html! {
        @for part in namespace.split_inclusive('.') { span.namespace { (part) } wbr; }
        (last)
    }
}

/// A link to a package.
pub(super) fn package_link(root: &str, package: &PackageName) -> Markup {
    html! { a.name href={ (root) "packages/" (package) } { (name(package.as_str())) } }
}

/// A link to the page of a version.
pub(super) fn version_link(root: &str, package: &PackageName, version: &Version) -> Markup {
    html! { a.version href={ (root) "packages/" (package) "/" (version) } { (version) } }
}

/// A link to a class.
pub(super) fn class_link(root: &str, class: &ClassName) -> Markup {
    html! { a.name href={ (root) "classes/" (class) } { (name(class.as_str())) } }
}

/// A link to an interface.
pub(super) fn interface_link(root: &str, interface: &ClassName) -> Markup {
    html! { a.name href={ (root) "interfaces/" (interface) } { (name(interface.as_str())) } }
}

/// The day of a time.
pub(super) fn time(time: &str) -> Markup {
    html! {
        @if let Some(day) = text::day(time) { time datetime=(time) { (day) } }
        @else { "at an unknown time" }
    }
}
