//! Reads meta classes: what they can be attached to, and to what they are attached.

use std::collections::BTreeSet;

use super::ClassFileReader;
use crate::class_file::{Descriptions, META_TARGETS, MetaAttachment};
use crate::diagnostic::Code;
use crate::document::{Mapping, Node, Scalar, Value};

/// Reads how a meta class can be attached. What is not written as the deployment engine expects it counts as absent.
pub(super) fn attachment(mapping: &Mapping) -> MetaAttachment {
    let mut attachment = MetaAttachment::default();
    let scalar = |key| mapping.get(key).and_then(Node::as_scalar);
    attachment.is_many = scalar("Cardinality").is_some_and(|scalar| scalar.text == "Many");
    attachment.is_inherited =
        scalar("Inherited").is_some_and(|scalar| scalar.yaml_1_1_bool() == Some(true));
    if let Some(node) = mapping.get("Applies").filter(|node| !node.is_nothing()) {
        let nodes = node.as_sequence().unwrap_or(std::slice::from_ref(node));
        let named = nodes.iter().filter_map(Node::as_scalar);
        let named: BTreeSet<String> = named.map(|scalar| scalar.text.clone()).collect();
        if !named.is_empty() && !named.contains("All") {
            attachment.applies = named;
        }
    }
    attachment
}

impl ClassFileReader<'_> {
    /// Reads the meta classes that describe a thing.
    pub(super) fn metas(&mut self, declaration: &Mapping, target: &'static str) {
        let Some(node) = declaration.get("Meta").filter(|node| !node.is_null()) else {
            return;
        };
        let before = self.uses.len();
        self.named_classes(node, "Meta");
        let metas = self.uses[before..].to_vec();
        if !metas.is_empty() {
            self.described_by.push(Descriptions { target, metas });
        }
        for item in node.as_sequence().unwrap_or(std::slice::from_ref(node)) {
            let is_one = match &item.value {
                Value::Scalar(_) => !item.is_nothing(),
                Value::Mapping(mapping) => match mapping.entries.as_slice() {
                    [entry] => entry.key.is_text(),
                    _ => false,
                },
                Value::Sequence(_) => true,
            };
            if !is_one {
                let message =
                    "an item of `Meta` must be one class, or one class with its properties";
                self.reject(Code::ClassFile, message, item.span);
            }
        }
    }

    /// Notes what the deployment engine does not accept in a meta class.
    pub(super) fn meta_class(&mut self, mapping: &Mapping) {
        let is_count = |scalar: &Scalar| matches!(scalar.text.as_str(), "One" | "Many");
        let is_bool = |scalar: &Scalar| scalar.yaml_1_1_bool().is_some();
        self.meta_scalar(mapping, "Cardinality", is_count, "`One` or `Many`");
        self.meta_scalar(mapping, "Inherited", is_bool, "true or false");
        if let Some(node) = mapping.get("Applies") {
            for item in node.as_sequence().unwrap_or(std::slice::from_ref(node)) {
                let is_target = item.as_scalar().is_some_and(|target| {
                    target.text == "All" || META_TARGETS.contains(&target.text.as_str())
                });
                if !is_target {
                    let message = "`Applies` must be `All`, or some of Argument, Method, Package, \
                                   Property and Type";
                    self.reject(Code::ClassFile, message, item.span);
                }
            }
        }
    }

    /// Notes a key of a meta class whose value is not as expected.
    fn meta_scalar(
        &mut self,
        mapping: &Mapping,
        key: &str,
        is_valid: impl Fn(&Scalar) -> bool,
        expected: &str,
    ) {
        if let Some(node) = mapping.get(key)
            && !node.as_scalar().is_some_and(is_valid)
        {
            let message = format!("`{key}` must be {expected}");
            self.reject(Code::ClassFile, message, node.span);
        }
    }
}
