//! Writing versions into the text of a model.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{ModelObject, ObjectModel, Pins, VersionPin};
use crate::diagnostic::{Code, Diagnostic, Location, Span};
use crate::document::{Entry, Mapping, Node, same_but_for};
use crate::limits::Limits;
use crate::name::PackageName;
use crate::version::Version;

/// A piece of text that takes the place of another one.
struct Edit {
    span: Span,
    text: String,
}

pub(super) fn write(
    model: &ObjectModel,
    pins: &Pins,
    limits: &Limits,
) -> Result<String, Diagnostic> {
    let mut edits = Vec::new();
    for (number, (package, version)) in &pins.objects {
        pin_object(
            model,
            &model.objects[number.0],
            package,
            version,
            &mut edits,
        );
    }
    if model.is_environment && !same_table(&model.fixations, &pins.packages) {
        write_table(model, &pins.packages, &mut edits);
    }
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = String::with_capacity(model.text().len() + 64 * edits.len());
    let mut at = 0;
    for edit in &edits {
        text.push_str(&model.text()[at..edit.span.start]);
        text.push_str(&edit.text);
        at = edit.span.end;
    }
    text.push_str(&model.text()[at..]);
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

/// Reads the result again: nothing may be different but what was to be written.
fn verify(model: &ObjectModel, pins: &Pins, text: &str, limits: &Limits) -> Result<(), Diagnostic> {
    let again = ObjectModel::read(model.source.name(), text.as_bytes(), limits);
    let problem = |location: &Location| {
        let message = "a version cannot be written here without changing something else";
        Diagnostic::error(Code::Model, message).at(location.clone())
    };
    let beginning = Location::new(&model.source, Span::default());
    let Some(again) = again.value() else {
        return Err(problem(&beginning));
    };
    if again.objects.len() != model.objects.len()
        || !same_elsewhere(model, again, pins)
        || (model.is_environment && !same_table(&again.fixations, &pins.packages))
    {
        return Err(problem(&beginning));
    }
    for (number, (before, after)) in model.objects.iter().zip(&again.objects).enumerate() {
        let (package, version) = match pins.objects.get(&super::ObjectId(number)) {
            Some((package, version)) => (Some(package), VersionPin::Exact(version.clone())),
            None => (before.package.as_ref(), before.version.clone()),
        };
        let is_pinned = after.package.as_ref() == package && after.version == version;
        if !is_pinned || after.class != before.class {
            return Err(problem(&before.location));
        }
    }
    Ok(())
}

/// Whether two models say the same but for the headers of objects that are pinned, as far as they
/// are about versions, and the table of an environment.
fn same_elsewhere(before: &ObjectModel, after: &ObjectModel, pins: &Pins) -> bool {
    const IN_HEADER: [&str; 4] = ["package", "version", "classVersion", "type"];
    let headers: HashMap<(usize, usize), &[&str]> = (pins.objects.keys())
        .map(|number| {
            let header = &before.objects[number.0].header;
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

/// How a key and its value are written in a document.
struct Style {
    is_json: bool,
}

impl Style {
    fn text(&self, text: &str) -> String {
        if self.is_json {
            format!("\"{text}\"")
        } else {
            text.to_owned()
        }
    }

    fn entry(&self, key: &str, value: &str) -> String {
        format!("{}: {value}", self.text(key))
    }
}

fn pin_object(
    model: &ObjectModel,
    object: &ModelObject,
    package: &PackageName,
    version: &Version,
    edits: &mut Vec<Edit>,
) {
    let style = Style {
        is_json: model.is_json,
    };
    let header = &object.header;
    let mut added = Vec::new();
    if object.package.is_none() {
        let value = style.text(package.as_str());
        match header.package_value {
            Some(span) => edits.push(replace(span, value)),
            None => added.push(style.entry("package", &value)),
        }
    }
    let value = style.text(&version.to_string());
    match &object.version {
        VersionPin::Exact(pinned) if pinned == version => {}
        // The type says a version that is gone.
        VersionPin::Exact(_) if header.has_inline_version => {
            let at = object
                .package
                .as_ref()
                .map(|_| format!("@{package}"))
                .unwrap_or_default();
            let written = style.text(&format!("{}/{version}{at}", object.class));
            edits.push(replace(header.type_value, written));
        }
        // A range in the type stays; the version that was chosen from it is written beside it.
        _ => match header.version_value {
            Some(span) => edits.push(replace(span, value)),
            None => added.push(style.entry("version", &value)),
        },
    }
    if !added.is_empty() {
        insert_after(
            model,
            header.span,
            header.type_key,
            header.type_value,
            &added,
            edits,
        );
    }
}

/// A value in place of another one; after a key without a value there has to be a blank.
fn replace(span: Span, value: String) -> Edit {
    let text = if span.start == span.end {
        format!(" {value}")
    } else {
        value
    };
    Edit { span, text }
}

/// Adds entries to a mapping after one of its entries, in the way in which that one is written.
fn insert_after(
    model: &ObjectModel,
    mapping: Span,
    key: Span,
    value: Span,
    added: &[String],
    edits: &mut Vec<Edit>,
) {
    let text = model.text();
    let line_start = text[..key.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let before_key = &text[line_start..key.start];
    let begins_line = before_key.trim().is_empty();
    let indentation = if begins_line {
        before_key.to_owned()
    } else {
        " ".repeat(before_key.chars().count())
    };
    let is_flow = text[mapping.start..].starts_with('{');
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (at, inserted) = if is_flow {
        let separator = if begins_line {
            format!(",{newline}{indentation}")
        } else {
            ", ".to_owned()
        };
        let inserted: String = added
            .iter()
            .map(|entry| format!("{separator}{entry}"))
            .collect();
        (value.end, inserted)
    } else {
        let line_end = text[value.end..]
            .find(['\r', '\n'])
            .map_or(text.len(), |end| value.end + end);
        let inserted = added
            .iter()
            .map(|entry| format!("{newline}{indentation}{entry}"))
            .collect();
        (line_end, inserted)
    };
    edits.push(Edit {
        span: Span { start: at, end: at },
        text: inserted,
    });
}

/// Writes the table of packages, on one line, where it stands or at the end of the document.
fn write_table(
    model: &ObjectModel,
    packages: &BTreeMap<PackageName, BTreeSet<Version>>,
    edits: &mut Vec<Edit>,
) {
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
    let style = Style {
        is_json: model.is_json,
    };
    let root = model
        .root
        .as_mapping()
        .expect("an environment is a mapping");
    let data = root.entry("SystemData");
    let in_data = data.and_then(|entry| entry.value.as_mapping());
    match (data, in_data.map(|data| (data, data.entry("Packages")))) {
        (_, Some((_, Some(entry)))) => edits.push(replace_block(model, &entry.value, table)),
        (Some(entry), Some((data, None))) if !data.entries.is_empty() => {
            add_last(
                model,
                data,
                entry.value.span,
                &style.entry("Packages", &table),
                edits,
            );
        }
        (Some(entry), _) => {
            let value = format!("{{{}}}", style.entry("Packages", &table));
            edits.push(replace(entry.value.span, value));
        }
        (None, _) => {
            let value = format!("{{{}}}", style.entry("Packages", &table));
            add_last(
                model,
                root,
                model.root.span,
                &style.entry("SystemData", &value),
                edits,
            );
        }
    }
}

/// A value on one line in place of one that may be a block of several lines.
fn replace_block(model: &ObjectModel, value: &Node, text: String) -> Edit {
    let source = model.text();
    let is_flow = source[value.span.start..].starts_with(['{', '[', '"', '\'']);
    if is_flow || value.as_scalar().is_some() {
        return replace(value.span, text);
    }
    // From the colon of the key to the end of the block.
    let start = source[..value.span.start].trim_end().len();
    Edit {
        span: Span {
            start,
            end: value.span.end,
        },
        text: format!(" {text}"),
    }
}

fn add_last(
    model: &ObjectModel,
    mapping: &Mapping,
    span: Span,
    entry: &str,
    edits: &mut Vec<Edit>,
) {
    let last = mapping.entries.last().expect("the mapping has entries");
    let value = last.value.span;
    let mut key = last.key_span;
    if last.value.as_mapping().is_some() || last.value.as_sequence().is_some() {
        // The indentation is that of the mapping's keys, whatever the last value looks like.
        key = mapping.entries[0].key_span;
    }
    insert_after(model, span, key, value, &[entry.to_owned()], edits);
}
