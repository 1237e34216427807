//! Texts for people out of the archives of releases: readmes and licences.

use serde::{Deserialize, Serialize};

/// The most bytes of a text that are read and shown.
pub(crate) const MAX_TEXT: u64 = 256 << 10;

/// A text out of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackageText {
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Whether the text is only the beginning of the file.
    pub(crate) is_cut: bool,
}

impl PackageText {
    /// The text of a file, or its beginning.
    pub(crate) fn new(file: impl Into<String>, bytes: &[u8]) -> Self {
        let limit = usize::try_from(MAX_TEXT).unwrap_or(usize::MAX);
        let shown = &bytes[..bytes.len().min(limit)];
        Self {
            file: file.into(),
            // Databases take texts without U+0000 alone.
            text: String::from_utf8_lossy(shown).replace('\0', "\u{fffd}"),
            is_cut: bytes.len() > limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        let text = PackageText::new("README.md", b"a\0\xffb");
        assert_eq!((&*text.text, text.is_cut), ("a\u{fffd}\u{fffd}b", false));
        let long = PackageText::new("README.md", &vec![b'x'; 300 << 10]);
        assert_eq!((long.text.len(), long.is_cut), (256 << 10, true));
    }
}
