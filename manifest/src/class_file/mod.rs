//! Class files: YAML documents that each define a class.
//!
//! Only declarations are read: names, parents, properties, methods and their contracts. Method
//! bodies are searched for the classes that they create, and are never run.

mod contract;
mod expression;
mod namespaces;
#[cfg(feature = "packages")]
mod reader;

pub use contract::{ClassConstraint, Contract, MapKey, Rule};
#[cfg(test)]
pub(crate) use reader::KNOWN_KEYS;

use std::sync::Arc;

use crate::diagnostic::{Located, Location, Parsed, SourceText};
use crate::document::decode;
use crate::name::ClassName;
use crate::read_options::ReadOptions;

/// Whether a class describes objects or other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassUsage {
    /// A class of objects.
    Class,
    /// A class whose objects describe classes, properties, methods or packages.
    Meta,
}

/// A property that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The property's name.
    pub name: Located<String>,
    /// What its values must be.
    pub contract: Located<Contract>,
    /// What it is for, as written: `In`, `Out`, `InOut`, `Const`, `Runtime`, `Static` or `Config`
    /// if the package is right; `In` if absent.
    pub usage: Located<String>,
    /// Whether there is a default value.
    pub has_default: bool,
}

/// An argument of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The argument's name.
    pub name: Located<String>,
    /// What its values must be.
    pub contract: Located<Contract>,
    /// Whether there is a default value.
    pub has_default: bool,
}

/// A method that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The method's name.
    pub name: Located<String>,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
    /// `Runtime`, `Static`, `Extension` or `Action`; `Runtime` if absent.
    pub usage: String,
    /// `Public` or `Session`, if written.
    pub scope: Option<String>,
}

/// A class as its file defines it. All names are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassDefinition {
    /// The class's full name.
    pub name: Located<ClassName>,
    /// Whether it describes objects or classes.
    pub usage: ClassUsage,
    /// The classes that it extends, in order. Empty if none are written; the class then extends
    /// the root class of the core library.
    pub extends: Vec<Located<ClassName>>,
    /// The classes that it uses otherwise, in contracts, `new`, `Meta` and `Import`; each once,
    /// where it first stands.
    pub uses: Vec<Located<ClassName>>,
    /// The properties in order.
    pub properties: Vec<Property>,
    /// The methods in order.
    pub methods: Vec<Method>,
    /// Keys that mean nothing in a class.
    pub unknown_keys: Vec<Located<String>>,
}

impl ClassDefinition {
    /// The one class of a Heat template.
    pub(crate) fn of_heat_template(
        name: ClassName,
        parent: Option<ClassName>,
        location: &Location,
    ) -> Self {
        let here = |value| Located {
            value,
            location: location.clone(),
        };
        Self {
            name: here(name),
            usage: ClassUsage::Class,
            extends: parent.map(here).into_iter().collect(),
            uses: Vec::new(),
            properties: Vec::new(),
            methods: Vec::new(),
            unknown_keys: Vec::new(),
        }
    }
}

/// Reads the classes of a class file, in the order of its documents.
///
/// `Namespaces` holds for its document and those after it; documents with nothing else are
/// skipped.
///
/// ```
/// use pkgres_manifest::{ReadOptions, diagnostic::SourceText, parse_class_file};
///
/// let source = SourceText::new("Classes/Web.yaml", "\
/// Namespaces: {=: org.acme, std: io.murano}
/// ---
/// Name: Web
/// Extends: std:Application
/// ");
/// let (classes, _) = parse_class_file(&source, &ReadOptions::default()).into_result().unwrap();
/// assert_eq!(classes[0].name.value.as_str(), "org.acme.Web");
/// assert_eq!(classes[0].extends[0].value.as_str(), "io.murano.Application");
/// ```
#[cfg(feature = "packages")]
pub fn parse_class_file(
    source: &Arc<SourceText>,
    options: &ReadOptions,
) -> Parsed<Vec<ClassDefinition>> {
    reader::parse(source, options)
}

/// Reads a class file from its bytes; `name` is how messages call the file.
#[cfg(feature = "packages")]
pub fn read_class_file(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Parsed<Vec<ClassDefinition>> {
    let limit = options.limits.class_file_bytes;
    match decode(name, bytes, "bytes in a class file", limit) {
        Ok(source) => parse_class_file(&source, options),
        Err(error) => Parsed::failed(error),
    }
}
