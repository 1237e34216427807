//! Edits of a document's text that leave everything else as it is, to the byte.
//!
//! An edited text is read again before anybody gets it, and [`same_but_for`] compares the two trees: YAML can
//! be written in ways that only a person should edit, and then the edit fails.

use super::{Entry, Mapping, Node, Value};
use crate::diagnostic::Span;

/// A piece of a text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextEdit {
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl TextEdit {
    /// Replaces a piece of text.
    pub(crate) fn replace(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { span, text }
    }

    /// Inserts at a place.
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(Span { start: at, end: at }, text)
    }

    /// Removes a piece of text.
    pub(crate) fn remove(span: Span) -> Self {
        Self::replace(span, "")
    }
}

/// The text after the edits, which do not overlap. Edits of one place stay in the order in which they come.
pub(crate) fn apply(text: &str, mut edits: Vec<TextEdit>) -> String {
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

/// The line feed that a text uses, with a carriage return if its lines end so.
pub(crate) fn line_feed_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The beginning of the line of a byte.
pub(crate) fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The beginning of the next line, or the end of the text; and whether the line ends with a line feed.
pub(crate) fn next_line(text: &str, at: usize) -> (usize, bool) {
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

fn without<'mapping>(mapping: &'mapping Mapping, keys: &[&str]) -> Vec<&'mapping Entry> {
    let entries = mapping.entries.iter();
    entries
        .filter(|entry| !keys.contains(&entry.key.text.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceText;
    use crate::document::{Syntax, parse_yaml};

    fn node(text: &str) -> Node {
        let syntax = Syntax {
            depth: 64,
            nodes: 1000,
            yaql_tag: false,
        };
        let nodes = parse_yaml(&SourceText::new("text", text), syntax).nodes;
        nodes.into_iter().flatten().next().expect("a document")
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
