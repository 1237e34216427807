//! `manifest.yaml`.

use std::collections::HashMap;
use std::sync::Arc;

use super::format::Format;
use super::path::PackagePath;
use super::{Located, ReadOptions};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span, in_order, is_hazardous,
};
use crate::document::{
    Documents, Mapping, Node, Scalar, Style, Syntax, Value, decode, parse_yaml, unquoted_spec,
};
use crate::limits::Limits;
use crate::name::{ClassName, PackageName};
use crate::spec::Spec;
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

/// A package that another one requires, and in which versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The package.
    pub package: PackageName,
    /// Its versions.
    pub spec: Spec,
    /// Where the requirement stands, if it was read from a manifest.
    pub location: Option<Location>,
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
    pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Parsed<Self> {
        let limit = options.limits.manifest_bytes;
        match decode(name, bytes, "bytes in a manifest", limit) {
            Ok(source) => Self::parse(&source, options),
            Err(error) => Parsed::failed(error),
        }
    }

    /// Reads a manifest from text.
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

    /// The known key that is most like an unknown one.
    pub fn similar_key(unknown: &str) -> Option<&'static str> {
        crate::similar::most_similar(unknown, KNOWN_KEYS)
    }
}

struct Reader<'source> {
    source: &'source Arc<SourceText>,
    options: &'source ReadOptions,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn error(&mut self, code: Code, message: impl Into<String>, span: Span) {
        let location = self.location(span);
        self.diagnostics
            .push(Diagnostic::error(code, message).at(location));
    }

    fn documents(&mut self, documents: &[Node]) -> Option<PackageManifest> {
        let Some(document) = documents.first() else {
            self.error(Code::Field, "the manifest is empty", Span::default());
            return None;
        };
        if let Some(second) = documents.get(1) {
            self.error(Code::Field, "a manifest is a single document", second.span);
        }
        let Some(mapping) = document.as_mapping() else {
            let message = format!("a manifest is a mapping, not {}", document.kind());
            self.error(Code::Field, message, document.span);
            return None;
        };
        self.manifest(mapping, document.span)
    }

    fn manifest(&mut self, mapping: &Mapping, span: Span) -> Option<PackageManifest> {
        let beginning = Span {
            start: span.start,
            end: span.start,
        };
        let name = self.full_name(mapping, beginning);
        let format = self.format(mapping);
        let kind = self.kind(mapping, beginning);
        let version = self.version(mapping);
        let display_name = self.text(mapping, "Name");
        let description = self.text(mapping, "Description");
        let author = self.text(mapping, "Author");
        let tags = self.tags(mapping);
        let classes = self.classes(mapping);
        let requirements = self.requirements(mapping, name.as_ref());
        let ui = self.optional_path(mapping, "UI");
        let logo = self.optional_path(mapping, "Logo");
        let unknown_keys = mapping
            .entries
            .iter()
            .filter(|entry| !KNOWN_KEYS.contains(&entry.key.text.as_str()))
            .map(|entry| Located {
                value: entry.key.text.clone(),
                location: self.location(entry.key_span),
            })
            .collect();
        let name = name?;
        Some(PackageManifest {
            source: Arc::clone(self.source),
            format: format?,
            kind: kind?,
            version: version?,
            display_name: display_name.unwrap_or_else(|| name.value.to_string()),
            description,
            author,
            tags,
            ui,
            logo,
            classes,
            requirements,
            unknown_keys,
            name,
        })
    }

    fn full_name(&mut self, mapping: &Mapping, beginning: Span) -> Option<Located<PackageName>> {
        let Some(node) = mapping.get("FullName") else {
            self.error(Code::Field, "`FullName` is missing", beginning);
            return None;
        };
        let scalar = self.name_text(node, "`FullName`")?;
        match PackageName::parse(&scalar.text) {
            Ok(value) => Some(Located {
                value,
                location: self.location(node.span),
            }),
            Err(error) => {
                self.error(
                    Code::Name,
                    format!("`FullName` is not a name: {error}"),
                    node.span,
                );
                None
            }
        }
    }

    /// A scalar that cannot be taken for anything but text.
    fn name_text<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Scalar> {
        match node.as_scalar() {
            Some(scalar) if !scalar.is_mistakable() => Some(scalar),
            Some(scalar) => {
                let text = Escaped::shortened(&scalar.text);
                let location = self.location(node.span);
                self.diagnostics.push(
                    Diagnostic::error(Code::Name, format!("YAML does not read `{text}` as text"))
                        .label(location, format!("{what} is expected"))
                        .hint(format!("write \"{text}\"")),
                );
                None
            }
            None => {
                self.error(
                    Code::Field,
                    format!("{what} is text, not {}", node.kind()),
                    node.span,
                );
                None
            }
        }
    }

    fn format(&mut self, mapping: &Mapping) -> Option<Format> {
        let Some(node) = mapping.get("Format").filter(|node| !node.is_null()) else {
            return Some(Format::default());
        };
        let Some(scalar) = node.as_scalar() else {
            let message = format!("`Format` is text, not {}", node.kind());
            self.error(Code::Field, message, node.span);
            return None;
        };
        match Format::parse(&scalar.text, &self.options.formats) {
            Ok(format) => Some(format),
            Err(error) => {
                self.error(Code::Format, error.to_string(), node.span);
                None
            }
        }
    }

    fn kind(&mut self, mapping: &Mapping, beginning: Span) -> Option<PackageKind> {
        let Some(node) = mapping.get("Type") else {
            self.error(
                Code::Field,
                "`Type` is missing: it is `Application` or `Library`",
                beginning,
            );
            return None;
        };
        match node.as_scalar().map(|scalar| scalar.text.as_str()) {
            Some("Application") => Some(PackageKind::Application),
            Some("Library") => Some(PackageKind::Library),
            _ => {
                self.error(
                    Code::Field,
                    "`Type` is `Application` or `Library`",
                    node.span,
                );
                None
            }
        }
    }

    fn version(&mut self, mapping: &Mapping) -> Option<Version> {
        let Some(node) = mapping.get("Version") else {
            return Some(Version::ZERO);
        };
        let Some(scalar) = node.as_scalar() else {
            let message = format!("`Version` is text, not {}", node.kind());
            self.error(Code::Version, message, node.span);
            return None;
        };
        if scalar.is_null() || scalar.text.is_empty() {
            let location = self.location(node.span);
            self.diagnostics.push(
                Diagnostic::error(Code::Version, "`Version` is empty")
                    .at(location)
                    .hint("leave the key out for 0.0.0"),
            );
            return None;
        }
        match Version::parse(&scalar.text) {
            Ok(version) => Some(version),
            Err(error) => {
                let location = self.location(node.span);
                let mut diagnostic =
                    Diagnostic::error(Code::Version, error.to_string()).at(location);
                if let Some(nearest) = &error.nearest {
                    diagnostic = diagnostic.hint(format!("the nearest version is {nearest}"));
                }
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn text(&mut self, mapping: &Mapping, key: &str) -> Option<String> {
        let node = mapping.get(key)?;
        if node.is_null() {
            return None;
        }
        if let Some(scalar) = node.as_scalar() {
            self.shown_text(scalar, key, node.span)
        } else {
            self.error(
                Code::Field,
                format!("`{key}` is text, not {}", node.kind()),
                node.span,
            );
            None
        }
    }

    /// Text for people. It may have several lines and nothing that acts on a terminal.
    fn shown_text(&mut self, scalar: &Scalar, key: &str, span: Span) -> Option<String> {
        let hazard = scalar
            .text
            .chars()
            .find(|character| is_hazardous(*character) && !matches!(character, '\n' | '\t' | '\r'));
        if let Some(character) = hazard {
            let message = format!(
                "`{key}` holds the character `{}`",
                Escaped::from_char(character)
            );
            self.error(Code::Encoding, message, span);
            return None;
        }
        Some(scalar.text.clone())
    }

    fn tags(&mut self, mapping: &Mapping) -> Vec<String> {
        let Some(node) = mapping.get("Tags").filter(|node| !node.is_null()) else {
            return Vec::new();
        };
        let Some(items) = node.as_sequence() else {
            let message = format!("`Tags` is a list, not {}", node.kind());
            self.error(Code::Field, message, node.span);
            return Vec::new();
        };
        let mut tags = Vec::with_capacity(items.len());
        for item in items {
            if let Some(scalar) = item.as_scalar() {
                tags.extend(self.shown_text(scalar, "Tags", item.span));
            } else {
                let message = format!("a tag is text, not {}", item.kind());
                self.error(Code::Field, message, item.span);
            }
        }
        tags
    }

    /// A mapping, or nothing if the key is absent or null.
    fn mapping<'node>(&mut self, mapping: &'node Mapping, key: &str) -> Option<&'node Mapping> {
        let node = mapping.get(key).filter(|node| !node.is_null())?;
        let found = node.as_mapping();
        if found.is_none() {
            let message = format!("`{key}` is a mapping, not {}", node.kind());
            self.error(Code::Field, message, node.span);
        }
        found
    }

    fn classes(&mut self, mapping: &Mapping) -> Vec<ClassEntry> {
        let Some(entries) = self.mapping(mapping, "Classes") else {
            return Vec::new();
        };
        let mut classes = Vec::with_capacity(entries.entries.len());
        for entry in &entries.entries {
            let key = Node {
                span: entry.key_span,
                value: Value::Scalar(entry.key.clone()),
            };
            let name = match self.name_text(&key, "a class name") {
                None => None,
                Some(scalar) => match ClassName::parse(&scalar.text) {
                    Ok(name) => Some(name),
                    Err(error) => {
                        let message = format!("this is not a class name: {error}");
                        self.error(Code::Name, message, entry.key_span);
                        None
                    }
                },
            };
            let file = self.path(&entry.value);
            if let (Some(name), Some(file)) = (name, file) {
                classes.push(ClassEntry {
                    name: Located {
                        value: name,
                        location: self.location(entry.key_span),
                    },
                    file: Located {
                        value: file,
                        location: self.location(entry.value.span),
                    },
                });
            }
        }
        classes
    }

    fn optional_path(&mut self, mapping: &Mapping, key: &str) -> Option<PackagePath> {
        let node = mapping.get(key).filter(|node| !node.is_null())?;
        self.path(node)
    }

    fn path(&mut self, node: &Node) -> Option<PackagePath> {
        let Some(scalar) = node.as_scalar().filter(|scalar| !scalar.is_null()) else {
            let message = format!("this is a path, not {}", node.kind());
            self.error(Code::Path, message, node.span);
            return None;
        };
        match PackagePath::parse(&scalar.text) {
            Ok(path) => Some(path),
            Err(error) => {
                self.error(Code::Path, error.to_string(), node.span);
                None
            }
        }
    }

    fn requirements(
        &mut self,
        mapping: &Mapping,
        own: Option<&Located<PackageName>>,
    ) -> Vec<Requirement> {
        let Some(entries) = self.mapping(mapping, "Require") else {
            return Vec::new();
        };
        let limit = self.options.limits.requirements;
        if let Some(beyond) = entries.entries.get(limit) {
            let location = self.location(beyond.key_span);
            self.diagnostics
                .push(Limits::exceeded("requirements", limit).at(location));
            return Vec::new();
        }
        let mut requirements: Vec<Requirement> = Vec::with_capacity(entries.entries.len());
        let mut folded: HashMap<String, Span> = HashMap::new();
        for entry in &entries.entries {
            let key = Node {
                span: entry.key_span,
                value: Value::Scalar(entry.key.clone()),
            };
            let package = match self.name_text(&key, "a package name") {
                None => None,
                Some(scalar) => match PackageName::parse(&scalar.text) {
                    Ok(package) => Some(package),
                    Err(error) => {
                        let message = format!("this is not a package name: {error}");
                        self.error(Code::Name, message, entry.key_span);
                        None
                    }
                },
            };
            let spec = self.spec(&entry.value);
            let (Some(package), Some(spec)) = (package, spec) else {
                continue;
            };
            if own.is_some_and(|own| own.value == package) {
                self.error(
                    Code::SelfRequirement,
                    format!("`{package}` requires itself"),
                    entry.key_span,
                );
                continue;
            }
            let first = *folded
                .entry(package.as_str().to_ascii_lowercase())
                .or_insert(entry.key_span);
            if first != entry.key_span {
                let diagnostic = Diagnostic::error(
                    Code::DuplicateKey,
                    format!("`{package}` is required twice, spelled differently"),
                )
                .label(self.location(entry.key_span), "again here")
                .label(self.location(first), "first here");
                self.diagnostics.push(diagnostic);
                continue;
            }
            requirements.push(Requirement {
                package,
                spec,
                location: Some(self.location(entry.key_span)),
            });
        }
        requirements
    }

    /// A spec that is written as a block of text: an unquoted `>1` begins one, usually an empty one, and
    /// where there is text, that is meant.
    fn block_of_text(&self, scalar: &Scalar, span: Span) -> Diagnostic {
        let text = self.source.text();
        // The text of the block may be all that the span is about.
        let before = text[..span.start].trim_end_matches([' ', '\n', '\r']);
        let rest = text[span.start..].strip_prefix(['>', '|']).unwrap_or("?");
        let rest =
            rest.trim_start_matches(|next: char| next.is_ascii_digit() || "+-".contains(next));
        let begins_here = rest.is_empty() || rest.starts_with([' ', '\n', '\r']);
        let on_line = if begins_here {
            span.start
        } else {
            before.len()
        };
        let line = text[..on_line].rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = text[line..].lines().next().unwrap_or("");
        let value_at = line_text.find(": ").map_or(0, |colon| colon + 2);
        let value = line_text[value_at..].trim_start();
        let start = line + line_text.len() - value.len();
        let value = value.split(" #").next().unwrap_or(value).trim_end();
        let end = start + value.len();
        let location = self.location(Span { start, end });
        let written = scalar.text.trim();
        if written.is_empty() && Spec::parse(value).is_ok() {
            return unquoted_spec(value, location);
        }
        let diagnostic = Diagnostic::error(Code::Spec, "a spec is not a block of text")
            .label(location, "YAML reads this as the start of one");
        if written.is_empty() || Spec::parse(written).is_err() {
            diagnostic.hint("write the spec in quotes, such as \">=1.2,<2\"")
        } else {
            diagnostic.hint(format!("write \"{}\"", Escaped::shortened(written)))
        }
    }

    fn spec(&mut self, node: &Node) -> Option<Spec> {
        let Some(scalar) = node.as_scalar() else {
            let message = format!("a spec is text, not {}", node.kind());
            self.error(Code::Spec, message, node.span);
            return None;
        };
        if scalar.style == Style::Block {
            let diagnostic = self.block_of_text(scalar, node.span);
            self.diagnostics.push(diagnostic);
            return None;
        }
        if scalar.is_null() {
            return Some(Spec::unspecified());
        }
        match Spec::parse(&scalar.text) {
            Ok(spec) => Some(spec),
            Err(error) => {
                let location = self.location(node.span);
                let mut diagnostic = Diagnostic::error(Code::Spec, error.to_string()).at(location);
                if let Some(suggestion) = &error.suggestion {
                    diagnostic = diagnostic.hint(format!("write \"{suggestion}\""));
                }
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }
}
