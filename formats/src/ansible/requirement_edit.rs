//! Adds, changes and removes requirements in `requirements.yml` and `galaxy.yml`.
//!
//! The text is edited in place, so that comments, order and quotes stay. Then it is read again: some ways to write
//! YAML should only be edited by a person, and for these, the edit fails.

use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::document::{
    Mapping, Node, TextEdit, Value, apply, differ_in_key_only, line_feed_of, next_line,
    read_yaml_to_edit, start_of_line,
};
use pkgres_manifest::{Limits, PackageName, RequirementEdit, did_you_mean, most_similar_name};

use super::metadata::GALAXY_FILE;
use super::name::package_name;
use super::range::compact;
use crate::format::{FormatFile, first_error};

/// Returns the text of a file with one requirement added, changed or removed.
pub(super) fn with_requirement(
    file: &FormatFile<'_>,
    edit: &RequirementEdit,
    limits: &Limits,
) -> Result<String, Diagnostic> {
    let (package, spec) = match edit {
        RequirementEdit::Set(package, spec) => (package, Some(compact(spec.written()))),
        RequirementEdit::Remove(package) => (package, None),
    };
    // A package can be required several times. One entry is left, which the edit is about.
    let mut text = None;
    loop {
        let bytes = text.as_ref().map_or(file.bytes, String::as_bytes);
        let file = FormatFile { bytes, ..*file };
        match edited_once(&file, package, spec.as_deref(), limits)? {
            Edited::Other(edited) => text = Some(edited),
            Edited::Last(edited) => return Ok(edited),
        }
    }
}

/// The text after one entry was added, changed or removed.
enum Edited {
    /// The last entry of a package of several was removed.
    Other(String),
    /// The package had one entry or none.
    Last(String),
}

fn edited_once(
    file: &FormatFile<'_>,
    package: &PackageName,
    spec: Option<&str>,
    limits: &Limits,
) -> Result<Edited, Diagnostic> {
    let read = read_yaml_to_edit(file.path, file.bytes, file.name(), limits);
    let ((source, document), _) = read.into_result().map_err(first_error)?;
    let shape = RequirementList::of(file);
    let before = Requirements::read(shape, document.as_ref());
    let positions = before.positions(package);
    let (at, spec) = match positions.as_slice() {
        [] => (None, spec),
        [at] => (Some(*at), spec),
        [.., last] => (Some(*last), None),
    };
    if spec.is_none() && at.is_none() {
        return Err(before.not_required(&source, package));
    }
    if let ([at], Some(spec)) = (positions.as_slice(), spec)
        && before.range_of(*at) == spec
    {
        return Ok(Edited::Last(source.text().to_owned()));
    }
    let not_editable = || {
        let message = "the requirements are written in a way that cannot be edited";
        let hint = format!("write them below `{}:`, or edit them by hand", shape.key());
        Diagnostic::error(Code::Field, message)
            .at(Location::new(&source, Span::default()))
            .hint(hint)
    };
    let editor = RequirementEditor {
        text: source.text(),
        line_feed: line_feed_of(source.text()),
        shape,
    };
    let edits = match (spec, at) {
        (Some(spec), Some(at)) => editor.change(&before, at, package, spec),
        (Some(spec), None) => editor.add(&before, package, spec),
        (None, Some(at)) => editor.remove(&before, at).map(|edit| vec![edit]),
        (None, None) => None,
    };
    let edited = apply(source.text(), edits.ok_or_else(not_editable)?);
    let again = read_yaml_to_edit(file.path, edited.as_bytes(), file.name(), limits);
    let ((_, after_document), _) = again.into_result().map_err(|_| not_editable())?;
    let after = Requirements::read(shape, after_document.as_ref());
    let is_right = after.stated() == before.stated_after(package, at, spec)
        && differ_in_key_only(document.as_ref(), after_document.as_ref(), shape.key());
    if !is_right {
        return Err(not_editable());
    }
    Ok(if positions.len() > 1 {
        Edited::Other(edited)
    } else {
        Edited::Last(edited)
    })
}

/// How a file writes requirements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequirementList {
    /// A list of names, and of mappings with `name` and `version`.
    Collections,
    /// A mapping from names to ranges.
    Dependencies,
}

impl RequirementList {
    fn of(file: &FormatFile<'_>) -> Self {
        if file.name() == GALAXY_FILE {
            Self::Dependencies
        } else {
            Self::Collections
        }
    }

    /// The key of the requirements.
    fn key(self) -> &'static str {
        match self {
            Self::Collections => "collections",
            Self::Dependencies => "dependencies",
        }
    }
}

