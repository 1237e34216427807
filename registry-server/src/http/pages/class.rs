//! The page of a class.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::html;
use pkgres_manifest::{ClassName, PackageName};

use super::layout::{self, Page, ROOT, class_link, package_link, version_link};
use super::{conformance, errors, members, package, release, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Bounds;

/// The bounds of the search for classes that extend the class.
const BOUNDS: Bounds = Bounds {
    packages: 2000,
    bytes: 16 << 20,
};

/// Shows a class.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let class = ClassName::parse(request.part(0))
        .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))?;
    let definers = registry.definers(&class)?;
    let state = registry.node.state();
    // Packages require the core library without naming it: any package may extend its classes.
    let core = registry.options.read.core.as_ref();
    let is_common = definers.is_empty() || definers.iter().any(|name| Some(name) == core);
    let candidates: BTreeSet<PackageName> = if is_common {
        let all = state.packages().iter();
        all.take(BOUNDS.packages + 1)
            .map(|entry| entry.name.clone())
            .collect()
    } else {
        let mut candidates: BTreeSet<PackageName> = definers.iter().cloned().collect();
        for name in &definers {
            candidates.extend(registry.dependants(name)?);
        }
        candidates
    };
    let classes = BTreeSet::from([class.clone()]);
    let found = registry.extenders(&classes, candidates, BOUNDS)?;
    let extenders = found.of.get(&class).map_or(&[][..], Vec::as_slice);
    if definers.is_empty() && extenders.is_empty() {
        let names = state.classes().iter().map(|(name, _)| name.as_str());
        let suggestion = errors::suggestion(class.as_str(), names);
        let suggestion = suggestion.and_then(|suggestion| ClassName::parse(suggestion).ok());
        let link = suggestion.map(|suggestion| class_link(ROOT, &suggestion));
        return Ok(errors::missing_page("class", ROOT, class.as_str(), link));
    }
    let (_, last) = text::halves(class.as_str());
    let definitions = release::defining(service, &definers, &|record| {
        let mut classes = record.classes.iter().flatten();
        classes.any(|known| known.name == class && !known.internal)
    })?;
    let best = definitions
        .iter()
        .find_map(|(_, releases)| package::best(releases));
    let lineage = match best {
        Some(release) => Some((release, registry.lineage(&release.record, &class)?)),
        None => None,
    };
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
                        "No package in this registry defines it. The core library, which the host "
                        "supplies, may define it."
                    }
                } @else {
                    ul.rows {
                        @for (package, releases) in &definitions {
                            li {
                                (package_link(ROOT, package))
                                span.quiet { "in " (release::versions_of(ROOT, package, releases)) }
                            }
                        }
                    }
                    @if definers.len() > definitions.len() {
                        p.quiet { "And by " (definers.len() - definitions.len()) " more packages." }
                    }
                }
            }
            @if let Some((release, lineage)) = &lineage {
                @if !lineage.parts().is_empty() {
                    p.quiet {
                        "Properties and methods are those of " (package_link(ROOT, &release.record.name)) " "
                        (version_link(ROOT, &release.record.name, &release.record.version)) "."
                    }
                }
                (conformance::section(ROOT, lineage))
                (members::sections(ROOT, lineage))
            }
            section aria-labelledby="extended" {
                h2 #extended { "Extended by " span.number { (extenders.len()) } }
                @if extenders.is_empty() { p.quiet { "No class extends it." } }
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
                    p.quiet { "Not all releases were searched." }
                }
            }
        },
    };
    Ok(page.response(StatusCode::OK))
}
