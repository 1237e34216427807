//! Writes versions into the text of a model.
//!
//! Each version is a small edit of the text, so that everything else stays as it was. The result is read
//! again: nothing but the versions may differ, or nothing is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Header, ModelObject, ObjectModel, Pins, VersionPin};
use crate::diagnostic::{Code, Diagnostic, Location, Span};
use crate::document::{
    Entry, Mapping, Node, TextEdit, apply, line_feed_of, same_but_for, start_of_line,
};
use crate::name::PackageName;
use crate::read_options::Limits;
use crate::release::Release;
use crate::version::Version;

pub(super) fn write(
    model: &ObjectModel,
    pins: &Pins,
    limits: &Limits,
) -> Result<String, Diagnostic> {
    let mut editor = ModelEditor::of(model);
    for (
        number,
        Release {
            name: package,
            version,
        },
    ) in &pins.objects
    {
        let object = &model.objects[number.0];
        for header in object.headers() {
            editor.pin_object(object, header, package, version);
        }
    }
    if model.is_environment && !same_table(&model.previous_versions, &pins.packages) {
        editor.write_table(&pins.packages);
    }
    let text = apply(model.text(), editor.edits);
    verify(model, pins, &text, limits)?;
    Ok(text)
}

fn same_table(
    before: &BTreeMap<PackageName, BTreeSet<Version>>,
    after: &BTreeMap<PackageName, BTreeSet<Version>>,
) -> bool {
    let is_listed = |(_, versions): &(&PackageName, &BTreeSet<Version>)| !versions.is_empty();
    let after = after.iter().filter(is_listed);
    before.iter().filter(is_listed).eq(after)
}

/// Reads the edited text, and fails if anything but the pinned versions differs.
fn verify(model: &ObjectModel, pins: &Pins, text: &str, limits: &Limits) -> Result<(), Diagnostic> {
    let again = ObjectModel::read(model.source.name(), text.as_bytes(), limits);
    let problem = |location: &Location| {
        let message = "a version cannot be written here without changing something else";
        Diagnostic::error(Code::Model, message).at(location.clone())
    };
    let beginning = Location::new(&model.source, Span::default());
    let Some(again) = again.value() else {
        let mut findings = again.diagnostics().iter();
        return Err(match findings.find(|finding| finding.code == Code::Limit) {
            Some(limit) => {
                let message = format!("with its versions, the model has {}", limit.message);
                Diagnostic::error(Code::Limit, message).at(beginning)
            }
            None => problem(&beginning),
        });
    };
    if again.objects.len() != model.objects.len()
        || !same_elsewhere(model, again, pins)
        || (model.is_environment && !same_table(&again.previous_versions, &pins.packages))
    {
        return Err(problem(&beginning));
    }
    for (number, (before, after)) in model.objects.iter().zip(&again.objects).enumerate() {
        let (package, version) = match pins.objects.get(&super::ObjectId(number)) {
            Some(Release {
                name: package,
                version,
            }) => (Some(package), VersionPin::Exact(version.clone())),
            None => (before.package.as_ref(), before.version.clone()),
        };
        let is_pinned = after.package.as_ref() == package && after.version == version;
        if !is_pinned || after.class != before.class {
            return Err(problem(&before.location));
        }
    }
    Ok(())
}