/// A requirement of a file.
struct EntryPosition<'document> {
    /// The name, as it is written.
    name: String,
    /// Where its range is, if it states one.
    range: Option<&'document Node>,
    /// Where the requirement begins: at its name, or at the mapping with the name.
    start: usize,
    end: usize,
    /// The mapping, if it is one in a list.
    mapping: Option<&'document Node>,
}

/// The requirements of a file.
struct Requirements<'document> {
    /// The place of the key and the value of all requirements; `None` if the key is missing.
    place: Option<(Span, &'document Node)>,
    entries: Vec<EntryPosition<'document>>,
    /// Whether there is something that is no requirement.
    has_other_items: bool,
}

impl<'document> Requirements<'document> {
    fn read(shape: RequirementList, document: Option<&'document Node>) -> Self {
        let mut read = Self {
            place: None,
            entries: Vec::new(),
            has_other_items: document.is_some_and(|document| document.as_mapping().is_none()),
        };
        let top = document.and_then(Node::as_mapping);
        let Some(entry) = top.and_then(|top| top.entry(shape.key())) else {
            return read;
        };
        read.place = Some((entry.key_span, &entry.value));
        match (&entry.value.value, shape) {
            (Value::Sequence(items), RequirementList::Collections) => {
                read.entries = items.iter().filter_map(list_entry).collect();
                read.has_other_items = read.entries.len() != items.len();
            }
            (Value::Mapping(mapping), RequirementList::Dependencies) => {
                read.entries = mapping_entries(mapping);
            }
            (Value::Scalar(scalar), _) if scalar.is_null() => {}
            _ => read.has_other_items = true,
        }
        read
    }

    fn positions(&self, package: &PackageName) -> Vec<usize> {
        let is_meant = |entry: &EntryPosition<'_>| {
            package_name(&entry.name).is_ok_and(|name| name == *package)
        };
        let entries = self.entries.iter().enumerate();
        let meant = entries.filter(|(_, entry)| is_meant(entry));
        meant.map(|(at, _)| at).collect()
    }

    /// The range of an entry. Without one, any version is allowed.
    fn range_of(&self, at: usize) -> &str {
        let range = self.entries[at].range.and_then(Node::as_scalar);
        range.map_or("*", |scalar| &scalar.text)
    }

    /// The names with their ranges.
    fn stated(&self) -> Vec<(String, Option<String>)> {
        let stated = self.entries.iter().map(|entry| {
            let range = entry.range.and_then(Node::as_scalar);
            (entry.name.clone(), range.map(|scalar| scalar.text.clone()))
        });
        stated.collect()
    }

    /// What the file should state after an edit of an entry.
    fn stated_after(
        &self,
        package: &PackageName,
        at: Option<usize>,
        spec: Option<&str>,
    ) -> Vec<(String, Option<String>)> {
        let mut stated = self.stated();
        match (at, spec) {
            (Some(at), Some(spec)) => stated[at].1 = Some(spec.to_owned()),
            (Some(at), None) => {
                stated.remove(at);
            }
            (None, Some(spec)) => {
                stated.push((package.to_string(), Some(spec.to_owned())));
            }
            (None, None) => {}
        }
        stated
    }

    fn not_required(&self, source: &Arc<SourceText>, package: &PackageName) -> Diagnostic {
        let message = format!("`{package}` is not required");
        let finding =
            Diagnostic::error(Code::Field, message).at(Location::new(source, Span::default()));
        let names = self.entries.iter().map(|entry| entry.name.as_str());
        finding.maybe_hint(most_similar_name(package.as_str(), names).map(did_you_mean))
    }
}

/// A requirement in a list: a name, or a mapping with one.
fn list_entry(item: &Node) -> Option<EntryPosition<'_>> {
    let Some(mapping) = item.as_mapping() else {
        let scalar = item.as_scalar().filter(|scalar| !scalar.is_null())?;
        return Some(EntryPosition {
            name: scalar.text.clone(),
            range: None,
            start: item.span.start,
            end: item.span.end,
            mapping: None,
        });
    };
    let name = mapping.get("name").and_then(Node::as_scalar)?;
    Some(EntryPosition {
        name: name.text.clone(),
        range: mapping.get("version"),
        start: mapping.entries.first()?.key_span.start.min(item.span.start),
        end: end_of(item),
        mapping: Some(item),
    })
}

