//! Reads the options of plug-ins from their documentation.
//!
//! Documentation is YAML: the text `DOCUMENTATION` of a Python module, or a file beside it. It can name fragments,
//! whose options it includes. Fragments of the same collection are read; those of other collections are listed by name.
//! Python code is not run: if the text is computed, it is not read, and the options of the plug-in are unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, Value, read_yaml};
use pkgres_manifest::{ClassName, ClassOptions, DeclaredOption, Limits, ReadOptions};

use super::facts_of_files::dotted;
use super::python::MAX_MODULE_BYTES;
use crate::lookup::FileTree;

/// The name of the text in a module, and of the key in a file.
const DOCUMENTATION: &str = "DOCUMENTATION";

/// The folder of fragments.
const FRAGMENTS: &str = "doc_fragments";

/// The folders of `plugins` whose modules are no plug-ins.
const NO_PLUGINS: [&str; 2] = ["module_utils", "plugin_utils"];

/// The options of the plug-ins of a collection by their classes, and warnings about documentation that cannot be read.
/// `root` is the path of the collection in messages.
pub(super) fn read(
    collection: &str,
    root: &str,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<(BTreeMap<ClassName, ClassOptions>, Vec<Diagnostic>), Diagnostic> {
    let mut plugins: BTreeMap<String, PluginDocument> = BTreeMap::new();
    let mut fragments: BTreeMap<String, PluginDocument> = BTreeMap::new();
    let mut findings = Vec::new();
    for path in tree.paths()? {
        let Some((kind, _)) = path
            .strip_prefix("plugins/")
            .and_then(|path| path.split_once('/'))
            .filter(|(kind, _)| !NO_PLUGINS.contains(kind))
        else {
            continue;
        };
        let Some(name) = dotted(&path) else {
            continue;
        };
        let limit = u64::try_from(MAX_MODULE_BYTES).unwrap_or(u64::MAX);
        let read = || Ok::<_, Diagnostic>(tree.read(&path, limit)?.unwrap_or_default());
        let shown = format!("{root}/{path}");
        let limits = &options.limits;
        if path.ends_with(".yml") || path.ends_with(".yaml") {
            if let Some(document) = PluginDocument::of_file(&shown, &read()?, limits, &mut findings)
            {
                plugins.insert(name, document);
            }
        } else if path.ends_with(".py") {
            let bytes = read()?;
            let text = String::from_utf8_lossy(&bytes);
            let is_fragment = kind == FRAGMENTS;
            for found in texts(&text, is_fragment) {
                let Some(document) = PluginDocument::of_text(&shown, &found, limits, &mut findings)
                else {
                    continue;
                };
                if is_fragment {
                    fragments.insert(fragment_name(collection, &name, found.name), document);
                } else {
                    // The text of a module beside a file is a part of it.
                    plugins.entry(name.clone()).or_insert(document);
                }
            }
        }
    }
    let mut classes = BTreeMap::new();
    for (name, document) in &plugins {
        let Ok(class) = ClassName::parse(&format!("{collection}.{name}")) else {
            continue;
        };
        classes.insert(class, document.with_fragments(collection, &fragments));
    }
    Ok((classes, findings))
}

/// The name by which documentation names a text of a fragment.
fn fragment_name(collection: &str, path: &str, text: &str) -> String {
    let module = path.rsplit('.').next().unwrap_or(path);
    if text == DOCUMENTATION {
        format!("{collection}.{module}")
    } else {
        format!("{collection}.{module}.{}", text.to_ascii_lowercase())
    }
}

/// A text in a Python module.
struct FoundText<'module> {
    name: &'module str,
    /// The content with as many empty lines before it as there are lines in the module, so that places are right.
    content: String,
}

