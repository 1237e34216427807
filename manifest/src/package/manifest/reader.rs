//! Reads the fields of a manifest.

use std::collections::HashSet;
use std::sync::Arc;

use super::{
    ClassEntry, Implementation, KNOWN_KEYS, PackageKind, PackageManifest, UnknownKey, unknown_keys,
};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Located, Severity, Span, hazardous_character_in_lines,
};
use crate::document::{Entry, Mapping, Node, NodeReader, Scalar, Value};
use crate::name::{ClassName, NameError, PackageName, nearest_name};
use crate::package_format::PackageFormat;
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::similar::did_you_mean;
use crate::spec::Spec;
use crate::version::Version;

pub(super) struct ManifestReader<'source> {
    pub(super) nodes: NodeReader<'source>,
    pub(super) options: &'source ReadOptions,
}

impl ManifestReader<'_> {
    /// Reports a key that is missing, at the key that was probably meant to be it.
    fn missing_key(&mut self, mapping: &Mapping, key: &str, message: &str, beginning: Span) {
        let mut entries = mapping.entries.iter();
        let misspelt = entries.find(|entry| {
            let is_known = KNOWN_KEYS.contains(&entry.key.text.as_str());
            !is_known && unknown_keys::similar_key(&entry.key.text) == Some(key)
        });
        let Some(misspelt) = misspelt else {
            self.nodes.missing(message, beginning);
            return;
        };
        let written = Escaped::shortened(&misspelt.key.text);
        let location = self.nodes.location(misspelt.key_span);
        let finding = Diagnostic::error(Code::Field, message)
            .label(location, format!("`{written}` is not a key"))
            .hint(did_you_mean(key));
        self.nodes.report(finding);
    }

    pub(super) fn documents(&mut self, documents: &[Node]) -> Option<PackageManifest> {
        let document = self.nodes.only_document(documents, "manifest")?;
        let Some(mapping) = document.as_mapping() else {
            if self.nodes.is_whole() {
                self.nodes.wrong_kind("a manifest", "a mapping", document);
            }
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
        let is_template = format.as_ref().is_some_and(PackageFormat::is_heat_hot);
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
                key: self.nodes.located(entry.key.text.clone(), entry.key_span),
                hint: unknown_keys::hint(mapping, &entry.key.text),
            })
            .collect();
        let name = name?;
        Some(PackageManifest {
            source: Arc::clone(self.nodes.source()),
            format: format?,
            kind: kind?,
            version: version?,
            version_location: match mapping.get("Version") {
                Some(node) => self.nodes.location(node.span),
                None => name.location.clone(),
            },
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
            self.nodes
                .warning_of(Code::UnknownKey, message, entry.key_span);
        }
    }

    fn full_name(&mut self, mapping: &Mapping, beginning: Span) -> Option<Located<PackageName>> {
        let Some(node) = mapping.get("FullName") else {
            self.missing_key(mapping, "FullName", "`FullName` is missing", beginning);
            return None;
        };
        let scalar = self.name_text(node, "`FullName`")?;
        match PackageName::parse_own(&scalar.text) {
            Ok(name) => Some(self.nodes.located(name, node.span)),
            Err(error) => {
                let message = format!("`FullName` is not a name: {error}");
                let finding = self.nodes.error_of(Code::Name, message, node.span);
                finding.hints.extend(similar_name(&scalar.text));
                None
            }
        }
    }

    fn format(&mut self, mapping: &Mapping) -> Option<PackageFormat> {
        let Some(node) = mapping.present("Format") else {
            return Some(PackageFormat::default());
        };
        let scalar = self.nodes.text(node, "`Format`")?;
        if scalar.text.is_empty() {
            let default = PackageFormat::default();
            let message = format!("`Format` is empty, which means {default}");
            self.nodes.warning_of(Code::Format, message, node.span);
            return Some(default);
        }
        match PackageFormat::parse(&scalar.text, &self.options.formats) {
            Ok(format) => Some(format),
            Err(error) => {
                self.nodes
                    .error_of(Code::Format, error.to_string(), node.span);
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
        let application = ("Application", PackageKind::Application);
        let words = [application, ("Library", PackageKind::Library)];
        self.nodes.word(node, "`Type`", words)
    }

    fn version(&mut self, mapping: &Mapping) -> Option<Version> {
        let Some(node) = mapping.get("Version") else {
            return Some(Version::ZERO);
        };
        let Some(scalar) = node.as_scalar() else {
            self.nodes
                .wrong_kind_of(Code::Version, "`Version`", "text", node);
            return None;
        };
        if scalar.is_null() || scalar.text.is_empty() {
            self.nodes
                .error_of(Code::Version, "`Version` is empty", node.span)
                .add_hint("leave the key out for 0.0.0");
            return None;
        }
        match Version::parse(&scalar.text) {
            Ok(version) => Some(version),
            Err(error) => {
                let finding = self
                    .nodes
                    .error_of(Code::Version, error.to_string(), node.span);
                if let Some(nearest) = &error.nearest {
                    finding.add_hint(format!("the nearest version is {nearest}"));
                } else if Spec::parse(&scalar.text).is_ok() {
                    finding.add_hint(
                        "a release has one version, such as 1.0.0; specs are for what it requires",
                    );
                }
                None
            }
        }
    }

    /// Warns of a part that is not what it must be. The reference implementation reads the package nevertheless.
    fn warn_of_kind(&mut self, what: &str, expected: &str, node: &Node) {
        self.nodes.wrong_kind(what, expected, node).severity = Severity::Warning;
    }

    /// The mapping of a key, or `None` if the key is absent or null.
    pub(super) fn mapping<'node>(
        &mut self,
        mapping: &'node Mapping,
        key: &str,
    ) -> Option<&'node Mapping> {
        let node = mapping.present(key)?;
        let found = node.as_mapping();
        if key == "Require" && found.is_none() && node.is_nothing() {
            self.warn_of_kind("`Require`", "a mapping", node);
        } else if found.is_none() {
            let finding = self
                .nodes
                .wrong_kind(&format!("`{key}`"), "a mapping", node);
            if let Some(scalar) = node.as_scalar()
                && finding.hints.is_empty()
                && PackageName::is_name(&scalar.text)
            {
                let value = if key == "Require" { "\"*\"" } else { "FILE" };
                let entry = format!("{}: {value}", Escaped::shortened(&scalar.text));
                let hint = format!("write `{entry}` on the next line, indented by two spaces");
                finding.add_hint(hint);
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
            let name = self.key_name(entry, what, ClassName::parse, |_| None);
            let file = self.path(&entry.value);
            if let (Some(name), Some(file)) = (name, file) {
                listed.push(ClassEntry {
                    name: self.nodes.located(name, entry.key_span),
                    file,
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
            let class = self.key_name(entry, "a class name", ClassName::parse, |_| None);
            let listed = entry.value.items_or_self();
            let mut interfaces: Vec<Located<ClassName>> = Vec::with_capacity(listed.len());
            let mut seen = HashSet::with_capacity(listed.len());
            for node in listed {
                let Some(scalar) = self.name_text(node, "the name of an interface") else {
                    continue;
                };
                match ClassName::parse(&scalar.text) {
                    Ok(name) if seen.insert(name.clone()) => {
                        interfaces.push(self.nodes.located(name, node.span));
                    }
                    Ok(name) => {
                        let message = format!("`{name}` is implemented twice");
                        self.nodes.error(message, node.span);
                    }
                    Err(error) => {
                        let message = format!("this is not the name of an interface: {error}");
                        self.nodes.error_of(Code::Name, message, node.span);
                    }
                }
            }
            if let Some(class) = class {
                implements.push(Implementation {
                    class: self.nodes.located(class, entry.key_span),
                    interfaces,
                });
            }
        }
        implements
    }

    fn optional_path(&mut self, mapping: &Mapping, key: &str) -> Option<Located<PackagePath>> {
        self.path(mapping.present(key)?)
    }

    fn path(&mut self, node: &Node) -> Option<Located<PackagePath>> {
        let Some(scalar) = node.as_scalar().filter(|scalar| !scalar.is_null()) else {
            self.nodes.wrong_kind_of(Code::Path, "a path", "text", node);
            return None;
        };
        match PackagePath::parse(&scalar.text) {
            Ok(path) => Some(self.nodes.located(path, node.span)),
            Err(error) => {
                self.nodes
                    .error_of(Code::Path, error.to_string(), node.span);
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
                let location = self.nodes.location(node.span);
                let message = format!("YAML does not read `{text}` as text");
                let finding = Diagnostic::error(Code::Name, message)
                    .label(location, format!("{what} is expected"))
                    .hint(format!("write \"{text}\""));
                self.nodes.report(finding);
                None
            }
            None => {
                self.nodes.wrong_kind(what, "text", node);
                None
            }
        }
    }

    /// Text for people.
    pub(super) fn text(&mut self, mapping: &Mapping, key: &str) -> Option<String> {
        let node = mapping.present(key)?;
        let Some(scalar) = node.as_scalar() else {
            self.warn_of_kind(&format!("`{key}`"), "text", node);
            return None;
        };
        self.shown_text(scalar, key, node.span)
    }

    /// Text for people: any number of lines without characters that act on a terminal.
    fn shown_text(&mut self, scalar: &Scalar, key: &str, span: Span) -> Option<String> {
        if let Some(character) = hazardous_character_in_lines(&scalar.text) {
            let message = format!(
                "`{key}` contains the character `{}`",
                Escaped::from_char(character)
            );
            self.nodes.error_of(Code::Encoding, message, span);
            return None;
        }
        Some(scalar.text.clone())
    }

    pub(super) fn tags(&mut self, mapping: &Mapping) -> Vec<String> {
        let Some(node) = mapping.present("Tags") else {
            return Vec::new();
        };
        let items = match &node.value {
            Value::Sequence(items) => items.as_slice(),
            Value::Scalar(_) => {
                self.warn_of_kind("`Tags`", "a list", node);
                std::slice::from_ref(node)
            }
            Value::Mapping(_) => {
                self.nodes.wrong_kind("`Tags`", "a list", node);
                return Vec::new();
            }
        };
        let mut tags = Vec::with_capacity(items.len());
        let mut seen = HashSet::new();
        for item in items {
            if let Some(scalar) = item.as_scalar() {
                let tag = self.shown_text(scalar, "Tags", item.span);
                tags.extend(tag.filter(|tag| seen.insert(tag.clone())));
            } else {
                self.warn_of_kind("a tag", "text", item);
            }
        }
        tags
    }

    /// The key of an entry as a name; `what` is the kind of name in messages, with its article. `hint` is about a key
    /// that is none.
    pub(super) fn key_name<Name>(
        &mut self,
        entry: &Entry,
        what: &str,
        parse: impl FnOnce(&str) -> Result<Name, NameError>,
        hint: impl FnOnce(&str) -> Option<String>,
    ) -> Option<Name> {
        let key = Node {
            span: entry.key_span,
            value: Value::Scalar(entry.key.clone()),
        };
        let scalar = self.name_text(&key, what)?;
        match parse(&scalar.text) {
            Ok(name) => Some(name),
            Err(error) => {
                let message = format!("this is not {what}: {error}");
                let finding = self.nodes.error_of(Code::Name, message, key.span);
                finding.hints.extend(hint(&scalar.text));
                None
            }
        }
    }
}

/// A hint with the name that was probably intended.
pub(super) fn similar_name(text: &str) -> Option<String> {
    let name = nearest_name(text)?;
    Some(format!("write `{name}`"))
}