/// The requirements of a mapping from names to ranges.
fn mapping_entries(mapping: &Mapping) -> Vec<EntryPosition<'_>> {
    let entries = mapping.entries.iter().map(|entry| EntryPosition {
        name: entry.key.text.clone(),
        range: Some(&entry.value),
        start: entry.key_span.start,
        end: end_of(&entry.value).max(entry.key_span.end),
        mapping: None,
    });
    entries.collect()
}

/// The end of what a node says, without the blank lines and comments that follow it.
fn end_of(node: &Node) -> usize {
    match &node.value {
        Value::Mapping(mapping) => mapping.entries.last().map_or(node.span.end, |last| {
            end_of(&last.value).max(last.key_span.end)
        }),
        Value::Sequence(items) => items.last().map_or(node.span.end, end_of),
        Value::Scalar(_) => node.span.end,
    }
}

/// Makes the edits of a text.
struct RequirementEditor<'text> {
    text: &'text str,
    line_feed: &'static str,
    shape: RequirementList,
}

impl RequirementEditor<'_> {
    /// Inserts whole lines at the beginning of a line, or at the end of the text.
    fn insert_lines(&self, at: usize, lines: &str) -> TextEdit {
        let is_open = at == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n');
        let before = if is_open { self.line_feed } else { "" };
        TextEdit::insert(at, format!("{before}{lines}"))
    }

    /// Inserts whole lines after the line of a place.
    fn insert_lines_after(&self, at: usize, lines: &str) -> TextEdit {
        self.insert_lines(next_line(self.text, at).0, lines)
    }

    /// Whether a node is written in brackets or braces. A list that is not indented begins where its first item does, which
    /// can be one in brackets itself.
    fn is_flow(&self, node: &Node) -> bool {
        let text = &self.text[node.span.start..];
        match &node.value {
            Value::Sequence(items) => {
                let first = items.first().map(|item| item.span.start);
                text.starts_with('[') && first != Some(node.span.start)
            }
            _ => text.starts_with('{'),
        }
    }

    /// A requirement in brackets or braces.
    fn in_flow(&self, package: &PackageName, spec: &str) -> String {
        match self.shape {
            RequirementList::Collections => format!("{{name: {package}, version: \"{spec}\"}}"),
            RequirementList::Dependencies => format!("{package}: \"{spec}\""),
        }
    }

    /// A requirement as lines. `indentation` is what its first line begins with.
    fn in_lines(&self, indentation: &str, package: &PackageName, spec: &str) -> String {
        let line_feed = self.line_feed;
        match self.shape {
            RequirementList::Collections => {
                let inner = " ".repeat(indentation.len());
                format!(
                    "{indentation}name: {package}{line_feed}{inner}version: \"{spec}\"{line_feed}"
                )
            }
            RequirementList::Dependencies => {
                format!("{indentation}{package}: \"{spec}\"{line_feed}")
            }
        }
    }

    /// What the line of a requirement begins with: blanks, and a hyphen in a list.
    fn indentation(&self, entry: &EntryPosition<'_>) -> Option<&str> {
        let before = &self.text[start_of_line(self.text, entry.start)..entry.start];
        let blank = match self.shape {
            RequirementList::Collections => before.replacen('-', " ", 1),
            RequirementList::Dependencies => before.to_owned(),
        };
        blank.chars().all(|next| next == ' ').then_some(before)
    }

    fn add(
        &self,
        requirements: &Requirements<'_>,
        package: &PackageName,
        spec: &str,
    ) -> Option<Vec<TextEdit>> {
        if requirements.has_other_items {
            return None;
        }
        let first = match self.shape {
            RequirementList::Collections => "  - ",
            RequirementList::Dependencies => "  ",
        };
        let Some((key, value)) = requirements.place else {
            let lines = self.in_lines(first, package, spec);
            let lines = format!("{}:{}{lines}", self.shape.key(), self.line_feed);
            return Some(vec![self.insert_lines(self.text.len(), &lines)]);
        };
        if value.is_null() {
            let lines = self.in_lines(first, package, spec);
            let word = self.text.get(value.span.start..value.span.end)?;
            if word.trim().is_empty() {
                return Some(vec![self.insert_lines_after(key.end, &lines)]);
            }
            // The lines take the place of a word such as `null`.
            let before = self.text.get(key.end..value.span.start)?;
            let start = key.end + before.trim_end().len();
            let end = value.span.end;
            return Some(vec![
                TextEdit::remove(Span { start, end }),
                self.insert_lines_after(end, &lines),
            ]);
        }
        let added = self.in_flow(package, spec);
        let edit = match requirements.entries.last() {
            None => TextEdit::insert(value.span.start + 1, added),
            Some(last) if self.is_flow(value) => {
                TextEdit::insert(self.flow_end(last), format!(", {added}"))
            }
            Some(last) => {
                let indentation = self.indentation(last)?;
                let lines = self.in_lines(indentation, package, spec);
                self.insert_lines(self.end_with_comments(last, indentation), &lines)
            }
        };
        Some(vec![edit])
    }

    /// The end of the lines of an entry, with the comment lines below it that belong to it: they are indented deeper
    /// than its first line.
    fn end_with_comments(&self, entry: &EntryPosition<'_>, indentation: &str) -> usize {
        let depth = indentation.len() - indentation.trim_start_matches(' ').len();
        let mut end = next_line(self.text, self.flow_end(entry)).0;
        while end < self.text.len() {
            let (next, _) = next_line(self.text, end);
            let line = &self.text[end..next];
            let comment = line.trim_start_matches(' ');
            if !comment.starts_with('#') || line.len() - comment.len() <= depth {
                break;
            }
            end = next;
        }
        end
    }

    /// The end of a requirement with the brace that closes it.
    fn flow_end(&self, entry: &EntryPosition<'_>) -> usize {
        let in_braces = entry.mapping.filter(|mapping| self.is_flow(mapping));
        in_braces.map_or(entry.end, |mapping| mapping.span.end)
    }

    fn change(
        &self,
        requirements: &Requirements<'_>,
        at: usize,
        package: &PackageName,
        spec: &str,
    ) -> Option<Vec<TextEdit>> {
        let entry = &requirements.entries[at];
        if let Some(range) = entry.range {
            let written = self.text.get(range.span.start..range.span.end)?;
            let quote = if written.starts_with('\'') { '\'' } else { '"' };
            // A missing value has no text of its own.
            let is_missing = written.trim().is_empty();
            let changed = TextEdit::replace(range.span, format!("{quote}{spec}{quote}"));
            return (!is_missing).then(|| vec![changed]);
        }
        let (_, list) = requirements.place?;
        // The version as a line of its own, below the name.
        let version_line = || {
            let inner = " ".repeat(self.indentation(entry)?.len());
            let line = format!("{inner}version: \"{spec}\"{}", self.line_feed);
            Some(self.insert_lines_after(entry.end, &line))
        };
        Some(match entry.mapping {
            Some(mapping) if self.is_flow(mapping) => {
                vec![TextEdit::insert(
                    entry.end,
                    format!(", version: \"{spec}\""),
                )]
            }
            Some(_) => vec![version_line()?],
            None if self.is_flow(list) => {
                let span = Span {
                    start: entry.start,
                    end: entry.end,
                };
                vec![TextEdit::replace(span, self.in_flow(package, spec))]
            }
            // A comment behind the name stays there.
            None => vec![TextEdit::insert(entry.start, "name: "), version_line()?],
        })
    }

    fn remove(&self, requirements: &Requirements<'_>, at: usize) -> Option<TextEdit> {
        let (key, value) = requirements.place?;
        let entries = &requirements.entries;
        let (entry, is_flow) = (&entries[at], self.is_flow(value));
        let (start, end) = match (at.checked_sub(1), entries.get(at + 1)) {
            (Some(before), _) if is_flow => (self.flow_end(&entries[before]), self.flow_end(entry)),
            (None, Some(next)) if is_flow => (entry.start, next.start),
            (None, None) if is_flow => (entry.start, self.flow_end(entry)),
            (None, None) => {
                let empty = match self.shape {
                    RequirementList::Collections => ": []",
                    RequirementList::Dependencies => ": {}",
                };
                let end = next_line(self.text, self.flow_end(entry)).0;
                let start = key.end;
                // Comments above the entry, and behind the key, are left.
                let between = self
                    .text
                    .get(start..start_of_line(self.text, entry.start))?;
                let comments = between
                    .trim_start_matches(':')
                    .trim_end_matches([' ', '\t']);
                let has_comments = comments.contains('#');
                let kept = if has_comments {
                    comments
                } else {
                    self.line_feed
                };
                return Some(TextEdit::replace(
                    Span { start, end },
                    format!("{empty}{kept}"),
                ));
            }
            _ => {
                self.indentation(entry)?;
                (
                    start_of_line(self.text, entry.start),
                    next_line(self.text, self.flow_end(entry)).0,
                )
            }
        };
        Some(TextEdit::remove(Span { start, end }))
    }
}

#[cfg(test)]
mod tests;
