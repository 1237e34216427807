//! The properties and methods of a class, with those that it inherits.

use std::collections::BTreeSet;

use maud::{Markup, html};
use pkgres_manifest::{Argument, ClassName, Method, Property};

use super::layout::{class_link, name, package_link, version_link};
use super::{contract, text};
use crate::registry::{ClassPart, Lineage};

/// The limit of properties and of methods of one class.
const MAX_MEMBERS: usize = 200;

/// The sections with properties and methods. A member that a nearer class declares again is shown there only.
pub(super) fn sections(root: &str, lineage: &Lineage) -> Markup {
    let parts = lineage.parts();
    let mut seen = BTreeSet::new();
    let properties: Vec<Vec<&Property>> = parts
        .iter()
        .map(|part| {
            let properties = part.definition.properties.iter();
            properties
                .filter(|property| seen.insert(property.name.value.as_str()))
                .collect()
        })
        .collect();
    let mut seen = BTreeSet::new();
    let methods: Vec<Vec<&Method>> = parts
        .iter()
        .map(|part| {
            let methods = part.definition.methods.iter();
            methods
                .filter(|method| seen.insert(method.name.value.as_str()))
                .collect()
        })
        .collect();
    html! {
        (members(root, "properties", "Properties", &parts, &properties, &|one| property(root, one)))
        (members(root, "methods", "Methods", &parts, &methods, &|one| method(root, one)))
        @if !lineage.built_in.is_empty() {
            p.quiet {
                "It also inherits from "
                @for (at, class) in lineage.built_in.iter().enumerate() {
                    @if at > 0 { ", " }
                    (class_link(root, class))
                }
                ", which " (if lineage.built_in.len() == 1 { "is" } else { "are" })
                " built in: the engine supplies the core library."
            }
        }
        @if !lineage.unknown.is_empty() {
            p.quiet {
                "What it inherits from " (unknown(&lineage.unknown)) " is unknown: no release here defines that."
            }
        }
        @if lineage.is_partial { p.quiet { "Not all ancestors were read." } }
    }
}

/// The names of classes, which have no pages here.
fn unknown(classes: &[ClassName]) -> Markup {
    html! {
        @for (at, class) in classes.iter().enumerate() {
            @if at > 0 { ", " }
            code { (name(class.as_str())) }
        }
    }
}

/// A section: what the class declares itself, then what it inherits, by class.
fn members<Member>(
    root: &str,
    id: &str,
    heading: &str,
    parts: &[ClassPart<'_>],
    members: &[Vec<&Member>],
    shown: &dyn Fn(&Member) -> Markup,
) -> Markup {
    let (own, inherited) = match members.split_first() {
        Some((own, inherited)) => (own.as_slice(), inherited),
        None => return html! {},
    };
    let count = members.iter().map(Vec::len).sum::<usize>();
    let parts = parts.iter().skip(1).zip(inherited);
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (heading) " " span.number { (count) } }
            @if own.is_empty() { p.quiet { "The class declares none itself." } }
            @else { (list(own, shown)) }
            @for (part, members) in parts.filter(|(_, members)| !members.is_empty()) {
                h3.inherited { "Inherited from " (source(root, part)) }
                (list(members, shown))
            }
        }
    }
}

/// A class with the release that its definition is from.
fn source(root: &str, part: &ClassPart<'_>) -> Markup {
    html! {
        (class_link(root, &part.definition.name.value))
        span.quiet {
            " of " (package_link(root, &part.package)) " " (version_link(root, &part.package, &part.version))
        }
    }
}

fn list<Member>(members: &[&Member], shown: &dyn Fn(&Member) -> Markup) -> Markup {
    html! {
        ul.members { @for member in members.iter().take(MAX_MEMBERS) { li { (shown(member)) } } }
        @if members.len() > MAX_MEMBERS { p.quiet { "And " (members.len() - MAX_MEMBERS) " more." } }
    }
}

fn property(root: &str, property: &Property) -> Markup {
    html! {
        p.line {
            code.member { (text::beginning(&property.name.value, 120)) }
            span.contract { (contract::shown(root, &property.contract.value)) }
            @if property.usage.value != "In" { " " span.tag { (text::beginning(&property.usage.value, 20)) } }
            @if property.has_default { " " span.tag { "default" } }
        }
    }
}

fn method(root: &str, method: &Method) -> Markup {
    html! {
        p.line {
            code.member { (text::beginning(&method.name.value, 120)) }
            @if method.usage != "Runtime" { " " span.tag { (text::beginning(&method.usage, 20)) } }
            @if let Some(scope) = &method.scope { " " span.tag { (text::beginning(scope, 20)) } }
        }
        (arguments(root, &method.arguments))
    }
}

/// The arguments of a method or a function.
pub(super) fn arguments(root: &str, arguments: &[Argument]) -> Markup {
    html! {
        @for argument in arguments {
            p.edge {
                code { (text::beginning(&argument.name.value, 120)) } " "
                span.contract { (contract::shown(root, &argument.contract.value)) }
                @if argument.has_default { " " span.tag { "default" } }
            }
        }
    }
}
