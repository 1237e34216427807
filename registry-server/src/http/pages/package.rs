//! The page of a package.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Spec};

use super::diagram::{Diagram, DiagramNode};
use super::layout::{self, Page, ROOT, package_link};
use super::{classes, errors, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::{Bounds, PackageView, ReleaseView};

/// The bounds of the search for classes that extend classes of the package.
const BOUNDS: Bounds = Bounds {
    packages: 500,
    bytes: 8 << 20,
};

/// Shows a package.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let name = request.package(0)?;
    let state = registry.node.state();
    let package = match registry.package(&name) {
        Err(problem) if problem.code == ProblemCode::NoSuchPackage => {
            let names = state.packages().iter().map(|entry| entry.name.as_str());
            let suggestion = errors::suggestion(name.as_str(), names);
            let suggestion = suggestion.and_then(|suggestion| PackageName::parse(suggestion).ok());
            let link = suggestion.map(|suggestion| package_link(ROOT, &suggestion));
            return Ok(errors::missing_page("package", ROOT, name.as_str(), link));
        }
        other => other?,
    };
    let Some(release) = best(&package) else {
        return Err(Problem::internal("a package without releases"));
    };
    let dependants = registry.dependants(&name)?;
    let shown: BTreeSet<ClassName> = classes::shown(&release.record)
        .iter()
        .map(|class| class.name.clone())
        .collect();
    let around = std::iter::once(name.clone()).chain(dependants.iter().cloned());
    let extenders = registry.extenders(&shown, around, BOUNDS)?;
    let classes = classes::section(service, &release.record, &extenders)?;
    let is_here = |package: &PackageName| state.package(package).is_some();
    let title = text::title(&package.title, &name);
    let page = Page {
        root: ROOT,
        title: &format!("{title} · pkgres"),
        query: "",
        has_search: false,
        content: html! {
            (heading(&package, release, &title))
            div.columns {
                aside aria-label="About the package" { (about(&package, release)) }
                div.main {
                    (diagram(&release.record, &dependants, &is_here))
                    (requirements(&release.record, &is_here))
                    (classes)
                    (self::dependants(&dependants))
                    (versions(&package.versions))
                }
            }
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// The release that the page shows: the newest one that a solver prefers.
fn best(package: &PackageView) -> Option<&ReleaseView> {
    let chosen = |release: &&ReleaseView| !release.record.yanked;
    let is_stable = |release: &&ReleaseView| !release.record.version.is_prerelease();
    let all = || package.versions.iter();
    all()
        .find(|release| chosen(release) && is_stable(release))
        .or_else(|| all().find(chosen))
        .or_else(|| all().next())
}

fn heading(package: &PackageView, release: &ReleaseView, title: &str) -> Markup {
    html! {
        div.heading {
            h1 { (title) " " span.version { (release.record.version) } }
            p.fqn { code { (layout::name(package.name.as_str())) } }
            @for paragraph in text::paragraphs(&package.description) { p.lead { (paragraph) } }
            @if release.record.yanked {
                p.notice.warning role="note" {
                    "All releases of this package are yanked: new resolutions choose none of them."
                }
            }
        }
    }
}

fn about(package: &PackageView, release: &ReleaseView) -> Markup {
    let record = &release.record;
    html! {
        section.panel aria-labelledby="require" {
            h2 #require { "Require it" }
            p.quiet { "In " code { "manifest.yaml" } ":" }
            pre.copy tabindex="0" { code {
                "Require:\n  " (package.name) ": \"" (spec_for(record)) "\""
            } }
        }
        section.panel aria-labelledby="facts" {
            h2 #facts { "Facts" }
            dl {
                dt { "Version" } dd { (record.version) }
                dt { "Published" }
                dd { (layout::time(record.published.as_deref().unwrap_or_default())) }
                @if let Some(size) = record.size { dt { "Size" } dd { (text::size(size)) } }
                @if let Some(format) = &record.format { dt { "Format" } dd { (text::shown(format)) } }
                dt { (if package.owners.len() == 1 { "Owner" } else { "Owners" }) }
                @for owner in &package.owners { dd { (text::shown(owner)) } }
            }
            @if let Some(digest) = &record.digest {
                p { a.button href={ (ROOT) "blobs/sha256/" (digest) } download={ (package.name) "-" (record.version) ".zip" } {
                    "Download " (record.version)
                } }
            }
        }
    }
}

/// The spec for this release and later ones that are compatible with it.
fn spec_for(record: &IndexRecord) -> String {
    let version = record.version.without_build();
    let caret = format!("^{version}");
    match Spec::parse(&caret) {
        Ok(spec) if spec.matches(&record.version) => caret,
        _ => version.to_string(),
    }
}

/// The diagram of the dependencies.
fn diagram(
    record: &IndexRecord,
    dependants: &[PackageName],
    is_here: &dyn Fn(&PackageName) -> bool,
) -> Markup {
    if dependants.is_empty() && record.requirements.is_empty() {
        return html! {};
    }
    let diagram = Diagram {
        root: ROOT,
        name: &record.name,
        note: record.version.to_string(),
        above: dependants
            .iter()
            .map(|name| DiagramNode {
                name,
                note: String::new(),
                is_linked: true,
            })
            .collect(),
        below: record
            .requirements
            .iter()
            .map(|requirement| DiagramNode {
                name: &requirement.package,
                note: text::shown(requirement.spec.written()),
                is_linked: is_here(&requirement.package),
            })
            .collect(),
    };
    html! {
        section aria-labelledby="picture" {
            h2 #picture { "Dependencies at a glance" }
            figure.picture {
                (diagram.wide())
                (diagram.narrow())
            }
        }
    }
}

fn requirements(record: &IndexRecord, is_here: &dyn Fn(&PackageName) -> bool) -> Markup {
    html! {
        section aria-labelledby="requirements" {
            h2 #requirements { "Requires " span.number { (record.requirements.len()) } }
            @if record.requirements.is_empty() {
                p.quiet { "Only the core library, which every package requires." }
            } @else {
                ul.rows {
                    @for requirement in &record.requirements {
                        li {
                            @if is_here(&requirement.package) { (package_link(ROOT, &requirement.package)) }
                            @else {
                                span {
                                    (package_link(ROOT, &requirement.package)) " "
                                    span.tag { "not in this registry" }
                                }
                            }
                            code.spec { (text::shown(requirement.spec.written())) }
                        }
                    }
                }
            }
        }
    }
}

fn dependants(dependants: &[PackageName]) -> Markup {
    html! {
        section aria-labelledby="dependants" {
            h2 #dependants { "Required by " span.number { (dependants.len()) } }
            @if dependants.is_empty() { p.quiet { "No package in this registry requires it." } }
            @else {
                ul.rows.plain { @for package in dependants { li { (package_link(ROOT, package)) } } }
            }
        }
    }
}

/// The section with all releases.
fn versions(versions: &[ReleaseView]) -> Markup {
    html! {
        section aria-labelledby="versions" {
            h2 #versions { "Versions " span.number { (versions.len()) } }
            ul.versions { @for release in versions { (version(release)) } }
        }
    }
}

fn version(release: &ReleaseView) -> Markup {
    let record = &release.record;
    html! {
        li.yanked[record.yanked] id={ "v" (record.version) } {
            div.line {
                span.version { (record.version) }
                @if record.yanked { span.tag.warning { "yanked" } }
                @else if record.version.is_prerelease() { span.tag { "pre-release" } }
                span.quiet.facts {
                    (layout::time(record.published.as_deref().unwrap_or_default()))
                    @if let Some(size) = record.size { " · " (text::size(size)) }
                }
            }
            @if let Some(reason) = &release.yank_reason {
                p.reason { "Yanked: " (text::shown(reason)) }
            }
            @if let Some(digest) = &record.digest {
                p.digest {
                    a href={ (ROOT) "blobs/sha256/" (digest) } download={ (record.name) "-" (record.version) ".zip" } {
                        span.hidden { "Download " (record.version) ", " } "sha256"
                    }
                    " " code { (digest) }
                }
            }
        }
    }
}
