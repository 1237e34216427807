//! Adds, changes and removes requirements in `requirements.yml` and `galaxy.yml`.
//!
//! The text is edited in place, so that comments, order and quotes stay. Then it is read again: some ways to write
//! YAML should only be edited by a person, and for these, the edit fails.

use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::document::{Mapping, Node, Value, differ_in_key_only, read_yaml};
use pkgres_manifest::{Limits, PackageName, RequirementEdit, did_you_mean, most_similar_name};

use super::metadata::GALAXY_FILE;
use super::name::package_name;
use crate::format::{FormatFile, first_error};

/// Returns the text of a file with one requirement added, changed or removed.
pub(super) fn with_requirement(
    file: &FormatFile<'_>,
    edit: &RequirementEdit,
    limits: &Limits,
) -> Result<String, Diagnostic> {
    let read = read_yaml(file.path, file.bytes, file.name(), limits);
    let ((source, document), _) = read.into_result().map_err(first_error)?;
    let shape = Shape::of(file);
    let before = Requirements::read(shape, document.as_ref());
    let (package, spec) = match edit {
        RequirementEdit::Set(package, spec) => (package, Some(spec.written())),
        RequirementEdit::Remove(package) => (package, None),
    };
    let at = before.position(package);
    if spec.is_none() && at.is_none() {
        return Err(before.not_required(&source, package));
    }
    let not_editable = || {
        let message = "the requirements are written in a way that cannot be edited";
        let hint = format!("write them below `{}:`, or edit them by hand", shape.key());
        Diagnostic::error(Code::Field, message)
            .at(Location::new(&source, Span::default()))
            .hint(hint)
    };
    let text = Text {
        whole: source.text(),
        line_feed: if source.text().contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        },
        shape,
    };
    let edited = match (spec, at) {
        (Some(spec), Some(at)) => text.change(&before, at, package, spec),
        (Some(spec), None) => text.add(&before, package, spec),
        (None, Some(at)) => text.remove(&before, at),
        (None, None) => None,
    };
    let edited = edited.ok_or_else(not_editable)?;
    let again = read_yaml(file.path, edited.as_bytes(), file.name(), limits);
    let ((_, after_document), _) = again.into_result().map_err(|_| not_editable())?;
    let after = Requirements::read(shape, after_document.as_ref());
    let is_right = after.stated() == before.stated_after(package, spec)
        && differ_in_key_only(document.as_ref(), after_document.as_ref(), shape.key());
    is_right.then_some(edited).ok_or_else(not_editable)
}

/// How a file writes requirements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A list of names, and of mappings with `name` and `version`.
    Collections,
    /// A mapping from names to ranges.
    Dependencies,
}

impl Shape {
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
struct Stated<'document> {
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
    stated: Vec<Stated<'document>>,
    /// Whether there is something that is no requirement.
    is_odd: bool,
}

impl<'document> Requirements<'document> {
    fn read(shape: Shape, document: Option<&'document Node>) -> Self {
        let mut read = Self {
            place: None,
            stated: Vec::new(),
            is_odd: document.is_some_and(|document| document.as_mapping().is_none()),
        };
        let top = document.and_then(Node::as_mapping);
        let Some(entry) = top.and_then(|top| top.entry(shape.key())) else {
            return read;
        };
        read.place = Some((entry.key_span, &entry.value));
        match (&entry.value.value, shape) {
            (Value::Sequence(items), Shape::Collections) => {
                read.stated = items.iter().filter_map(listed).collect();
                read.is_odd = read.stated.len() != items.len();
            }
            (Value::Mapping(mapping), Shape::Dependencies) => {
                read.stated = of_mapping(mapping);
            }
            (Value::Scalar(scalar), _) if scalar.is_null() => {}
            _ => read.is_odd = true,
        }
        read
    }

    fn position(&self, package: &PackageName) -> Option<usize> {
        let is_meant =
            |stated: &Stated<'_>| package_name(&stated.name).is_ok_and(|name| name == *package);
        self.stated.iter().position(is_meant)
    }

    /// The names with their ranges.
    fn stated(&self) -> Vec<(String, Option<String>)> {
        let stated = self.stated.iter().map(|one| {
            let range = one.range.and_then(Node::as_scalar);
            (one.name.clone(), range.map(|scalar| scalar.text.clone()))
        });
        stated.collect()
    }