/// The documentation in a module: the text `DOCUMENTATION` of the module, or all texts with names in capital letters of
/// the classes in it. Texts that are only a part of an expression are left out.
fn texts(module: &str, of_classes: bool) -> Vec<FoundText<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < module.len() {
        let rest = &module[at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        let next = at + line.len() + 1;
        let Some((name, is_raw, quote, start)) = assignment(line, of_classes) else {
            at = next;
            continue;
        };
        let content_at = at + start;
        let Some(length) = module[content_at..].find(quote) else {
            break;
        };
        let content = &module[content_at..content_at + length];
        at = content_at + length + quote.len();
        let after = module[at..].split('\n').next().unwrap_or_default().trim();
        if !after.is_empty() && !after.starts_with('#') {
            continue;
        }
        let lines_before = module[..content_at].matches('\n').count();
        let content = if is_raw {
            content.to_owned()
        } else {
            unescaped(content)
        };
        found.push(FoundText {
            name,
            content: "\n".repeat(lines_before) + &content,
        });
    }
    found
}

/// The assignment of a text in triple quotes that begins in a line: its name, whether the text is raw, its quotes, and
/// where it begins.
fn assignment(line: &str, of_classes: bool) -> Option<(&str, bool, &'static str, usize)> {
    let (left, right) = line.split_once('=')?;
    let name = left.trim();
    let is_in_class = left.starts_with([' ', '\t']);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|next| next.is_ascii_uppercase() || next.is_ascii_digit() || next == b'_');
    if !is_name || is_in_class != of_classes || (!of_classes && name != DOCUMENTATION) {
        return None;
    }
    let value = right.trim_start();
    let text = value.trim_start_matches(['r', 'R', 'u', 'U']);
    let prefix = &value[..value.len() - text.len()];
    let quote = ["'''", "\"\"\""]
        .into_iter()
        .find(|quote| text.starts_with(quote))?;
    let start = line.len() - text.len() + quote.len();
    let is_raw = prefix.contains(['r', 'R']);
    Some((name, is_raw, quote, start))
}

