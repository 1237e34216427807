//! Which piece of the text of a manifest makes place for which other one.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use crate::document::{Entry, Mapping, Node, Value, yaml_word};
use crate::name::PackageName;
use crate::spec::Spec;

/// A piece of text that takes the place of another one.
pub(super) struct Replacement {
    pub(super) span: Span,
    pub(super) text: String,
}

/// A requirement more, or another spec for one; nothing if that is not to be done by a program.
pub(super) fn set(
    source: &SourceText,
    document: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<Replacement> {
    let text = source.text();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let key = yaml_word(package.as_str());
    let Some(require) = document.entry("Require") else {
        let added = format!("Require:{line_end}  {key}: \"{spec}\"{line_end}");
        return Some(at_end(text, line_end, &added));
    };
    match &require.value.value {
        Value::Mapping(mapping) => {
            if let Some(entry) = mapping.entry(package.as_str()) {
                return Some(replace_spec(text, entry, spec));
            }
            if is_flow(text, &require.value) {
                return add_to_flow(text, &require.value, mapping, package, spec);
            }
            add_line(text, line_end, mapping, package, spec)
        }
        Value::Scalar(scalar) if scalar.is_null() => {
            // `Require:` alone, perhaps with a comment, or with `null` or `~`.
            let line = end_of_line(text, require.key_span.end);
            let span = require.value.span;
            let has_word = !text[span.start..span.end].trim().is_empty();
            if has_word {
                return Some(Replacement {
                    span,
                    text: format!("{line_end}  {key}: \"{spec}\""),
                });
            }
            let start = if line.has_end { "" } else { line_end };
            Some(Replacement {
                span: Span {
                    start: line.next,
                    end: line.next,
                },
                text: format!("{start}  {key}: \"{spec}\"{line_end}"),
            })
        }
        _ => None,
    }
}

/// A requirement less; nothing if that is not to be done by a program.
pub(super) fn remove(
    source: &Arc<SourceText>,
    document: &Mapping,
    package: &PackageName,
) -> Result<Option<Replacement>, Diagnostic> {
    let text = source.text();
    let not_required = || {
        let known = document.get("Require").and_then(Node::as_mapping);
        let known = known.map(|mapping| mapping.entries.as_slice());
        let known = known.unwrap_or_default().iter();
        let known = known.map(|entry| entry.key.text.as_str());
        let similar = crate::similar::most_similar_name(package.as_str(), known);
        let message = format!("`{package}` is not required");
        let finding =
            Diagnostic::error(Code::Field, message).at(Location::new(source, Span::default()));
        match similar {
            Some(similar) => finding.hint(format!("did you mean `{similar}`?")),
            None => finding,
        }
    };
    let Some(require) = document.entry("Require") else {
        return Err(not_required());
    };
    let Some(mapping) = require.value.as_mapping() else {
        return Err(not_required());
    };
    let position = mapping
        .entries
        .iter()
        .position(|entry| entry.key.text == package.as_str());
    let Some(at) = position else {
        return Err(not_required());
    };
    let entry = &mapping.entries[at];
    let end = entry.value.span.end.max(entry.key_span.end);
    if is_flow(text, &require.value) {
        // With the comma before it, or else the one after it.
        let span = match (at.checked_sub(1), mapping.entries.get(at + 1)) {
            (Some(before), _) => {
                let before = &mapping.entries[before];
                Span {
                    start: before.value.span.end.max(before.key_span.end),
                    end,
                }
            }
            (None, Some(next)) => Span {
                start: entry.key_span.start,
                end: next.key_span.start,
            },
            (None, None) => Span {
                start: entry.key_span.start,
                end,
            },
        };
        return Ok(Some(Replacement {
            span,
            text: String::new(),
        }));
    }
    let first = if mapping.entries.len() == 1 {
        require.key_span.start
    } else {
        entry.key_span.start
    };
    Ok(Some(Replacement {
        span: Span {
            start: start_of_line(text, first),
            end: end_of_line(text, end).next,
        },
        text: String::new(),
    }))
}

/// Whether a mapping is written in braces.
fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start..].starts_with('{')
}

/// A spec in place of another one, in the same quotes.
fn replace_spec(text: &str, entry: &Entry, spec: &Spec) -> Replacement {
    let span = entry.value.span;
    let written = &text[span.start..span.end];
    if written.trim().is_empty() {
        let colon = text[entry.key_span.end..].find(':').unwrap_or(0) + 1;
        let at = entry.key_span.end + colon;
        return Replacement {
            span: Span { start: at, end: at },
            text: format!(" \"{spec}\""),
        };
    }
    let quote = if written.starts_with('\'') { '\'' } else { '"' };
    Replacement {
        span,
        text: format!("{quote}{spec}{quote}"),
    }
}

/// An entry more in braces.
fn add_to_flow(
    text: &str,
    node: &Node,
    mapping: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<Replacement> {
    let added = format!("{}: \"{spec}\"", yaml_word(package.as_str()));
    let Some(last) = mapping.entries.last() else {
        let brace = node.span.start + 1;
        return Some(Replacement {
            span: Span {
                start: brace,
                end: brace,
            },
            text: added,
        });
    };
    let end = last.value.span.end.max(last.key_span.end);
    text.get(..end)?;
    Some(Replacement {
        span: Span { start: end, end },
        text: format!(", {added}"),
    })
}

/// A line more below `Require:`, indented and quoted like the others.
fn add_line(
    text: &str,
    line_end: &str,
    mapping: &Mapping,
    package: &PackageName,
    spec: &Spec,
) -> Option<Replacement> {
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
    let quote_of = |entry: &Entry| text[entry.value.span.start..].chars().next();
    let has_single = mapping
        .entries
        .iter()
        .any(|entry| quote_of(entry) == Some('\''));
    let has_double = mapping
        .entries
        .iter()
        .any(|entry| quote_of(entry) == Some('"'));
    let quote = if has_single && !has_double { '\'' } else { '"' };
    let key = yaml_word(package.as_str());
    let added = format!("{indentation}{key}: {quote}{spec}{quote}{line_end}");
    let (at, text) = if let Some(next) = next {
        (start_of_line(text, next.key_span.start), added)
    } else {
        let end = last.value.span.end.max(last.key_span.end);
        let line = end_of_line(text, end);
        let begin = if line.has_end { "" } else { line_end };
        (line.next, format!("{begin}{added}"))
    };
    Some(Replacement {
        span: Span { start: at, end: at },
        text,
    })
}

/// Lines at the end of the document.
fn at_end(text: &str, line_end: &str, added: &str) -> Replacement {
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
    Replacement {
        span: Span { start: at, end: at },
        text: format!("{}{added}", if is_open { line_end } else { "" }),
    }
}

fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where a line ends.
struct LineEnd {
    /// The beginning of the next line, or the end of the text.
    next: usize,
    /// Whether the line ends with a line feed.
    has_end: bool,
}

fn end_of_line(text: &str, at: usize) -> LineEnd {
    match text[at..].find('\n') {
        Some(newline) => LineEnd {
            next: at + newline + 1,
            has_end: true,
        },
        None => LineEnd {
            next: text.len(),
            has_end: false,
        },
    }
}
