//! Words as they are written in YAML.

use std::borrow::Cow;

use super::{Scalar, Style};

/// A name, or a part of one, as it is written in YAML: in quotes where it would be taken for something
/// else than text, such as `Null` or `On`.
///
/// ```
/// use pkgres_manifest::yaml_word;
///
/// assert_eq!(yaml_word("org.acme.Web"), "org.acme.Web");
/// assert_eq!(yaml_word("Null"), "\"Null\"");
/// ```
pub fn yaml_word(word: &str) -> Cow<'_, str> {
    let plain = Scalar {
        text: word.to_owned(),
        style: Style::Plain,
    };
    if plain.is_mistakable() {
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Borrowed(word)
    }
}
