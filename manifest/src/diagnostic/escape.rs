//! Text from outside, shown so that it cannot act on a terminal.
//!
//! Package names, paths and messages of servers end up in error messages. Control characters in them could
//! move the cursor or hide a line, and bidirectional controls could reorder what a reader sees ("Trojan
//! Source", CVE-2021-42574).

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use super::credentials::without_credentials;

/// The number of characters that [`Escaped::shortened`] shows.
const SHORTENED_CHARACTERS: usize = 80;

/// The length of the longest credentials that are hidden where a text is cut: half of a password would not be recognized
/// later. What comes after is not looked at, however long the text is.
const LONGEST_CREDENTIALS: usize = 1000;

/// A text from outside whose `Display` can neither move the cursor nor reorder or hide text.
///
/// Control characters, bidirectional controls and characters without width are written as
/// `\u{..}`; everything else is shown as it is.
///
/// ```
/// use pkgres_manifest::diagnostic::Escaped;
///
/// assert_eq!(Escaped::new("a\u{1b}[2Jb").to_string(), "a\\u{1b}[2Jb");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'text> {
    text: Content<'text>,
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Content<'text> {
    Borrowed(&'text str),
    Path(&'text Path),
    Character(char),
}

impl<'text> Escaped<'text> {
    /// Shows the whole text.
    pub fn new(text: &'text str) -> Self {
        Self {
            text: Content::Borrowed(text),
            limit: None,
        }
    }

    /// Shows the beginning of a text that may be very long, without the [credentials](without_credentials) in addresses.
    pub fn shortened(text: &'text str) -> Self {
        Self::within(text, SHORTENED_CHARACTERS)
    }

    /// Shows at most `characters` characters, without the [credentials](without_credentials) in addresses.
    pub fn within(text: &'text str, characters: usize) -> Self {
        Self {
            text: Content::Borrowed(text),
            limit: Some(characters),
        }
    }

    /// Shows a path. What is not Unicode is replaced.
    pub fn path(path: &'text (impl AsRef<Path> + ?Sized)) -> Self {
        Self {
            text: Content::Path(path.as_ref()),
            limit: None,
        }
    }

    /// Shows one character.
    pub fn from_char(character: char) -> Self {
        Self {
            text: Content::Character(character),
            limit: None,
        }
    }
}

/// Whether a character could change how the text around it is shown: control characters, also of the direction of text,
/// and characters without width.
pub fn is_hazardous(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // `Default_Ignorable_Code_Point` of Unicode, without the variation selectors that texts need: no width, a joiner,
            // a filler, or not assigned and shown as nothing.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
            // A space of Braille without dots.
            | '\u{2800}'
            // Line and paragraph separators, bidirectional embedding and override.
            | '\u{2028}'..='\u{202e}' | '\u{fff9}'..='\u{fffb}'
        )
}

/// The first character of a text that could change how the text around it is shown, and that [`Escaped`] does not show
/// as it is. Line feeds and tabs are such characters.
///
/// ```
/// use pkgres_manifest::diagnostic::hazardous_character;
///
/// assert_eq!(hazardous_character("name"), None);
/// assert_eq!(hazardous_character("na\u{202e}me"), Some('\u{202e}'));
/// ```
pub fn hazardous_character(text: &str) -> Option<char> {
    text.chars().find(|character| is_hazardous(*character))
}

/// The first [hazardous character](hazardous_character) of a text that may have several lines and tabs.
pub fn hazardous_character_in_lines(text: &str) -> Option<char> {
    text.split(['\n', '\r', '\t']).find_map(hazardous_character)
}

/// A text of a finding, in which names from outside may have been forgotten to be escaped, without credentials. Its
/// lines are kept.
pub(super) fn harmless(text: String) -> String {
    let text = match without_credentials(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    };
    let is_harmful = |character| character != '\n' && is_hazardous(character);
    if !text.contains(is_harmful) {
        return text;
    }
    let lines = text.split('\n').map(|line| Escaped::new(line).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;

        let write_one = |formatter: &mut fmt::Formatter<'_>, character: char| {
            if is_hazardous(character) {
                write!(formatter, "{}", character.escape_unicode())
            } else {
                formatter.write_char(character)
            }
        };
        match self.text {
            Content::Character(character) => write_one(formatter, character),
            Content::Path(path) => Escaped::new(&path.to_string_lossy()).fmt(formatter),
            Content::Borrowed(text) => {
                // Half of a password would not be recognized later.
                let Some(limit) = self.limit else {
                    return (text.chars())
                        .try_for_each(|character| write_one(formatter, character));
                };
                let mut positions = text.char_indices();
                let end = positions.nth(limit.saturating_add(LONGEST_CREDENTIALS));
                let beginning = end.map_or(text, |(end, _)| &text[..end]);
                let beginning = without_credentials(beginning);
                let mut characters = beginning.chars();
                for character in characters.by_ref().take(limit) {
                    write_one(formatter, character)?;
                }
                if end.is_some() || characters.next().is_some() {
                    formatter.write_str("...")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_finding_keeps_only_its_lines() {
        assert_eq!(harmless("a `b`\nc".to_owned()), "a `b`\nc");
        assert_eq!(
            harmless("one\u{202e}\ntwo\r".to_owned()),
            "one\\u{202e}\ntwo\\u{d}"
        );
    }

    #[test]
    fn what_is_not_seen_is_hazardous() {
        // A few of each range of `Default_Ignorable_Code_Point`, and a blank that is no space.
        for character in "\u{ad}\u{115f}\u{180e}\u{2065}\u{3164}\u{ffa0}\u{fff0}\u{fff8}\u{1bca3}\u{1d173}\u{1d17a}\u{e0080}\u{e00ff}\u{e01f0}\u{e0fff}\u{2800}".chars() {
            assert!(is_hazardous(character), "{character:?}");
        }
        // Letters, combining marks, and characters with the selector of a variant.
        for character in
            "\u{e9}\u{301}\u{3165}\u{2801}\u{2764}\u{fe0f}\u{845b}\u{e0100}\u{fffd}\u{1f600}"
                .chars()
        {
            assert!(!is_hazardous(character), "{character:?}");
        }
    }

    #[test]
    fn nothing_shown_can_act_on_a_terminal() {
        let hostile = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\r\n\u{7f}caf\u{e9}";
        let shown = Escaped::new(hostile).to_string();
        assert!(!shown.chars().any(is_hazardous), "{shown:?}");
        assert!(shown.ends_with("caf\u{e9}"));
    }

    #[test]
    fn text_is_cut_after_credentials_are_left_out() {
        let text = format!("https://me:{}@example.org/", "secret".repeat(20));
        assert_eq!(
            Escaped::shortened(&text).to_string(),
            "https://***@example.org/"
        );
        assert_eq!(harmless(text), "https://***@example.org/");
    }

    #[test]
    fn long_text_is_cut() {
        let shown = Escaped::shortened(&"x".repeat(1000)).to_string();
        assert_eq!(shown.len(), SHORTENED_CHARACTERS + 3);
    }
}
