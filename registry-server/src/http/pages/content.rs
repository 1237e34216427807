//! What Ansible collections contain: the section on the pages of packages, and the page of a module, role or other part.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use maud::{Markup, html};
use pkgres_formats::ansible::{ContentName, is_collection_name};
use pkgres_manifest::{CLASS_PACKAGES, ClassName, IndexRecord, PackageName};

use super::layout::{self, Page, ROOT, class_link, package_link};
use super::{errors, release, text};
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::{Bounds, PackageView};
use crate::store::collections::contents_of;

/// The most parts of one kind that are shown before a user asks for the rest: versions and readme come below them.
const MAX_OF_KIND: usize = 30;

/// The limit of references on the page of a part.
const MAX_REFERENCES: usize = 100;

/// The most collections that are read to find out which references lead to a page.
const MAX_COLLECTIONS: usize = 10;

/// The bounds of the search for parts of other collections that import a part.
const BOUNDS: Bounds = Bounds {
    packages: 500,
    bytes: 8 << 20,
};

/// The section with the modules, plug-ins, roles and playbooks of a release.
pub(super) fn section(root: &str, record: &IndexRecord) -> Markup {
    let Some(classes) = &record.classes else {
        return html! {
            section aria-labelledby="contents" {
                h2 #contents { "Contents" }
                p.quiet { "What this release contains is unknown." }
            }
        };
    };
    let mut kinds: BTreeMap<(bool, String), Vec<(&ClassName, ContentName<'_>)>> = BTreeMap::new();
    for (class, content) in contents_of(record) {
        // Modules come first: most users look for these.
        let key = (content.folder != "modules", content.kind());
        kinds.entry(key).or_default().push((class, content));
    }
    let count = kinds.values().map(Vec::len).sum::<usize>();
    html! {
        section aria-labelledby="contents" {
            h2 #contents { "Contents " span.number { (count) } }
            @if classes.is_empty() { p.quiet { "This release has no plug-ins, roles or playbooks." } }
            @else if kinds.is_empty() { p.quiet { "This release has only files that others import." } }
            @for ((_, kind), contents) in &kinds {
                h3.inherited { (plural(kind, contents.len())) " " span.number { (contents.len()) } }
                (names(root, &contents[..contents.len().min(MAX_OF_KIND)]))
                @if contents.len() > MAX_OF_KIND {
                    details.more {
                        summary { "And " (contents.len() - MAX_OF_KIND) " more" }
                        (names(root, &contents[MAX_OF_KIND..]))
                    }
                }
            }
        }
    }
}

/// The names of parts with links to their pages.
fn names(root: &str, contents: &[(&ClassName, ContentName<'_>)]) -> Markup {
    html! {
        ul.names {
            @for (class, content) in contents {
                li { a.name href={ (root) "classes/" (class) } { (text::shown(content.name)) } }
            }
        }
    }
}

/// A kind of part, in the plural if there are several.
fn plural(kind: &str, count: usize) -> String {
    match kind.strip_suffix('y') {
        _ if count == 1 => kind.to_owned(),
        Some(start) => format!("{start}ies"),
        None => format!("{kind}s"),
    }
}

/// The collection whose part a class is: of other ecosystems than class packages, the name of a class begins with that of
/// its package.
pub(super) fn collection(
    service: &Service,
    class: &ClassName,
) -> Result<Option<PackageView>, Problem> {
    match collection_name(class) {
        Some(name) => view_of(service, &name),
        None => Ok(None),
    }
}

/// The name of the collection that a class would be of.
fn collection_name(class: &ClassName) -> Option<PackageName> {
    let (end, _) = class.as_str().match_indices('.').nth(1)?;
    let name = &class.as_str()[..end];
    let is_name = is_collection_name(name);
    PackageName::parse(name).ok().filter(|_| is_name)
}

/// A collection with its releases.
fn view_of(service: &Service, name: &PackageName) -> Result<Option<PackageView>, Problem> {
    let view = match service.registry.package(name) {
        Err(problem) if problem.code == ProblemCode::NoSuchPackage => return Ok(None),
        other => other?,
    };
    let mut versions = view.versions.iter();
    let is_collection = versions.any(|release| release.record.ecosystem != CLASS_PACKAGES);
    Ok(is_collection.then_some(view))
}

/// The page of a class of a collection, or of an error if no release defines it.
pub(super) fn show(
    service: &Service,
    view: PackageView,
    class: &ClassName,
) -> Result<Response, Problem> {
    let registry = &service.registry;
    let collection = view.name;
    let mut releases = view.versions;
    let newest = releases.first().map(|newest| newest.record.version.clone());
    releases.retain(|release| release.record.class(class).is_some());
    let Some(best) = release::best(&releases) else {
        return missing(service, &collection, class);
    };
    let content = ContentName::of_class(collection.as_str(), class.as_str());
    let (_, last) = text::halves(class.as_str());
    let kind = content.map_or_else(
        || "Name that others import".to_owned(),
        |content| content.kind(),
    );
    let name = content.filter(ContentName::is_callable);
    let indexed = best.record.class(class);
    let (extends, uses) = indexed.map_or((&[][..], &[][..]), |known| {
        (&known.extends[..], &known.uses[..])
    });
    let with_pages = with_pages(service, extends.iter().chain(uses))?;
    let extends = References::of(extends, &with_pages);
    let uses = References::of(uses, &with_pages);
    let candidates = registry.dependants(&collection)?;
    let found = registry.extenders(&BTreeSet::from([class.clone()]), candidates, BOUNDS)?;
    let importers = found.of.get(class).map_or(&[][..], Vec::as_slice);
    let is_gone = newest.is_some_and(|newest| {
        releases
            .iter()
            .all(|release| release.record.version != newest)
    });
    let page = Page {
        root: ROOT,
        title: &format!("{} {last} · pkgres", kind.to_lowercase()),
        query: "",
        has_search: false,
        content: html! {
            div.heading {
                p.kind { (kind) " of " (package_link(ROOT, &collection)) }
                h1 { (text::shown(last)) }
                p.fqn { code { (layout::name(class.as_str())) } }
                @if let Some(name) = name {
                    p.lead { "In playbooks: " code { (text::shown(&name.to_string())) } }
                }
                @if is_gone {
                    p.notice.warning role="note" { "The newest version of the collection does not have it." }
                }
            }
            section aria-labelledby="defined" {
                h2 #defined { "Defined by " span.number { (releases.len()) } }
                ul.rows {
                    li {
                        (package_link(ROOT, &collection))
                        span.quiet { "in " (release::versions_of(ROOT, &collection, &releases)) }
                    }
                }
            }
            (references_section("imports", "Imports", "Loading it fails without these.", &extends))
            (references_section("uses", "Refers to", "These are needed by parts of it.", &uses))
            (release::extenders_section(IMPORTED, importers, found.is_partial))
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// The title of the parts of other collections that import a class, and the text if there are none.
const IMPORTED: (&str, &str) = (
    "Imported by",
    "No other collection in this registry needs it to be loaded.",
);

/// The page for a class that a collection does not have. Users may have written the name of a part as in playbooks.
fn missing(
    service: &Service,
    collection: &PackageName,
    class: &ClassName,
) -> Result<Response, Problem> {
    let contents = service.registry.contents_of_collection(collection)?;
    let called = contents
        .iter()
        .find(|content| content.name == class.as_str());
    let suggested = called.map(|content| &content.class).or_else(|| {
        let names = contents.iter().map(|content| content.class.as_str());
        let similar = errors::suggestion(class.as_str(), names)?;
        let mut contents = contents.iter().map(|content| &content.class);
        contents.find(|class| class.as_str() == similar)
    });
    let link = suggested.map(|class| class_link(ROOT, class));
    let name = class.as_str();
    Ok(errors::missing_page(
        "module, plug-in or role",
        ROOT,
        name,
        link,
    ))
}

/// What a part refers to.
struct References<'a> {
    /// The first of these, each with whether it has a page here.
    shown: Vec<(&'a ClassName, bool)>,
    count: usize,
}

impl<'a> References<'a> {
    fn of(classes: &'a [ClassName], with_pages: &BTreeSet<&ClassName>) -> Self {
        let shown = classes.iter().take(MAX_REFERENCES);
        Self {
            shown: shown
                .map(|class| (class, with_pages.contains(class)))
                .collect(),
            count: classes.len(),
        }
    }
}

/// Those of some classes that have a page, as far as their collections are read.
fn with_pages<'a>(
    service: &Service,
    classes: impl Iterator<Item = &'a ClassName>,
) -> Result<BTreeSet<&'a ClassName>, Problem> {
    let mut by_collection: BTreeMap<PackageName, BTreeSet<&ClassName>> = BTreeMap::new();
    for class in classes {
        if let Some(name) = collection_name(class) {
            by_collection.entry(name).or_default().insert(class);
        }
    }
    let mut found = BTreeSet::new();
    for (name, classes) in by_collection.iter().take(MAX_COLLECTIONS) {
        let view = view_of(service, name)?;
        let releases = view.iter().flat_map(|view| &view.versions);
        let defined = releases.flat_map(|release| release.record.classes.iter().flatten());
        for class in defined {
            found.extend(classes.get(&class.name).copied());
        }
    }
    Ok(found)
}

/// A section with what a part refers to, if it does.
fn references_section(id: &str, heading: &str, note: &str, references: &References<'_>) -> Markup {
    html! {
        @if references.count > 0 {
            section aria-labelledby=(id) {
                h2 id=(id) { (heading) " " span.number { (references.count) } }
                p.quiet { (note) }
                ul.rows.plain {
                    @for (class, has_page) in &references.shown {
                        li {
                            @if *has_page { (class_link(ROOT, class)) }
                            @else { code { (layout::name(class.as_str())) } }
                        }
                    }
                }
                @if references.count > references.shown.len() {
                    p.quiet { "And " (references.count - references.shown.len()) " more." }
                }
            }
        }
    }
}
