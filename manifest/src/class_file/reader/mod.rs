//! Reading the documents of a class file.

mod members;

use std::collections::HashSet;
use std::sync::Arc;

use super::namespaces::Namespaces;
use super::{ClassDefinition, ClassUsage};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Located, Location, Parsed, SourceText, Span, in_order,
};
use crate::document::{Documents, Mapping, Node, Syntax, Value, parse_yaml};
use crate::name::ClassName;
use crate::read_options::ReadOptions;

/// The keys that a class can have.
pub(crate) const KNOWN_KEYS: [&str; 11] = [
    "Applies",
    "Cardinality",
    "Extends",
    "Import",
    "Inherited",
    "Meta",
    "Methods",
    "Name",
    "Namespaces",
    "Properties",
    "Usage",
];

pub(super) fn parse(
    source: &Arc<SourceText>,
    options: &ReadOptions,
) -> Parsed<Vec<ClassDefinition>> {
    let syntax = Syntax::of_class_file(&options.limits);
    let Documents { nodes, diagnostics } = parse_yaml(source, syntax);
    let Some(documents) = nodes else {
        return Parsed::new(None, diagnostics);
    };
    let mut reader = ClassFileReader {
        source,
        namespaces: Namespaces::default(),
        uses: Vec::new(),
        diagnostics: Vec::new(),
    };
    let mut classes: Vec<ClassDefinition> = Vec::new();
    for document in &documents {
        if let Some(class) = reader.document(document) {
            classes.push(class);
        }
    }
    if classes.is_empty() && reader.diagnostics.is_empty() && diagnostics.is_empty() {
        reader.error(
            Code::ClassFile,
            "the file defines no class",
            Span::default(),
        );
    }
    Parsed::new(Some(classes), in_order(diagnostics, reader.diagnostics))
}

struct ClassFileReader<'source> {
    source: &'source Arc<SourceText>,
    namespaces: Namespaces,
    /// The classes that the current class uses.
    uses: Vec<Located<ClassName>>,
    diagnostics: Vec<Diagnostic>,
}

