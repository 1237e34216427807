//! YAML and JSON documents as trees whose parts know their places in the text.
//!
//! One tree serves both syntaxes. Scalars stay source text: the reader of a field decides whether `1.10` is a
//! version, a number or a word, so it never becomes the number 1.1. `serde` would hand over values without
//! places and without the text of numbers, which is why it is not used for documents that people write.
//!
//! No document is trusted. Its size, depth and number of nodes are bounded (`Syntax`, `decode`);
//! anchors, aliases, merge keys, tags and duplicate keys are errors, because readers disagree about them and
//! some blow up ("billion laughs"). Files of other ecosystems may have them, and what aliases stand for counts
//! towards the limits. YAML is parsed in `yaml` alone, so that the parser can be exchanged.

#[cfg(feature = "packages")]
mod as_json;
#[cfg(feature = "packages")]
mod edit;
#[cfg(feature = "packages")]
mod json;
pub(crate) mod merge_marker;
#[cfg(feature = "packages")]
mod node_reader;
#[cfg(feature = "packages")]
mod syntax_error;
#[cfg(feature = "packages")]
mod unquoted_spec;
#[cfg(feature = "packages")]
mod yaml;
mod yaml_1_1;

#[cfg(feature = "packages")]
pub(crate) use as_json::{Numbers, as_json};
#[cfg(feature = "packages")]
pub(crate) use edit::same_but_for;
#[cfg(feature = "packages")]
pub use edit::{
    TextEdit, apply, differ_in_key_only, line_feed_of, next_line, start_of_line, with_scalars,
};
pub use merge_marker::merge_conflict;
#[cfg(feature = "packages")]
pub use node_reader::NodeReader;
#[cfg(feature = "packages")]
use syntax_error::mapping_hint;
#[cfg(feature = "packages")]
pub(crate) use unquoted_spec::error as unquoted_spec;
#[cfg(feature = "packages")]
pub use yaml::yaml_word;

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use crate::read_options::Limits;

/// The limits and features of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    /// The most levels of nested sequences and mappings.
    pub(crate) depth: usize,
    /// The most scalars, sequences and mappings.
    pub(crate) nodes: usize,
    /// Whether scalars may have the tag `!yaql`, which marks expressions in class files.
    pub(crate) yaql_tag: bool,
    /// Whether the text is YAML of another ecosystem: anchors, aliases, merge keys, tags of YAML itself and
    /// directives are read as Python reads them, and of duplicate keys the last one counts.
    pub(crate) is_foreign: bool,
}

impl Syntax {
    /// The syntax of a manifest.
    pub(crate) fn of_manifest(limits: &Limits) -> Self {
        Self {
            depth: limits.depth,
            nodes: limits.nodes,
            yaql_tag: false,
            is_foreign: false,
        }
    }

    /// The syntax of a class file.
    pub(crate) fn of_class_file(limits: &Limits) -> Self {
        Self {
            yaql_tag: true,
            ..Self::of_manifest(limits)
        }
    }

    /// The syntax of a YAML file of another ecosystem.
    #[cfg(feature = "packages")]
    fn of_foreign_file(limits: &Limits) -> Self {
        Self {
            is_foreign: true,
            ..Self::of_manifest(limits)
        }
    }

    /// The syntax of an object model.
    pub(crate) fn of_model(limits: &Limits) -> Self {
        Self {
            nodes: limits.model_nodes,
            ..Self::of_manifest(limits)
        }
    }
}

/// A part of a document and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The place of the part in the text.
    pub span: Span,
    /// The content.
    pub value: Value,
}

/// The content of a part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping.
    Mapping(Mapping),
}

/// The text of a scalar, after quotes and escapes are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text.
    pub text: String,
    /// The style in which it is written.
    pub style: Style,
}

/// The style of a scalar. Only a plain one can be null, a number or a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single or double quotes.
    Quoted,
    /// As a block of lines.
    Block,
}

