//! The section with the classes of a release, their parents and the classes that extend them.

use std::collections::BTreeMap;

use maud::{Markup, html};
use pkgres_manifest::{CLASS_PACKAGES, ClassName, IndexRecord, IndexedClass, PackageName};

use super::layout::{self, class_link, interface_link, package_link};
use super::{content, text};
use crate::http::service::Service;
use crate::problem::Problem;
use crate::registry::{Extender, Extenders};

/// The limit of classes in the section.
const MAX_CLASSES: usize = 200;

/// The limit of classes that extend a class in the section.
const MAX_EXTENDERS: usize = 20;

/// The classes of a release that the section shows with what extends them.
pub(super) fn shown(record: &IndexRecord) -> &[IndexedClass] {
    if record.ecosystem != CLASS_PACKAGES {
        return &[];
    }
    let classes = record.classes.as_deref().unwrap_or_default();
    &classes[..classes.len().min(MAX_CLASSES)]
}

/// The section.
pub(super) fn section(
    service: &Service,
    root: &str,
    record: &IndexRecord,
    extenders: &Extenders,
) -> Result<Markup, Problem> {
    if record.ecosystem != CLASS_PACKAGES {
        return Ok(content::section(root, record));
    }
    let Some(classes) = &record.classes else {
        return Ok(html! {
            section aria-labelledby="classes" {
                h2 #classes { "Classes" }
                p.quiet { "The classes of this release are unknown." }
            }
        });
    };
    let shown = shown(record);
    let mut parents: BTreeMap<&ClassName, Vec<PackageName>> = BTreeMap::new();
    for parent in shown.iter().flat_map(|class| &class.extends) {
        if !parents.contains_key(parent) {
            parents.insert(parent, providers(service, record, parent)?);
        }
    }
    let is_built_in = |class: &ClassName| service.registry.is_built_in(class);
    Ok(html! {
        section aria-labelledby="classes" {
            h2 #classes { "Classes " span.number { (classes.len()) } }
            @if classes.is_empty() { p.quiet { "This release defines no classes." } }
            ul.classes {
                @for class in shown { (one(root, class, &parents, extenders.of.get(&class.name), &is_built_in)) }
            }
            @if classes.len() > shown.len() {
                p.quiet { "And " (classes.len() - shown.len()) " more." }
            }
            @if extenders.is_partial {
                p.quiet { "Not all releases were searched for classes that extend these." }
            }
        }
    })
}

/// The packages that define a parent: the release itself, its requirements, or else all.
fn providers(
    service: &Service,
    record: &IndexRecord,
    parent: &ClassName,
) -> Result<Vec<PackageName>, Problem> {
    if record.class(parent).is_some() {
        return Ok(vec![record.name.clone()]);
    }
    let all = service.registry.definers(parent)?;
    let required: Vec<PackageName> = all
        .iter()
        .filter(|package| {
            record
                .requirements
                .iter()
                .any(|known| known.package == **package)
        })
        .cloned()
        .collect();
    Ok(if required.is_empty() { all } else { required })
}

/// A class.
fn one(
    root: &str,
    class: &IndexedClass,
    parents: &BTreeMap<&ClassName, Vec<PackageName>>,
    extenders: Option<&Vec<Extender>>,
    is_built_in: &dyn Fn(&ClassName) -> bool,
) -> Markup {
    let extenders = extenders.map_or(&[][..], Vec::as_slice);
    html! {
        li {
            p.class {
                (class_link(root, &class.name))
                @if class.internal { " " span.tag title="Only its own package can use it" { "internal" } }
            }
            @for parent in &class.extends {
                p.edge {
                    span.quiet { "extends " }
                    @match parents.get(parent).map(Vec::as_slice) {
                        // It has no page here.
                        None | Some([]) if !is_built_in(parent) => code { (layout::name(parent.as_str())) },
                        None | Some([]) => {
                            (class_link(root, parent)) " " span.tag { "built in" }
                        },
                        Some(packages) => {
                            (class_link(root, parent))
                            @for package in packages {
                                span.quiet { " of " } (package_link(root, package))
                            }
                        }
                    }
                }
            }
            @for interface in &class.implements {
                p.edge { span.quiet { "implements " } (interface_link(root, interface)) }
            }
            @for extender in extenders.iter().take(MAX_EXTENDERS) {
                p.edge {
                    span.quiet { "extended by " } (class_link(root, &extender.class))
                    span.quiet { " of " } (package_link(root, &extender.package))
                }
            }
            @if extenders.len() > MAX_EXTENDERS {
                p.edge { a href={ (root) "classes/" (class.name) } {
                    "All " (text::count(extenders.len(), "class", "classes")) " that extend it"
                } }
            }
        }
    }
}

/// The limit of interfaces in their section.
const MAX_INTERFACES: usize = 100;

/// The section with the interfaces of a release, if it defines any.
pub(super) fn interfaces(root: &str, record: &IndexRecord) -> Markup {
    let interfaces = &record.interfaces;
    html! {
        @if !interfaces.is_empty() {
            section aria-labelledby="interfaces" {
                h2 #interfaces { "Interfaces " span.number { (interfaces.len()) } }
                p.quiet { "What classes of other packages can promise to implement." }
                ul.rows.plain {
                    @for interface in interfaces.iter().take(MAX_INTERFACES) {
                        li { (interface_link(root, interface)) }
                    }
                }
                @if interfaces.len() > MAX_INTERFACES {
                    p.quiet { "And " (interfaces.len() - MAX_INTERFACES) " more." }
                }
            }
        }
    }
}
