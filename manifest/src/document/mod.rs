//! YAML and JSON documents as trees that know where every part stands.
//!
//! One tree serves both syntaxes. Scalars stay source text: whether `1.10` is a version, a number
//! or a word is for the reader of the field to say, so it never becomes the number 1.1.

mod compare;
#[cfg(feature = "packages")]
mod json;
mod word;
#[cfg(feature = "packages")]
mod yaml;

pub(crate) use compare::same_but_for;
pub use word::yaml_word;
#[cfg(feature = "packages")]
pub(crate) use yaml::unquoted_spec;

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};

/// How a document may be written, beyond the limits that hold for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    /// How deep sequences and mappings nest.
    pub(crate) depth: usize,
    /// How many scalars, sequences and mappings there are.
    pub(crate) nodes: usize,
    /// Whether a scalar may have the tag `!yaql`, as expressions in class files do.
    pub(crate) yaql_tag: bool,
}

/// A part of a document and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Mapping),
}

/// A scalar as its source text, after quotes and escapes are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// How a scalar is written, which decides whether it can be null, a number or a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Quoted,
    Block,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Scalar,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

/// The entries of a mapping in the order of the document; no key stands twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mapping {
    pub(crate) entries: Vec<Entry>,
}

impl Scalar {
    /// Whether YAML reads this as null.
    pub(crate) fn is_null(&self) -> bool {
        self.style == Style::Plain
            && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// Whether some reader of YAML takes this for something else than text.
    pub(crate) fn is_mistakable(&self) -> bool {
        self.style == Style::Plain
            && (self.is_null()
                || self.as_bool().is_some()
                || matches!(
                    self.text.to_ascii_lowercase().as_str(),
                    "yes" | "no" | "on" | "off"
                )
                || self.text.parse::<f64>().is_ok())
    }

    /// `true` or `false` as YAML 1.2 and JSON write them.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if self.style != Style::Plain {
            return None;
        }
        match self.text.as_str() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }
}

impl Mapping {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }
}

impl Node {
    pub(crate) fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub(crate) fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    pub(crate) fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// What this is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar(scalar) if scalar.is_null() => "null",
            Value::Scalar(_) => "a scalar",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}

/// The documents of a text and what is wrong with them.
#[derive(Debug)]
pub(crate) struct Documents {
    /// Nothing if reading was broken off. Errors that leave the rest readable, such as a key that
    /// stands twice, do not: there may be more to say about what follows.
    pub(crate) nodes: Option<Vec<Node>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Documents {
    /// Moves the findings to `sink` and returns the documents, if there were no errors.
    pub(crate) fn without_errors(self, sink: &mut Vec<Diagnostic>) -> Option<Vec<Node>> {
        let is_sound = !self.diagnostics.iter().any(Diagnostic::is_error);
        sink.extend(self.diagnostics);
        self.nodes.filter(|_| is_sound)
    }
}

/// Reads all YAML documents of a text.
#[cfg(feature = "packages")]
pub(crate) fn parse_yaml(source: &Arc<SourceText>, syntax: Syntax) -> Documents {
    yaml::parse(source, syntax)
}

/// Reads a JSON document.
#[cfg(feature = "packages")]
pub(crate) fn parse_json(source: &Arc<SourceText>, syntax: Syntax) -> Parsed<Node> {
    json::parse(source, syntax)
}

/// Makes text of bytes: UTF-8 without a byte-order mark, no control characters but line feed,
/// carriage return and tab.
pub(crate) fn decode(
    name: &str,
    bytes: &[u8],
    limit_name: &str,
    limit: u64,
) -> Result<Arc<SourceText>, Diagnostic> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        let beginning = SourceText::new(name, "");
        return Err(crate::Limits::exceeded(limit_name, limit)
            .at(Location::new(&beginning, Span::default())));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = error.valid_up_to();
            let shown = String::from_utf8_lossy(bytes);
            let source = SourceText::new(name, shown);
            let hint = match bytes {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                    "the text looks like UTF-16; save it as UTF-8"
                }
                _ => "save the text as UTF-8",
            };
            return Err(Diagnostic::error(Code::Encoding, "the text is not UTF-8")
                .at(Location::new(
                    &source,
                    Span {
                        start: good,
                        end: good + 1,
                    },
                ))
                .hint(hint));
        }
    };
    let source = SourceText::new(name, text);
    // Most texts have nothing but these, which is seen much quicker than it is read by characters.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    if bytes.iter().all(is_plain) {
        return Ok(source);
    }
    let forbidden = text.char_indices().find(|(_, character)| {
        (character.is_control() && !matches!(character, '\n' | '\r' | '\t'))
            || *character == '\u{feff}'
    });
    if let Some((start, character)) = forbidden {
        return Err(Diagnostic::error(
            Code::Encoding,
            format!(
                "the character `{}` is not allowed",
                Escaped::from_char(character)
            ),
        )
        .at(Location::new(
            &source,
            Span {
                start,
                end: start + character.len_utf8(),
            },
        )));
    }
    Ok(source)
}
