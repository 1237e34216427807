//! The documentation fragments that a plug-in names.

use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Location, SourceText, Span};
use pkgres_manifest::document::Value;

use super::{DOCUMENTATION, PluginDocument};
use crate::ansible::name::is_content_name;
use crate::ansible::python::assigned;

/// The key of documentation with the names of fragments.
pub(super) const KEY: &str = "extends_documentation_fragment";

/// The fragments of other collections that the documentation in a file names, each with the first byte of the list item
/// or text that names it. `path` says whether the file is Python or YAML. Documentation that cannot be read names none.
pub(in crate::ansible) fn foreign_fragments(
    collection: &str,
    path: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Vec<(usize, String)> {
    if !may_name_others(collection, bytes) {
        return Vec::new();
    }
    let Some(document) = document_of(path, bytes, limits) else {
        return Vec::new();
    };
    let named = document.named_fragments().into_iter();
    let foreign = named.filter(|(name, _)| is_foreign(collection, name));
    foreign
        .map(|(name, span)| (document.location(span).span().start, name.to_owned()))
        .collect()
}

fn document_of(path: &str, bytes: &[u8], limits: &Limits) -> Option<PluginDocument> {
    // A warning about it is for those who need its options.
    let findings = &mut Vec::new();
    if !path.ends_with(".py") {
        return PluginDocument::of_file(path, bytes, limits, findings);
    }
    let text = String::from_utf8_lossy(bytes);
    let module = SourceText::new(path, text.as_ref());
    let (found, span) = assigned(module.text(), false).texts.remove(DOCUMENTATION)?;
    let place = Location::new(&module, span);
    PluginDocument::of_text(place, DOCUMENTATION, found?, limits, findings)
}

/// Whether documentation may name fragments of other collections. Most names none, and need not be parsed. A name is in
/// the line of the key, or in one of those up to the next line with a key.
fn may_name_others(collection: &str, bytes: &[u8]) -> bool {
    let Some(first) = memchr::memmem::find(bytes, KEY.as_bytes()) else {
        return false;
    };
    let mut may_be_name = false;
    for line in bytes[first..].split(|byte| *byte == b'\n') {
        let is_key = memchr::memmem::find(line, KEY.as_bytes()).is_some();
        may_be_name |= is_key;
        if !may_be_name {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        let is_of_name = |next: char| next.is_ascii_alphanumeric() || "_.".contains(next);
        let mut words = line.split(|next| !is_of_name(next));
        if words.any(|word| is_foreign(collection, word)) {
            return true;
        }
        let before_comment = line.split('#').next().unwrap_or_default();
        may_be_name = is_key || !before_comment.contains(':');
    }
    false
}

/// Whether a text is the name of a fragment of another collection than this one or ansible-core.
fn is_foreign(collection: &str, name: &str) -> bool {
    let mut of_own = [collection, "ansible.builtin", "ansible.legacy"].into_iter();
    let is_in = |of: &str| {
        name.strip_prefix(of)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    name.split('.').count() > 2 && name.split('.').all(is_content_name) && !of_own.any(is_in)
}

impl PluginDocument {
    /// The names of fragments, and where each is written: a list has one in each item, a text has them between commas.
    pub(super) fn named_fragments(&self) -> Vec<(&str, Span)> {
        let Some(node) = self.mapping.get(KEY) else {
            return Vec::new();
        };
        let texts: Vec<(&str, Span)> = match &node.value {
            Value::Scalar(scalar) => {
                let names = scalar.text.split(',');
                names.map(|name| (name, node.span)).collect()
            }
            Value::Sequence(items) => (items.iter())
                .filter_map(|item| Some((item.as_scalar()?.text.as_str(), item.span)))
                .collect(),
            Value::Mapping(_) => Vec::new(),
        };
        let names = texts.into_iter().map(|(name, span)| (name.trim(), span));
        names.filter(|(name, _)| !name.is_empty()).collect()
    }
}
