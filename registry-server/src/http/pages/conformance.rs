//! The conformance of classes to their interfaces: the section on the page of a class, and the cells of the matrix on
//! the page of an interface.
//!
//! A page knows no platform: where a status depends on facts, all cases are shown.

use maud::{Markup, html};
use pkgres_checks::{CapabilityCase, FunctionConformance, InterfaceConformance};
use pkgres_manifest::{ConformanceStatus, Deprecation, Release};

use super::layout::{interface_link, package_link, version_link};
use super::text;
use crate::registry::Lineage;

/// The limit of functions of one interface.
pub(super) const MAX_FUNCTIONS: usize = 200;

/// The section with the interfaces that a class or one of its ancestors implements; nothing if there are none.
pub(super) fn section(root: &str, lineage: &Lineage) -> Markup {
    let conformance = lineage.conformance();
    let interfaces = conformance.as_ref().map(|class| &class.interfaces);
    let Some(interfaces) = interfaces.filter(|interfaces| !interfaces.is_empty()) else {
        return html! {};
    };
    html! {
        section aria-labelledby="interfaces" {
            h2 #interfaces { "Interfaces " span.number { (interfaces.len()) } }
            @for interface in interfaces { (one(root, interface)) }
        }
    }
}

/// An interface of a class.
fn one(root: &str, interface: &InterfaceConformance<'_>) -> Markup {
    let functions = &interface.functions;
    html! {
        h3.inherited {
            (interface_link(root, &interface.interface.value))
            @if let Some((Release { name: package, version }, _)) = &interface.definition {
                span.quiet { " of " (package_link(root, package)) " " (version_link(root, package, version)) }
            }
        }
        @if interface.definition.is_none() {
            p.quiet { "No release here that the package requires defines it." }
        } @else if functions.is_empty() {
            p.quiet { "The interface has no functions." }
        } @else {
            p.quiet { (summary(functions)) }
            ul.members {
                @for function in functions.iter().take(MAX_FUNCTIONS) {
                    @let status = FunctionStatus::of(function);
                    @if !status.is_gone() { li { (line(function, &status)) } }
                }
            }
            @if functions.len() > MAX_FUNCTIONS { p.quiet { "And " (functions.len() - MAX_FUNCTIONS) " more." } }
        }
    }
}

/// How many functions the class has on every platform.
fn summary(functions: &[FunctionConformance<'_>]) -> String {
    let counting = functions
        .iter()
        .filter(|function| function.is_present() || function.is_required());
    let (count, having) = counting.fold((0, 0), |(count, having), function| {
        (count + 1, having + usize::from(is_plain(&function.cases())))
    });
    let functions = text::count(count, "function", "functions");
    format!("Implements {having} of {functions} on every platform.")
}

/// Whether the class has the function on every platform.
fn is_plain(cases: &[CapabilityCase]) -> bool {
    matches!(cases, [(ConformanceStatus::Implemented, _)])
}

/// A function of an interface, with its status.
fn line(function: &FunctionConformance<'_>, status: &FunctionStatus) -> Markup {
    let deprecated = function.function.and_then(|it| it.deprecated.as_ref());
    html! {
        p.line { code.member { (text::beginning(function.name, 120)) } (status.shown()) }
        @for difference in &function.differences { p.edge { (text::beginning(&difference.to_string(), 300)) } }
        @for note in &function.notes { p.edge.quiet { (text::beginning(note, 300)) } }
        @if let Some(deprecated) = deprecated { p.edge.quiet { (deprecation(deprecated)) } }
    }
}

/// The status of a class for a function.
pub(super) struct FunctionStatus {
    /// The cases, of which the first whose condition holds counts.
    cases: Vec<CapabilityCase>,
    /// Whether a class without the function violates the interface.
    is_required: bool,
}

impl FunctionStatus {
    pub(super) fn of(function: &FunctionConformance<'_>) -> Self {
        Self {
            cases: function.cases(),
            is_required: function.is_required(),
        }
    }

    /// Whether the function is neither in the class nor in the interface any more.
    pub(super) fn is_gone(&self) -> bool {
        self.cases.is_empty()
    }

    /// The cases.
    pub(super) fn shown(&self) -> Markup {
        html! {
            @for (at, (status, condition)) in self.cases.iter().enumerate() {
                span.case {
                    span class={ "tag " (self.class_of(*status)) } { (status.as_str().replace('-', " ")) }
                    @if let Some(condition) = condition {
                        " where " code { (text::beginning(condition, 120)) }
                    } @else if at > 0 { " elsewhere" }
                }
            }
        }
    }

    /// The class of a status in the style sheet.
    fn class_of(&self, status: ConformanceStatus) -> &'static str {
        match status {
            ConformanceStatus::Implemented => "good",
            ConformanceStatus::NotImplemented if !self.is_required => "plain",
            ConformanceStatus::SignatureMismatch
            | ConformanceStatus::NotImplemented
            | ConformanceStatus::Conflict
            | ConformanceStatus::Deprecated => "warning",
            ConformanceStatus::NotSupported | ConformanceStatus::NotApplicable => "plain",
        }
    }
}

/// A deprecation in words.
pub(super) fn deprecation(deprecation: &Deprecation) -> Markup {
    html! {
        "Deprecated"
        @if let Some(since) = &deprecation.since { " since " (since) }
        @if let Some(removed) = &deprecation.removed_in { ", removed in " (removed) }
        @if let Some(successor) = &deprecation.successor {
            ": use " code { (text::beginning(&successor.value, 120)) } " instead"
        }
    }
}
