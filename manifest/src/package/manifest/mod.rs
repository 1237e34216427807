//! `manifest.yaml`.

#[cfg(feature = "packages")]
mod reader;
#[cfg(feature = "packages")]
mod requirements;
#[cfg(feature = "packages")]
mod text;

use std::sync::Arc;

#[cfg(feature = "packages")]
use self::reader::Reader;
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Parsed, SourceText, in_order};
#[cfg(feature = "packages")]
use crate::document::parse_yaml;
use crate::document::{Documents, Syntax, decode};
use crate::format::Format;
use crate::name::{ClassName, PackageName};
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::requirement::Requirement;
use crate::version::Version;

/// The keys that a manifest can have, for the hint at unknown ones.
pub(crate) const KNOWN_KEYS: [&str; 16] = [
    "Author",
    "Classes",
    "Description",
    "Format",
    "FullName",
    "Logo",
    "Meta",
    "Name",
    "Require",
    "Supplier",
    "Tags",
    "Template",
    "Type",
    "UI",
    "Version",
    "EntryPoint",
];

/// What a package is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageKind {
    /// Something to deploy.
    Application,
    /// Classes for other packages.
    Library,
}

/// A class that a manifest lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassEntry {
    /// The class.
    pub name: Located<ClassName>,
    /// Its file, below the folder `Classes`.
    pub file: Located<PackagePath>,
}

/// The manifest of a package.
///
/// Versions and specs are read as source text: an unquoted `1.10` is 1.10, not the number 1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageManifest {
    source: Arc<SourceText>,
    /// The format; `MuranoPL/1.0` if absent.
    pub format: Format,
    /// What the package is for.
    pub kind: PackageKind,
    /// The package's name.
    pub name: Located<PackageName>,
    /// The package's version; 0.0.0 if absent.
    pub version: Version,
    /// The name that is shown to people.
    pub display_name: String,
    /// What the package is, in prose.
    pub description: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The form that is shown to people, below the folder `UI`.
    pub ui: Option<PackagePath>,
    /// A picture, at the top of the package.
    pub logo: Option<PackagePath>,
    /// The classes that other packages can see, in the order written.
    pub classes: Vec<ClassEntry>,
    /// The packages that it requires, in the order written. The core library is listed only if
    /// the manifest names it.
    pub requirements: Vec<Requirement>,
    /// Keys that mean nothing in a manifest.
    pub unknown_keys: Vec<Located<String>>,
}

impl PackageManifest {
    /// Reads a manifest from the bytes of a file; `name` is how messages call the file.
    #[cfg(feature = "packages")]
    pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Parsed<Self> {
        let limit = options.limits.manifest_bytes;
        match decode(name, bytes, "bytes in a manifest", limit) {
            Ok(source) => Self::parse(&source, options),
            Err(error) => Parsed::failed(error),
        }
    }

    /// Reads a manifest from text.
    #[cfg(feature = "packages")]
    pub fn parse(source: &Arc<SourceText>, options: &ReadOptions) -> Parsed<Self> {
        let syntax = Syntax {
            depth: options.limits.depth,
            nodes: options.limits.nodes,
            yaql_tag: false,
        };
        let Documents { nodes, diagnostics } = parse_yaml(source, syntax);
        let Some(documents) = nodes else {
            return Parsed::new(None, diagnostics);
        };
        let mut reader = Reader {
            source,
            options,
            diagnostics: Vec::new(),
        };
        let manifest = reader.documents(&documents);
        Parsed::new(manifest, in_order(diagnostics, reader.diagnostics))
    }

    /// The text that the manifest was read from.
    pub fn source(&self) -> &Arc<SourceText> {
        &self.source
    }

    /// A warning for each key that means nothing in a manifest.
    pub fn unknown_key_findings(&self) -> Vec<Diagnostic> {
        let findings = self.unknown_keys.iter().map(|key| {
            let message = format!(
                "the key `{}` means nothing in a manifest",
                Escaped::shortened(&key.value)
            );
            let finding = Diagnostic::warning(Code::UnknownKey, message).at(key.location.clone());
            match Self::similar_key(&key.value) {
                Some(similar) => finding.hint(format!("did you mean `{similar}`?")),
                None => finding,
            }
        });
        findings.collect()
    }

    /// Those of the [warnings](Self::unknown_key_findings) that are about keys which are probably
    /// misspelt: what was meant has no effect.
    pub fn misspelt_key_findings(&self) -> Vec<Diagnostic> {
        // Those have a hint what may have been meant.
        let mut findings = self.unknown_key_findings();
        findings.retain(|finding| !finding.hints.is_empty());
        findings
    }

    /// The known key that is most like an unknown one.
    fn similar_key(unknown: &str) -> Option<&'static str> {
        crate::similar::most_similar(unknown, KNOWN_KEYS)
    }
}
