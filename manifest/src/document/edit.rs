//! Edits of a document's text that leave everything else as it is, to the byte.
//!
//! An edited text is read again before anybody gets it, and [`same_but_for`] compares the two trees: YAML can
//! be written in ways that only a person should edit, and then the edit fails.

use std::sync::Arc;

use super::{Entry, Mapping, Node, Scalar, Style, Syntax, Value, parse_yaml};
use crate::diagnostic::{SourceText, Span};
use crate::read_options::Limits;

/// A piece of a text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The piece.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

impl TextEdit {
    /// Replaces a piece of text.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { span, text }
    }

    /// Inserts at a place.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(Span { start: at, end: at }, text)
    }

    /// Removes a piece of text.
    pub fn remove(span: Span) -> Self {
        Self::replace(span, "")
    }
}

/// The text after the edits, which do not overlap. Edits of one place stay in the order in which they come.
pub fn apply(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut edited = String::with_capacity(text.len() + added);
    let mut at = 0;
    for edit in &edits {
        edited.push_str(&text[at..edit.span.start]);
        edited.push_str(&edit.text);
        at = edit.span.end;
    }
    edited.push_str(&text[at..]);
    edited
}

/// Returns the text of a YAML document in which some scalars have other texts, in quotes. `None` if that cannot be
/// written so that nothing else changes.
///
/// ```
/// use pkgres_manifest::{Limits, document::{read_yaml, with_scalars}};
///
/// let limits = Limits::default();
/// let read = read_yaml("a.yml", b"version: 1.0.0 # for now\n", "file", &limits);
/// let (read, _) = read.into_result().expect("it is YAML");
/// let (source, document) = read;
/// let document = document.expect("it is not empty");
/// let version = document.as_mapping().and_then(|mapping| mapping.get("version"));
/// let edits = [(version.expect("it is there").span, ">=2.0.0".to_owned())];
/// let edited = with_scalars(&source, &edits, &limits);
/// assert_eq!(edited.as_deref(), Some("version: \">=2.0.0\" # for now\n"));
/// ```
pub fn with_scalars(
    source: &Arc<SourceText>,
    edits: &[(Span, String)],
    limits: &Limits,
) -> Option<String> {
    let tree = |source: &Arc<SourceText>| {
        let documents = parse_yaml(source, Syntax::of_manifest(limits));
        documents.nodes?.into_iter().next()
    };
    let mut expected = tree(source)?;
    let mut replaced = Vec::with_capacity(edits.len());
    for (span, text) in edits {
        if text.contains(['\'', '"', '\\', '\n']) {
            return None;
        }
        let scalar = scalar_at(&mut expected, *span)?;
        let is_double = !source.text()[span.start..span.end].starts_with('\'');
        let quote = if is_double { '"' } else { '\'' };
        replaced.push(TextEdit::replace(*span, format!("{quote}{text}{quote}")));
        *scalar = Scalar {
            text: text.clone(),
            style: Style::Quoted,
        };
    }
    let edited = apply(source.text(), replaced);
    let after = tree(&SourceText::new(source.name(), edited.as_str()))?;
    same_but_for(&expected, &after, &|_| &[]).then_some(edited)
}

/// The scalar at a place; `None` if there is none, or if it is a block of lines.
fn scalar_at(node: &mut Node, span: Span) -> Option<&mut Scalar> {
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        let is_there = next.span == span;
        match &mut next.value {
            Value::Scalar(scalar) if is_there && scalar.style != Style::Block => {
                return Some(scalar);
            }
            Value::Scalar(_) => {}
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(mapping) => {
                open.extend(mapping.entries.iter_mut().map(|entry| &mut entry.value));
            }
        }
    }
    None
}

/// The line feed that a text uses, with a carriage return if its lines end so.
pub fn line_feed_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The beginning of the line of a byte.
pub fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The beginning of the next line, or the end of the text; and whether the line ends with a line feed.
pub fn next_line(text: &str, at: usize) -> (usize, bool) {
    match text[at..].find('\n') {
        Some(newline) => (at + newline + 1, true),
        None => (text.len(), false),
    }
}

