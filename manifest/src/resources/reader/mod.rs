//! Reads resources files.

mod edges;
mod meta;

#[cfg(all(test, feature = "json"))]
pub(crate) use self::meta::META_KEYS;

use std::collections::HashMap;

use super::description::ResourceDescription;
use super::identity::{ResourceId, ResourceIdError};
use super::package::{ClassResources, PackageResources, ReadableResources};
use super::properties::PropertyValue;
use super::template::{Part, ResourceTemplate, parts, place_of};
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Location, Parsed, Span, in_order};
use crate::document::{Documents, Entry, Node, NodeReader, Syntax, Value, decode, parse_yaml};
use crate::name::ClassName;
use crate::read_options::ReadOptions;
use crate::similar::{did_you_mean, most_similar};

/// The keys of a resources file.
pub(crate) const RESOURCES_KEYS: [&str; 2] = ["Classes", "Package"];

/// The keys of a resource that are no properties.
pub(crate) const RESERVED_KEYS: [&str; 5] = ["after", "before", "meta", "notifies", "receives"];

/// The keys of a resource that stands for others, beside its name.
pub(crate) const ALL_KEYS: [&str; 4] = ["after", "before", "members", "notifies"];

impl PackageResources {
    /// Reads a resources file. Messages call the file `name`.
    ///
    /// ```
    /// use pkgres_manifest::{PackageResources, ReadOptions};
    ///
    /// let text = b"Package:\n- file: /etc/motd\n  content: hello\n  after: [directory:/etc]\n";
    /// let read = PackageResources::read("resources.yaml", text, &ReadOptions::default());
    /// let (resources, _) = read.into_result().expect("the file is valid");
    /// assert_eq!(resources.for_package[0].id().value.to_string(), "file:/etc/motd");
    /// ```
    pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Parsed<Self> {
        match read_file(name, bytes, options) {
            Ok(file) => Parsed::new(file.resources, file.findings),
            Err(error) => Parsed::failed(error),
        }
    }

    /// Reads the resources without mistakes from a file that may have others, so that the same run also finds what
    /// their kinds reject. `None` if the file has a syntax error, because the end of a resource is then unknown.
    pub fn readable(name: &str, bytes: &[u8], options: &ReadOptions) -> Option<ReadableResources> {
        let file = read_file(name, bytes, options).ok()?;
        if !file.is_whole {
            return None;
        }
        Some(ReadableResources {
            is_complete: !file.findings.iter().any(Diagnostic::is_error),
            resources: file.resources?,
        })
    }
}

/// What was read from a resources file.
struct ResourcesFile {
    /// The resources without a mistake; `None` if the file has none at all.
    resources: Option<PackageResources>,
    /// Whether there is no syntax error.
    is_whole: bool,
    findings: Vec<Diagnostic>,
}

fn read_file(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<ResourcesFile, Diagnostic> {
    let limit = options.limits.manifest_bytes;
    let source = decode(name, bytes, "bytes in a resources file", limit)?;
    let Documents {
        nodes,
        readable,
        diagnostics,
    } = parse_yaml(&source, Syntax::of_manifest(&options.limits));
    let is_whole = nodes.is_some();
    let mut reader = ResourcesReader {
        nodes: NodeReader::partial(&source, Code::Resource, is_whole),
    };
    let resources = reader.documents(&nodes.unwrap_or(readable));
    Ok(ResourcesFile {
        resources,
        is_whole,
        findings: in_order(diagnostics, reader.nodes.into_findings()),
    })
}

struct ResourcesReader<'source> {
    nodes: NodeReader<'source>,
}

/// A resource that was read.
struct ReadResource {
    resource: ResourceDescription,
    /// Whether it has no mistake.
    is_right: bool,
}

/// What the templates of a resource can name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The release.
    Package,
    /// The release and an object.
    Object,
}

