//! The page of a class.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{ClassName, PackageName};

use super::layout::{self, Page, ROOT, class_link, package_link, version_link};
use super::{conformance, content, errors, members, release, text};
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
    let class = class_name(request.part(0))?;
    if let Some(collection) = content::collection(service, &class)? {
        return content::show(service, collection, &class);
    }
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
    let built_in = registry.core_class(&class).filter(|_| definers.is_empty());
    if definers.is_empty() && extenders.is_empty() && built_in.is_none() {
        let names = state.classes().iter().map(|(name, _)| name.as_str());
        let suggestion = errors::suggestion(class.as_str(), names);
        let suggestion = suggestion.and_then(|suggestion| ClassName::parse(suggestion).ok());
        let link = suggestion.map(|suggestion| class_link(ROOT, &suggestion));
        return Ok(errors::missing_page("class", ROOT, class.as_str(), link));
    }
    let (_, last) = text::halves(class.as_str());
    let definitions = release::defining(service, &definers, &|record| record.exports(&class))?;
    let best = definitions
        .iter()
        .find_map(|(_, releases)| release::best(releases));
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
                @if let Some(parents) = built_in {
                    (built_in_class(&class, parents, core))
                } @else {
                    (release::definers_list(definers.len(), &definitions))
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
            (release::extenders_section(EXTENDED, extenders, found.is_partial))
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// What the page says about a class that the engine supplies.
fn built_in_class(class: &ClassName, parents: &[ClassName], core: Option<&PackageName>) -> Markup {
    html! {
        p {
            "It is built in: the engine supplies the core library"
            @if let Some(core) = core { " " code { (layout::name(core.as_str())) } }
            ", which is not in this registry."
        }
        @for parent in parents {
            p.edge { span.quiet { "extends " } (class_link(ROOT, parent)) }
        }
        @if core.is_some_and(|core| *class == core.root_class()) {
            p.quiet { "Every class that extends no other extends it." }
        }
    }
}

/// The title of the classes that extend a class, and the text if there are none.
const EXTENDED: (&str, &str) = ("Extended by", "No class extends it by name.");

/// Reads the name of a class. Those of collections may have characters that those of class packages have not.
fn class_name(text: &str) -> Result<ClassName, Problem> {
    ClassName::parse(text).or_else(|error| {
        let is_of_collection = text.split('.').nth(2).is_some();
        let native = ClassName::native(text).ok().filter(|_| is_of_collection);
        native.ok_or_else(|| Problem::new(ProblemCode::NameInvalid, error.to_string()))
    })
}