/// Whether two trees have the same content in the same order, at any places. For a mapping of the first tree,
/// `left_out` returns the keys that are not compared, with all that is below them.
pub(crate) fn same_but_for<'keys>(
    before: &Node,
    after: &Node,
    left_out: &dyn Fn(&Node) -> &'keys [&'keys str],
) -> bool {
    let mut rest = vec![(before, after)];
    while let Some((before, after)) = rest.pop() {
        match (&before.value, &after.value) {
            (Value::Scalar(one), Value::Scalar(two)) if one == two => {}
            (Value::Sequence(one), Value::Sequence(two)) if one.len() == two.len() => {
                rest.extend(one.iter().zip(two));
            }
            (Value::Mapping(one), Value::Mapping(two)) => {
                let keys = left_out(before);
                let (one, two) = (without(one, keys), without(two, keys));
                let is_same_key = |(one, two): (&&Entry, &&Entry)| one.key == two.key;
                if one.len() != two.len() || !one.iter().zip(&two).all(is_same_key) {
                    return false;
                }
                let values = one.iter().zip(&two);
                rest.extend(values.map(|(one, two)| (&one.value, &two.value)));
            }
            _ => return false,
        }
    }
    true
}

/// Whether two documents are mappings that differ in the value of one key only. Either can be empty, and the key can
/// be missing in one of them.
pub fn differ_in_key_only(before: Option<&Node>, after: Option<&Node>, key: &str) -> bool {
    let rest = |document: Option<&Node>| {
        let mapping = document.and_then(Node::as_mapping);
        let entries = mapping.map_or(&[][..], |mapping| &mapping.entries);
        let rest = entries.iter().filter(|entry| entry.key.text != key);
        rest.cloned().collect::<Vec<Entry>>()
    };
    let is_mapping = |document: Option<&Node>| {
        document.is_none_or(|document| document.as_mapping().is_some() || document.is_null())
    };
    let (one, two) = (rest(before), rest(after));
    let is_same = |(one, two): (&Entry, &Entry)| {
        one.key == two.key && same_but_for(&one.value, &two.value, &|_| &[])
    };
    is_mapping(before)
        && is_mapping(after)
        && one.len() == two.len()
        && one.iter().zip(&two).all(is_same)
}

fn without<'mapping>(mapping: &'mapping Mapping, keys: &[&str]) -> Vec<&'mapping Entry> {
    let entries = mapping.entries.iter();
    entries
        .filter(|entry| !keys.contains(&entry.key.text.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        let syntax = Syntax {
            depth: 64,
            nodes: 1000,
            yaql_tag: false,
            is_foreign: false,
        };
        let nodes = parse_yaml(&SourceText::new("text", text), syntax).nodes;
        nodes.into_iter().flatten().next().expect("a document")
    }

    #[test]
    fn a_scalar_that_cannot_be_replaced_alone_is_left() {
        let limits = Limits::default();
        let replaced = |text: &str, old: &str, new: &str| {
            let start = text.find(old).expect("it is in the text");
            let span = Span {
                start,
                end: start + old.len(),
            };
            let source = SourceText::new("text", text);
            with_scalars(&source, &[(span, new.to_owned())], &limits)
        };
        let cases = [
            (
                "a: {b: '1', c: 2} # d\r\n",
                "'1'",
                Some("a: {b: '>=2,<3', c: 2} # d\r\n"),
            ),
            ("- a: 1\n- b\n", "1", Some("- a: \">=2,<3\"\n- b\n")),
            ("a: |\n  1\nb: 2\n", "|\n  1\n", None),
            ("a: [1]\n", "[1]", None),
        ];
        for (text, old, expected) in cases {
            assert_eq!(replaced(text, old, ">=2,<3").as_deref(), expected, "{text}");
        }
        assert_eq!(replaced("a: 1\n", "1", "\""), None);
    }

    #[test]
    fn trees_are_compared_by_content_and_not_by_place() {
        let before = node("a: [1, {b: x}]\nc: '2'\nd: 3\n");
        let top = before.span;
        let same = |after: &str, keys: &[&'static str]| {
            let left_out = |node: &Node| if node.span == top { keys } else { &[] };
            same_but_for(&before, &node(after), &left_out)
        };
        assert!(same("a:\n- 1\n- b: x\nc: '2' # note\nd: 3\n", &[]));
        for other in [
            "a: [1, {b: x}]\nc: 2\nd: 3\n",
            "a: [1, {b: y}]\nc: '2'\nd: 3\n",
            "a: [1, {e: x}]\nc: '2'\nd: 3\n",
            "a: [1, {b: x, e: 1}]\nc: '2'\nd: 3\n",
            "a: [1]\nc: '2'\nd: 3\n",
            "a: 1\nc: '2'\nd: 3\n",
            "c: '2'\na: [1, {b: x}]\nd: 3\n",
        ] {
            assert!(!same(other, &["d"]), "{other}");
        }
        assert!(same("a: [1, {b: x}]\nc: '2'\n", &["d"]));
        assert!(same("d: 4\na: [1, {b: x}]\nc: '2'\n", &["d"]));
        assert!(
            !same("a: [1, {}]\nc: '2'\nd: 3\n", &["b"]),
            "another mapping"
        );
    }
}
