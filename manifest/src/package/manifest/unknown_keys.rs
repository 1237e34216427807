//! Keys that a manifest cannot have, and what was probably meant by them.

#[cfg(feature = "packages")]
use super::KNOWN_KEYS;
use crate::diagnostic::{Code, Diagnostic, Escaped, Located};
#[cfg(feature = "packages")]
use crate::document::Mapping;
#[cfg(feature = "packages")]
use crate::name::PackageName;
#[cfg(feature = "packages")]
use crate::similar::{did_you_mean, most_similar};

/// The keys of other package managers, in lower case and without `-` and `_`, each with that of a manifest.
#[cfg(feature = "packages")]
const ELSEWHERE: [(&str, &str); 14] = [
    ("dependencies", "Require"),
    ("depends", "Require"),
    ("dependson", "Require"),
    ("requirements", "Require"),
    ("deps", "Require"),
    ("imports", "Require"),
    ("authors", "Author"),
    ("maintainer", "Author"),
    ("keywords", "Tags"),
    ("summary", "Description"),
    ("title", "Name"),
    ("exports", "Classes"),
    ("kind", "Type"),
    ("icon", "Logo"),
];

/// The keys whose values list names, so that their entries are often indented too little.
#[cfg(feature = "packages")]
const LISTS: [&str; 3] = ["Require", "Classes", "Interfaces"];

/// A key that a manifest cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key, as written.
    pub key: Located<String>,
    /// The key that was probably meant, as a hint for people.
    pub hint: Option<String>,
}

impl UnknownKey {
    /// The warning about the key.
    pub(super) fn finding(&self) -> Diagnostic {
        let message = format!(
            "unknown key `{}` in a manifest",
            Escaped::shortened(&self.key.value)
        );
        let finding = Diagnostic::warning(Code::UnknownKey, message).at(self.key.location.clone());
        match &self.hint {
            Some(hint) => finding.hint(hint.clone()),
            None => finding,
        }
    }
}

/// The key of a manifest that an unknown one was probably meant to be.
#[cfg(feature = "packages")]
pub(super) fn similar_key(unknown: &str) -> Option<&'static str> {
    let folded: String = unknown
        .chars()
        .filter(|next| !matches!(next, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect();
    let elsewhere = ELSEWHERE.iter().find(|(key, _)| *key == folded);
    elsewhere
        .map(|(_, known)| *known)
        .or_else(|| most_similar(unknown, KNOWN_KEYS))
}

/// A hint about an unknown key of a manifest.
#[cfg(feature = "packages")]
pub(super) fn hint(manifest: &Mapping, unknown: &str) -> Option<String> {
    if unknown.contains('.') && PackageName::is_name(unknown) {
        let before = manifest.entries.iter().map(|entry| entry.key.text.as_str());
        let before = before.take_while(|key| *key != unknown);
        let list = before.filter(|key| LISTS.contains(key)).last()?;
        return Some(format!(
            "indent it by two spaces to make it a part of `{list}`"
        ));
    }
    similar_key(unknown).map(did_you_mean)
}