    /// What the file should state after an edit.
    fn stated_after(
        &self,
        package: &PackageName,
        spec: Option<&str>,
    ) -> Vec<(String, Option<String>)> {
        let mut stated = self.stated();
        match (self.position(package), spec) {
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
        let names = self.stated.iter().map(|stated| stated.name.as_str());
        finding.maybe_hint(most_similar_name(package.as_str(), names).map(did_you_mean))
    }
}

/// A requirement in a list: a name, or a mapping with one.
fn listed(item: &Node) -> Option<Stated<'_>> {
    let Some(mapping) = item.as_mapping() else {
        let scalar = item.as_scalar().filter(|scalar| !scalar.is_null())?;
        return Some(Stated {
            name: scalar.text.clone(),
            range: None,
            start: item.span.start,
            end: item.span.end,
            mapping: None,
        });
    };
    let name = mapping.get("name").and_then(Node::as_scalar)?;
    Some(Stated {
        name: name.text.clone(),
        range: mapping.get("version"),
        start: mapping.entries.first()?.key_span.start.min(item.span.start),
        end: end_of(item),
        mapping: Some(item),
    })
}

/// The requirements of a mapping from names to ranges.
fn of_mapping(mapping: &Mapping) -> Vec<Stated<'_>> {
    let entries = mapping.entries.iter().map(|entry| Stated {
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

/// The text that is edited.
struct Text<'text> {
    whole: &'text str,
    line_feed: &'static str,
    shape: Shape,
}

impl Text<'_> {
    /// Replaces a part of the text.
    fn replaced(&self, start: usize, end: usize, with: &str) -> Option<String> {
        let (before, after) = (self.whole.get(..start)?, self.whole.get(end..)?);
        Some(format!("{before}{with}{after}"))
    }

    fn start_of_line(&self, at: usize) -> usize {
        self.whole[..at]
            .rfind('\n')
            .map_or(0, |newline| newline + 1)
    }

    /// The beginning of the next line, or the end of the text.
    fn next_line(&self, at: usize) -> usize {
        let newline = self.whole[at..].find('\n');
        newline.map_or(self.whole.len(), |newline| at + newline + 1)
    }

    /// Inserts whole lines at the beginning of a line, or at the end of the text.
    fn with_lines(&self, at: usize, lines: &str) -> Option<String> {
        let is_open =
            at == self.whole.len() && !self.whole.is_empty() && !self.whole.ends_with('\n');
        let before = if is_open { self.line_feed } else { "" };
        self.replaced(at, at, &format!("{before}{lines}"))
    }

    fn is_flow(&self, node: &Node) -> bool {
        self.whole[node.span.start..].starts_with(['[', '{'])
    }

    /// A requirement in brackets or braces.
    fn in_flow(&self, package: &PackageName, spec: &str) -> String {
        match self.shape {
            Shape::Collections => format!("{{name: {package}, version: \"{spec}\"}}"),
            Shape::Dependencies => format!("{package}: \"{spec}\""),
        }
    }

    /// A requirement as lines. `indentation` is what its first line begins with.
    fn in_lines(&self, indentation: &str, package: &PackageName, spec: &str) -> String {
        let line_feed = self.line_feed;
        match self.shape {
            Shape::Collections => {
                let inner = " ".repeat(indentation.len());
                format!(
                    "{indentation}name: {package}{line_feed}{inner}version: \"{spec}\"{line_feed}"
                )
            }
            Shape::Dependencies => format!("{indentation}{package}: \"{spec}\"{line_feed}"),
        }
    }

    /// What the line of a requirement begins with: blanks, and a hyphen in a list.
    fn indentation(&self, stated: &Stated<'_>) -> Option<&str> {
        let before = &self.whole[self.start_of_line(stated.start)..stated.start];
        let blank = match self.shape {
            Shape::Collections => before.replacen('-', " ", 1),
            Shape::Dependencies => before.to_owned(),
        };
        blank.chars().all(|next| next == ' ').then_some(before)
    }

    fn add(
        &self,
        requirements: &Requirements<'_>,
        package: &PackageName,
        spec: &str,
    ) -> Option<String> {
        if requirements.is_odd {
            return None;
        }
        let first = match self.shape {
            Shape::Collections => "  - ",
            Shape::Dependencies => "  ",
        };
        let Some((key, value)) = requirements.place else {
            let lines = self.in_lines(first, package, spec);
            let lines = format!("{}:{}{lines}", self.shape.key(), self.line_feed);
            return self.with_lines(self.whole.len(), &lines);
        };
        if value.is_null() {
            // A word such as `null` stays, and fails when the text is read again.
            return self.with_lines(
                self.next_line(key.end),
                &self.in_lines(first, package, spec),
            );
        }
        let added = self.in_flow(package, spec);
        match requirements.stated.last() {
            None => self.replaced(value.span.start + 1, value.span.start + 1, &added),
            Some(last) if self.is_flow(value) => {
                let end = self.flow_end(last);
                self.replaced(end, end, &format!(", {added}"))
            }
            Some(last) => {
                let lines = self.in_lines(self.indentation(last)?, package, spec);
                self.with_lines(self.next_line(last.end), &lines)
            }
        }
    }

    /// The end of a requirement with the brace that closes it.
    fn flow_end(&self, stated: &Stated<'_>) -> usize {
        let in_braces = stated.mapping.filter(|mapping| self.is_flow(mapping));
        in_braces.map_or(stated.end, |mapping| mapping.span.end)
    }

    fn change(
        &self,
        requirements: &Requirements<'_>,
        at: usize,
        package: &PackageName,
        spec: &str,
    ) -> Option<String> {
        let stated = &requirements.stated[at];
        if let Some(range) = stated.range {
            let written = self.whole.get(range.span.start..range.span.end)?;
            let quote = if written.starts_with('\'') { '\'' } else { '"' };
            // A missing value has no text of its own.
            let is_missing = written.trim().is_empty();
            return if is_missing {
                None
            } else {
                self.replaced(
                    range.span.start,
                    range.span.end,
                    &format!("{quote}{spec}{quote}"),
                )
            };
        }
        let (_, list) = requirements.place?;
        match stated.mapping {
            Some(mapping) if self.is_flow(mapping) => {
                self.replaced(stated.end, stated.end, &format!(", version: \"{spec}\""))
            }
            Some(_) => {
                let inner = " ".repeat(self.indentation(stated)?.len());
                let line = format!("{inner}version: \"{spec}\"{}", self.line_feed);
                self.with_lines(self.next_line(stated.end), &line)
            }
            None if self.is_flow(list) => {
                self.replaced(stated.start, stated.end, &self.in_flow(package, spec))
            }
            None => {
                // A comment behind the name stays there.
                let inner = " ".repeat(self.indentation(stated)?.len());
                let line = format!("{inner}version: \"{spec}\"{}", self.line_feed);
                let named = self.replaced(stated.start, stated.start, "name: ")?;
                let text = Text {
                    whole: &named,
                    ..*self
                };
                text.with_lines(text.next_line(stated.end + "name: ".len()), &line)
            }
        }
    }

    fn remove(&self, requirements: &Requirements<'_>, at: usize) -> Option<String> {
        let (key, value) = requirements.place?;
        let stated = &requirements.stated;
        let (one, is_flow) = (&stated[at], self.is_flow(value));
        match (at.checked_sub(1), stated.get(at + 1)) {
            (Some(before), _) if is_flow => {
                self.replaced(self.flow_end(&stated[before]), self.flow_end(one), "")
            }
            (None, Some(next)) if is_flow => self.replaced(one.start, next.start, ""),
            (None, None) if is_flow => self.replaced(one.start, self.flow_end(one), ""),
            (None, None) => {
                let empty = match self.shape {
                    Shape::Collections => ": []",
                    Shape::Dependencies => ": {}",
                };
                self.replaced(
                    key.end,
                    self.next_line(one.end),
                    &format!("{empty}{}", self.line_feed),
                )
            }
            _ => {
                self.indentation(one)?;
                self.replaced(self.start_of_line(one.start), self.next_line(one.end), "")
            }
        }
    }
}

#[cfg(test)]
mod tests;
