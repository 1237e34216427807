//! YAML documents as trees, composed from the events of a parser.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle};

use super::merge_marker;
use super::syntax_error;
use super::unquoted_spec;
use super::{Documents, Entry, Mapping, Node, Scalar, Style, Syntax, Value};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Location, MAX_FINDINGS_PER_FILE, Severity, SourceText, Span,
    left_out,
};
use crate::read_options::Limits;

pub(super) fn parse(source: &Arc<SourceText>, syntax: Syntax) -> Documents {
    if let Some(line_break) = ambiguous_line_break(source) {
        return Documents {
            diagnostics: vec![line_break],
            ..Documents::default()
        };
    }
    let mut composer = YamlComposer {
        source,
        syntax,
        base: 0,
        is_continued: false,
        nodes: 0,
        open: Vec::new(),
        documents: Vec::new(),
        diagnostics: Vec::new(),
        left_out: 0,
    };
    let mut end = composer.read_from(0);
    let is_whole = end == End::OfText;
    while let End::Error(at) = end {
        let Some(next) = next_section(source.text(), at) else {
            break;
        };
        if composer.diagnostics.len() >= MAX_FINDINGS_PER_FILE {
            break;
        }
        end = composer.read_from(next);
    }
    // Merge conflict markers cause many kinds of errors, none of which names the cause.
    let merge = (!composer.diagnostics.is_empty())
        .then(|| merge_marker::first(source))
        .flatten();
    if let Some(marker) = merge {
        return Documents {
            diagnostics: vec![unmerged(marker)],
            ..Documents::default()
        };
    }
    if composer.left_out > 0 {
        let rest = left_out(composer.left_out, Severity::Error, source);
        composer.diagnostics.push(rest);
    }
    let (nodes, readable) = match (is_whole, end) {
        (true, _) => (Some(composer.documents), Vec::new()),
        (false, End::OfLimit) => (None, Vec::new()),
        (false, _) => (None, composer.documents),
    };
    Documents {
        nodes,
        readable,
        diagnostics: composer.diagnostics,
    }
}

/// Why the reading of a text or of a part of it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    OfText,
    /// A limit is exceeded.
    OfLimit,
    /// There is a syntax error at this place.
    Error(usize),
}

/// The first line behind the one of an error that begins an entry of the top level, or a document. What is
/// between it and the error cannot be read.
fn next_section(text: &str, error: usize) -> Option<usize> {
    let from = text.floor_char_boundary(error.min(text.len()));
    let mut start = from;
    for line in text[from..].split_inclusive('\n') {
        let is_beginning = line.starts_with(|first: char| first.is_ascii_alphabetic());
        if start > from && (is_beginning && line.contains(':') || line.starts_with("---")) {
            return Some(start);
        }
        start += line.len();
    }
    None
}

/// The error for a character that ends a line for readers of YAML 1.1, such as the deployment engine, and not
/// for those of YAML 1.2: behind one of them in a comment, readers of 1.1 see keys that others do not.
fn ambiguous_line_break(source: &Arc<SourceText>) -> Option<Diagnostic> {
    let text = source.text();
    // A byte is found much faster than a character, and few texts have it.
    if !text.as_bytes().contains(&0xe2) {
        return None;
    }
    let (start, character) = text.match_indices(['\u{2028}', '\u{2029}']).next()?;
    let message = format!(
        "the character `{}` is not allowed, because some readers of YAML take it for the end of a line",
        Escaped::shortened(character)
    );
    let end = start + character.len();
    let location = Location::new(source, Span { start, end });
    Some(Diagnostic::error(Code::Encoding, message).at(location))
}

/// Returns a name, or a part of one, as YAML writes it: in quotes if it could be read as something other
/// than text, like `Null` or `On`.
///
/// ```
/// use pkgres_manifest::yaml_word;
///
/// assert_eq!(yaml_word("org.acme.Web"), "org.acme.Web");
/// assert_eq!(yaml_word("Null"), "\"Null\"");
/// ```
pub fn yaml_word(word: &str) -> Cow<'_, str> {
    let plain = Scalar {
        text: word.to_owned(),
        style: Style::Plain,
    };
    if plain.is_mistakable() {
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Borrowed(word)
    }
}

/// A sequence or mapping whose end is still to come.
struct Open {
    span: Span,
    collection: Collection,
}

