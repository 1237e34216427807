//! Paths inside a package.
//!
//! File systems differ in the names that they store, change, or treat as equal. A package with such
//! names has different contents on different machines, and can even write outside of its folder.
//! Paths here are portable or an error; nothing is repaired, since a repaired path can name a different file than
//! the one that was checked.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::diagnostic::Escaped;
use crate::diagnostic::is_hazardous;
use crate::name::is_device_name;

/// The longest path in bytes.
const MAX_PATH_BYTES: usize = 1024;
/// The longest part of a path in bytes.
const MAX_PATH_PART_BYTES: usize = 255;
/// The most parts of a path.
const MAX_PATH_PARTS: usize = 32;

/// The path of a file or folder relative to its package: parts joined by `/`, no `.` or `..`, and
/// only names that every file system stores unchanged.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackagePath(Arc<str>);

/// The error for a string that is not a path inside a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("`{}` is not a path inside a package: {reason}", Escaped::shortened(.text))]
pub struct PathError {
    /// The text as written.
    pub text: String,
    /// The rule that it breaks.
    pub reason: &'static str,
}

impl PackagePath {
    /// Reads a path of a file.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match problem(text) {
            None => Ok(Self(Arc::from(text))),
            Some(reason) => Err(PathError {
                text: text.to_owned(),
                reason,
            }),
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns this path below a folder.
    pub fn below(&self, folder: &str) -> Result<Self, PathError> {
        Self::parse(&format!("{folder}/{self}"))
    }

    /// The folded form, which is the same for all paths that some file system treats as equal.
    pub(crate) fn folded(&self) -> String {
        fold(&self.0)
    }
}

/// Folds the case of a string. Upper case, then lower case, folds more than lower case alone: `ß` becomes `ss`, and after
/// lower case `ẞ` does, too.
pub(crate) fn fold(text: &str) -> String {
    text.nfc()
        .collect::<String>()
        .to_lowercase()
        .to_uppercase()
        .to_lowercase()
        .nfc()
        .collect()
}

fn problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_PATH_BYTES {
        return Some("it is longer than 1024 bytes");
    }
    if text.starts_with('/') {
        return Some("it is absolute");
    }
    if !is_nfc(text) {
        return Some("it is not in Unicode normalization form C");
    }
    for character in text.chars() {
        if is_hazardous(character) || is_variation_selector(character) {
            return Some("it contains an invisible character");
        }
        if matches!(character, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') {
            return Some("it contains a character that some file systems forbid");
        }
        // Full-width forms and the like become separators when a file system normalizes names.
        if !character.is_ascii()
            && std::iter::once(character)
                .nfkc()
                .any(|plain| matches!(plain, '/' | '\\' | '.' | ':'))
        {
            return Some("it contains a character that some systems read as a separator");
        }
    }
    if text.split('/').count() > MAX_PATH_PARTS {
        return Some("it has more than 32 parts");
    }
    text.split('/').find_map(part_problem)
}

/// Whether a character selects a variant of the one before it, which many fonts show alike.
fn is_variation_selector(character: char) -> bool {
    matches!(
        character,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

fn part_problem(part: &str) -> Option<&'static str> {
    if part.is_empty() {
        Some("a part is empty")
    } else if part == "." || part == ".." {
        Some("`.` and `..` are not allowed")
    } else if part.len() > MAX_PATH_PART_BYTES {
        Some("a part is longer than 255 bytes")
    } else if part.ends_with(['.', ' ']) {
        Some("a part ends with a dot or a space")
    } else if part.starts_with('~') {
        Some("a part begins with `~`")
    } else if part.starts_with(' ') {
        Some("a part begins with a space")
    } else if part.to_ascii_lowercase().starts_with(".pkgres-") {
        Some("a part begins with `.pkgres-`, which is reserved")
    } else if is_device_name(part) {
        Some("a part is a device name on some systems")
    } else {
        None
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for PackagePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Borrow<str> for PackagePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_stay_as_they_are() {
        for good in [
            "manifest.yaml",
            "Classes/a/B.yaml",
            "Resources/caf\u{e9}.txt",
            "Resources/%2e%2e%2fx",
            ".gitignore",
            "a b.txt",
        ] {
            assert!(PackagePath::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a//b",
            "./a",
            "a/../b",
            "..",
            "a\\b",
            "C:a",
            "a\0b",
            "a\nb",
            "a.",
            "a ",
            "CON",
            "x/aux.yaml",
            "LPT1.txt",
            "COM\u{b9}",
            "~/a",
            ".pkgres-ok",
            "\u{ff0e}\u{ff0e}\u{ff0f}a",
            "a\u{200b}b",
            "a\u{3164}",
            "a\u{fe0f}",
            "a\u{e0100}",
            "a\u{202e}b",
            "cafe\u{301}",
            "a*b",
        ] {
            assert!(PackagePath::parse(bad).is_err(), "{bad:?}");
        }
        assert!(PackagePath::parse(&"a/".repeat(40)).is_err());
        assert!(PackagePath::parse(&"a".repeat(300)).is_err());
    }

    #[test]
    fn folding_joins_what_a_file_system_might() {
        assert_eq!(fold("Stra\u{df}e"), fold("STRASSE"));
        assert_eq!(fold("STRA\u{1e9e}E"), fold("strasse"));
        assert_eq!(fold("caf\u{e9}"), fold("cafe\u{301}"));
        assert_ne!(fold("a"), fold("b"));
    }
}
