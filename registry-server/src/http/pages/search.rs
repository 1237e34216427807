//! The page of search results.

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{ClassName, PackageName};

use super::layout::{self, Page, class_link, package_link};
use super::text;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::Problem;

use crate::store::packages::{PackageRow, Search};

/// The limit of packages on a page.
const MAX_RESULTS: u64 = 50;

/// The limit of a description, in characters.
const MAX_DESCRIPTION: usize = 220;

/// Shows the results of a search.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let query = request.query.get("q").unwrap_or_default().trim();
    let marker = request.query.get("marker").unwrap_or_default();
    let mut found = service.registry.search(&Search {
        text: query.to_owned(),
        marker: marker.to_owned(),
        // One more than is shown, which shows whether there is another page.
        limit: MAX_RESULTS + 1,
        ..Search::default()
    })?;
    let has_more = found.len() as u64 > MAX_RESULTS;
    found.truncate(usize::try_from(MAX_RESULTS).unwrap_or(usize::MAX));
    let class = ClassName::parse(query)
        .ok()
        .filter(|class| service.registry.node.state().class(class).is_some());
    let short = text::beginning(query, 80);
    let heading = if query.is_empty() {
        "All packages".to_owned()
    } else {
        format!("Packages for “{short}”")
    };
    let page = Page {
        root: "",
        title: &format!("{heading} · pkgres"),
        query,
        has_search: false,
        content: html! {
            h1 { (heading) }
            @if let Some(class) = class {
                p.notice { "There is a class of this name: " (class_link("", &class)) }
            }
            @if found.is_empty() { (nothing(query, marker)) }
            @else {
                ul.results { @for package in &found { (result(package)) } }
                (pages(query, marker, has_more.then(|| found.last()).flatten()))
            }
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// A result.
fn result(package: &PackageRow) -> Markup {
    // The name was valid when the package was published.
    let Ok(name) = PackageName::parse(&package.name) else {
        return html! {};
    };
    let description = text::beginning(&package.description, MAX_DESCRIPTION);
    html! {
        li {
            h2 { a href={ "packages/" (name) } { (text::title(&package.title, &name)) } }
            p.fqn { (package_link("", &name)) }
            @if !description.is_empty() { p { (description) } }
            p.quiet { "Changed " (layout::time(&package.updated)) }
        }
    }
}

/// The text of a page without results.
fn nothing(query: &str, marker: &str) -> Markup {
    html! {
        @if query.is_empty() && marker.is_empty() { p.lead { "This registry has no packages yet." } }
        @else {
            p.lead { "Nothing was found." }
            p { "The search looks for the text in names, titles and descriptions. " a href="packages" { "All packages" } }
        }
    }
}

/// The links to the first and the next page.
fn pages(query: &str, marker: &str, last: Option<&PackageRow>) -> Markup {
    let query = text::parameter(query);
    html! {
        @if !marker.is_empty() || last.is_some() {
            nav.pages aria-label="Pages of results" {
                @if !marker.is_empty() { a href={ "packages?q=" (query) } { "First page" } }
                @if let Some(last) = last {
                    a rel="next" href={ "packages?q=" (query) "&marker=" (text::parameter(&last.name)) } {
                        "Next page"
                    }
                }
            }
        }
    }
}