impl ClassFileReader<'_> {
    fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn error(&mut self, code: Code, message: impl Into<String>, span: Span) {
        let location = self.location(span);
        self.diagnostics
            .push(Diagnostic::error(code, message).at(location));
    }

    fn located<T>(&self, value: T, span: Span) -> Located<T> {
        Located {
            value,
            location: self.location(span),
        }
    }

    fn document(&mut self, document: &Node) -> Option<ClassDefinition> {
        if document.is_null() {
            return None;
        }
        let Some(mapping) = document.as_mapping() else {
            let message = format!("a class must be a mapping, not {}", document.kind());
            self.error(Code::ClassFile, message, document.span);
            return None;
        };
        if let Some(node) = mapping.get("Namespaces") {
            self.namespaces(node);
        }
        if mapping
            .entries
            .iter()
            .all(|entry| entry.key.text == "Namespaces")
        {
            return None;
        }
        self.uses = Vec::new();
        let name = self.name(mapping, document.span);
        let usage = self.usage(mapping);
        let extends = self.extends(mapping, name.as_ref());
        for key in ["Meta", "Import"] {
            if let Some(node) = mapping.get(key) {
                self.named_classes(node, key);
            }
        }
        let properties = self.properties(mapping);
        let methods = self.methods(mapping);
        let unknown_keys = mapping
            .entries
            .iter()
            .filter(|entry| !KNOWN_KEYS.contains(&entry.key.text.as_str()))
            .map(|entry| self.located(entry.key.text.clone(), entry.key_span))
            .collect();
        let mut seen = HashSet::new();
        self.uses.retain(|used| seen.insert(used.value.clone()));
        Some(ClassDefinition {
            name: name?,
            usage: usage?,
            extends,
            uses: std::mem::take(&mut self.uses),
            properties,
            methods,
            unknown_keys,
        })
    }

    fn namespaces(&mut self, node: &Node) {
        let Some(mapping) = node.as_mapping() else {
            let message = format!("`Namespaces` must be a mapping, not {}", node.kind());
            self.error(Code::Namespace, message, node.span);
            return;
        };
        self.namespaces = Namespaces::default();
        for entry in &mapping.entries {
            let Some(namespace) = entry.value.as_scalar() else {
                let message = format!("a namespace must be text, not {}", entry.value.kind());
                self.error(Code::Namespace, message, entry.value.span);
                continue;
            };
            if let Err(message) = self.namespaces.declare(&entry.key.text, &namespace.text) {
                self.error(Code::Namespace, message, entry.value.span);
            }
        }
    }

    /// The class that a scalar names; `what` is its role in messages.
    fn class_name(&mut self, node: &Node, what: &str, code: Code) -> Option<Located<ClassName>> {
        let Some(scalar) = node.as_scalar().filter(|scalar| !scalar.is_mistakable()) else {
            let found = match node.as_scalar().filter(|scalar| !scalar.is_null()) {
                Some(scalar) => format!("`{}`", Escaped::shortened(&scalar.text)),
                None => node.kind().to_owned(),
            };
            let message = format!("{what} must be a class name, not {found}");
            self.error(code, message, node.span);
            return None;
        };
        match self.namespaces.resolve(&scalar.text) {
            Ok(name) => Some(self.located(name, node.span)),
            Err(message) => {
                self.error(Code::Namespace, message, node.span);
                None
            }
        }
    }

    fn name(&mut self, mapping: &Mapping, span: Span) -> Option<Located<ClassName>> {
        if let Some(node) = mapping.get("Name") {
            self.class_name(node, "`Name`", Code::ClassName)
        } else {
            let beginning = Span {
                start: span.start,
                end: span.start,
            };
            self.error(Code::ClassName, "the class has no `Name`", beginning);
            None
        }
    }

    fn usage(&mut self, mapping: &Mapping) -> Option<ClassUsage> {
        let Some(node) = mapping.get("Usage") else {
            return Some(ClassUsage::Class);
        };
        match node.as_scalar().map(|scalar| scalar.text.as_str()) {
            Some("Class") => Some(ClassUsage::Class),
            Some("Meta") => Some(ClassUsage::Meta),
            _ => {
                self.error(
                    Code::ClassFile,
                    "`Usage` must be `Class` or `Meta`",
                    node.span,
                );
                None
            }
        }
    }

    fn extends(
        &mut self,
        mapping: &Mapping,
        own: Option<&Located<ClassName>>,
    ) -> Vec<Located<ClassName>> {
        let Some(node) = mapping.get("Extends").filter(|node| !node.is_null()) else {
            return Vec::new();
        };
        let nodes = match &node.value {
            Value::Sequence(items) => items.as_slice(),
            Value::Scalar(_) => std::slice::from_ref(node),
            Value::Mapping(_) => {
                let message =
                    "`Extends` must be a class name or a list of class names, not a mapping";
                self.error(Code::Extends, message, node.span);
                return Vec::new();
            }
        };
        let mut parents: Vec<Located<ClassName>> = Vec::with_capacity(nodes.len());
        let mut seen = HashSet::with_capacity(nodes.len());
        for node in nodes {
            let Some(parent) = self.class_name(node, "a parent", Code::Extends) else {
                continue;
            };
            if seen.contains(&parent.value) {
                let message = format!("`{}` is extended twice", parent.value);
                self.error(Code::Extends, message, node.span);
            } else if own.is_some_and(|own| own.value == parent.value) {
                let message = format!("`{}` extends itself", parent.value);
                self.error(Code::ClassCycle, message, node.span);
            } else {
                seen.insert(parent.value.clone());
                parents.push(parent);
            }
        }
        parents
    }

    /// Collects the classes of `Import` and `Meta`: a name, a list of names, or mappings from a name to its
    /// properties.
    fn named_classes(&mut self, node: &Node, key: &str) {
        match &node.value {
            Value::Scalar(scalar) if scalar.is_null() => {}
            Value::Scalar(_) => {
                let used = self.class_name(node, &format!("`{key}`"), Code::ClassFile);
                self.uses.extend(used);
            }
            Value::Sequence(items) => {
                for item in items {
                    // Recursion ends here: an item is a name or a mapping of names.
                    match &item.value {
                        Value::Sequence(_) => {
                            let message =
                                format!("`{key}` must be a list of classes, not of lists");
                            self.error(Code::ClassFile, message, item.span);
                        }
                        _ => self.named_classes(item, key),
                    }
                }
            }
            Value::Mapping(mapping) => {
                for entry in &mapping.entries {
                    self.use_written(&entry.key.text, entry.key_span);
                }
            }
        }
    }

    fn use_written(&mut self, written: &str, span: Span) {
        match self.namespaces.resolve(written) {
            Ok(name) => self.uses.push(self.located(name, span)),
            Err(message) => self.error(Code::Namespace, message, span),
        }
    }
}
