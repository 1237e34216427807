//! The page of an interface: its functions, and the classes that implement it.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use maud::{Markup, html};
use pkgres_manifest::{
    ClassName, IndexRecord, Interface, InterfaceFunction, PackageName, Release, Version,
};

use super::conformance::{self, FunctionStatus, MAX_FUNCTIONS};
use super::layout::{self, Page, ROOT, class_link, package_link, version_link};
use super::{errors, members, release, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Implementers;

/// The limit of classes that are compared with the interface.
const MAX_IMPLEMENTERS: usize = 20;

/// The limit of characters of the structure that a function returns.
const MAX_SCHEMA: usize = 2000;

/// Shows an interface.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let interface = ClassName::parse(request.part(0))
        .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))?;
    let definers = registry.definers_of_interface(&interface)?;
    if definers.is_empty() {
        let name = interface.as_str();
        return Ok(errors::missing_page("interface", ROOT, name, None));
    }
    let has = |record: &IndexRecord| record.interfaces.contains(&interface);
    let definitions = release::defining(service, &definers, &has)?;
    let best = definitions
        .iter()
        .find_map(|(_, releases)| release::best(releases));
    let definition = match best {
        Some(release) => registry.interface_definition(&release.record, &interface)?,
        None => None,
    };
    let implementers = registry.implementers(&interface, &definers, MAX_IMPLEMENTERS)?;
    let columns = columns(service, &interface, &implementers)?;
    let (_, last) = text::halves(interface.as_str());
    let page = Page {
        root: ROOT,
        title: &format!("interface {last} · pkgres"),
        query: "",
        has_search: false,
        content: html! {
            div.heading {
                p.kind { "Interface" }
                h1 { (last) }
                p.fqn { code { (layout::name(interface.as_str())) } }
            }
            section aria-labelledby="defined" {
                h2 #defined { "Defined by " span.number { (definers.len()) } }
                (release::definers_list(definers.len(), &definitions))
            }
            @if let (Some(release), Some(definition)) = (best, &definition) {
                (functions(&release.record, definition))
            }
            (matrix(definition.as_ref(), &columns, implementers.is_partial))
        },
    };
    Ok(page.response(StatusCode::OK))
}

/// The section with the functions, as a release defines them.
fn functions(record: &IndexRecord, definition: &Interface) -> Markup {
    let all = &definition.functions;
    html! {
        p.quiet {
            "Functions are those of " (package_link(ROOT, &record.name)) " "
            (version_link(ROOT, &record.name, &record.version)) "."
        }
        section aria-labelledby="functions" {
            h2 #functions { "Functions " span.number { (all.len()) } }
            @if all.is_empty() { p.quiet { "The interface has no functions." } }
            @else {
                ul.members { @for function in all.iter().take(MAX_FUNCTIONS) { li { (self::function(function)) } } }
            }
            @if all.len() > MAX_FUNCTIONS { p.quiet { "And " (all.len() - MAX_FUNCTIONS) " more." } }
        }
    }
}

fn function(function: &InterfaceFunction) -> Markup {
    html! {
        p.line { code.member { (text::beginning(&function.name.value, 120)) } }
        (members::arguments(ROOT, &function.arguments))
        @if let Some(returns) = &function.returns {
            p.edge { span.quiet { "Returns " } code { (text::beginning(&returns.value, MAX_SCHEMA)) } }
        }
        @if let Some(platforms) = &function.supported {
            p.edge { span.quiet { "Supported where " } code { (text::beginning(&platforms.to_string(), 300)) } }
        }
        @if let Some(platforms) = &function.not_applicable {
            p.edge { span.quiet { "Not applicable where " } code { (text::beginning(&platforms.to_string(), 300)) } }
        }
        @if let Some(deprecated) = &function.deprecated { p.edge.quiet { (conformance::deprecation(deprecated)) } }
    }
}

/// A class in the matrix.
struct Column {
    package: PackageName,
    version: Version,
    class: ClassName,
    /// The version of the package of the interface that the class was compared with; `None` if there is none.
    interface: Option<Version>,
    /// The status of each function by its name.
    functions: BTreeMap<String, FunctionStatus>,
}

fn columns(
    service: &Service,
    interface: &ClassName,
    implementers: &Implementers,
) -> Result<Vec<Column>, Problem> {
    let mut columns = Vec::with_capacity(implementers.classes.len());
    for (record, class) in &implementers.classes {
        let lineage = service.registry.lineage(record, class)?;
        let conformance = lineage.conformance();
        let mut interfaces = conformance.iter().flat_map(|class| &class.interfaces);
        let compared = interfaces.find(|compared| compared.interface.value == *interface);
        let definition = compared.and_then(|compared| compared.definition.as_ref());
        let functions = compared.iter().flat_map(|compared| &compared.functions);
        let functions =
            functions.map(|function| (function.name.to_owned(), FunctionStatus::of(function)));
        columns.push(Column {
            package: record.name.clone(),
            version: record.version.clone(),
            class: class.clone(),
            interface: definition.map(|(Release { version, .. }, _)| version.clone()),
            functions: functions.collect(),
        });
    }
    Ok(columns)
}

/// The section with the classes that implement the interface: a row for each function, a column for each class.
fn matrix(definition: Option<&Interface>, columns: &[Column], is_partial: bool) -> Markup {
    let current = definition
        .iter()
        .flat_map(|definition| &definition.functions);
    let mut names: Vec<&str> = current
        .map(|function| function.name.value.as_str())
        .collect();
    // A class may have been compared with another version.
    let known: BTreeSet<&str> = names.iter().copied().collect();
    let compared = columns.iter().flat_map(|column| column.functions.keys());
    let others: BTreeSet<&str> = compared.map(String::as_str).collect();
    names.extend(others.difference(&known));
    html! {
        section aria-labelledby="implemented" {
            h2 #implemented {
                "Implemented by "
                span.number { (columns.len()) @if is_partial { "+" } }
            }
            @if columns.is_empty() { p.quiet { "No class implements it." } }
            @else {
                section.matrix aria-label="Functions by class" tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Function" }
                                @for column in columns { th scope="col" { (heading(column)) } }
                            }
                        }
                        tbody {
                            @for name in names.iter().take(MAX_FUNCTIONS) {
                                tr {
                                    th scope="row" { code { (text::beginning(name, 120)) } }
                                    @for column in columns { td { (cell(column, name)) } }
                                }
                            }
                        }
                    }
                }
                @if names.len() > MAX_FUNCTIONS {
                    p.quiet { "And " (names.len() - MAX_FUNCTIONS) " more functions." }
                }
                p.quiet {
                    "Each class is compared with the newest version of the interface that its package permits. "
                    "Its page says what differs."
                }
            }
            @if is_partial { p.quiet { "There may be more: not all packages were searched." } }
        }
    }
}

fn heading(column: &Column) -> Markup {
    html! {
        (class_link(ROOT, &column.class))
        span.of {
            (package_link(ROOT, &column.package)) " " (version_link(ROOT, &column.package, &column.version))
        }
        @if let Some(interface) = &column.interface {
            span.of { "with the interface of " span.version { (interface) } }
        }
    }
}

fn cell(column: &Column, function: &str) -> Markup {
    html! {
        @match column.functions.get(function) {
            Some(status) if !status.is_gone() => (status.shown()),
            Some(_) => span.quiet { "removed" },
            None if column.interface.is_none() => span.quiet { "unknown" },
            None => span.quiet { "not in this version" },
        }
    }
}
