//! Reads the fields of a manifest.

use std::collections::HashSet;
use std::sync::Arc;

use super::{
    ClassEntry, Implementation, KNOWN_KEYS, PackageKind, PackageManifest, UnknownKey, unknown_keys,
};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Located, Location, SourceText, Span, hazardous_character_in_lines,
};
use crate::document::{Entry, Mapping, Node, Scalar, Value, mapping_hint};
use crate::format::Format;
use crate::name::{ClassName, NameError, PackageName, nearest_name};
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::spec::Spec;
use crate::version::Version;

pub(super) struct ManifestReader<'source> {
    pub(super) source: &'source Arc<SourceText>,
    pub(super) options: &'source ReadOptions,
    /// Whether there is no syntax error. If there is one, what seems to be missing may be in the rest.
    pub(super) is_whole: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl ManifestReader<'_> {
    pub(super) fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    pub(super) fn error(&mut self, code: Code, message: impl Into<String>, span: Span) {
        let location = self.location(span);
        self.diagnostics
            .push(Diagnostic::error(code, message).at(location));
    }

    /// Reports something that is missing, unless it may be in a part of the text that cannot be read.
    fn missing(&mut self, message: impl Into<String>, span: Span) {
        if self.is_whole {
            self.error(Code::Field, message, span);
        }
    }

    /// Reports a key that is missing, at the key that was probably meant to be it.
    fn missing_key(&mut self, mapping: &Mapping, key: &str, message: &str, beginning: Span) {
        let mut entries = mapping.entries.iter();
        let misspelt = entries.find(|entry| {
            let is_known = KNOWN_KEYS.contains(&entry.key.text.as_str());
            !is_known && unknown_keys::similar_key(&entry.key.text) == Some(key)
        });
        let Some(misspelt) = misspelt else {
            self.missing(message, beginning);
            return;
        };
        let written = Escaped::shortened(&misspelt.key.text);
        let finding = Diagnostic::error(Code::Field, message)
            .label(
                self.location(misspelt.key_span),
                format!("`{written}` is not a key"),
            )
            .hint(format!("did you mean `{key}`?"));
        self.diagnostics.push(finding);
    }

    /// Adds a hint to the last error, which is about a node that is not a mapping.
    fn hint_at_mapping(&mut self, node: &Node) {
        if let (Some(hint), Some(last)) = (mapping_hint(node), self.diagnostics.last_mut()) {
            last.hints.push(hint);
        }
    }

    /// Adds the name that was probably intended to the last error.
    pub(super) fn hint_at_name(&mut self, text: &str) {
        let last = self.diagnostics.last_mut();
        if let (Some(name), Some(last)) = (
            nearest_name(text),
            last.filter(|last| last.hints.is_empty()),
        ) {
            last.hints.push(format!("write `{name}`"));
        }
    }

    pub(super) fn documents(&mut self, documents: &[Node]) -> Option<PackageManifest> {
        let Some(document) = documents.first() else {
            self.missing("the manifest is empty", Span::default());
            return None;
        };
        if let Some(second) = documents.get(1).filter(|_| self.is_whole) {
            self.error(
                Code::Field,
                "a manifest must be a single document",
                second.span,
            );
        }
        let Some(mapping) = document.as_mapping() else {
            let message = format!("a manifest must be a mapping, not {}", document.kind());
            self.missing(message, document.span);
            self.hint_at_mapping(document);
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
        // As in the reference implementation: a Heat template is one class, and requires nothing.
        let is_template = format.as_ref().is_some_and(Format::is_heat_hot);
        let (classes, requirements) = if is_template {
            self.meaningless_in_template(mapping, "Require");
            (Vec::new(), Vec::new())
        } else {
            let requirements = self.requirements(mapping, name.as_ref());
            let classes = self.listed(mapping, "Classes", "a class name");
            (classes, requirements)
        };
        let (interfaces, implements) = if is_template {
            self.meaningless_in_template(mapping, "Interfaces");
            self.meaningless_in_template(mapping, "Implements");
            (Vec::new(), Vec::new())
        } else {
            let interfaces = self.listed(mapping, "Interfaces", "the name of an interface");
            (interfaces, self.implements(mapping))
        };
        let resources = if is_template {
            self.meaningless_in_template(mapping, "Resources");
            None
        } else {
            self.optional_path(mapping, "Resources")
        };
        let ui = self.optional_path(mapping, "UI");
        let validate = self.optional_path(mapping, "Validate");
        let logo = self.optional_path(mapping, "Logo");
        let supplier = mapping.get("Supplier").and_then(Node::as_mapping);
        let supplier_logo = supplier.and_then(|supplier| self.optional_path(supplier, "Logo"));
        let unknown_keys = mapping
            .entries
            .iter()
            .filter(|entry| !KNOWN_KEYS.contains(&entry.key.text.as_str()))
            .map(|entry| UnknownKey {
                key: Located {
                    value: entry.key.text.clone(),
                    location: self.location(entry.key_span),
                },
                hint: unknown_keys::hint(mapping, &entry.key.text),
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
            supplier_logo,
            classes,
            interfaces,
            implements,
            validate,
            resources,
            requirements,
            unknown_keys,
            name,
        })
    }

    fn meaningless_in_template(&mut self, mapping: &Mapping, key: &str) {
        let entries = mapping.entries.iter();
        let mut entries = entries.filter(|entry| entry.key.text == key);
        if let Some(entry) = entries.find(|entry| !entry.value.is_nothing()) {
            let message = format!("`{key}` has no meaning in a package of format Heat.HOT");
            let location = self.location(entry.key_span);
            self.diagnostics
                .push(Diagnostic::warning(Code::UnknownKey, message).at(location));
        }
    }

    fn full_name(&mut self, mapping: &Mapping, beginning: Span) -> Option<Located<PackageName>> {
        let Some(node) = mapping.get("FullName") else {
            self.missing_key(mapping, "FullName", "`FullName` is missing", beginning);
            return None;
        };
        let scalar = self.name_text(node, "`FullName`")?;
        match PackageName::parse_own(&scalar.text) {
            Ok(value) => Some(Located {
                value,
                location: self.location(node.span),
            }),
            Err(error) => {
                let message = format!("`FullName` is not a name: {error}");
                self.error(Code::Name, message, node.span);
                self.hint_at_name(&scalar.text);
                None
            }
        }
    }

    fn format(&mut self, mapping: &Mapping) -> Option<Format> {
        let Some(node) = mapping.get("Format").filter(|node| !node.is_null()) else {
            return Some(Format::default());
        };
        let Some(scalar) = node.as_scalar() else {
            let message = format!("`Format` must be text, not {}", node.kind());
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
            let message = "`Type` is missing: it must be `Application` or `Library`";
            self.missing_key(mapping, "Type", message, beginning);
            return None;
        };
        match node.as_scalar().map(|scalar| scalar.text.as_str()) {
            Some("Application") => Some(PackageKind::Application),
            Some("Library") => Some(PackageKind::Library),
            _ => {
                self.error(
                    Code::Field,
                    "`Type` must be `Application` or `Library`",
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
            let message = format!("`Version` must be text, not {}", node.kind());
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
                } else if Spec::parse(&scalar.text).is_ok() {
                    diagnostic = diagnostic.hint(
                        "a release has one version, such as 1.0.0; specs are for what it requires",
                    );
                }
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    /// The mapping of a key, or `None` if the key is absent or null.
    pub(super) fn mapping<'node>(
        &mut self,
        mapping: &'node Mapping,
        key: &str,
    ) -> Option<&'node Mapping> {
        let node = mapping.get(key).filter(|node| !node.is_null())?;
        let found = node.as_mapping();
        if found.is_none() {
            let message = format!("`{key}` must be a mapping, not {}", node.kind());
            self.error(Code::Field, message, node.span);
            let known = self.diagnostics.last().map_or(0, |last| last.hints.len());
            self.hint_at_mapping(node);
            let last = self.diagnostics.last_mut();
            if let (Some(last), Some(scalar)) = (last, node.as_scalar())
                && last.hints.len() == known
                && PackageName::is_name(&scalar.text)
            {
                let value = if key == "Require" { "\"*\"" } else { "FILE" };
                let entry = format!("{}: {value}", Escaped::shortened(&scalar.text));
                let hint = format!("write `{entry}` on the next line, indented by two spaces");
                last.hints.push(hint);
            }
        }
        found
    }

    /// The classes or interfaces under a key, each with its file. `what` is the kind of name in messages.
    fn listed(&mut self, mapping: &Mapping, key: &str, what: &str) -> Vec<ClassEntry> {
        let Some(entries) = self.mapping(mapping, key) else {
            return Vec::new();
        };
        let mut listed = Vec::with_capacity(entries.entries.len());
        for entry in &entries.entries {
            let name = self.key_name(entry, what, ClassName::parse);
            let file = self.path(&entry.value);
            if let (Some(name), Some(file)) = (name, file) {
                listed.push(ClassEntry {
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
        listed
    }

    /// The interfaces that classes implement: for each class a name or a list of names.
    fn implements(&mut self, mapping: &Mapping) -> Vec<Implementation> {
        let Some(entries) = self.mapping(mapping, "Implements") else {
            return Vec::new();
        };
        let mut implements = Vec::with_capacity(entries.entries.len());
        for entry in &entries.entries {
            let class = self.key_name(entry, "a class name", ClassName::parse);
            let listed = entry.value.as_sequence();
            let listed = listed.unwrap_or(std::slice::from_ref(&entry.value));
            let mut interfaces: Vec<Located<ClassName>> = Vec::with_capacity(listed.len());
            let mut seen = HashSet::with_capacity(listed.len());
            for node in listed {
                let Some(scalar) = self.name_text(node, "the name of an interface") else {
                    continue;
                };
                match ClassName::parse(&scalar.text) {
                    Ok(name) if seen.insert(name.clone()) => interfaces.push(Located {
                        value: name,
                        location: self.location(node.span),
                    }),
                    Ok(name) => {
                        let message = format!("`{name}` is implemented twice");
                        self.error(Code::Field, message, node.span);
                    }
                    Err(error) => {
                        let message = format!("this is not the name of an interface: {error}");
                        self.error(Code::Name, message, node.span);
                    }
                }
            }
            if let Some(class) = class {
                implements.push(Implementation {
                    class: Located {
                        value: class,
                        location: self.location(entry.key_span),
                    },
                    interfaces,
                });
            }
        }
        implements
    }

    fn optional_path(&mut self, mapping: &Mapping, key: &str) -> Option<Located<PackagePath>> {
        let node = mapping.get(key).filter(|node| !node.is_null())?;
        let value = self.path(node)?;
        Some(Located {
            value,
            location: self.location(node.span),
        })
    }

    fn path(&mut self, node: &Node) -> Option<PackagePath> {
        let Some(scalar) = node.as_scalar().filter(|scalar| !scalar.is_null()) else {
            let message = format!("expected a path, not {}", node.kind());
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

    /// A scalar that every YAML reader reads as text.
    pub(super) fn name_text<'node>(
        &mut self,
        node: &'node Node,
        what: &str,
    ) -> Option<&'node Scalar> {
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
                    format!("{what} must be text, not {}", node.kind()),
                    node.span,
                );
                None
            }
        }
    }

    pub(super) fn text(&mut self, mapping: &Mapping, key: &str) -> Option<String> {
        let node = mapping.get(key)?;
        if node.is_null() {
            return None;
        }
        if let Some(scalar) = node.as_scalar() {
            self.shown_text(scalar, key, node.span)
        } else {
            self.error(
                Code::Field,
                format!("`{key}` must be text, not {}", node.kind()),
                node.span,
            );
            None
        }
    }

    /// Text for people: any number of lines without characters that act on a terminal.
    fn shown_text(&mut self, scalar: &Scalar, key: &str, span: Span) -> Option<String> {
        if let Some(character) = hazardous_character_in_lines(&scalar.text) {
            let message = format!(
                "`{key}` contains the character `{}`",
                Escaped::from_char(character)
            );
            self.error(Code::Encoding, message, span);
            return None;
        }
        Some(scalar.text.clone())
    }

    pub(super) fn tags(&mut self, mapping: &Mapping) -> Vec<String> {
        let Some(node) = mapping.get("Tags").filter(|node| !node.is_null()) else {
            return Vec::new();
        };
        let Some(items) = node.as_sequence() else {
            let message = format!("`Tags` must be a list, not {}", node.kind());
            self.error(Code::Field, message, node.span);
            return Vec::new();
        };
        let mut tags = Vec::with_capacity(items.len());
        for item in items {
            if let Some(scalar) = item.as_scalar() {
                tags.extend(self.shown_text(scalar, "Tags", item.span));
            } else {
                let message = format!("a tag must be text, not {}", item.kind());
                self.error(Code::Field, message, item.span);
            }
        }
        tags
    }

    /// The key of an entry as a name; `what` is the kind of name in messages, with its article.
    pub(super) fn key_name<Name>(
        &mut self,
        entry: &Entry,
        what: &str,
        parse: impl FnOnce(&str) -> Result<Name, NameError>,
    ) -> Option<Name> {
        let key = Node {
            span: entry.key_span,
            value: Value::Scalar(entry.key.clone()),
        };
        let scalar = self.name_text(&key, what)?;
        match parse(&scalar.text) {
            Ok(name) => Some(name),
            Err(error) => {
                self.error(Code::Name, format!("this is not {what}: {error}"), key.span);
                None
            }
        }
    }
}
