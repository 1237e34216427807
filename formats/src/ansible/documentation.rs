//! Reads the options of plug-ins from their documentation.
//!
//! Documentation is YAML: the text `DOCUMENTATION` of a Python module, or a file beside it. It can name fragments,
//! whose options it includes. Fragments of the same collection are read; those of other collections are listed by name.
//! Python code is not run: if the text is computed, it is not read, and the options of the plug-in are unknown, as they
//! are for `ansible-doc`.

mod named_fragments;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, Value, read_yaml};
use pkgres_manifest::{ClassName, ClassOptions, DeclaredOption, Limits, ReadOptions};

use super::content::{MODULE_LIMIT, read_or_skip};
use super::name::dotted;
use super::python::{LiteralText, assigned};
use crate::lookup::FileTree;
pub(super) use named_fragments::foreign_fragments;

/// The name of the text in a module, and of the key in a file.
const DOCUMENTATION: &str = "DOCUMENTATION";

/// The folder of fragments.
const FRAGMENTS: &str = "doc_fragments";

/// The limit on options copied from fragments and by redirects, so that a small collection cannot fill the memory.
const MAX_COPIED_OPTIONS: usize = 250_000;

/// The folders of `plugins` whose modules are no plug-ins.
const NO_PLUGINS: [&str; 2] = ["module_utils", "plugin_utils"];

/// The options of the plug-ins of a collection by their classes, and warnings about documentation that cannot be read.
/// `root` is the path of the collection in messages. Plug-ins that `redirects` lists with their targets have the options
/// of these.
///
/// # Errors
///
/// The files cannot be read, or options would be copied too often.
pub(super) fn read(
    collection: &str,
    root: &str,
    tree: &dyn FileTree,
    redirects: &[(String, String)],
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
        let shown = format!("{root}/{path}");
        let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
        if !is_yaml && !path.ends_with(".py") {
            continue;
        }
        let read = read_or_skip(tree, &path, &shown, MODULE_LIMIT, &mut findings)?;
        let Some(bytes) = read else {
            continue;
        };
        let limits = &options.limits;
        if is_yaml {
            if let Some(document) = PluginDocument::of_file(&shown, &bytes, limits, &mut findings) {
                plugins.insert(name, document);
            }
        } else {
            let text = String::from_utf8_lossy(&bytes);
            let is_fragment = kind == FRAGMENTS;
            // Most modules without documentation need not be parsed.
            let may_have_some = memchr::memmem::find(&bytes, DOCUMENTATION.as_bytes()).is_some();
            if !is_fragment && !may_have_some {
                continue;
            }
            let module = SourceText::new(&shown, text.as_ref());
            let assigned = assigned(module.text(), is_fragment);
            let is_found = assigned.texts.contains_key(DOCUMENTATION);
            if assigned.is_broken && may_have_some && !is_found {
                let place = Location::new(&module, Span::default());
                let why = "is not found, because the module cannot be parsed";
                findings.push(unknown(why, DOCUMENTATION, place));
            }
            for (text_name, (found, span)) in assigned.texts {
                if !is_documentation(text_name, is_fragment) {
                    continue;
                }
                let place = Location::new(&module, span);
                let Some(found) = found else {
                    if text_name == DOCUMENTATION {
                        findings.push(unknown("is not a plain text", text_name, place));
                    }
                    continue;
                };
                let read = PluginDocument::of_text(place, text_name, found, limits, &mut findings);
                let Some(document) = read else {
                    continue;
                };
                if is_fragment {
                    fragments.insert(fragment_name(collection, &name, text_name), document);
                } else {
                    // The text of a module beside a file is a part of it.
                    plugins.entry(name.clone()).or_insert(document);
                }
            }
        }
    }
    let fragments = fragments.into_iter();
    let fragments: BTreeMap<String, Vec<DeclaredOption>> = fragments
        .map(|(name, document)| (name, document.options()))
        .collect();
    let mut classes = BTreeMap::new();
    let mut copies = OptionCopies::default();
    for (name, document) in &plugins {
        let Ok(class) = ClassName::parse(&format!("{collection}.{name}")) else {
            continue;
        };
        let options = document.with_fragments(collection, &fragments, &mut copies)?;
        classes.insert(class, options);
    }
    for (path, target) in redirects {
        let class = |path: &str| ClassName::parse(&format!("{collection}.{path}")).ok();
        let documented = class(target).and_then(|target| classes.get(&target));
        if let (Some(class), Some(documented)) = (class(path), documented) {
            copies.count(&documented.options)?;
            copies.add(documented.others.len())?;
            let options = documented.clone();
            classes.insert(class, options);
        }
    }
    Ok((classes, findings))
}

