//! The page of a class.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::html;
use pkgres_manifest::{ClassName, PackageName};

use super::layout::{self, Page, ROOT, class_link, package_link};
use super::{missing, text};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Bounds;

/// In how much classes that extend one are looked for.
const LOOKED_AT: Bounds = Bounds {
    packages: 2000,
    bytes: 16 << 20,
};

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let registry = &service.registry;
    let class = ClassName::parse(request.part(0))
        .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))?;
    let definers = registry.definers(&class)?;
    let state = registry.node.state();
    // The core library is required without being named: whoever extends its classes may be anyone.
    let core = registry.settings.read.core.as_ref();
    let is_common = definers.is_empty() || definers.iter().any(|name| Some(name) == core);
    let candidates: BTreeSet<PackageName> = if is_common {
        let all = state.packages().iter();
        all.take(LOOKED_AT.packages + 1)
            .map(|entry| entry.name.clone())
            .collect()
    } else {
        let mut candidates: BTreeSet<PackageName> = definers.iter().cloned().collect();
        for name in &definers {
            candidates.extend(registry.dependants(name)?);
        }
        candidates
    };
    let wanted = BTreeSet::from([class.clone()]);
    let found = registry.extenders(&wanted, candidates, LOOKED_AT)?;
    let extenders = found.of.get(&class).map_or(&[][..], Vec::as_slice);
    if definers.is_empty() && extenders.is_empty() {
        let names = state.classes().iter().map(|(name, _)| name.as_str());
        let meant = missing::meant(class.as_str(), names);
        let meant = meant.and_then(|meant| ClassName::parse(meant).ok());
        let link = meant.map(|meant| class_link(ROOT, &meant));
        return Ok(missing::page("class", ROOT, class.as_str(), link));
    }
    let (_, last) = text::halves(class.as_str());
    let page = Page {
        root: ROOT,
        title: &format!("class {last} · pkgres"),
        query: "",
        has_search: false,
        content: html! {
            div.heading {
                p.kind { "Class" }
                h1 { (last) }
                p.fqn { code { (layout::name(class.as_str())) } }
            }
            section aria-labelledby="defined" {
                h2 #defined { "Defined by " span.number { (definers.len()) } }
                @if definers.is_empty() {
                    p.quiet {
                        "No package of this registry defines it. The host supplies the core library, "
                        "which may."
                    }
                } @else {
                    ul.rows.plain { @for package in &definers { li { (package_link(ROOT, package)) } } }
                }
            }
            section aria-labelledby="extended" {
                h2 #extended { "Extended by " span.number { (extenders.len()) } }
                @if extenders.is_empty() { p.quiet { "No class was found that extends it." } }
                @else {
                    ul.rows {
                        @for extender in extenders {
                            li {
                                (class_link(ROOT, &extender.class))
                                span.quiet {
                                    "of " (package_link(ROOT, &extender.package)) " "
                                    span.version { (extender.version) }
                                }
                            }
                        }
                    }
                }
                @if found.is_partial {
                    p.quiet { "Not all releases were looked at." }
                }
            }
        },
    };
    Ok(page.reply(StatusCode::OK))
}