/// A text without the escapes of Python that occur in documentation.
fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(next) = characters.next() {
        if next != '\\' {
            result.push(next);
            continue;
        }
        match characters.next() {
            // Behind a line that goes on, its end is kept, so that places stay right.
            Some('\n' | 'n') => result.push('\n'),
            Some(escaped @ ('\\' | '\'' | '"')) => result.push(escaped),
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    result
}

/// Documentation that was read.
struct PluginDocument {
    source: Arc<SourceText>,
    mapping: Mapping,
}

impl PluginDocument {
    /// Reads a text of a module. What cannot be read is a warning.
    fn of_text(
        path: &str,
        text: &FoundText<'_>,
        limits: &Limits,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let read = read_yaml(path, text.content.as_bytes(), text.name, limits);
        let Ok(((source, Some(node)), _)) = read.into_result() else {
            findings.push(unreadable(path, text.name));
            return None;
        };
        let Value::Mapping(mapping) = node.value else {
            return None;
        };
        Some(Self { source, mapping })
    }

    /// Reads a file beside a plug-in. A file without documentation is something else.
    fn of_file(
        path: &str,
        bytes: &[u8],
        limits: &Limits,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        memchr::memmem::find(bytes, DOCUMENTATION.as_bytes())?;
        let read = read_yaml(path, bytes, DOCUMENTATION, limits);
        let Ok(((source, Some(node)), _)) = read.into_result() else {
            findings.push(unreadable(path, DOCUMENTATION));
            return None;
        };
        let mapping = node.as_mapping()?.get(DOCUMENTATION)?.as_mapping()?.clone();
        Some(Self { source, mapping })
    }

    /// The options with those of fragments. Its own ones replace theirs.
    fn with_fragments(&self, collection: &str, fragments: &BTreeMap<String, Self>) -> ClassOptions {
        let mut options = self.options();
        let mut others = BTreeSet::new();
        let own = format!("{collection}.");
        for name in self.fragment_names() {
            let Some(fragment) = fragments.get(&name) else {
                // One of this collection that is not there, or cannot be read, is as unknown.
                let is_own = name.starts_with(&own);
                others.insert(if is_own {
                    format!("{name} (unread)")
                } else {
                    name
                });
                continue;
            };
            for option in fragment.options() {
                if !options.iter().any(|known| known.name == option.name) {
                    options.push(option);
                }
            }
        }
        ClassOptions { options, others }
    }

    /// The names of fragments.
    fn fragment_names(&self) -> Vec<String> {
        let Some(node) = self.mapping.get("extends_documentation_fragment") else {
            return Vec::new();
        };
        let texts: Vec<&str> = match &node.value {
            Value::Scalar(scalar) => scalar.text.split(',').collect(),
            Value::Sequence(items) => (items.iter())
                .filter_map(|item| Some(item.as_scalar()?.text.as_str()))
                .collect(),
            Value::Mapping(_) => Vec::new(),
        };
        let names = texts.into_iter().map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn options(&self) -> Vec<DeclaredOption> {
        let options = self.mapping.get("options");
        self.options_of(options)
    }

    /// The options in a mapping. The depth of a document is limited by its reader.
    fn options_of(&self, node: Option<&Node>) -> Vec<DeclaredOption> {
        let mapping = node.and_then(Node::as_mapping);
        let entries = mapping.into_iter().flat_map(|mapping| &mapping.entries);
        entries.filter_map(|entry| self.option(entry)).collect()
    }

    fn option(&self, entry: &Entry) -> Option<DeclaredOption> {
        let nothing = Mapping::default();
        let described = match &entry.value.value {
            Value::Mapping(mapping) => mapping,
            _ if entry.value.is_null() => &nothing,
            _ => return None,
        };
        let text = |key: &str| {
            let scalar = described.get(key)?.as_scalar()?;
            (!scalar.is_null()).then_some(scalar.text.as_str())
        };
        let stated_type = text("type").unwrap_or_default();
        let is_bool = matches!(stated_type, "bool" | "boolean");
        let value_type = match text("elements") {
            Some(elements) => format!("{stated_type} of {elements}"),
            None => stated_type.to_owned(),
        };
        Some(DeclaredOption {
            name: entry.key.text.clone(),
            aliases: values(described.get("aliases"), false),
            is_required: text("required").is_some_and(is_true),
            value_type,
            choices: values(described.get("choices"), is_bool),
            default: described
                .get("default")
                .and_then(|node| self.default(node, is_bool)),
            suboptions: self.options_of(described.get("suboptions")),
            location: Location::new(&self.source, entry.key_span),
        })
    }

    /// A default value as text: equal values have equal texts in nearly all cases.
    fn default(&self, node: &Node, is_bool: bool) -> Option<String> {
        match &node.value {
            Value::Scalar(scalar) if scalar.is_null() => None,
            Value::Scalar(scalar) => Some(value(&scalar.text, is_bool)),
            Value::Sequence(items) if items.iter().all(|item| item.as_scalar().is_some()) => {
                Some(format!("[{}]", values(Some(node), is_bool).join(", ")))
            }
            Value::Sequence(_) | Value::Mapping(_) => {
                let text = self.source.text();
                let written = text.get(node.span.start..node.span.end).unwrap_or_default();
                Some(written.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// The warning that the options of a plug-in are unknown.
fn unreadable(path: &str, what: &str) -> Diagnostic {
    let place = Location::new(&SourceText::new(path, ""), Span::default());
    let message = format!("`{what}` cannot be read as YAML, so its options are unknown");
    Diagnostic::warning(Code::Field, message).at(place)
}

/// The scalars of a list, the keys of a mapping, or a single scalar.
fn values(node: Option<&Node>, is_bool: bool) -> Vec<String> {
    let Some(node) = node else {
        return Vec::new();
    };
    let texts: Vec<&str> = match &node.value {
        Value::Scalar(scalar) if scalar.is_null() => Vec::new(),
        Value::Scalar(scalar) => vec![&scalar.text],
        Value::Sequence(items) => (items.iter())
            .filter_map(|item| Some(item.as_scalar()?.text.as_str()))
            .collect(),
        Value::Mapping(mapping) => (mapping.entries.iter())
            .map(|entry| entry.key.text.as_str())
            .collect(),
    };
    texts.into_iter().map(|text| value(text, is_bool)).collect()
}

/// A value in the one spelling of its type.
fn value(text: &str, is_bool: bool) -> String {
    if !is_bool {
        return text.to_owned();
    }
    if is_true(text) { "true" } else { "false" }.to_owned()
}

/// Whether Ansible takes a text for true.
fn is_true(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    matches!(text.as_str(), "true" | "yes" | "on" | "1" | "y" | "t")
}

#[cfg(test)]
mod tests;
