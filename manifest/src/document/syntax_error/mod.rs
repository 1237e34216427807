//! Syntax errors of YAML by their cause.
//!
//! The parser reports where the text stops making sense and what it expected there, in the words of the grammar:
//! "mapping values are not allowed in this context". The cause is a tab, a quote, a bracket, a colon or the
//! indentation, often on a line before. The functions here look for it in the lines around the place, and leave the
//! parser's own message where they find none. They look at a bounded number of short lines, so that an error costs
//! the same in any text.

mod line;

use std::sync::Arc;

use granit_parser::ErrorKind;

use self::line::Line;
use super::{Node, Style, Value};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};

/// The error for a text that the parser rejects, if its cause is found.
pub(super) fn cause(
    source: &Arc<SourceText>,
    kind: &ErrorKind,
    offset: usize,
) -> Option<Diagnostic> {
    let text = source.text();
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let place = Place {
        source,
        line: Line::at(text, offset),
        column: offset - Line::at(text, offset).start,
    };
    let is_named = place.carriage_return().or_else(|| place.tab(kind));
    is_named.or_else(|| match kind {
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => place.open_quote(),
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            place.text_after_quote().or_else(|| place.open_quote())
        }
        ErrorKind::UnknownQuotedScalarEscape => Some(
            place
                .error("this is not an escape sequence", place.rest_of_line())
                .hint("write `\\\\` for a backslash, or use single quotes"),
        ),
        ErrorKind::UnexpectedCharacter { character } => place.reserved(*character),
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidColonPlacement => place.open_bracket(),
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::ExpectedDocumentStart
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::InvalidIndentation => place
            .missing_blank()
            .or_else(|| place.missing_colon())
            .or_else(|| place.colon_in_value())
            .or_else(|| place.indentation()),
        _ => None,
    })
}

/// A hint for a node that should be a mapping: what is missing, or too much, to make it one.
pub(crate) fn mapping_hint(node: &Node) -> Option<String> {
    match &node.value {
        Value::Scalar(scalar) if scalar.style == Style::Plain => {
            if let Some(entry) = with_colon(&scalar.text) {
                let entry = Escaped::shortened(&entry);
                return Some(format!("a colon is missing after the key: write `{entry}`"));
            }
            let entry = with_blank(&scalar.text)?;
            Some(format!(
                "a blank is missing after the colon: write `{}`",
                Escaped::shortened(&entry)
            ))
        }
        Value::Sequence(items) => {
            let entry = entry_of_item(items.first()?)?;
            Some(format!(
                "write `{}` instead of a list item",
                Escaped::shortened(&entry)
            ))
        }
        _ => None,
    }
}

/// The entry that an item of a list was probably meant to be: `name: value` for `- name: value`, `- name value` and
/// `- name@value`.
fn entry_of_item(item: &Node) -> Option<String> {
    let (key, value) = match &item.value {
        Value::Mapping(mapping) => {
            let entry = mapping.entries.first()?;
            let value = entry.value.as_scalar().filter(|scalar| !scalar.is_null());
            (
                entry.key.text.as_str(),
                value.map(|scalar| scalar.text.as_str()),
            )
        }
        Value::Scalar(scalar) => {
            let text = scalar.text.as_str();
            let two_words = with_colon(text).is_some().then(|| text.split_once(' '));
            match two_words.flatten().or_else(|| text.split_once('@')) {
                Some((key, value)) => (key, Some(value.trim_start())),
                None => (text, None),
            }
        }
        Value::Sequence(_) => return None,
    };
    Some(match value {
        None => format!("{key}:"),
        Some(value) if value.starts_with(|first: char| first.is_ascii_alphanumeric()) => {
            format!("{key}: {value}")
        }
        Some(value) => format!("{key}: \"{value}\""),
    })
}

/// The entry that a plain scalar was probably meant to be: `name: value` for `name:value`. A scalar of several lines
/// is judged by its first word.
fn with_blank(scalar: &str) -> Option<String> {
    let word = scalar.split_whitespace().next()?;
    let (key, value) = glued(word)?;
    let rest = scalar.trim_start().strip_prefix(word)?;
    let is_one_line = !scalar.contains('\n') && !rest.contains(':');
    let rest = if is_one_line { rest } else { "" };
    Some(format!("{key}: {value}{rest}"))
}

/// The entry that a plain scalar of two words was probably meant to be: `name: value` for `name value`, where the value
/// has a digit, as versions do.
fn with_colon(scalar: &str) -> Option<String> {
    let (key, value) = scalar.split_once(' ')?;
    let value = value.trim_start();
    let is_value = value.contains(|part: char| part.is_ascii_digit())
        && !value.contains(|part: char| part.is_whitespace() || part == ':');
    (is_key(key) && is_value).then(|| format!("{key}: {value}"))
}

/// Whether a word is like the keys of a manifest: a name, perhaps a dotted one.
fn is_key(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word
            .chars()
            .all(|part| part.is_ascii_alphanumeric() || "_.".contains(part))
}

