//! The page of a version of a package.

use http::StatusCode;
use maud::html;
use pkgres_manifest::PackageName;

use super::layout::{self, Page, package_link, version_link};
use super::{classes, package, release, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Extenders;

/// The path to the base.
const ROOT: &str = "../../";

/// Shows a version.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let name = request.package(0)?;
    let version = request.release_version(1)?;
    let state = registry.node.state();
    let view = registry.package(&name)?;
    let wanted = version.without_build();
    let Some(shown) = view
        .versions
        .iter()
        .find(|release| release.record.version.without_build() == wanted)
    else {
        let detail = format!("{name} has no version {version}");
        return Err(Problem::new(ProblemCode::NoSuchVersion, detail));
    };
    let record = &shown.record;
    let contents = registry.contents(record)?;
    let newest = release::best(&view.versions).filter(|best| best.record.version != record.version);
    // Which classes of others extend these is on the page of the package.
    let classes = classes::section(service, ROOT, record, &Extenders::default())?;
    let core = registry.missing_core_library();
    let is_here = |package: &PackageName| state.package(package).is_some();
    let title = text::title(&contents.title, &name);
    let description = &contents.description;
    let page = Page {
        root: ROOT,
        title: &format!("{title} {} · pkgres", record.version),
        query: "",
        has_search: false,
        content: html! {
            div.heading {
                p.kind { "Version of " (package_link(ROOT, &name)) }
                h1 { (title) " " span.version { (record.version) } }
                p.fqn { code { (layout::name(name.as_str())) } }
                @for paragraph in text::paragraphs(description) { p.lead { (paragraph) } }
                @if record.yanked {
                    p.notice.warning role="note" {
                        "This version is yanked: new resolutions do not choose it."
                        @if let Some(reason) = &shown.yank_reason { " " (text::shown(reason)) }
                    }
                }
                @if let Some(newest) = newest {
                    p.notice { "The preferred version is " (version_link(ROOT, &name, &newest.record.version)) "." }
                }
            }
            div.columns {
                aside aria-label="About the version" { (release::about(ROOT, &view, record, &contents)) }
                div.main {
                    (release::requirements(ROOT, record, &is_here, core))
                    (classes)
                    (classes::interfaces(ROOT, record))
                    (release::texts(&contents))
                    (package::versions(ROOT, &view.versions))
                }
            }
        },
    };
    Ok(page.response(StatusCode::OK))
}
