//! Interfaces: what classes promise, function by function, on all platforms or on some.
//!
//! A package lists its interfaces under `Interfaces`, each with a file in the folder of the same name, and says under
//! `Implements` which of its classes implement which interfaces. An interface belongs to a release, like a class: it
//! comes with a requirement, and has the version of its package.
//!
//! ```yaml
//! Name: org.example.Service
//! Functions:
//!   reload:
//!     Arguments:
//!     - name:
//!         Contract: $.string()
//!     Returns: {type: object, required: [changed]}
//!     Supported: {os_family: [Debian, RedHat]}
//!   lock:
//!     NotApplicable: {os: Windows}
//!   hold:
//!     Deprecated: {since: 1.2, removed_in: 2.0, successor: lock}
//! ```
//!
//! Contracts are read as in class files, and nothing is evaluated.

mod facts;
#[cfg(feature = "packages")]
mod reader;
mod status;

pub use facts::{FactMatch, Facts};
#[cfg(all(test, feature = "json"))]
pub(crate) use reader::{FUNCTION_KEYS, INTERFACE_KEYS};
pub use status::ConformanceStatus;

use crate::class_file::Argument;
use crate::diagnostic::Located;
#[cfg(feature = "packages")]
use crate::diagnostic::Parsed;
#[cfg(feature = "packages")]
use crate::document::decode;
use crate::name::ClassName;
#[cfg(feature = "packages")]
use crate::read_options::ReadOptions;
use crate::version::Version;

/// The folder of the interface files in a package.
pub(crate) const INTERFACES_FOLDER: &str = "Interfaces";

/// The definition of an interface. All names are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interface {
    /// The interface's full name.
    pub name: Located<ClassName>,
    /// The functions in order.
    pub functions: Vec<InterfaceFunction>,
}

/// A function of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceFunction {
    /// The function's name.
    pub name: Located<String>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// The JSON Schema, as JSON, of the least that the function returns.
    pub returns: Option<Located<String>>,
    /// The platforms that support the function; all if absent.
    pub supported: Option<FactMatch>,
    /// The platforms on which the function does not apply: a call returns its default.
    pub not_applicable: Option<FactMatch>,
    /// Since when the function should not be used any more, and what replaces it.
    pub deprecated: Option<Deprecation>,
}

/// The deprecation of a function.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Deprecation {
    /// The first version of the interface's package in which it is deprecated.
    pub since: Option<Version>,
    /// The first version of the interface's package that no longer has it.
    pub removed_in: Option<Version>,
    /// The function that replaces it.
    pub successor: Option<Located<String>>,
}

impl Deprecation {
    /// Whether a version of the interface's package announces it.
    pub fn is_announced_in(&self, version: &Version) -> bool {
        self.since.as_ref().is_none_or(|since| version >= since)
    }

    /// Whether a version of the interface's package no longer has the function.
    pub fn is_removed_in(&self, version: &Version) -> bool {
        let removed = self.removed_in.as_ref();
        removed.is_some_and(|removed| version >= removed)
    }
}

impl Interface {
    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<&InterfaceFunction> {
        let mut functions = self.functions.iter();
        functions.find(|function| function.name.value == name)
    }
}

/// Reads an interface file. Messages call the file `name`. A file without `Name` defines the interface that it is
/// listed for, `requested`.
///
/// ```
/// use pkgres_manifest::{Facts, ReadOptions, read_interface_file};
///
/// let text = b"Name: org.acme.Service\nFunctions:\n  reload:\n    Supported: {os_family: [debian]}\n";
/// let read = read_interface_file("Service.yaml", text, None, &ReadOptions::default());
/// let (interface, _) = read.into_result().expect("the interface is valid");
/// let supported = interface.functions[0].supported.as_ref().expect("it is declared");
/// assert!(supported.matches(&Facts::from_pairs([("osfamily", "Debian")])));
/// ```
#[cfg(feature = "packages")]
pub fn read_interface_file(
    name: &str,
    bytes: &[u8],
    requested: Option<&ClassName>,
    options: &ReadOptions,
) -> Parsed<Interface> {
    let limit = options.limits.class_file_bytes;
    match decode(name, bytes, "bytes in an interface file", limit) {
        Ok(source) => reader::parse(&source, requested, options),
        Err(error) => Parsed::failed(error),
    }
}
