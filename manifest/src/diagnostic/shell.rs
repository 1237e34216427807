//! Words of shell commands in hints.

use std::borrow::Cow;
use std::path::Path;

use super::Escaped;

/// A path, quoted for a shell.
///
/// ```
/// use std::path::Path;
///
/// use pkgres_manifest::diagnostic::quoted;
///
/// assert_eq!(quoted(Path::new("apps/one")), "apps/one");
/// assert_eq!(quoted(Path::new("my app")), "'my app'");
/// ```
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.starts_with('-') {
        // It would be parsed as an option.
        quoted_word(&format!("./{text}"))
    } else {
        quoted_word(&text)
    }
}

/// A word of a command line, which can be an option, quoted for a shell.
pub fn quoted_word(text: &str) -> String {
    let is_plain = |character: char| {
        character.is_alphanumeric()
            || "_./@%+:,=-\\".contains(character) && is_plain_here(character)
    };
    // Some shells expand a word that begins with `=` to the path of a command.
    let is_word = !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain);
    let text = if is_word {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
    };
    Escaped::new(&text).to_string()
}

/// Whether a character has no meaning to the shells of this system. `\\` is a path separator on Windows.
fn is_plain_here(character: char) -> bool {
    character != '\\' || cfg!(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_shells() {
        let check = |path: &str, expected: &str| assert_eq!(quoted(Path::new(path)), expected);
        check("apps/one-2.0_x", "apps/one-2.0_x");
        check("\u{fc}n\u{ef}", "\u{fc}n\u{ef}");
        check("my app", "'my app'");
        check("it's", "'it'\\''s'");
        check("$(rm)", "'$(rm)'");
        check("~", "'~'");
        check("-x", "./-x");
        check("acme=dir:x", "acme=dir:x");
        check("=x", "'=x'");
        check("", "''");
    }
}
