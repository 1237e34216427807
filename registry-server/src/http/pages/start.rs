//! The start page.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::layout::{self, Page, package_link};
use super::text;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::Problem;

/// How many of the newest changes are read.
const CHANGES: u64 = 60;

/// The limit of packages under "Published recently".
const MAX_RECENT: usize = 8;

/// Shows the start page.
pub(super) fn show(service: &Service, _: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let state = registry.node.state();
    let since = state.serial.saturating_sub(CHANGES);
    let changes = registry.changes(since, CHANGES)?.changes;
    let (packages, classes) = (state.packages().len(), state.classes().len());
    let page = Page {
        root: "",
        title: "pkgres registry",
        query: "",
        has_search: true,
        content: html! {
            section.hero {
                h1 { "Find packages" }
                p.lead {
                    @if packages == 0 { "This registry has no packages yet." }
                    @else {
                        (text::count(packages, "package", "packages"))
                        // Those of collections are not counted.
                        @if classes > 0 { " with " (text::count(classes, "class", "classes")) }
                        "."
                    }
                }
                (layout::search("", "", "main-search"))
                @if packages > 0 { p { a href="packages" { "Browse all packages" } } }
            }
            @if packages == 0 { (first_steps()) } @else { (recent(&changes)) }
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// The section of a registry without packages.
fn first_steps() -> Markup {
    html! {
        section aria-labelledby="first" {
            h2 #first { "The first package" }
            p { "Log in with a token of this registry, then publish the folder of a package:" }
            pre.copy tabindex="0" { code {
                "pkgres login ADDRESS\npkgres publish FOLDER --registry ADDRESS"
            } }
        }
    }
}

/// The section with the packages that were published last, each once.
fn recent(changes: &[Change]) -> Markup {
    let mut seen = BTreeSet::new();
    let published: Vec<&Change> = changes
        .iter()
        .rev()
        .filter(|change| change.kind == ChangeKind::Publish && seen.insert(&change.name))
        .take(MAX_RECENT)
        .collect();
    html! {
        @if !published.is_empty() {
            section aria-labelledby="recent" {
                h2 #recent { "Published recently" }
                ul.cards {
                    @for change in published {
                        li.card {
                            (package_link("", &change.name))
                            p.quiet {
                                @if let Some(version) = &change.version {
                                    span.version { (version) } " · "
                                }
                                (layout::time(&change.at.to_string()))
                            }
                        }
                    }
                }
            }
        }
    }
}
