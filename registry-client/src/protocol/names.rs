//! Names of packages and classes as parts of paths.

/// A name as a part of a path: each upper case letter `X` becomes `!x`. So names that differ only in case stay
/// different on file systems that fold case.
///
/// ```
/// use pkgres_registry_client::protocol::{escape_name, unescape_name};
///
/// assert_eq!(escape_name("io.murano.apps.Apache"), "io.murano.apps.!apache");
/// assert_eq!(unescape_name("io.murano.apps.!apache").as_deref(), Some("io.murano.apps.Apache"));
/// assert_eq!(unescape_name("io.murano.apps.Apache"), None, "it is not the canonical form");
/// ```
pub fn escape_name(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            escaped.push('!');
            escaped.push(character.to_ascii_lowercase());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// The name that was escaped, or `None` if the text is not an escaped name. That it is the name of a
/// package is not checked.
pub fn unescape_name(escaped: &str) -> Option<String> {
    let mut name = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        match character {
            '!' => {
                let letter = characters.next().filter(char::is_ascii_lowercase)?;
                name.push(letter.to_ascii_uppercase());
            }
            character if character.is_ascii_uppercase() => return None,
            character => name.push(character),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaped_names_are_the_same_backwards(name in "[A-Za-z_][A-Za-z0-9_.]{0,40}") {
            let escaped = escape_name(&name);
            prop_assert_eq!(escaped.to_lowercase(), escaped.clone());
            prop_assert_eq!(unescape_name(&escaped), Some(name));
        }

        #[test]
        fn there_is_one_way_to_escape_a_name(text in ".{0,20}") {
            if let Some(name) = unescape_name(&text) {
                prop_assert_eq!(escape_name(&name), text);
            }
        }
    }

    #[test]
    fn only_escaped_names_are_unescaped() {
        for bad in ["!", "a!", "!A", "!1", "!!", "aB"] {
            assert_eq!(unescape_name(bad), None, "{bad}");
        }
    }
}
