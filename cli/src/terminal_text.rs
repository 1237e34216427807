//! Texts that cannot act on a terminal, and show what they say.

use std::borrow::Cow;

use pkgres_manifest::diagnostic::is_hazardous;

/// A text without characters that control a terminal, or hide or reorder text, except for line feeds, tabs and the styles
/// of messages: names of files and folders can have any, and a terminal would follow them.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |character: char| is_hazardous(character) && !matches!(character, '\n' | '\t');
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let style = style_length(rest);
        if style > 0 {
            safe.push_str(&rest[..style]);
            rest = &rest[style..];
            continue;
        }
        if is_harmful(next) {
            safe.extend(next.escape_unicode());
        } else {
            safe.push(next);
        }
        rest = &rest[next.len_utf8()..];
    }
    Cow::Owned(safe)
}

/// The length of the style that a text begins with: `ESC [ … m`. It can change colors and nothing else.
fn style_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = parameters.find(|next: char| !next.is_ascii_digit() && next != ';');
    match end {
        Some(end) if parameters[end..].starts_with('m') => text.len() - parameters.len() + end + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazardous_characters_are_shown_and_not_sent() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            (
                "\u{1b}[1m\u{1b}[31merror\u{1b}[0m",
                "\u{1b}[1m\u{1b}[31merror\u{1b}[0m",
            ),
            ("a\u{1b}]0;x\u{7}b", "a\\u{1b}]0;x\\u{7}b"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}[", "\\u{1b}["),
            ("\u{9b}31m\r", "\\u{9b}31m\\u{d}"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
            ("Bücher \u{1f4da}", "Bücher \u{1f4da}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }
}