/// Whether two models are equal but for the versions in the headers of pinned objects and the table of an
/// environment.
fn same_elsewhere(before: &ObjectModel, after: &ObjectModel, pins: &Pins) -> bool {
    const IN_HEADER: [&str; 4] = ["package", "version", "classVersion", "type"];
    let headers: HashMap<(usize, usize), &[&str]> = (pins.objects.keys())
        .flat_map(|number| before.objects[number.0].headers())
        .map(|header| {
            let count = IN_HEADER.len() - usize::from(!header.has_inline_version);
            ((header.span.start, header.span.end), &IN_HEADER[..count])
        })
        .collect();
    let table = match (before.is_environment, before.root.as_mapping()) {
        (true, Some(root)) => root.get("SystemData"),
        _ => None,
    };
    let left_out = |node: &Node| -> &[&str] {
        let span = node.span;
        if before.is_environment && span == before.root.span {
            &["SystemData"]
        } else if table.is_some_and(|table| table.span == span) {
            &["Packages"]
        } else {
            headers.get(&(span.start, span.end)).copied().unwrap_or(&[])
        }
    };
    if !same_but_for(&before.root, &after.root, &left_out) {
        return false;
    }
    if !before.is_environment {
        return true;
    }
    let data = |model: &ObjectModel| model.root.as_mapping()?.get("SystemData").cloned();
    match (table, data(after)) {
        (None, None) => true,
        (Some(_), None) => false,
        (table, Some(after)) => {
            let has_nothing = |node: &Node| {
                let mapping = node.as_mapping();
                node.is_null() || mapping.is_some_and(|mapping| mapping.entries.is_empty())
            };
            let has_table_alone = |node: &Node| {
                let mapping = node.as_mapping();
                let is_table = |entry: &Entry| entry.key.text == "Packages";
                mapping.is_some_and(|mapping| mapping.entries.iter().all(is_table))
            };
            table.is_some_and(|table| same_but_for(table, &after, &left_out))
                || (table.is_none_or(has_nothing) && has_table_alone(&after))
        }
    }
}

/// Collects the edits of a model's text.
struct ModelEditor<'model> {
    model: &'model ObjectModel,
    line_feed: &'static str,
    edits: Vec<TextEdit>,
}

/// A mapping, and the entry of it after which others are added.
struct Anchor {
    mapping: Span,
    key: Span,
    value: Span,
}

impl<'model> ModelEditor<'model> {
    /// An editor without edits. It reads the whole text.
    fn of(model: &'model ObjectModel) -> Self {
        Self {
            model,
            line_feed: line_feed_of(model.text()),
            edits: Vec::new(),
        }
    }

    /// A key or value: always in quotes in JSON, and never in YAML, whose words here need none.
    fn word(&self, text: &str) -> String {
        if self.model.is_json {
            format!("\"{text}\"")
        } else {
            text.to_owned()
        }
    }

    fn entry(&self, key: &str, value: &str) -> String {
        format!("{}: {value}", self.word(key))
    }

    fn pin_object(
        &mut self,
        object: &ModelObject,
        header: &Header,
        package: &PackageName,
        version: &Version,
    ) {
        let mut added = Vec::new();
        if object.package.is_none() {
            let value = self.word(package.as_str());
            match header.package_value {
                Some(span) => self.replace(span, value),
                None => added.push(self.entry("package", &value)),
            }
        }
        let value = self.word(&version.to_string());
        match &object.version {
            VersionPin::Exact(pinned) if pinned == version && !header.has_inline_range => {}
            // The type names a range, or a version that no longer exists. What is written beside it does not count.
            _ if header.has_inline_version => {
                let at = object
                    .package
                    .as_ref()
                    .map(|_| format!("@{package}"))
                    .unwrap_or_default();
                let written = self.word(&format!("{}/{version}{at}", object.class));
                self.replace(header.type_value, written);
            }
            _ => match header.version_value {
                Some(span) => self.replace(span, value),
                None => added.push(self.entry("version", &value)),
            },
        }
        if !added.is_empty() {
            let anchor = Anchor {
                mapping: header.span,
                key: header.type_key,
                value: header.type_value,
            };
            self.insert_after(&anchor, &added);
        }
    }

    /// Replaces a value. There is no blank after a key without a value, so one is added.
    fn replace(&mut self, span: Span, value: String) {
        self.edits.push(if span.start == span.end {
            TextEdit::insert(span.start, format!(" {value}"))
        } else {
            TextEdit::replace(span, value)
        });
    }

