//! Reads the parts of a document, with the same words for the same mistake in every kind of file.

use std::fmt::Display;
use std::sync::Arc;

use super::{Entry, Mapping, Node, Scalar, mapping_hint};
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Location, SourceText, Span};
use crate::similar::{did_you_mean, most_similar};

/// The most keys that the hint about an unknown one lists.
const MAX_LISTED_KEYS: usize = 6;

/// Reads parts of a document and collects what is wrong with them.
///
/// Methods that read a part return `None` once they have reported that it is something else. Parameters called `what`
/// are the noun for a part in messages, with its article or in backticks: "a validator", "`cases`". Methods that report
/// return the finding, so that hints can be added to it.
///
/// ```
/// use pkgres_manifest::Limits;
/// use pkgres_manifest::diagnostic::Code;
/// use pkgres_manifest::document::{NodeReader, read_yaml};
///
/// let read = read_yaml("a.yml", b"kind: [x]\nnmae: y\n", "file", &Limits::default());
/// let ((source, document), _) = read.into_result().expect("it is YAML");
/// let mut reader = NodeReader::new(&source, Code::Field);
/// let document = document.expect("there is a document");
/// let mapping = reader.mapping(&document, "a file").expect("it is a mapping");
/// reader.unknown_keys(mapping, &["kind", "name"], "a file");
/// assert_eq!(reader.text(&mapping.entries[0].value, "`kind`"), None);
/// let findings: Vec<String> = reader.into_findings().iter().map(ToString::to_string).collect();
/// assert_eq!(findings, [
///     "a.yml:2:1: error[PK0007]: unknown key `nmae` in a file; hint: did you mean `name`?",
///     "a.yml:1:7: error[PK0007]: `kind` must be text, not a list",
/// ]);
/// ```
#[derive(Debug)]
pub struct NodeReader<'source> {
    source: &'source Arc<SourceText>,
    code: Code,
    /// Whether there is no syntax error. If there is one, what seems to be missing may be in the rest.
    is_whole: bool,
    findings: Vec<Diagnostic>,
}

impl<'source> NodeReader<'source> {
    /// A reader of a text without syntax errors. Findings have the code unless a method takes another one.
    pub fn new(source: &'source Arc<SourceText>, code: Code) -> Self {
        Self::partial(source, code, true)
    }

    /// A reader of what can be read of a text. `is_whole` says that all of it can be.
    pub(crate) fn partial(source: &'source Arc<SourceText>, code: Code, is_whole: bool) -> Self {
        Self {
            source,
            code,
            is_whole,
            findings: Vec::new(),
        }
    }

    /// The text.
    pub(crate) fn source(&self) -> &'source Arc<SourceText> {
        self.source
    }

    /// Whether the text has no syntax error.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The findings so far.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// The findings.
    pub fn into_findings(self) -> Vec<Diagnostic> {
        self.findings
    }

    /// The location of a place in the text.
    pub fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    /// A value with the location of its place.
    pub fn located<T>(&self, value: T, span: Span) -> Located<T> {
        let location = self.location(span);
        Located { value, location }
    }
}

