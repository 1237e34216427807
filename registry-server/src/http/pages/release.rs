//! The parts of a page about one release: how to require it, facts, requirements, readme and licence.

use maud::{Markup, html};
use pkgres_formats::Format as _;
use pkgres_formats::ansible::{ANSIBLE_CORE, Collections};
use pkgres_manifest::{ArtifactDigest, CLASS_PACKAGES, IndexRecord, PackageName, Spec, Version};

use super::layout::{self, ROOT, class_link, package_link, version_link};
use super::{licence, markdown, text};
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::readme_and_licence::PackageText;
use crate::registry::{Extender, PackageView, ReleaseContents, ReleaseView};

/// The release that a page shows: the newest one that a solver prefers. The newest of `releases` comes first.
pub(super) fn best(releases: &[ReleaseView]) -> Option<&ReleaseView> {
    let chosen = |release: &&ReleaseView| !release.record.yanked;
    let is_stable = |release: &&ReleaseView| !release.record.version.is_prerelease();
    let all = || releases.iter();
    all()
        .find(|release| chosen(release) && is_stable(release))
        .or_else(|| all().find(chosen))
        .or_else(|| all().next())
}

/// The limit of tags.
const MAX_TAGS: usize = 30;

/// The limit of authors.
const MAX_AUTHORS: usize = 10;

/// The panels beside the page of a package or a version.
pub(super) fn about(
    root: &str,
    package: &PackageView,
    record: &IndexRecord,
    contents: &ReleaseContents,
) -> Markup {
    let spec = spec_for(record);
    html! {
        // What is yanked is chosen only if it is locked.
        @if !record.yanked {
            section.panel aria-labelledby="require" {
                h2 #require { "Require it" }
                @if record.ecosystem == CLASS_PACKAGES {
                    p.quiet { "On the command line:" }
                    pre.copy tabindex="0" aria-label="Command to copy" { code { "pkgres add " (package.name) "@" (spec) } }
                    p.quiet { "In " code { "manifest.yaml" } ":" }
                    pre.copy tabindex="0" aria-label="Text to copy" { code {
                        "Require:\n  " (package.name) ": \"" (spec) "\""
                    } }
                } @else {
                    @let range = record.ecosystem.compatible_with(&record.version.without_build());
                    @let range = range.written();
                    p.quiet { "On the command line:" }
                    pre.copy tabindex="0" aria-label="Command to copy" { code {
                        "pkgres add '" (package.name) "@" (range) "'"
                    } }
                    p.quiet { "Without a lockfile:" }
                    pre.copy tabindex="0" aria-label="Command without a lockfile to copy" { code {
                        "ansible-galaxy collection install " (package.name) ":" (record.version)
                    } }
                    p.quiet { "In " code { "requirements.yml" } ":" }
                    pre.copy tabindex="0" aria-label="Text to copy" { code {
                        "collections:\n  - name: " (package.name) "\n    version: \"" (range) "\""
                    } }
                }
            }
        }
        section.panel aria-labelledby="facts" {
            h2 #facts { "Facts" }
            dl {
                dt { "Version" } dd { (record.version) }
                dt { "Published" }
                dd { (layout::time(record.published.as_deref().unwrap_or_default())) }
                @if !contents.authors.is_empty() {
                    dt { (if contents.authors.len() == 1 { "Author" } else { "Authors" }) }
                    @for author in contents.authors.iter().take(MAX_AUTHORS) {
                        dd { (search_link(root, &text::beginning(author, 120))) }
                    }
                }
                dt { "Licence" }
                dd {
                    // What the release states comes before what its text looks like.
                    @let stated = text::beginning(&contents.licences.join(", "), 120);
                    @match &contents.licence {
                        Some(licence) if stated.is_empty() => a href="#licence" { (licence::name(licence)) },
                        Some(_) => a href="#licence" { (stated) },
                        None if stated.is_empty() => span.quiet { "not stated" },
                        None => (stated),
                    }
                }
                @if let Some(size) = record.size { dt { "Size" } dd { (text::size(size)) } }
                @if let Some(format) = &record.format { dt { "Format" } dd { (text::shown(format)) } }
                dt { (if package.owners.len() == 1 { "Owner" } else { "Owners" }) }
                @for owner in &package.owners { dd { (text::shown(owner)) } }
            }
            @if !contents.tags.is_empty() {
                div.tags {
                    span.hidden { "Tags:" }
                    @for tag in contents.tags.iter().take(MAX_TAGS) {
                        (search_link(root, &text::beginning(tag, 60)))
                    }
                }
            }
            @if let Some(digest) = &record.digest {
                p { a.button href=(download_link(root, record, digest)) download=(file_name(record)) {
                    "Download " (record.version)
                } }
            }
        }
    }
}

/// The name of the file that a browser saves a release as.
pub(super) fn file_name(record: &IndexRecord) -> String {
    if record.ecosystem == CLASS_PACKAGES {
        format!("{}-{}.zip", record.name, record.version)
    } else {
        Collections.artifact_name(&record.name, &record.version)
    }
}

/// The address of the artifact of a release.
pub(super) fn download_link(root: &str, record: &IndexRecord, digest: &ArtifactDigest) -> String {
    if record.ecosystem == CLASS_PACKAGES {
        format!("{root}blobs/sha256/{digest}")
    } else {
        let file = file_name(record);
        format!("{root}api/v3/artifacts/collections/{digest}/{file}")
    }
}

