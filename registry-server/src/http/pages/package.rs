//! The page of a package.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{CLASS_PACKAGES, ClassName, IndexRecord, PackageName};

use super::diagram::{Diagram, DiagramNode};
use super::layout::{self, Page, ROOT, package_link, version_link};
use super::{classes, errors, release, text};
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
    let Some(release) = release::best(&package.versions) else {
        return Err(Problem::internal("a package without releases"));
    };
    let dependants = registry.dependants(&name)?;
    let shown: BTreeSet<ClassName> = classes::shown(&release.record)
        .iter()
        .map(|class| class.name.clone())
        .collect();
    let around = std::iter::once(name.clone()).chain(dependants.iter().cloned());
    let extenders = registry.extenders(&shown, around, BOUNDS)?;
    let classes = classes::section(service, ROOT, &release.record, &extenders)?;
    let contents = registry.contents(&release.record)?;
    let core = registry.missing_core_library();
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
                aside aria-label="About the package" { (release::about(ROOT, &package, &release.record, &contents)) }
                div.main {
                    (diagram(&release.record, &dependants, &is_here))
                    (release::requirements(ROOT, &release.record, &is_here, core))
                    (classes)
                    (classes::interfaces(ROOT, &release.record))
                    (release::texts(&contents))
                    (versions(ROOT, &package.versions))
                    (self::dependants(&name, &dependants))
                }
            }
        },
    };
    Ok(page.response(StatusCode::OK))
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
        without_requirements: if record.ecosystem == CLASS_PACKAGES {
            "only the core library"
        } else {
            "nothing"
        },
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

/// The limit of dependants.
const MAX_DEPENDANTS: usize = 30;

fn dependants(package: &PackageName, dependants: &[PackageName]) -> Markup {
    html! {
        section aria-labelledby="dependants" {
            h2 #dependants { "Required by " span.number { (dependants.len()) } }
            @if dependants.is_empty() { p.quiet { "No package in this registry requires it." } }
            @else {
                ul.rows.plain {
                    @for dependant in dependants.iter().take(MAX_DEPENDANTS) { li { (package_link(ROOT, dependant)) } }
                }
                @if dependants.len() > MAX_DEPENDANTS {
                    p.quiet {
                        "And " (dependants.len() - MAX_DEPENDANTS) " more, as " code { "pkgres info " (package) " --format json" } " lists them."
                    }
                }
            }
        }
    }
}

/// The section with all releases.
pub(super) fn versions(root: &str, versions: &[ReleaseView]) -> Markup {
    html! {
        section aria-labelledby="versions" {
            h2 #versions { "Versions " span.number { (versions.len()) } }
            ul.versions { @for release in versions { (version(root, release)) } }
        }
    }
}

fn version(root: &str, release: &ReleaseView) -> Markup {
    let record = &release.record;
    html! {
        li.yanked[record.yanked] id={ "v" (record.version) } {
            div.line {
                (version_link(root, &record.name, &record.version))
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
                    a href=(release::download_link(root, record, digest)) download=(release::file_name(record)) {
                        span.hidden { "Download " (record.version) ", " } "sha256"
                    }
                    " " code { (digest) }
                }
            }
        }
    }
}