/// Reports.
impl NodeReader<'_> {
    /// Adds a finding.
    pub fn report(&mut self, finding: Diagnostic) -> &mut Diagnostic {
        self.findings.push(finding);
        self.findings.last_mut().expect("it was pushed")
    }

    /// Reports an error.
    pub fn error(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.error_of(self.code, message, span)
    }

    /// Reports an error with another code.
    pub fn error_of(
        &mut self,
        code: Code,
        message: impl Into<String>,
        span: Span,
    ) -> &mut Diagnostic {
        let location = self.location(span);
        self.report(Diagnostic::error(code, message).at(location))
    }

    /// Reports a warning.
    pub fn warning(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.warning_of(self.code, message, span)
    }

    /// Reports a note.
    pub fn note(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        let location = self.location(span);
        self.report(Diagnostic::note(self.code, message).at(location))
    }

    /// Reports a warning with another code.
    pub fn warning_of(
        &mut self,
        code: Code,
        message: impl Into<String>,
        span: Span,
    ) -> &mut Diagnostic {
        let location = self.location(span);
        self.report(Diagnostic::warning(code, message).at(location))
    }

    /// Reports that something is missing, unless it may be in a part of the text that cannot be read.
    pub(crate) fn missing(
        &mut self,
        message: impl Into<String>,
        span: Span,
    ) -> Option<&mut Diagnostic> {
        self.is_whole.then(|| self.error(message, span))
    }

    /// Reports what is there a second time.
    pub(crate) fn repeated(
        &mut self,
        message: impl Into<String>,
        again: &Location,
        first: &Location,
    ) -> &mut Diagnostic {
        let finding = Diagnostic::error(self.code, message);
        let finding = finding.label(again.clone(), "again here");
        self.report(finding.label(first.clone(), "first here"))
    }

    /// Reports that a part is not what it must be.
    pub fn wrong_kind(&mut self, what: &str, expected: &str, node: &Node) -> &mut Diagnostic {
        self.wrong_kind_of(self.code, what, expected, node)
    }

    /// Reports with another code that a part is not what it must be.
    pub fn wrong_kind_of(
        &mut self,
        code: Code,
        what: &str,
        expected: &str,
        node: &Node,
    ) -> &mut Diagnostic {
        let message = format!("{what} must be {expected}, not {}", node.kind());
        let hint = mapping_hint(node).filter(|_| expected.starts_with("a mapping"));
        let finding = self.error_of(code, message, node.span);
        finding.hints.extend(hint);
        finding
    }

    /// Reports a key that has no meaning. `owner` is the noun for what has it, with its article.
    pub fn unknown_key(&mut self, entry: &Entry, known: &[&str], owner: &str) -> &mut Diagnostic {
        let (message, hint) = about_unknown_key(entry, known, owner);
        let finding = self.error(message, entry.key_span);
        finding.hints.extend(hint);
        finding
    }

    /// Reports every key of a mapping that has no meaning: a misspelt one would have no effect.
    pub fn unknown_keys(&mut self, mapping: &Mapping, known: &[&str], owner: &str) {
        for entry in unknown_entries(mapping, known) {
            self.unknown_key(entry, known, owner);
        }
    }

    /// Warns about every key of a mapping that has no meaning.
    pub fn warn_of_unknown_keys(&mut self, mapping: &Mapping, known: &[&str], owner: &str) {
        for entry in unknown_entries(mapping, known) {
            let (message, hint) = about_unknown_key(entry, known, owner);
            let finding = self.warning(message, entry.key_span);
            finding.hints.extend(hint);
        }
    }
}

