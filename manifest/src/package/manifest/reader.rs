//! Reading the fields of a manifest.

use std::sync::Arc;

use super::{ClassEntry, KNOWN_KEYS, PackageKind, PackageManifest};
use crate::diagnostic::{Code, Diagnostic, Located, Location, SourceText, Span};
use crate::document::{Mapping, Node};
use crate::format::Format;
use crate::name::{ClassName, PackageName};
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::version::Version;

pub(super) struct Reader<'source> {
    pub(super) source: &'source Arc<SourceText>,
    pub(super) options: &'source ReadOptions,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(super) fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    pub(super) fn error(&mut self, code: Code, message: impl Into<String>, span: Span) {
        let location = self.location(span);
        self.diagnostics
            .push(Diagnostic::error(code, message).at(location));
    }

    pub(super) fn documents(&mut self, documents: &[Node]) -> Option<PackageManifest> {
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

    /// A mapping, or nothing if the key is absent or null.
    pub(super) fn mapping<'node>(
        &mut self,
        mapping: &'node Mapping,
        key: &str,
    ) -> Option<&'node Mapping> {
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
            let name = self.key_name(entry, "a class name", ClassName::parse);
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
}
