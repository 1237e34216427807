//! The page of search results.

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{ClassName, PackageName};

use super::layout::{self, Page, class_link, interface_link, package_link, version_link};
use super::text;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::search_words::search_words;
use crate::http::service::Service;
use crate::problem::Problem;
use crate::registry::PackageSummary;
use crate::store::collections::CollectionContent;
use crate::store::packages::{MAX_WORDS, PackageRow, Search};

/// The limit of packages on a page.
const MAX_RESULTS: u64 = 50;

/// The limit of a description, in characters.
const MAX_DESCRIPTION: usize = 220;

/// The limit of classes of a package that match, and of its tags.
const MAX_MATCHES: usize = 5;

/// Shows the results of a search.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let query = request.query.get("q").unwrap_or_default().trim();
    let marker = request.query.get("marker").unwrap_or_default();
    let words = search_words(query);
    let mut found = service.registry.search(&Search {
        words: words.clone(),
        marker: marker.to_owned(),
        // One more than is shown, which shows whether there is another page.
        limit: MAX_RESULTS + 1,
        ..Search::default()
    })?;
    let has_more = found.len() as u64 > MAX_RESULTS;
    found.truncate(usize::try_from(MAX_RESULTS).unwrap_or(usize::MAX));
    // Names were valid when the packages were published.
    let names: Vec<PackageName> = found
        .iter()
        .map(|package| PackageName::parse(&package.name).map_err(Problem::internal))
        .collect::<Result<_, _>>()?;
    let summaries = service.registry.summaries(&names)?;
    let class = ClassName::parse(query)
        .ok()
        .filter(|class| service.registry.node.state().class(class).is_some());
    let short = text::beginning(query, 80);
    let heading = if query.is_empty() {
        "All packages".to_owned()
    } else {
        format!("Packages for “{short}”")
    };
    let results = found.iter().zip(&names).zip(&summaries);
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
            @if words.len() > MAX_WORDS {
                p.notice { "Only the first " (MAX_WORDS) " words were searched for." }
            }
            @if found.is_empty() { (nothing(query, marker)) }
            @else {
                ul.results { @for ((package, name), summary) in results { (result(package, name, summary, &words)) } }
                (pages(query, marker, has_more.then(|| found.last()).flatten()))
            }
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// A result.
fn result(
    package: &PackageRow,
    name: &PackageName,
    summary: &PackageSummary,
    words: &[String],
) -> Markup {
    let description = text::beginning(&package.description, MAX_DESCRIPTION);
    let is_match = |class: &&ClassName| {
        let class = class.as_str().to_lowercase();
        class != name.as_str().to_lowercase()
            && words
                .iter()
                .any(|word| class.contains(&word.to_lowercase()))
    };
    let classes: Vec<&ClassName> = summary.classes.iter().filter(is_match).collect();
    let interfaces: Vec<&ClassName> = summary.interfaces.iter().filter(is_match).collect();
    let is_content = |content: &&CollectionContent| {
        let (found, of) = (content.name.to_lowercase(), name.as_str().to_lowercase());
        words.iter().any(|word| {
            let word = word.to_lowercase();
            found.contains(&word) && !of.contains(&word)
        })
    };
    let contents: Vec<&CollectionContent> = summary.contents.iter().filter(is_content).collect();
    html! {
        li {
            h2 {
                a href={ "packages/" (name) } { (text::title(&package.title, name)) }
                @if let Some(newest) = &summary.newest { " " (version_link("", name, newest)) }
                @else { " " span.tag.warning { "yanked" } }
            }
            p.fqn { (package_link("", name)) }
            @if !description.is_empty() { p { (description) } }
            @if !classes.is_empty() {
                p.quiet {
                    "Defines "
                    @for (at, class) in classes.iter().take(MAX_MATCHES).enumerate() {
                        @if at > 0 { ", " }
                        (class_link("", class))
                    }
                    @if classes.len() > MAX_MATCHES { " and " (classes.len() - MAX_MATCHES) " more" }
                }
            }
            @if !interfaces.is_empty() {
                p.quiet {
                    "Defines the " @if interfaces.len() == 1 { "interface " } @else { "interfaces " }
                    @for (at, interface) in interfaces.iter().take(MAX_MATCHES).enumerate() {
                        @if at > 0 { ", " }
                        (interface_link("", interface))
                    }
                    @if interfaces.len() > MAX_MATCHES { " and " (interfaces.len() - MAX_MATCHES) " more" }
                }
            }
            @if !contents.is_empty() {
                p.quiet {
                    "Has "
                    @for (at, content) in contents.iter().take(MAX_MATCHES).enumerate() {
                        @if at > 0 { ", " }
                        a.name href={ "classes/" (content.class) } { (layout::name(&content.name)) }
                    }
                    @if contents.len() > MAX_MATCHES { " and " (contents.len() - MAX_MATCHES) " more" }
                }
            }
            @if !summary.tags.is_empty() {
                div.tags {
                    span.hidden { "Tags:" }
                    @for tag in summary.tags.iter().take(MAX_MATCHES) {
                        @let tag = text::beginning(tag, 60);
                        a href={ "packages?q=" (text::parameter(&tag)) } { (tag) }
                    }
                }
            }
            p.quiet {
                (text::count(summary.versions, "version", "versions"))
                @if !summary.author.is_empty() { " · by " (text::beginning(&summary.author, 80)) }
                " · changed " (layout::time(&package.updated))
            }
        }
    }
}

/// The text of a page without results.
fn nothing(query: &str, marker: &str) -> Markup {
    html! {
        @if query.is_empty() && marker.is_empty() { p.lead { "This registry has no packages yet." } }
        @else {
            p.lead { "Nothing was found." }
            p { "The search finds packages whose names, titles, descriptions, tags, authors, classes, interfaces, modules, plug-ins and roles contain all of the words. Put a phrase in double quotes. " a href="packages" { "All packages" } }
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