/// Reads.
impl NodeReader<'_> {
    /// The only document of a file. `kind` is the noun for the file, without an article. An empty file and other
    /// documents are errors.
    pub(crate) fn only_document<'node>(
        &mut self,
        documents: &'node [Node],
        kind: &str,
    ) -> Option<&'node Node> {
        let Some(document) = documents.first() else {
            self.missing(format!("the {kind} is empty"), Span::default());
            return None;
        };
        if let Some(second) = documents.get(1) {
            self.missing(format!("the {kind} must be a single document"), second.span);
        }
        Some(document)
    }

    /// A mapping.
    pub fn mapping<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Mapping> {
        let mapping = node.as_mapping();
        if mapping.is_none() {
            self.wrong_kind(what, "a mapping", node);
        }
        mapping
    }

    /// A mapping, which is empty for null.
    pub fn mapping_or_null<'node>(
        &mut self,
        node: &'node Node,
        what: &str,
    ) -> Option<&'node Mapping> {
        static EMPTY: Mapping = Mapping {
            entries: Vec::new(),
        };
        if node.is_null() {
            return Some(&EMPTY);
        }
        self.mapping(node, what)
    }

    /// The only entry of a mapping.
    pub(crate) fn only_entry<'node>(
        &mut self,
        node: &'node Node,
        what: &str,
    ) -> Option<&'node Entry> {
        let mapping = self.mapping(node, what)?;
        match mapping.entries.as_slice() {
            [entry] => Some(entry),
            [] => {
                self.error(format!("{what} has no key"), node.span);
                None
            }
            [_, second, ..] => {
                let message = format!("{what} has more than one key");
                self.error(message, second.key_span)
                    .add_hint("begin a new item of the list with `- `, or indent the key");
                None
            }
        }
    }

    /// The items of a list. `expected` says what kind of list, such as "a list of resources".
    pub fn list<'node>(
        &mut self,
        node: &'node Node,
        what: &str,
        expected: &str,
    ) -> Option<&'node [Node]> {
        let items = node.as_sequence();
        if items.is_none() {
            self.wrong_kind(what, expected, node);
        }
        items
    }

    /// A scalar that is not null.
    pub fn text<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Scalar> {
        let scalar = node.as_scalar().filter(|scalar| !scalar.is_null());
        if scalar.is_none() {
            self.wrong_kind(what, "text", node);
        }
        scalar
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        let value = node.as_scalar().and_then(Scalar::as_bool);
        if value.is_none() {
            self.error(format!("{what} must be `true` or `false`"), node.span);
        }
        value
    }

    /// One of two words, with what it means.
    pub(crate) fn word<T>(
        &mut self,
        node: &Node,
        what: &str,
        [(first, one), (second, other)]: [(&str, T); 2],
    ) -> Option<T> {
        let written = node.as_scalar().map(|scalar| scalar.text.as_str());
        match written {
            Some(word) if word == first => Some(one),
            Some(word) if word == second => Some(other),
            _ => {
                let message = format!("{what} must be `{first}` or `{second}`");
                let similar = written.and_then(|word| most_similar(word, [first, second]));
                let error = self.error(message, node.span);
                if let Some(similar) = similar {
                    error.add_hint(did_you_mean(similar));
                }
                None
            }
        }
    }

    /// The value of a key that must be there. `owner` is the noun for what has it, and `span` its place.
    pub fn required<'node>(
        &mut self,
        mapping: &'node Mapping,
        key: &str,
        owner: &str,
        span: Span,
    ) -> Option<&'node Node> {
        let value = mapping.get(key);
        if value.is_none() {
            self.missing(format!("{owner} has no `{key}`"), span);
        }
        value
    }

    /// The value that a text stands for. The error is that of the function.
    pub fn parsed<T, E: Display>(
        &mut self,
        text: &str,
        span: Span,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<Located<T>> {
        match parse(text) {
            Ok(value) => Some(self.located(value, span)),
            Err(error) => {
                self.error(error.to_string(), span);
                None
            }
        }
    }
}

fn unknown_entries<'mapping>(
    mapping: &'mapping Mapping,
    known: &[&str],
) -> impl Iterator<Item = &'mapping Entry> {
    let entries = mapping.entries.iter();
    entries.filter(|entry| !known.contains(&entry.key.text.as_str()))
}

/// The message about a key that has no meaning, and a hint: the key that was probably meant, or the few that there are.
fn about_unknown_key(entry: &Entry, known: &[&str], owner: &str) -> (String, Option<String>) {
    let key = entry.key.text.as_str();
    let message = format!("unknown key `{}` in {owner}", Escaped::shortened(key));
    let hint = match most_similar(key, known.iter().copied()) {
        Some(similar) => Some(did_you_mean(similar)),
        None if known.len() == 1 => Some(format!("the only key of {owner} is `{}`", known[0])),
        None if known.len() <= MAX_LISTED_KEYS => {
            let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
            Some(format!("the keys of {owner} are {}", known.join(", ")))
        }
        None => None,
    };
    (message, hint)
}
