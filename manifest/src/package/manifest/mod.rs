//! `manifest.yaml`: the metadata, exported classes and requirements of a package.
//!
//! [`reader`] reads the fields; [`requirements`] those of `Require`, with the pitfalls of unquoted specs in
//! YAML; [`unknown_keys`] says what other keys were probably meant to be. All findings are collected, so that one run
//! shows everything that is wrong.

#[cfg(feature = "packages")]
mod reader;
#[cfg(feature = "packages")]
mod requirements;
mod unknown_keys;

use std::sync::Arc;

pub use self::unknown_keys::UnknownKey;

#[cfg(feature = "packages")]
use self::reader::ManifestReader;
#[cfg(feature = "packages")]
use crate::diagnostic::Code;
use crate::diagnostic::{Diagnostic, Located, Location, Parsed, SourceText, in_order};
use crate::document::{Documents, Syntax, decode, written_value};
#[cfg(feature = "packages")]
use crate::document::{NodeReader, parse_yaml};
use crate::name::{ClassName, PackageName};
use crate::package_format::PackageFormat;
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::spec::Requirement;
use crate::version::Version;

/// The keys that a manifest can have.
pub(crate) const KNOWN_KEYS: [&str; 20] = [
    "Author",
    "Classes",
    "Description",
    "Format",
    "FullName",
    "Implements",
    "Interfaces",
    "Logo",
    "Meta",
    "Name",
    "Require",
    "Resources",
    "Supplier",
    "Tags",
    "Template",
    "Type",
    "UI",
    "Validate",
    "Version",
    "EntryPoint",
];

/// The type of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageKind {
    /// A package to deploy.
    Application,
    /// A package of classes for other packages.
    Library,
}

/// A class or interface that a manifest lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassEntry {
    /// The class or interface.
    pub name: Located<ClassName>,
    /// Its file, below the folder `Classes` or `Interfaces`.
    pub file: Located<PackagePath>,
}

/// The interfaces that a class implements, by what a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Implementation {
    /// The class.
    pub class: Located<ClassName>,
    /// The interfaces, in the order written.
    pub interfaces: Vec<Located<ClassName>>,
}

/// The manifest of a package.
///
/// Versions and specs are read as source text: an unquoted `1.10` is 1.10, not the number 1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageManifest {
    source: Arc<SourceText>,
    /// The format; `MuranoPL/1.0` if absent.
    pub format: PackageFormat,
    /// The type.
    pub kind: PackageKind,
    /// The package's name.
    pub name: Located<PackageName>,
    /// The package's version; 0.0.0 if absent.
    pub version: Version,
    /// Where the version is written; where the name is if it is absent.
    pub version_location: Location,
    /// The name for people; the package's name if absent.
    pub display_name: String,
    /// A description in prose.
    pub description: Option<String>,
    /// The author.
    pub author: Option<String>,
    /// Words to search for.
    pub tags: Vec<String>,
    /// The file of the form for people, below the folder `UI`.
    pub ui: Option<Located<PackagePath>>,
    /// The file of a picture; `logo.png` if absent.
    pub logo: Option<Located<PackagePath>>,
    /// The file of a picture of the supplier; `supplier_logo.png` if absent.
    pub supplier_logo: Option<Located<PackagePath>>,
    /// The classes that other packages can see, in the order written.
    pub classes: Vec<ClassEntry>,
    /// The interfaces that the package defines, each with its file below the folder `Interfaces`, in the order
    /// written.
    pub interfaces: Vec<ClassEntry>,
    /// The classes and the interfaces that they implement, in the order written.
    pub implements: Vec<Implementation>,
    /// The validation file, which says what a machine that runs the package must have.
    pub validate: Option<Located<PackagePath>>,
    /// The file of the package's resources.
    pub resources: Option<Located<PackagePath>>,
    /// The requirements, in the order written. The core library is among them only if the manifest names it.
    pub requirements: Vec<Requirement>,
    /// Keys that a manifest cannot have.
    pub unknown_keys: Vec<UnknownKey>,
}

impl PackageManifest {
    /// Whether the manifest states a version; without one, it has 0.0.0.
    pub fn states_version(&self) -> bool {
        self.version_location != self.name.location
    }

    /// Reads a manifest from the bytes of a file. Messages call the file `name`.
    #[cfg(feature = "packages")]
    pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Parsed<Self> {
        let limit = options.limits.manifest_bytes;
        match decode(name, bytes, "bytes in a manifest", limit) {
            Ok(source) => Self::parse(&source, options),
            Err(error) => Parsed::failed(error),
        }
    }

    /// The name in a manifest as it is written, also if the manifest cannot be read.
    ///
    /// ```
    /// use pkgres_manifest::PackageManifest;
    ///
    /// let text = "FullName: org.acme.Web # the front end\nVersion: [\n";
    /// assert_eq!(PackageManifest::written_name(text), Some("org.acme.Web"));
    /// ```
    pub fn written_name(text: &str) -> Option<&str> {
        written_value(text, "FullName")
    }

    /// Reads a manifest from text.
    #[cfg(feature = "packages")]
    pub fn parse(source: &Arc<SourceText>, options: &ReadOptions) -> Parsed<Self> {
        let syntax = Syntax::of_manifest(&options.limits);
        let Documents {
            nodes,
            readable,
            diagnostics,
        } = parse_yaml(source, syntax);
        let mut reader = ManifestReader {
            nodes: NodeReader::partial(source, Code::Field, nodes.is_some()),
            options,
        };
        let manifest = reader.documents(&nodes.unwrap_or(readable));
        Parsed::new(
            manifest,
            in_order(diagnostics, reader.nodes.into_findings()),
        )
    }

    /// The text that the manifest was read from.
    pub fn source(&self) -> &Arc<SourceText> {
        &self.source
    }

    /// Returns a warning for each unknown key.
    pub fn unknown_key_findings(&self) -> Vec<Diagnostic> {
        let keys = self.unknown_keys.iter();
        keys.map(UnknownKey::finding).collect()
    }

    /// Returns the [warnings](Self::unknown_key_findings) about keys that are probably misspelt: the intended keys
    /// have no effect.
    pub fn misspelt_key_findings(&self) -> Vec<Diagnostic> {
        // Their hints have the keys that were probably intended.
        let mut findings = self.unknown_key_findings();
        findings.retain(|finding| !finding.hints.is_empty());
        findings
    }
}