enum Collection {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<Entry>,
        seen: HashSet<String>,
        /// The key whose value comes next.
        key: Option<(Scalar, Span)>,
        /// Whether the value that comes next belongs to a key that is an error.
        skip_value: bool,
    },
}

struct YamlComposer<'source> {
    source: &'source Arc<SourceText>,
    syntax: Syntax,
    /// Where the part of the text begins that is being read: 0, or a place behind a syntax error.
    base: usize,
    /// Whether the next node continues the document that a syntax error has ended.
    is_continued: bool,
    nodes: usize,
    open: Vec<Open>,
    documents: Vec<Node>,
    diagnostics: Vec<Diagnostic>,
    /// The number of errors past the cap. Finding their causes would take too long: an input can have one
    /// every few bytes, each on a line as long as the input.
    left_out: usize,
}

type Flow = std::ops::ControlFlow<()>;

impl YamlComposer<'_> {
    /// Reads the text from a place on.
    fn read_from(&mut self, base: usize) -> End {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            disallow_directives: true,
            // One more than is allowed, so that the limit is reported here, by its name.
            flow_nesting_limit: self.syntax.depth + 2,
            block_nesting_limit: self.syntax.depth + 2,
        };
        self.base = base;
        let source = Arc::clone(self.source);
        let text = &source.text()[base..];
        self.is_continued = base > 0 && !text.starts_with("---");
        for event in Parser::new_from_str_with_options(text, options) {
            match event {
                Ok((event, span)) => {
                    let range = span.byte_range().unwrap_or_default();
                    let span = Span {
                        start: base + range.start,
                        end: base + range.end,
                    };
                    if self.take(event, span).is_break() {
                        return End::OfLimit;
                    }
                }
                Err(error) => {
                    let at = base + error.marker().byte_offset().unwrap_or(0);
                    self.syntax_error(&error, at);
                    self.close_all(at);
                    let is_limit = *error.kind() == ErrorKind::RecursionLimitExceeded;
                    return if is_limit {
                        End::OfLimit
                    } else {
                        End::Error(at)
                    };
                }
            }
        }
        End::OfText
    }

    /// Ends what is open at a syntax error, without a key that has no value yet, and without values that reach into
    /// the line of the error: the parser may have joined them with what is wrong there.
    fn close_all(&mut self, error: usize) {
        let text = self.source.text();
        let error = text.floor_char_boundary(error.min(text.len()));
        let line = text[..error].rfind('\n').map_or(0, |at| at + 1);
        let is_before = |node: &Node| node.span.end <= line;
        while let Some(Open { span, collection }) = self.open.pop() {
            let value = match collection {
                Collection::Sequence(mut items) => {
                    items.truncate(items.iter().take_while(|item| is_before(item)).count());
                    Value::Sequence(items)
                }
                Collection::Mapping { mut entries, .. } => {
                    let before = entries.iter().take_while(|entry| is_before(&entry.value));
                    entries.truncate(before.count());
                    Value::Mapping(Mapping { entries })
                }
            };
            self.add(Node { span, value });
        }
    }

    /// Adds a node at the top level: a document, or the rest of one after a syntax error.
    fn add_document(&mut self, node: Node) {
        let is_continued = std::mem::take(&mut self.is_continued);
        let last = self.documents.last_mut().map(|last| &mut last.value);
        let Some(Value::Mapping(before)) = last.filter(|_| is_continued) else {
            self.documents.push(node);
            return;
        };
        if let Value::Mapping(rest) = node.value {
            // At most once for each error, of which there are few.
            let keys = before.entries.iter().map(|entry| entry.key.text.clone());
            let seen: HashSet<String> = keys.collect();
            let entries = rest.entries.into_iter();
            let new = entries.filter(|entry| !seen.contains(&entry.key.text));
            before.entries.extend(new);
        } else if let Some(hint) = syntax_error::mapping_hint(&node) {
            let location = Location::new(self.source, node.span);
            let finding = Diagnostic::error(Code::Syntax, "this is not an entry of a mapping");
            self.diagnostics.push(finding.at(location).hint(hint));
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Flow {
        if event.is_node() {
            self.nodes += 1;
            if self.nodes > self.syntax.nodes {
                return self.stop(Limits::exceeded("nodes", self.syntax.nodes), span);
            }
            self.report_properties(&event, span);
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let text = match text {
                    Cow::Borrowed(text) => text.to_owned(),
                    Cow::Owned(text) => text,
                };
                self.add(Node {
                    span,
                    value: Value::Scalar(Scalar { text, style }),
                });
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                if !self.count_past_cap() && !self.report_unquoted_spec(span.start) {
                    self.report(Code::ForbiddenYaml, "aliases are not allowed", span);
                }
                self.add(Node {
                    span,
                    value: Value::Scalar(Scalar {
                        text: String::new(),
                        style: Style::Quoted,
                    }),
                });
            }
            Event::SequenceStart(..) => {
                return self.begin(Collection::Sequence(Vec::new()), span);
            }
            Event::MappingStart(..) => {
                let collection = Collection::Mapping {
                    entries: Vec::new(),
                    seen: HashSet::new(),
                    key: None,
                    skip_value: false,
                };
                return self.begin(collection, span);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open {
                    span: start,
                    collection,
                } = self.open.pop().expect("every end has a beginning");
                let (value, last_end) = match collection {
                    Collection::Sequence(items) => {
                        let last_end = items.last().map(|item| item.span.end);
                        (Value::Sequence(items), last_end)
                    }
                    Collection::Mapping { entries, .. } => {
                        let last_end = entries.last().map(|entry| entry.value.span.end);
                        (Value::Mapping(Mapping { entries }), last_end)
                    }
                };
                // A block has no closing mark: the parser notices its end at the next token.
                let is_block = span.start == span.end;
                let end = if is_block {
                    last_end.unwrap_or(start.end)
                } else {
                    span.end
                };
                self.add(Node {
                    span: Span {
                        start: start.start,
                        end: end.max(start.end),
                    },
                    value,
                });
            }
            Event::DocumentStart(..) => {
                self.nodes += 1;
                if self.nodes > self.syntax.nodes {
                    return self.stop(Limits::exceeded("nodes", self.syntax.nodes), span);
                }
            }
            _ => {}
        }
        Flow::Continue(())
    }

    fn begin(&mut self, collection: Collection, span: Span) -> Flow {
        if self.open.len() >= self.syntax.depth {
            return self.stop(
                Limits::exceeded("levels of nesting", self.syntax.depth),
                span,
            );
        }
        self.open.push(Open { span, collection });
        Flow::Continue(())
    }

    fn stop(&mut self, diagnostic: Diagnostic, span: Span) -> Flow {
        let location = Location::new(self.source, span);
        self.diagnostics.push(diagnostic.at(location));
        Flow::Break(())
    }

    fn report(&mut self, code: Code, message: impl Into<String>, span: Span) {
        let location = Location::new(self.source, span);
        self.diagnostics
            .push(Diagnostic::error(code, message).at(location));
    }

    /// Returns whether the cap is reached, and counts the error that the caller was about to report if it is.
    fn count_past_cap(&mut self) -> bool {
        let is_past = self.diagnostics.len() >= MAX_FINDINGS_PER_FILE;
        self.left_out += usize::from(is_past);
        is_past
    }

    /// Reports anchors and tags.
    fn report_properties(&mut self, event: &Event<'_>, span: Span) {
        if event.anchor_id().is_some() && !self.count_past_cap() {
            let at = self.property_before(span, '&');
            self.report(Code::ForbiddenYaml, "anchors are not allowed", at);
        }
        let Some(tag) = event.tag() else {
            return;
        };
        let is_yaql = tag.original() == "!yaql" && matches!(event, Event::Scalar(..));
        if is_yaql && self.syntax.yaql_tag {
            return;
        }
        if self.count_past_cap() {
            return;
        }
        let before = self.source.text()[..span.start].trim_end();
        let tag_start = before.rfind('!').map_or(span.start, |at| {
            // A local tag such as `!a` has one mark, a global one such as `!!str` has two.
            at - usize::from(before[..at].ends_with('!'))
        });
        if !self.report_unquoted_spec(tag_start) {
            let message = format!(
                "the tag `{}` is not allowed",
                Escaped::shortened(&tag.original())
            );
            let at = self.property_before(span, '!');
            self.report(Code::ForbiddenYaml, message, at);
        }
    }

    /// The anchor or tag of a node, which is in front of it, by the mark that it begins with; the parser has no position
    /// of its own for it.
    fn property_before(&self, node: Span, mark: char) -> Span {
        let text = self.source.text();
        let mut words = text[..node.start]
            .split_inclusive(char::is_whitespace)
            .rev();
        let mut end = node.start;
        let found = words.find_map(|word| {
            let start = end - word.len();
            end = start;
            let at = word.find(mark)?;
            let name = word[at..].trim_end();
            (name.len() > 1).then(|| Span {
                start: start + at,
                end: start + at + name.len(),
            })
        });
        found.unwrap_or(node)
    }

    fn add(&mut self, node: Node) {
        let Some(parent) = self.open.last_mut() else {
            self.add_document(node);
            return;
        };
        let Collection::Mapping {
            entries,
            seen,
            key,
            skip_value,
        } = &mut parent.collection
        else {
            let Collection::Sequence(items) = &mut parent.collection else {
                unreachable!("a collection is a sequence or a mapping");
            };
            items.push(node);
            return;
        };
        if *skip_value {
            *skip_value = false;
            return;
        }
        if let Some((key, key_span)) = key.take() {
            let mut value = node;
            if value.span.start == value.span.end {
                // The place of a value that is left out is right after the colon, not where the next
                // token happens to be.
                let text = self.source.text();
                let next_token = value.span.start.max(key_span.end);
                let end = text.ceil_char_boundary(next_token + 1);
                let colon = text[key_span.end..end].find(':');
                let at = key_span.end + colon.map_or(0, |colon| colon + 1);
                value.span = Span { start: at, end: at };
            }
            entries.push(Entry {
                key,
                key_span,
                value,
            });
            return;
        }
        let span = node.span;
        let Value::Scalar(scalar) = node.value else {
            *skip_value = true;
            if !self.count_past_cap() {
                self.report(Code::Syntax, "a key must be a scalar", span);
            }
            return;
        };
        if scalar.style == Style::Plain && scalar.text == "<<" {
            // For lenient readers, which see that there is more than what is written here.
            *key = Some((scalar, span));
            if !self.count_past_cap() {
                self.report(Code::ForbiddenYaml, "merge keys are not allowed", span);
            }
        } else if seen.insert(scalar.text.clone()) {
            *key = Some((scalar, span));
        } else {
            *skip_value = true;
            // Not through `count_past_cap`: the entries are still borrowed.
            if self.diagnostics.len() >= MAX_FINDINGS_PER_FILE {
                self.left_out += 1;
                return;
            }
            let first = entries
                .iter()
                .find(|entry| entry.key.text == scalar.text)
                .map(|entry| Location::new(self.source, entry.key_span));
            let message = format!(
                "the key `{}` appears twice",
                Escaped::shortened(&scalar.text)
            );
            let mut diagnostic = Diagnostic::error(Code::DuplicateKey, message)
                .label(Location::new(self.source, span), "again here");
            if let Some(first) = first {
                diagnostic = diagnostic.label(first, "first here");
            }
            self.diagnostics.push(diagnostic);
        }
    }

    fn syntax_error(&mut self, error: &granit_parser::ScanError, start: usize) {
        if self.report_unquoted_spec(start) {
            return;
        }
        let (code, message) = match error.kind() {
            ErrorKind::RecursionLimitExceeded => (
                Code::Limit,
                Limits::exceeded("levels of nesting", self.syntax.depth).message,
            ),
            ErrorKind::DirectiveDisallowed => {
                (Code::ForbiddenYaml, "directives are not allowed".to_owned())
            }
            kind => match syntax_error::cause(self.source, kind, start) {
                Some(finding) => {
                    self.diagnostics.push(finding);
                    return;
                }
                None => (Code::Syntax, Escaped::shortened(&error.info()).to_string()),
            },
        };
        self.report(code, message, Span { start, end: start });
    }

    /// Reports an unquoted spec if a value at or before `offset` on its line begins like one, and returns
    /// whether it did.
    fn report_unquoted_spec(&mut self, offset: usize) -> bool {
        let found = unquoted_spec::find(self.source.text(), offset);
        if let Some((start, value)) = found {
            let end = start + value.len();
            let location = Location::new(self.source, Span { start, end });
            self.diagnostics.push(unquoted_spec::error(value, location));
        }
        found.is_some()
    }
}

/// The error for a file with merge conflict markers.
fn unmerged(marker: Location) -> Diagnostic {
    Diagnostic::error(Code::Syntax, "the file contains merge conflict markers")
        .at(marker)
        .hint("resolve the conflict, and remove the lines with markers")
}
