//! The text edits that set or remove a requirement of a manifest.
//!
//! `Require` can be a block with a line for each package, a mapping in braces, a key without a value, or not
//! there. A new line has the indentation and the quotes of those around it.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use crate::document::{
    Entry, Mapping, Node, TextEdit, Value, line_feed_of, next_line, start_of_line, yaml_word,
};
use crate::name::PackageName;
use crate::similar::{did_you_mean, most_similar_name};
use crate::spec::Spec;

/// The edit that adds a requirement or changes its spec; `None` if `Require` is written in a way that only a
/// person should edit.
pub(super) fn set(
    source: &SourceText,
    document: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<TextEdit> {
    let text = source.text();
    let line_feed = line_feed_of(text);
    let key = yaml_word(package.as_str());
    let Some(require) = document.entry("Require") else {
        let added = format!("Require:{line_feed}  {key}: \"{spec}\"{line_feed}");
        return Some(append_lines(text, line_feed, &added));
    };
    match &require.value.value {
        Value::Mapping(mapping) => {
            if let Some(entry) = mapping.entry(package.as_str()) {
                return Some(replace_spec(text, entry, spec));
            }
            if is_flow(text, &require.value) {
                return add_to_flow(text, &require.value, mapping, package, spec);
            }
            add_line(text, line_feed, mapping, package, spec)
        }
        Value::Scalar(scalar) if scalar.is_null() => {
            // `Require:` alone, perhaps with a comment, or with `null` or `~`.
            let span = require.value.span;
            let has_word = !text[span.start..span.end].trim().is_empty();
            if has_word {
                let added = format!("{line_feed}  {key}: \"{spec}\"");
                return Some(TextEdit::replace(span, added));
            }
            let (next, has_line_feed) = next_line(text, require.key_span.end);
            let before = if has_line_feed { "" } else { line_feed };
            let added = format!("{before}  {key}: \"{spec}\"{line_feed}");
            Some(TextEdit::insert(next, added))
        }
        _ => None,
    }
}

/// The edit that removes a requirement. Fails if the package is not required.
pub(super) fn remove(
    source: &Arc<SourceText>,
    document: &Mapping,
    package: &PackageName,
) -> Result<TextEdit, Diagnostic> {
    let text = source.text();
    let require = document.entry("Require");
    let mapping = require.and_then(|require| require.value.as_mapping());
    let entries = mapping.map_or(&[][..], |mapping| mapping.entries.as_slice());
    let is_package = |entry: &Entry| entry.key.text == package.as_str();
    let (Some(require), Some(at)) = (require, entries.iter().position(is_package)) else {
        return Err(not_required(source, entries, package));
    };
    let (entry, end) = (&entries[at], entries[at].end());
    if is_flow(text, &require.value) {
        // With the comma before it, or else the one after it.
        let span = match (at.checked_sub(1), entries.get(at + 1)) {
            (Some(before), _) => Span {
                start: entries[before].end(),
                end,
            },
            (None, Some(next)) => Span {
                start: entry.key_span.start,
                end: next.key_span.start,
            },
            (None, None) => Span {
                start: entry.key_span.start,
                end,
            },
        };
        return Ok(TextEdit::remove(span));
    }
    let first = if entries.len() == 1 {
        require.key_span.start
    } else {
        entry.key_span.start
    };
    Ok(TextEdit::remove(Span {
        start: start_of_line(text, first),
        end: next_line(text, end).0,
    }))
}

fn not_required(source: &Arc<SourceText>, required: &[Entry], package: &PackageName) -> Diagnostic {
    let known = required.iter().map(|entry| entry.key.text.as_str());
    let message = format!("`{package}` is not required");
    let finding =
        Diagnostic::error(Code::Field, message).at(Location::new(source, Span::default()));
    finding.maybe_hint(most_similar_name(package.as_str(), known).map(did_you_mean))
}

/// Whether a mapping is written in braces.
fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start..].starts_with('{')
}

/// Replaces the spec of an entry, and keeps its quotes.
fn replace_spec(text: &str, entry: &Entry, spec: &Spec) -> TextEdit {
    let span = entry.value.span;
    let written = &text[span.start..span.end];
    if written.trim().is_empty() {
        let colon = text[entry.key_span.end..].find(':').unwrap_or(0) + 1;
        return TextEdit::insert(entry.key_span.end + colon, format!(" \"{spec}\""));
    }
    let quote = if written.starts_with('\'') { '\'' } else { '"' };
    TextEdit::replace(span, format!("{quote}{spec}{quote}"))
}

/// Adds an entry to a mapping in braces.
fn add_to_flow(
    text: &str,
    node: &Node,
    mapping: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<TextEdit> {
    let added = format!("{}: \"{spec}\"", yaml_word(package.as_str()));
    let Some(last) = mapping.entries.last() else {
        let after_brace = node.span.start + 1;
        return Some(TextEdit::insert(after_brace, added));
    };
    let end = last.end();
    text.get(..end)?;
    Some(TextEdit::insert(end, format!(", {added}")))
}

/// Adds a line below `Require:`, indented and quoted like the others.
fn add_line(
    text: &str,
    line_feed: &str,
    mapping: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<TextEdit> {
    let (first, last) = (mapping.entries.first()?, mapping.entries.last()?);
    let line = start_of_line(text, first.key_span.start);
    let indentation = &text[line..first.key_span.start];
    if !indentation.chars().all(|character| character == ' ') {
        return None;
    }
    let names = || mapping.entries.iter().map(|entry| entry.key.text.as_str());
    let is_sorted = mapping.entries.len() > 1 && names().is_sorted();
    let next = mapping
        .entries
        .iter()
        .find(|entry| is_sorted && entry.key.text.as_str() > package.as_str());
    let has_quote = |quote| {
        let mut entries = mapping.entries.iter();
        entries.any(|entry| text[entry.value.span.start..].starts_with(quote))
    };
    let quote = if has_quote('\'') && !has_quote('"') {
        '\''
    } else {
        '"'
    };
    let key = yaml_word(package.as_str());
    let added = format!("{indentation}{key}: {quote}{spec}{quote}{line_feed}");
    Some(if let Some(next) = next {
        TextEdit::insert(start_of_line(text, next.key_span.start), added)
    } else {
        let (next, has_line_feed) = next_line(text, last.end());
        let before = if has_line_feed { "" } else { line_feed };
        TextEdit::insert(next, format!("{before}{added}"))
    })
}

/// Adds lines at the end of the document.
fn append_lines(text: &str, line_feed: &str, added: &str) -> TextEdit {
    let mut at = text.len();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "..." {
            at = start;
            break;
        }
        start += line.len();
    }
    let is_open = at > 0 && !text[..at].ends_with('\n');
    let before = if is_open { line_feed } else { "" };
    TextEdit::insert(at, format!("{before}{added}"))
}
