//! The start page.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::layout::{self, Page, package_link};
use super::text;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::Problem;

/// How many changes are looked at, and how many packages are shown of them.
const RECENT: (u64, usize) = (60, 8);

pub(super) fn show(service: &Service, _: &Request) -> Result<Reply, Problem> {
    let registry = &service.registry;
    let state = registry.node.state();
    let since = state.serial.saturating_sub(RECENT.0);
    let changes = registry.changes(since, RECENT.0)?.changes;
    let (packages, classes) = (state.packages().len(), state.classes().len());
    let page = Page {
        root: "",
        title: "pkgres registry",
        query: "",
        has_search: true,
        content: html! {
            section.hero {
                h1 { "Find class packages" }
                p.lead {
                    @if packages == 0 { "This registry has no packages yet." }
                    @else {
                        (text::count(packages, "package", "packages")) " with "
                        (text::count(classes, "class", "classes")) "."
                    }
                }
                (layout::search("", "", "main-search"))
                @if packages > 0 { p { a href="packages" { "Browse all packages" } } }
            }
            @if packages == 0 { (first_steps()) } @else { (recent(&changes)) }
        },
    };
    Ok(page.reply(StatusCode::OK))
}

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

/// The packages that were published last, each once.
fn recent(changes: &[Change]) -> Markup {
    let mut seen = BTreeSet::new();
    let published: Vec<&Change> = changes
        .iter()
        .rev()
        .filter(|change| change.kind == ChangeKind::Publish && seen.insert(&change.name))
        .take(RECENT.1)
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
