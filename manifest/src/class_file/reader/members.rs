//! What a class has: properties, and methods with their arguments and bodies.

use super::Reader;
use crate::class_file::expression::created_classes;
use crate::class_file::{Argument, Method, Property};
use crate::diagnostic::{Code, Located, Span};
use crate::document::{Entry, Mapping, Node, Value};

impl Reader<'_> {
    /// The properties that a class declares.
    pub(super) fn properties(&mut self, mapping: &Mapping) -> Vec<Property> {
        let mut properties = Vec::new();
        for entry in self.entries(mapping, "Properties") {
            let Some(declaration) = entry.value.as_mapping() else {
                let message = format!("a property is a mapping, not {}", entry.value.kind());
                self.error(Code::ClassFile, message, entry.value.span);
                continue;
            };
            if let Some(node) = declaration.get("Meta") {
                self.named_classes(node, "Meta");
            }
            let usage = self.property_usage(declaration, entry.key_span);
            properties.push(Property {
                name: self.located(entry.key.text.clone(), entry.key_span),
                contract: self.contract_of(declaration, entry.key_span),
                usage,
                has_default: declaration.get("Default").is_some(),
            });
        }
        properties
    }

    /// The usage as it is written; which usages there are is for checks to say.
    fn property_usage(&mut self, declaration: &Mapping, span: Span) -> Located<String> {
        let default = |reader: &Self| reader.located("In".to_owned(), span);
        match declaration.get("Usage") {
            None => default(self),
            Some(node) if node.is_null() => default(self),
            Some(node) => {
                if let Some(scalar) = node.as_scalar() {
                    return self.located(scalar.text.clone(), node.span);
                }
                let message = format!("`Usage` is a word, not {}", node.kind());
                self.error(Code::ClassFile, message, node.span);
                default(self)
            }
        }
    }

    /// The methods that a class has.
    pub(super) fn methods(&mut self, mapping: &Mapping) -> Vec<Method> {
        let mut methods = Vec::new();
        for entry in self.entries(mapping, "Methods") {
            let empty = Mapping::default();
            let declaration = match &entry.value.value {
                Value::Mapping(declaration) => declaration,
                _ if entry.value.is_null() => &empty,
                _ => {
                    let message = format!("a method is a mapping, not {}", entry.value.kind());
                    self.error(Code::ClassFile, message, entry.value.span);
                    continue;
                }
            };
            if let Some(node) = declaration.get("Meta") {
                self.named_classes(node, "Meta");
            }
            let arguments = declaration
                .get("Arguments")
                .map(|node| self.arguments(node))
                .unwrap_or_default();
            if let Some(body) = declaration.get("Body") {
                self.body(body);
            }
            methods.push(Method {
                name: self.located(entry.key.text.clone(), entry.key_span),
                arguments,
                usage: word(declaration, "Usage").unwrap_or("Runtime").to_owned(),
                scope: word(declaration, "Scope").map(str::to_owned),
            });
        }
        methods
    }

    /// Arguments are a list of mappings with one entry each, or one mapping.
    fn arguments(&mut self, node: &Node) -> Vec<Argument> {
        let mappings: Vec<&Mapping> = match &node.value {
            Value::Mapping(mapping) => vec![mapping],
            Value::Sequence(items) => items.iter().filter_map(Node::as_mapping).collect(),
            Value::Scalar(scalar) if scalar.is_null() => Vec::new(),
            Value::Scalar(_) => {
                self.error(Code::ClassFile, "`Arguments` is a list", node.span);
                Vec::new()
            }
        };
        let mut arguments = Vec::new();
        for entry in mappings.iter().flat_map(|mapping| &mapping.entries) {
            let empty = Mapping::default();
            let declaration = entry.value.as_mapping().unwrap_or(&empty);
            arguments.push(Argument {
                name: self.located(entry.key.text.clone(), entry.key_span),
                contract: self.contract_of(declaration, entry.key_span),
                has_default: declaration.get("Default").is_some(),
            });
        }
        arguments
    }

    /// The classes that a method body creates.
    fn body(&mut self, node: &Node) {
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            match &node.value {
                Value::Scalar(scalar) => self.created(&scalar.text, node.span),
                Value::Sequence(items) => rest.extend(items.iter().rev()),
                Value::Mapping(mapping) => {
                    for entry in &mapping.entries {
                        self.created(&entry.key.text, entry.key_span);
                        rest.push(&entry.value);
                    }
                }
            }
        }
    }

    fn created(&mut self, text: &str, span: Span) {
        for (written, _) in created_classes(text) {
            // In a body `new` may be given a variable's text: what does not resolve is no name.
            if let Ok(name) = self.namespaces.resolve(written) {
                self.uses.push(self.located(name, span));
            }
        }
    }

    /// The entries of a mapping, or none if it is absent or null.
    fn entries<'node>(&mut self, mapping: &'node Mapping, key: &str) -> &'node [Entry] {
        match mapping.get(key) {
            Some(node) if !node.is_null() => {
                if let Some(mapping) = node.as_mapping() {
                    return &mapping.entries;
                }
                let message = format!("`{key}` is a mapping, not {}", node.kind());
                self.error(Code::ClassFile, message, node.span);
                &[]
            }
            _ => &[],
        }
    }
}

fn word<'node>(mapping: &'node Mapping, key: &str) -> Option<&'node str> {
    mapping
        .get(key)?
        .as_scalar()
        .map(|scalar| scalar.text.as_str())
}