/// The two parts of `name:value`, where the name is like those of keys. Addresses such as `https://…` are not.
fn glued(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once(':')?;
    let is_value = !value.is_empty() && !value.starts_with('/') && !value.ends_with(':');
    (is_key(key) && is_value).then_some((key, value))
}

/// The place where the parser noticed an error.
struct Place<'source> {
    source: &'source Arc<SourceText>,
    line: Line<'source>,
    /// The bytes of the line before the place.
    column: usize,
}

impl<'source> Place<'source> {
    fn lines_before(&self) -> impl Iterator<Item = Line<'source>> {
        self.line.before(self.source.text())
    }

    fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn error(&self, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::error(Code::Syntax, message).at(self.location(span))
    }

    fn rest_of_line(&self) -> Span {
        Span {
            start: self.line.start + self.column,
            end: self.line.start + self.line.text.len(),
        }
    }

    /// The content of a line, from its indentation on.
    fn span_of(line: Line<'_>) -> Span {
        let end = line.start + line.text.trim_end().len();
        let start = line.start + line.text.len() - line.text.trim_start().len();
        Span {
            start: start.min(end),
            end,
        }
    }

    /// The carriage return before the place that ends a line for YAML, but not for most editors. Some old files have
    /// no other line ends.
    fn carriage_return(&self) -> Option<Diagnostic> {
        if !self.source.text().contains('\n') {
            return None;
        }
        let before = self.line.text.get(..self.column)?;
        let start = self.line.start + before.rfind('\r')?;
        let end = start + 1;
        Some(
            self.error(
                "a carriage return without a line feed ends the line",
                Span { start, end },
            )
            .hint("remove it, or write a line feed after it"),
        )
    }

    /// The tab that the parser rejects, on this line or the next one.
    fn tab(&self, kind: &ErrorKind) -> Option<Diagnostic> {
        let is_about_tab = matches!(
            kind,
            ErrorKind::TabNotAllowed
                | ErrorKind::TabInBlockIndentation
                | ErrorKind::TabInIndentation
                | ErrorKind::TabInPlainScalar
                | ErrorKind::TabAtBlockScalarStart
        );
        let text = self.source.text();
        let next = (self.line.start + self.line.text.len() + 1).min(text.len());
        let next = Line::at(text, text.floor_char_boundary(next));
        let lines = [Some(self.line), Some(next).filter(|_| is_about_tab)];
        let found = lines.into_iter().flatten().find_map(|line| {
            let blanks = line.text.len() - line.text.trim_start_matches([' ', '\t']).len();
            let at = line.text.find('\t')?;
            (at < blanks || is_about_tab).then_some((line, at, at < blanks))
        });
        let (line, at, is_indentation) = found?;
        let tabs = line.text[at..].len() - line.text[at..].trim_start_matches('\t').len();
        let start = line.start + at;
        let end = start + tabs;
        let message = if is_indentation {
            "a line is indented with a tab"
        } else {
            "there is a tab"
        };
        let finding = Diagnostic::error(Code::Syntax, message);
        let finding = finding.label(
            self.location(Span { start, end }),
            "YAML does not allow this",
        );
        Some(finding.hint("use spaces"))
    }

    fn open_quote(&self) -> Option<Diagnostic> {
        let lines = std::iter::once(self.line).chain(self.lines_before());
        let open = |line: Line<'source>| {
            let (at, quote, end) = line.quotes().pop()?;
            end.is_none().then_some((line, at, quote))
        };
        let (line, at, quote) = lines.into_iter().find_map(open)?;
        let span = Span {
            start: line.start + at,
            end: line.start + at + 1,
        };
        // What looks like a comment may have begun in a value before.
        let value = line.without_comment().get(at..);
        let value = value.unwrap_or(&line.text[at..]).trim_end();
        let finding = Diagnostic::error(Code::Syntax, "a quote is not closed")
            .label(self.location(span), "it is opened here");
        Some(if value.len() > 1 {
            finding.hint(format!("write {}{quote}", Escaped::shortened(value)))
        } else {
            finding
        })
    }

    fn text_after_quote(&self) -> Option<Diagnostic> {
        let quotes = self.line.quotes();
        let closed = |(_, quote, end): &(usize, char, Option<usize>)| {
            end.filter(|end| *end < self.column)
                .map(|end| (*quote, end))
        };
        let (quote, end) = quotes.iter().rev().find_map(closed)?;
        let rest = self.line.text[end + 1..].trim_start();
        let span = Span {
            start: self.line.start + self.line.text.len() - rest.len(),
            end: self.line.start + self.line.text.trim_end().len(),
        };
        let finding = Diagnostic::error(Code::Syntax, "there is text after the closing quote")
            .label(self.location(span), "the value ends before this");
        Some(finding.hint(match quote {
            '\'' => "inside of single quotes, write `''` for an apostrophe",
            _ => "inside of double quotes, write `\\\"` for a quote",
        }))
    }

    /// A value that begins with a character that YAML reserves.
    fn reserved(&self, character: char) -> Option<Diagnostic> {
        if !matches!(character, '@' | '`' | '%') {
            return None;
        }
        let message = format!("a value that begins with `{character}` must be quoted");
        let value = self.line.without_comment().get(self.column..)?.trim();
        let finding = self.error(message, self.rest_of_line());
        Some(finding.hint(format!("write \"{}\"", Escaped::shortened(value))))
    }

    /// The last bracket before the place that is not closed.
    fn open_bracket(&self) -> Option<Diagnostic> {
        let mut lines: Vec<Line<'source>> = self.lines_before().collect();
        lines.reverse();
        lines.push(self.line);
        let mut open: Vec<(usize, char)> = Vec::new();
        for line in lines {
            let quotes = line.quotes();
            let is_quoted = |at: usize| {
                let mut quotes = quotes.iter();
                quotes.any(|(start, _, end)| *start <= at && end.is_none_or(|end| at <= end))
            };
            let end = if line.start == self.line.start {
                // Some errors are at the bracket itself.
                let is_at_bracket = line.text[self.column..].starts_with(['[', '{']);
                self.column + usize::from(is_at_bracket)
            } else {
                line.without_comment().len()
            };
            for (at, character) in line.text[..end].char_indices() {
                match character {
                    '[' | '{' if !is_quoted(at) => open.push((line.start + at, character)),
                    ']' | '}' if !is_quoted(at) => {
                        open.pop();
                    }
                    _ => {}
                }
            }
        }
        let (start, bracket) = open.pop()?;
        let message = format!("the bracket `{bracket}` is not closed");
        let span = Span {
            start,
            end: start + 1,
        };
        let finding = Diagnostic::error(Code::Syntax, message)
            .label(self.location(span), "it is opened here");
        Some(finding.hint(match bracket {
            '[' => "close it with `]`, or put the value in quotes if it is text",
            _ => "close it with `}`, or put the value in quotes if it is text",
        }))
    }

    /// A colon without a blank, on this line or the one before.
    fn missing_blank(&self) -> Option<Diagnostic> {
        let lines = [Some(self.line), self.lines_before().next()];
        lines.into_iter().flatten().find_map(|line| {
            let content = line.without_comment().trim_start();
            let content = content.strip_prefix("- ").unwrap_or(content).trim_start();
            let word = content.split(' ').next()?;
            glued(word)?;
            let colon = content.find(':')?;
            let start = line.start + line.without_comment().len() - content.len() + colon;
            let span = Span {
                start,
                end: start + 1,
            };
            let written = format!("{} {}", &content[..=colon], &content[colon + 1..]);
            let finding = self.error("a blank is missing after the colon", span);
            Some(finding.hint(format!("write `{}`", Escaped::shortened(&written))))
        })
    }

    /// A key without a colon: a single word where an entry is expected.
    fn missing_colon(&self) -> Option<Diagnostic> {
        let key = self.line.without_comment().trim_start();
        let is_word = !key.is_empty()
            && key
                .chars()
                .all(|part| part.is_ascii_alphanumeric() || "_.".contains(part));
        let message = "a colon is missing after the key";
        let hint = format!("write `{}:`", Escaped::shortened(key));
        is_word.then(|| self.error(message, Self::span_of(self.line)).hint(hint))
    }

    /// A value with a colon and a blank, which YAML reads as another key.
    fn colon_in_value(&self) -> Option<Diagnostic> {
        let content = self.line.without_comment();
        let colon = content.find(": ")?;
        if self.column <= colon || !content.get(self.column..)?.starts_with(':') {
            return None;
        }
        let value = content[colon + 2..].trim();
        let end = self.line.start + content.len();
        let span = Span {
            start: end - value.len(),
            end,
        };
        let finding = Diagnostic::error(Code::Syntax, "a value with a colon must be quoted").label(
            self.location(span),
            "YAML reads `: ` as the end of another key",
        );
        let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
        Some(finding.hint(format!("write {}", Escaped::shortened(&quoted))))
    }

    /// Indentation that fits none of the lines above.
    fn indentation(&self) -> Option<Diagnostic> {
        let own = self.line.indentation();
        let mut levels: Vec<(usize, Line<'source>)> = Vec::new();
        let mut least = usize::MAX;
        for (at, line) in self.lines_before().enumerate() {
            if at == 0 && line.is_opening() && own > line.indentation() {
                return None;
            }
            for column in line.columns().into_iter().rev() {
                if column < least {
                    levels.push((column, line));
                    least = column;
                }
            }
            if least == 0 {
                break;
            }
        }
        let is_level = levels.iter().any(|(column, _)| *column == own);
        let (column, line) = levels
            .iter()
            .min_by_key(|(column, _)| column.abs_diff(own))
            .filter(|_| !is_level)?;
        let spaces = match column {
            0 => "do not indent this line".to_owned(),
            1 => "indent this line by 1 space".to_owned(),
            _ => format!("indent this line by {column} spaces"),
        };
        let (words, example) = (line.content(), Self::span_of(*line));
        let finding = Diagnostic::error(Code::Syntax, "the indentation fits no line above")
            .label(self.location(Self::span_of(self.line)), "this line")
            .label(self.location(example), "a line that it may belong to");
        let example = words.split(' ').next().unwrap_or_default();
        Some(finding.hint(format!("{spaces}, like `{}`", Escaped::shortened(example))))
    }
}

#[cfg(test)]
mod tests;