/// A link to the search for a text.
fn search_link(root: &str, text: &str) -> Markup {
    html! { a href={ (root) "packages?q=" (text::parameter(text)) } { (text) } }
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

/// The section with what a release requires.
pub(super) fn requirements(
    root: &str,
    record: &IndexRecord,
    is_here: &dyn Fn(&PackageName) -> bool,
    core: Option<&PackageName>,
) -> Markup {
    html! {
        section aria-labelledby="requirements" {
            h2 #requirements { "Requires " span.number { (record.requirements.len()) } }
            @if record.requirements.is_empty() {
                @if record.ecosystem == CLASS_PACKAGES {
                    p.quiet { "Only the core library, which every package requires." }
                } @else { p.quiet { "Nothing." } }
            } @else {
                ul.rows {
                    @for requirement in &record.requirements {
                        li {
                            @if is_here(&requirement.package) { (package_link(root, &requirement.package)) }
                            @else {
                                span {
                                    span.name { (layout::name(requirement.package.as_str())) } " "
                                    span.tag { (where_missing(record, &requirement.package, core)) }
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

/// Where a package comes from that is not in the registry. `core` is the core library of class packages, if it is
/// missing.
fn where_missing(
    record: &IndexRecord,
    package: &PackageName,
    core: Option<&PackageName>,
) -> &'static str {
    let is_of_host = if record.ecosystem == CLASS_PACKAGES {
        Some(package) == core
    } else {
        package.as_str() == ANSIBLE_CORE
    };
    if is_of_host {
        "supplied by the host"
    } else {
        "not in this registry"
    }
}

/// The sections with readme and licence.
pub(super) fn texts(contents: &ReleaseContents) -> Markup {
    html! {
        @if contents.is_lost {
            p.notice.warning role="note" {
                "The registry has lost the archive of this version, with its readme and licence. Publishing the same archive again restores it."
            }
        }
        @if let Some(text) = &contents.readme {
            section aria-labelledby="readme" {
                h2 #readme { "Readme" }
                div.text {
                    @if text.file.ends_with(".md") { (markdown::rendered(&text.text)) }
                    @else { (plain(text)) }
                }
                (cut_note(text))
            }
        }
        @if let Some(text) = &contents.licence {
            section aria-labelledby="licence" {
                h2 #licence { "Licence" }
                details {
                    summary { code { (text.file) } }
                    (plain(text))
                }
                (cut_note(text))
            }
        }
    }
}

/// A text as it is.
fn plain(text: &PackageText) -> Markup {
    html! { pre.plain tabindex="0" { (text::lines(&text.text)) } }
}

fn cut_note(text: &PackageText) -> Markup {
    html! { @if text.is_cut { p.quiet { "This is the beginning of " code { (text.file) } "; the archive has all of it." } } }
}

/// A list of versions with links, of which only the first are shown.
pub(super) fn version_links(
    root: &str,
    package: &PackageName,
    versions: &[Version],
    limit: usize,
) -> Markup {
    html! {
        @for (at, version) in versions.iter().take(limit).enumerate() {
            @if at > 0 { ", " }
            (version_link(root, package, version))
        }
        @if versions.len() > limit { " and " (versions.len() - limit) " more" }
    }
}

/// The limit of packages that define a class or an interface.
const MAX_DEFINERS: usize = 20;

/// The limit of versions of a package that define it.
const MAX_VERSIONS: usize = 20;

/// Some packages, each with the releases that define something, the newest first.
pub(super) fn defining(
    service: &Service,
    packages: &[PackageName],
    is_defining: &dyn Fn(&IndexRecord) -> bool,
) -> Result<Vec<(PackageName, Vec<ReleaseView>)>, Problem> {
    let mut definitions = Vec::new();
    for name in packages.iter().take(MAX_DEFINERS) {
        let mut releases = match service.registry.package(name) {
            // It was removed meanwhile.
            Err(problem) if problem.code == ProblemCode::NoSuchPackage => continue,
            other => other?.versions,
        };
        releases.retain(|release| is_defining(&release.record));
        definitions.push((name.clone(), releases));
    }
    Ok(definitions)
}

/// The versions of some releases of a package.
pub(super) fn versions_of(root: &str, package: &PackageName, releases: &[ReleaseView]) -> Markup {
    let releases = releases.iter();
    let all: Vec<Version> = releases
        .map(|release| release.record.version.clone())
        .collect();
    version_links(root, package, &all, MAX_VERSIONS)
}

/// The packages that define a class or an interface: how many there are, and the first of them.
pub(super) fn definers_list(
    count: usize,
    definitions: &[(PackageName, Vec<ReleaseView>)],
) -> Markup {
    html! {
        @if count == 0 {
            p.quiet { "No package in this registry defines it." }
        } @else {
            ul.rows {
                @for (package, releases) in definitions {
                    li {
                        (package_link(ROOT, package))
                        span.quiet { "in " (versions_of(ROOT, package, releases)) }
                    }
                }
            }
            @if count > definitions.len() {
                p.quiet { "And by " (count - definitions.len()) " more packages." }
            }
        }
    }
}

/// The classes that extend or import a class, below a title; `none` is the text if there are none.
pub(super) fn extenders_section(
    (title, none): (&str, &str),
    extenders: &[Extender],
    is_partial: bool,
) -> Markup {
    html! {
        section aria-labelledby="extended" {
            h2 #extended { (title) " " span.number { (extenders.len()) } }
            @if extenders.is_empty() { p.quiet { (none) } }
            @else {
                ul.rows {
                    @for extender in extenders {
                        li {
                            (class_link(ROOT, &extender.class))
                            span.quiet {
                                "of " (package_link(ROOT, &extender.package)) " "
                                (version_link(ROOT, &extender.package, &extender.version))
                            }
                        }
                    }
                }
            }
            @if is_partial { p.quiet { "Not all releases were searched." } }
        }
    }
}