    /// Adds entries to a mapping after one of its entries, indented and separated as that one is.
    fn insert_after(&mut self, anchor: &Anchor, added: &[String]) {
        let Anchor {
            mapping,
            key,
            value,
        } = anchor;
        let text = self.model.text();
        let line_feed = self.line_feed;
        let is_flow = text[mapping.start..].starts_with('{');
        let (at, separator) = if is_flow {
            let separator = match blanks_before(text, key.start) {
                Some(indentation) => format!(",{line_feed}{indentation}"),
                None => ", ".to_owned(),
            };
            (value.end, separator)
        } else {
            // Other than in flow style, a line has one such key, so this is linear in the text.
            let before_key = &text[start_of_line(text, key.start)..key.start];
            let indentation = match blanks_before(text, key.start) {
                Some(indentation) => indentation.to_owned(),
                None => " ".repeat(before_key.chars().count()),
            };
            let line_end = text[value.end..]
                .find(['\r', '\n'])
                .map_or(text.len(), |end| value.end + end);
            (line_end, format!("{line_feed}{indentation}"))
        };
        let inserted = added.iter().map(|entry| format!("{separator}{entry}"));
        self.edits
            .push(TextEdit::insert(at, inserted.collect::<String>()));
    }

    /// Writes the table of packages on one line: where it was, or at the end of the document.
    fn write_table(&mut self, packages: &BTreeMap<PackageName, BTreeSet<Version>>) {
        let entries: Vec<String> = packages
            .iter()
            .map(|(name, versions)| {
                let versions: Vec<String> = versions
                    .iter()
                    .map(|version| format!("\"{version}\""))
                    .collect();
                format!("\"{name}\": [{}]", versions.join(", "))
            })
            .collect();
        let table = format!("{{{}}}", entries.join(", "));
        let model = self.model;
        let root = model
            .root
            .as_mapping()
            .expect("an environment is a mapping");
        let in_braces = |editor: &Self| format!("{{{}}}", editor.entry("Packages", &table));
        let Some(data) = root.entry("SystemData") else {
            let value = in_braces(self);
            let entry = self.entry("SystemData", &value);
            return self.add_last(root, model.root.span, entry);
        };
        let mapping = data.value.as_mapping();
        let Some(mapping) = mapping.filter(|mapping| !mapping.entries.is_empty()) else {
            return self.replace(data.value.span, in_braces(self));
        };
        if let Some(entry) = mapping.entry("Packages") {
            self.replace_block(&entry.value, table);
        } else {
            let entry = self.entry("Packages", &table);
            self.add_last(mapping, data.value.span, entry);
        }
    }

    /// Replaces a value, which may be a block of several lines, with one on one line.
    fn replace_block(&mut self, value: &Node, text: String) {
        let source = self.model.text();
        let is_flow = source[value.span.start..].starts_with(['{', '[', '"', '\'']);
        if is_flow || value.as_scalar().is_some() {
            return self.replace(value.span, text);
        }
        // From the colon of the key to the end of the block.
        let start = source[..value.span.start].trim_end().len();
        let end = value.span.end;
        self.edits
            .push(TextEdit::replace(Span { start, end }, format!(" {text}")));
    }

    /// Adds an entry at the end of a mapping.
    fn add_last(&mut self, mapping: &Mapping, span: Span, entry: String) {
        let last = mapping.entries.last().expect("the mapping has entries");
        let mut key = last.key_span;
        if last.value.as_mapping().is_some() || last.value.as_sequence().is_some() {
            // The indentation is that of the mapping's keys, whatever the last value looks like.
            key = mapping.entries[0].key_span;
        }
        let anchor = Anchor {
            mapping: span,
            key,
            value: last.value.span,
        };
        self.insert_after(&anchor, &[entry]);
    }
}

/// The blanks between the beginning of a line and a place; `None` if there is anything else. The whole
/// model may be on one line, so this looks at blanks only.
fn blanks_before(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let begins_line = before.is_empty() || before.ends_with('\n');
    begins_line.then(|| &text[before.len()..at])
}