/// A key of a mapping with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Scalar,
    /// The place of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// The entries of a mapping in the order of the document, without duplicate keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    /// The entries.
    pub entries: Vec<Entry>,
}

impl Scalar {
    /// Whether YAML reads this as null.
    pub fn is_null(&self) -> bool {
        self.style == Style::Plain
            && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// Whether some YAML reader reads this as something other than text.
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
    pub fn as_bool(&self) -> Option<bool> {
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

impl Entry {
    /// The end of the entry: that of its value, or of its key if there is no value.
    pub(crate) fn end(&self) -> usize {
        self.value.span.end.max(self.key_span.end)
    }
}

impl Mapping {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value of a key, unless it is null.
    pub fn present(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|node| !node.is_null())
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }
}

impl Node {
    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The mapping, if it is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The items if it is a list, or else the node itself: for values that can be one or several.
    pub fn items_or_self(&self) -> &[Node] {
        self.as_sequence().unwrap_or(std::slice::from_ref(self))
    }

    /// Whether the reference implementation, which is written in Python, takes this for nothing: it reads
    /// many fields as `value or default`.
    pub(crate) fn is_nothing(&self) -> bool {
        match &self.value {
            Value::Scalar(scalar) => {
                scalar.text.is_empty()
                    || scalar.is_null()
                    || scalar.yaml_1_1_bool() == Some(false)
                    || scalar.is_zero()
            }
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(mapping) => mapping.entries.is_empty(),
        }
    }

    /// Whether it is a null.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// The kind of node, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar(scalar) if scalar.is_null() => "null",
            Value::Scalar(_) => "a scalar",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}

/// The documents of a text, and the findings on their syntax.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// `None` if the text has a syntax error or exceeds a limit. Errors that leave the rest readable, such as a
    /// duplicate key, are not among them.
    pub(crate) nodes: Option<Vec<Node>>,
    /// If there is a syntax error: what could be read before it, and from the next entry of the top level on, so
    /// that all of the text can have findings. Something that is not here may be in the text.
    pub(crate) readable: Vec<Node>,
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

/// Reads a YAML file of other ecosystems, which is at most one document. An empty file is none. `what` names the
/// kind of file in the error about its size.
///
/// ```
/// use pkgres_manifest::{Limits, document::read_yaml};
///
/// let limits = Limits::default();
/// let (read, _) = read_yaml("galaxy.yml", b"version: 1.10", "galaxy.yml", &limits)
///     .into_result()
///     .expect("this is YAML");
/// let (_, document) = read;
/// let document = document.expect("it has a document");
/// let version = document.as_mapping().and_then(|mapping| mapping.get("version"));
/// assert_eq!(version.and_then(|node| node.as_scalar()).map(|scalar| &*scalar.text), Some("1.10"));
/// ```
#[cfg(feature = "packages")]
pub fn read_yaml(
    name: &str,
    bytes: &[u8],
    what: &str,
    limits: &Limits,
) -> Parsed<(Arc<SourceText>, Option<Node>)> {
    read_one(name, bytes, what, limits, Syntax::of_foreign_file(limits))
}

/// Reads a file like [`read_yaml`] to edit it. Anchors, aliases and merge keys are errors: an edit in one place would
/// change others, too.
#[cfg(feature = "packages")]
pub fn read_yaml_to_edit(
    name: &str,
    bytes: &[u8],
    what: &str,
    limits: &Limits,
) -> Parsed<(Arc<SourceText>, Option<Node>)> {
    read_one(name, bytes, what, limits, Syntax::of_manifest(limits))
}

/// The name of the limit of a document.
fn bytes_in(what: &str) -> String {
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("bytes in {article} {what}")
}

#[cfg(feature = "packages")]
fn read_one(
    name: &str,
    bytes: &[u8],
    what: &str,
    limits: &Limits,
    syntax: Syntax,
) -> Parsed<(Arc<SourceText>, Option<Node>)> {
    let limit_name = bytes_in(what);
    let source = match decode(name, bytes, &limit_name, limits.manifest_bytes) {
        Ok(source) => source,
        Err(error) => return Parsed::failed(error),
    };
    let mut findings = Vec::new();
    let documents = parse_yaml(&source, syntax);
    let Some(mut nodes) = documents.without_errors(&mut findings) else {
        return Parsed::new(None, findings);
    };
    if let Some(second) = nodes.get(1) {
        let location = Location::new(&source, second.span);
        findings.push(
            Diagnostic::error(Code::Syntax, format!("a {what} is one document")).at(location),
        );
        return Parsed::new(None, findings);
    }
    let document = nodes.pop();
    Parsed::new(Some((source, document)), findings)
}

/// The documents of a YAML text as far as they can be read, for callers that only look for something and report no
/// errors. Tags and anchors are ignored, aliases are empty texts in quotes, and merge keys are keys like others. After
/// a syntax error, only sections of the top level are left. Nothing is left of a text that exceeds a limit.
///
/// ```
/// use pkgres_manifest::{Limits, diagnostic::SourceText, document::lenient_yaml};
///
/// let source = SourceText::new("site.yml", "- debug: &anchor !tag x\n");
/// let documents = lenient_yaml(&source, &Limits::default());
/// let [document] = documents.as_slice() else { panic!("there is one document") };
/// assert_eq!(document.kind(), "a list");
/// ```
#[cfg(feature = "packages")]
pub fn lenient_yaml(source: &Arc<SourceText>, limits: &Limits) -> Vec<Node> {
    let documents = parse_yaml(source, Syntax::of_manifest(limits));
    documents.nodes.unwrap_or(documents.readable)
}

/// Reads a JSON file of other ecosystems. `what` names the kind of file in the error about its size.
#[cfg(feature = "packages")]
pub fn read_json(
    name: &str,
    bytes: &[u8],
    what: &str,
    limits: &Limits,
) -> Parsed<(Arc<SourceText>, Node)> {
    let limit_name = bytes_in(what);
    let source = match decode(name, bytes, &limit_name, limits.manifest_bytes) {
        Ok(source) => source,
        Err(error) => return Parsed::failed(error),
    };
    match parse_json(&source, Syntax::of_manifest(limits)).into_result() {
        Ok((node, findings)) => Parsed::new(Some((source, node)), findings),
        Err(findings) => Parsed::new(None, findings),
    }
}

/// The value of a key at the beginning of a line, as it is written in a YAML text that may have errors.
///
/// ```
/// use pkgres_manifest::document::written_value;
///
/// let text = "'name' : \"tools\" # ours\nversion: [\n";
/// assert_eq!(written_value(text, "name"), Some("tools"));
/// ```
pub fn written_value<'text>(text: &'text str, key: &str) -> Option<&'text str> {
    let value = text.lines().find_map(|line| {
        let quote = line
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''));
        let rest = match quote {
            Some(quote) => line[1..].strip_prefix(key)?.strip_prefix(quote)?,
            None => line.strip_prefix(key)?,
        };
        rest.trim_start().strip_prefix(':')
    })?;
    let value = value.split(" #").next().unwrap_or_default();
    let value = value.trim().trim_matches(['"', '\'']);
    Some(value).filter(|value| !value.is_empty())
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

/// The text of some bytes: UTF-8, without a byte-order mark, and without control characters other than line
/// feed, carriage return and tab. `limit_name` is the name of the limit in its error, such as "bytes in a
/// manifest".
pub(crate) fn decode(
    name: &str,
    bytes: &[u8],
    limit_name: &str,
    limit: u64,
) -> Result<Arc<SourceText>, Diagnostic> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        let beginning = SourceText::new(name, "");
        return Err(
            Limits::exceeded(limit_name, limit).at(Location::new(&beginning, Span::default()))
        );
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
    // Most texts consist of these, which takes far less time to find out than going through characters.
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