/// The number of options that were copied so far.
#[derive(Default)]
struct OptionCopies(usize);

impl OptionCopies {
    /// Counts copies of options, which have options of their own, before they are made.
    fn count(&mut self, options: &[DeclaredOption]) -> Result<(), Diagnostic> {
        for option in options {
            self.add(1)?;
            self.count(&option.suboptions)?;
        }
        Ok(())
    }

    /// Counts copies of options, or of names of fragments with more of them.
    fn add(&mut self, count: usize) -> Result<(), Diagnostic> {
        self.0 += count;
        if self.0 <= MAX_COPIED_OPTIONS {
            return Ok(());
        }
        let message = format!(
            "the plug-ins have more than {MAX_COPIED_OPTIONS} options from documentation fragments and by redirects"
        );
        Err(Diagnostic::error(Code::Limit, message))
    }
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

/// Whether a text of this name is documentation: `DOCUMENTATION` of a module, or a name in capital letters of a fragment.
fn is_documentation(name: &str, is_fragment: bool) -> bool {
    let is_capital = |next: u8| next.is_ascii_uppercase() || next.is_ascii_digit() || next == b'_';
    name == DOCUMENTATION || is_fragment && name.bytes().all(is_capital)
}

/// Documentation that was read.
struct PluginDocument {
    source: Arc<SourceText>,
    mapping: Mapping,
    /// The module that has it, and the text in it; `None` for a file.
    written: Option<(Arc<SourceText>, LiteralText)>,
}

impl PluginDocument {
    /// Reads the text of a name in a module. What cannot be read is a warning.
    fn of_text(
        place: Location,
        name: &str,
        text: LiteralText,
        limits: &Limits,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let module = Arc::clone(place.source());
        let read = read_yaml(module.name(), text.value.as_bytes(), name, limits);
        let Ok(((source, Some(node)), _)) = read.into_result() else {
            findings.push(unknown("cannot be read as YAML", name, place));
            return None;
        };
        let Value::Mapping(mapping) = node.value else {
            return None;
        };
        Some(Self {
            source,
            mapping,
            written: Some((module, text)),
        })
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
            let place = Location::new(&SourceText::new(path, ""), Span::default());
            findings.push(unknown("cannot be read as YAML", DOCUMENTATION, place));
            return None;
        };
        let mapping = node.as_mapping()?.get(DOCUMENTATION)?.as_mapping()?.clone();
        Some(Self {
            source,
            mapping,
            written: None,
        })
    }

    /// The options with those of fragments. Its own ones replace theirs, and those of a fragment that of later ones.
    fn with_fragments(
        &self,
        collection: &str,
        fragments: &BTreeMap<String, Vec<DeclaredOption>>,
        copies: &mut OptionCopies,
    ) -> Result<ClassOptions, Diagnostic> {
        let mut options = self.options();
        let mut known: BTreeSet<String> = options.iter().map(|own| own.name.clone()).collect();
        let mut named = BTreeSet::new();
        let mut others = BTreeSet::new();
        let own = format!("{collection}.");
        for name in self.fragment_names() {
            if !named.insert(name) {
                continue;
            }
            let Some(fragment) = fragments.get(name) else {
                // One of this collection that is not there, or cannot be read, is as unknown.
                let unread = if name.starts_with(&own) {
                    " (unread)"
                } else {
                    ""
                };
                others.insert(format!("{name}{unread}"));
                continue;
            };
            for option in fragment {
                if known.insert(option.name.clone()) {
                    copies.count(std::slice::from_ref(option))?;
                    options.push(option.clone());
                }
            }
        }
        Ok(ClassOptions { options, others })
    }

    /// The names of fragments.
    fn fragment_names(&self) -> Vec<&str> {
        let names = self.named_fragments().into_iter();
        names.map(|(name, _)| name).collect()
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
            location: self.location(entry.key_span),
        })
    }

    /// A place in the documentation.
    fn location(&self, span: Span) -> Location {
        match &self.written {
            Some((module, text)) => Location::new(module, text.written_at(span)),
            None => Location::new(&self.source, span),
        }
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
fn unknown(why: &str, name: &str, place: Location) -> Diagnostic {
    let message = format!("`{name}` {why}, so its options are unknown");
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
