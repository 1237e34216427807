//! The page of a package.

use std::collections::BTreeSet;

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Spec};

use super::layout::{self, Page, ROOT, package_link};
use super::picture::{Node, Picture};
use super::{classes, missing, text, versions};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::{Bounds, PackageView, ReleaseView};

/// How much is looked at for classes that extend those of the package, itself among it.
const LOOKED_AT: Bounds = Bounds {
    packages: 500,
    bytes: 8 << 20,
};

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let registry = &service.registry;
    let name = request.package(0)?;
    let state = registry.node.state();
    let package = match registry.package(&name) {
        Err(problem) if problem.code == ProblemCode::NoSuchPackage => {
            let names = state.packages().iter().map(|entry| entry.name.as_str());
            let meant = missing::meant(name.as_str(), names);
            let meant = meant.and_then(|meant| PackageName::parse(meant).ok());
            let link = meant.map(|meant| package_link(ROOT, &meant));
            return Ok(missing::page("package", ROOT, name.as_str(), link));
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
    let extenders = registry.extenders(&shown, around, LOOKED_AT)?;
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
                    (picture(&release.record, &dependants, &is_here))
                    (requirements(&release.record, &is_here))
                    (classes)
                    (self::dependants(&dependants))
                    (versions::section(&package.versions))
                }
            }
        },
    };
    Ok(page.reply(StatusCode::OK))
}

/// The release that the page is about: the newest one that would be chosen.
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
                    "All releases of this package are yanked: none of them is chosen anew."
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

/// What a manifest says to get this release or a later one that is compatible.
fn spec_for(record: &IndexRecord) -> String {
    let version = record.version.without_build();
    let caret = format!("^{version}");
    match Spec::parse(&caret) {
        Ok(spec) if spec.matches(&record.version) => caret,
        _ => version.to_string(),
    }
}

fn picture(
    record: &IndexRecord,
    dependants: &[PackageName],
    is_here: &dyn Fn(&PackageName) -> bool,
) -> Markup {
    if dependants.is_empty() && record.requirements.is_empty() {
        return html! {};
    }
    let picture = Picture {
        root: ROOT,
        name: &record.name,
        note: record.version.to_string(),
        above: dependants
            .iter()
            .map(|name| Node {
                name,
                note: String::new(),
                is_linked: true,
            })
            .collect(),
        below: record
            .requirements
            .iter()
            .map(|requirement| Node {
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
                (picture.wide())
                (picture.narrow())
            }
        }
    }
}

fn requirements(record: &IndexRecord, is_here: &dyn Fn(&PackageName) -> bool) -> Markup {
    html! {
        section aria-labelledby="requirements" {
            h2 #requirements { "Requires " span.number { (record.requirements.len()) } }
            @if record.requirements.is_empty() {
                p.quiet { "Nothing but the core library, which every package requires." }
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
            @if dependants.is_empty() { p.quiet { "No package of this registry requires it." } }
            @else {
                ul.rows.plain { @for package in dependants { li { (package_link(ROOT, package)) } } }
            }
        }
    }
}