impl ResourcesReader<'_> {
    fn documents(&mut self, documents: &[Node]) -> Option<PackageResources> {
        let document = self.nodes.only_document(documents, "resources file")?;
        let Some(mapping) = document.as_mapping() else {
            let hint = "write the resources below `Package:` or `Classes:`";
            let finding = self
                .nodes
                .wrong_kind("a resources file", "a mapping", document);
            finding.hints = vec![hint.to_owned()];
            return None;
        };
        let mut resources = PackageResources::default();
        for entry in &mapping.entries {
            match entry.key.text.as_str() {
                "Package" => {
                    resources.for_package = self.list(&entry.value, "`Package`", Scope::Package);
                }
                "Classes" => resources.for_classes = self.classes(&entry.value),
                _ => {
                    self.nodes
                        .unknown_key(entry, &RESOURCES_KEYS, "a resources file");
                }
            }
        }
        Some(resources)
    }

    fn classes(&mut self, node: &Node) -> Vec<ClassResources> {
        if node.is_null() {
            return Vec::new();
        }
        let Some(mapping) = node.as_mapping() else {
            self.nodes
                .wrong_kind("`Classes`", "a mapping from classes to resources", node);
            return Vec::new();
        };
        let mut classes = Vec::with_capacity(mapping.entries.len());
        for entry in &mapping.entries {
            let class = match ClassName::parse(&entry.key.text) {
                Ok(class) => Some(self.nodes.located(class, entry.key_span)),
                Err(error) => {
                    let message = format!("this is not a class name: {error}");
                    self.nodes.error(message, entry.key_span);
                    None
                }
            };
            let what = "the resources of a class";
            let resources = self.list(&entry.value, what, Scope::Object);
            if let Some(class) = class {
                classes.push(ClassResources { class, resources });
            }
        }
        classes
    }

    fn list(&mut self, node: &Node, what: &str, scope: Scope) -> Vec<ResourceTemplate> {
        if node.is_null() {
            return Vec::new();
        }
        let Some(items) = self.nodes.list(node, what, "a list of resources") else {
            return Vec::new();
        };
        let mut read = Vec::with_capacity(items.len());
        for item in items {
            self.resource(item, scope, &mut read);
        }
        let mut resources: Vec<ResourceTemplate> = Vec::with_capacity(read.len());
        let mut places: HashMap<ResourceId, Location> = HashMap::with_capacity(read.len());
        for ReadResource { resource, is_right } in read {
            let id = &resource.id;
            if let Some(first) = places.get(&id.value) {
                let message = format!("the resource `{}` is declared twice", id.value);
                self.nodes.repeated(message, &id.location, first);
                continue;
            }
            places.insert(id.value.clone(), id.location.clone());
            if is_right {
                resources.push(ResourceTemplate(resource));
            }
        }
        resources
    }

    /// Reads a resource. One that stands for others comes after them.
    fn resource(
        &mut self,
        node: &Node,
        scope: Scope,
        read: &mut Vec<ReadResource>,
    ) -> Option<Located<ResourceId>> {
        let mapping = self.nodes.mapping(node, "a resource")?;
        let Some(first) = mapping.entries.first() else {
            // What is wrong with the document may be in front of it.
            self.nodes.missing("a resource cannot be empty", node.span);
            return None;
        };
        let findings = self.nodes.findings().len();
        let stands_for_others = first.key.text == ResourceDescription::ALL;
        let id = self.identity(first, scope);
        // A resource without identity has other mistakes, too.
        let placeholder = || {
            let id = ResourceId::new("unknown", "unknown").expect("this is an identity");
            self.nodes.located(id, first.key_span)
        };
        let is_known = id.is_some();
        let mut resource = ResourceDescription::at(id.unwrap_or_else(placeholder));
        let own = resource.id.value.clone();
        for entry in mapping.entries.iter().skip(1) {
            let value = &entry.value;
            match entry.key.text.as_str() {
                "members" if stands_for_others => {
                    resource.members = self.members(value, scope, read);
                }
                "meta" | "receives" if stands_for_others => self.member_key(entry),
                "meta" => resource.meta = self.meta(value),
                "after" => resource.after = self.edges(value, "`after`", &own, scope),
                "before" => resource.before = self.edges(value, "`before`", &own, scope),
                "notifies" => resource.notifies = self.edges(value, "`notifies`", &own, scope),
                "receives" => resource.receives = self.receives(value, &own, scope),
                _ if stands_for_others => {
                    self.nodes.unknown_key(entry, &ALL_KEYS, "`all`");
                }
                _ => {
                    let key = self.property_name(entry);
                    let value = self.value(value, &entry.key.text, scope);
                    if let (Some(key), Some(value)) = (key, value) {
                        resource.properties.add(key, value);
                    }
                }
            }
        }
        self.check_received(&resource);
        let mut keys = mapping.entries.iter();
        let has_members = keys.any(|entry| {
            let is_empty = entry.value.as_sequence().is_some_and(<[Node]>::is_empty);
            entry.key.text == "members" && !is_empty
        });
        if stands_for_others
            && !has_members
            && let Some(finding) = self.nodes.missing("`all` has no members", first.key_span)
        {
            finding.add_hint("list the resources that it stands for below `members`");
        }
        let id = is_known.then(|| resource.id.clone());
        if is_known {
            // A mistake of a member is one of what stands for it.
            let is_right = self.nodes.findings().len() == findings;
            read.push(ReadResource { resource, is_right });
        }
        id
    }

    /// Reads the resources that one stands for.
    fn members(
        &mut self,
        node: &Node,
        scope: Scope,
        read: &mut Vec<ReadResource>,
    ) -> Vec<Located<ResourceId>> {
        let Some(items) = self.nodes.list(node, "`members`", "a list of resources") else {
            return Vec::new();
        };
        // Nesting is as deep as in the document, which has a limit.
        let members = items
            .iter()
            .filter_map(|item| self.resource(item, scope, read));
        members.collect()
    }

    /// Reports a key that only the members of a resource can have.
    fn member_key(&mut self, entry: &Entry) {
        let message = format!("`all` cannot have `{}`", entry.key.text);
        self.nodes
            .error(message, entry.key_span)
            .add_hint("write it in each of its members");
    }

    /// The identity of a resource: its first key is the kind, and the value of this key the name.
    fn identity(&mut self, first: &Entry, scope: Scope) -> Option<Located<ResourceId>> {
        let kind = first.key.text.as_str();
        if RESERVED_KEYS.contains(&kind) {
            let message = format!("a resource cannot begin with `{kind}`");
            let hint = "begin with the kind and the name, such as `file: /etc/motd`";
            self.nodes.error(message, first.key_span).add_hint(hint);
            return None;
        }
        let scalar = self.nodes.text(&first.value, "the name of a resource")?;
        let span = first.value.span;
        match ResourceId::new(kind, &scalar.text) {
            Ok(id) => {
                self.check_template(&scalar.text, span, scope);
                Some(self.nodes.located(id, span))
            }
            Err(error @ ResourceIdError::Kind(_)) => {
                let hint = "the first key of a resource is its kind, such as `file: /etc/motd`";
                self.nodes
                    .error(error.to_string(), first.key_span)
                    .add_hint(hint);
                None
            }
            Err(error) => {
                self.nodes.error(error.to_string(), span);
                None
            }
        }
    }

    /// Checks a string that may be a template.
    fn check_template(&mut self, text: &str, span: Span, scope: Scope) {
        let location = self.nodes.location(span);
        let parts = match parts(text) {
            Ok(parts) => parts,
            Err(error) => {
                self.nodes.report(error.into_diagnostic(&location));
                return;
            }
        };
        for part in parts {
            if let Part::Value { path, written } = part
                && path[0] == "this"
                && scope == Scope::Package
            {
                let message = "a resource of the package has no object `this`";
                let finding = Diagnostic::error(Code::ResourceTemplate, message)
                    .at(place_of(written, &location))
                    .hint("move the resource to its class below `Classes`");
                self.nodes.report(finding);
            }
        }
    }

    fn property_name(&mut self, entry: &Entry) -> Option<Located<String>> {
        let key = &entry.key.text;
        let is_name = key.starts_with(|first: char| first.is_ascii_lowercase())
            && key.chars().all(|character| {
                character.is_ascii_lowercase()
                    || character.is_ascii_digit()
                    || "_-".contains(character)
            });
        if !is_name {
            let message = format!(
                "`{}` is not a property: a property has lower-case letters, digits, `-` and `_`",
                Escaped::shortened(key)
            );
            self.nodes.error(message, entry.key_span);
            return None;
        }
        if let Some(similar) = most_similar(key, RESERVED_KEYS).filter(|similar| {
            // The kind decides about the rest; one letter is a slip.
            strsim::osa_distance(key, similar) == 1
        }) {
            let message = format!("unknown key `{key}` in a resource");
            let hint = did_you_mean(similar);
            self.nodes.error(message, entry.key_span).add_hint(hint);
            return None;
        }
        Some(self.nodes.located(key.clone(), entry.key_span))
    }

    fn value(
        &mut self,
        node: &Node,
        property: &str,
        scope: Scope,
    ) -> Option<Located<PropertyValue>> {
        // Nesting is as deep as in the document, which has a limit.
        let value = match &node.value {
            Value::Scalar(scalar) if scalar.is_null() => {
                let message = format!("`{}` has no value", Escaped::shortened(property));
                self.nodes
                    .error(message, node.span)
                    .add_hint("write \"\" for an empty string");
                return None;
            }
            Value::Scalar(scalar) => {
                self.check_template(&scalar.text, node.span, scope);
                PropertyValue::Text(scalar.text.clone())
            }
            Value::Sequence(items) => {
                let items = items.iter();
                let items = items.filter_map(|item| self.value(item, property, scope));
                PropertyValue::List(items.collect())
            }
            Value::Mapping(mapping) => {
                let mut entries = Vec::with_capacity(mapping.entries.len());
                for entry in &mapping.entries {
                    let key = self.nodes.located(entry.key.text.clone(), entry.key_span);
                    if let Some(value) = self.value(&entry.value, &entry.key.text, scope) {
                        entries.push((key, value));
                    }
                }
                PropertyValue::Mapping(entries)
            }
        };
        Some(self.nodes.located(value, node.span))
    }
}
