//! Texts of a manifest: those that are shown to people, and those that name something.

use super::reader::Reader;
use crate::diagnostic::{Code, Diagnostic, Escaped, Span, is_hazardous};
use crate::document::{Entry, Mapping, Node, Scalar, Value};
use crate::name::NameError;

impl Reader<'_> {
    /// A scalar that cannot be taken for anything but text.
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
                    format!("{what} is text, not {}", node.kind()),
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

    pub(super) fn tags(&mut self, mapping: &Mapping) -> Vec<String> {
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

    /// The key of an entry as a name; `what` says which kind of name, with its article.
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
