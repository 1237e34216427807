//! YAML documents as trees, composed from the events of a parser.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle};

use super::merge_marker::merge_conflict;
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
        anchored: HashMap::new(),
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
    let conflict = (!composer.diagnostics.is_empty())
        .then(|| merge_conflict(source))
        .flatten();
    if let Some(conflict) = conflict {
        return Documents {
            diagnostics: vec![conflict],
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
    anchor: Option<usize>,
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

/// A node that aliases refer to.
struct Anchored {
    node: Node,
    nodes: usize,
    depth: usize,
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
    /// The nodes with anchors that have ended, in texts that may have some.
    anchored: HashMap<usize, Anchored>,
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
            disallow_directives: !self.syntax.is_foreign,
            // One more than is allowed, so that the limit is reported here, by its name.
            flow_nesting_limit: self.syntax.depth + 2,
            block_nesting_limit: self.syntax.depth + 2,
        };
        self.base = base;
        self.anchored.clear();
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
        while let Some(Open {
            span, collection, ..
        }) = self.open.pop()
        {
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
        let anchor = event.anchor_id().filter(|_| self.syntax.is_foreign);
        match event {
            Event::Scalar(text, style, _, tag) => {
                let is_text = tag.is_some_and(|tag| tag.core_suffix() == Some("str"));
                let style = match style {
                    ScalarStyle::Plain if is_text && self.syntax.is_foreign => Style::Quoted,
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let text = match text {
                    Cow::Borrowed(text) => text.to_owned(),
                    Cow::Owned(text) => text,
                };
                let value = Value::Scalar(Scalar { text, style });
                return self.complete(Node { span, value }, anchor);
            }
            Event::Alias(id) if self.anchored.contains_key(&id) => return self.repeat(id, span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                if !self.count_past_cap() && !self.report_unquoted_spec(span.start) {
                    let message = if self.syntax.is_foreign {
                        "this alias has no anchor before it"
                    } else {
                        "aliases are not allowed"
                    };
                    self.report(Code::ForbiddenYaml, message, span);
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
                return self.begin(Collection::Sequence(Vec::new()), span, anchor);
            }
            Event::MappingStart(..) => {
                let collection = Collection::Mapping {
                    entries: Vec::new(),
                    seen: HashSet::new(),
                    key: None,
                    skip_value: false,
                };
                return self.begin(collection, span, anchor);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open {
                    span: start,
                    anchor,
                    collection,
                } = self.open.pop().expect("every end has a beginning");
                let (value, last_end) = match collection {
                    Collection::Sequence(items) => {
                        let last_end = items.last().map(|item| item.span.end);
                        (Value::Sequence(items), last_end)
                    }
                    Collection::Mapping { entries, .. } => {
                        let last_end = entries.last().map(|entry| entry.value.span.end);
                        let entries = self.merged(entries);
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
                let span = Span {
                    start: start.start,
                    end: end.max(start.end),
                };
                return self.complete(Node { span, value }, anchor);
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

    fn begin(&mut self, collection: Collection, span: Span, anchor: Option<usize>) -> Flow {
        if self.open.len() >= self.syntax.depth {
            return self.stop(
                Limits::exceeded("levels of nesting", self.syntax.depth),
                span,
            );
        }
        self.open.push(Open {
            span,
            anchor,
            collection,
        });
        Flow::Continue(())
    }

    /// Adds a node, and remembers it if it has an anchor. The copy counts as nodes, so that anchors within anchors stay
    /// below the limit.
    fn complete(&mut self, node: Node, anchor: Option<usize>) -> Flow {
        if let Some(anchor) = anchor {
            let (nodes, depth) = measure(&node);
            self.nodes += nodes;
            if self.nodes > self.syntax.nodes {
                return self.stop(Limits::exceeded("nodes", self.syntax.nodes), node.span);
            }
            let anchored = Anchored {
                node: node.clone(),
                nodes,
                depth,
            };
            self.anchored.insert(anchor, anchored);
        }
        self.add(node);
        Flow::Continue(())
    }

    /// Adds a copy of the node that an alias refers to. Limits apply to the expanded document, not to its text.
    fn repeat(&mut self, anchor: usize, span: Span) -> Flow {
        let anchored = &self.anchored[&anchor];
        self.nodes += anchored.nodes;
        if self.nodes > self.syntax.nodes {
            return self.stop(Limits::exceeded("nodes", self.syntax.nodes), span);
        }
        if self.open.len() + anchored.depth > self.syntax.depth {
            let limit = Limits::exceeded("levels of nesting", self.syntax.depth);
            return self.stop(limit, span);
        }
        let value = anchored.node.value.clone();
        self.add(Node { span, value });
        Flow::Continue(())
    }

    /// The entries of a mapping with those of its merge keys, as YAML 1.1 has them: its own ones win, then those that
    /// are named first.
    fn merged(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let is_merge = |entry: &Entry| entry.key.style == Style::Plain && entry.key.text == "<<";
        if !self.syntax.is_foreign || !entries.iter().any(is_merge) {
            return entries;
        }
        let (merges, own): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(is_merge);
        let mut all = own;
        let mut seen: HashSet<String> = all.iter().map(|entry| entry.key.text.clone()).collect();
        // Of several merge keys, the last one wins.
        for merge in merges.into_iter().rev() {
            let at = merge.value.span;
            let sources = match merge.value.value {
                Value::Sequence(items) => items,
                _ => vec![merge.value],
            };
            for source in sources {
                let Value::Mapping(mapping) = source.value else {
                    if !self.count_past_cap() {
                        self.report(Code::Syntax, "only mappings can be merged", at);
                    }
                    continue;
                };
                let new = mapping.entries.into_iter();
                all.extend(new.filter(|entry| seen.insert(entry.key.text.clone())));
            }
        }
        all
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
        let is_foreign = self.syntax.is_foreign;
        if event.anchor_id().is_some() && !is_foreign && !self.count_past_cap() {
            let at = self.property_before(span, '&');
            self.report(Code::ForbiddenYaml, "anchors are not allowed", at);
        }
        let Some(tag) = event.tag() else {
            return;
        };
        let is_yaql = tag.original() == "!yaql" && matches!(event, Event::Scalar(..));
        if is_yaql && self.syntax.yaql_tag || is_foreign && tag.core_suffix().is_some() {
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
            if !self.syntax.is_foreign && !self.count_past_cap() {
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
            let at = (entries.iter()).position(|entry| entry.key.text == scalar.text);
            let first = at.map(|at| Location::new(self.source, entries[at].key_span));
            let message = format!(
                "the key `{}` appears twice",
                Escaped::shortened(&scalar.text)
            );
            let mut diagnostic = Diagnostic::error(Code::DuplicateKey, message)
                .label(Location::new(self.source, span), "again here");
            if let Some(first) = first {
                diagnostic = diagnostic.label(first, "first here");
            }
            if let Some(at) = at.filter(|_| self.syntax.is_foreign) {
                // As for Python, the last one counts.
                diagnostic.severity = Severity::Warning;
                entries.remove(at);
                *skip_value = false;
                *key = Some((scalar, span));
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

/// The number of nodes in a node, and of levels of sequences and mappings.
fn measure(node: &Node) -> (usize, usize) {
    let (mut nodes, mut depth) = (0, 0);
    let mut rest = vec![(node, 0)];
    while let Some((node, level)) = rest.pop() {
        nodes += 1;
        depth = depth.max(level + usize::from(!matches!(node.value, Value::Scalar(_))));
        match &node.value {
            Value::Scalar(_) => {}
            Value::Sequence(items) => rest.extend(items.iter().map(|item| (item, level + 1))),
            Value::Mapping(mapping) => {
                let values = mapping.entries.iter().map(|entry| &entry.value);
                nodes += mapping.entries.len();
                rest.extend(values.map(|value| (value, level + 1)));
            }
        }
    }
    (nodes, depth)
}
