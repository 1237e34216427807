//! The text that decides whether two resources are the same.

use std::fmt::{self, Debug, Write as _};

use pkgres_manifest::{Hexadecimal, sha256};

/// The [definition](super::Resource::definition) of a resource: its properties by name. It does not depend on how the
/// code calls its fields, so that they can be renamed, and on nothing that is not named.
///
/// ```
/// use pkgres_engine::Definition;
///
/// let definition = Definition::new("host name").with("name", "web-1").into_text();
/// assert_eq!(definition, r#"host name, name: "web-1""#);
/// ```
#[derive(Clone)]
pub struct Definition(String);

/// The most bytes that a definition has as they are.
const MAX_SHOWN: usize = 1024;

impl Definition {
    /// A definition without properties. What is defined has a name, as resources of other kinds may have the same
    /// properties.
    pub fn new(what: &str) -> Self {
        Self(what.to_owned())
    }

    /// Adds a property. Its value is a text, number, path or another definition, or a list or option of them: their
    /// `Debug` has quotes where they are necessary, and does not change.
    #[must_use]
    pub fn with(mut self, property: &str, value: impl Debug) -> Self {
        // Writing to a text cannot fail.
        let _ = write!(self.0, ", {property}: {value:?}");
        self
    }

    /// Adds a property that may be long, or no text. Then the definition has its digest.
    #[must_use]
    pub fn with_bytes(self, property: &str, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= MAX_SHOWN => self.with(property, text),
            // Without quotes, so that no text looks like it.
            _ => self.with(
                property,
                format_args!("sha256:{}", Hexadecimal(&sha256(bytes))),
            ),
        }
    }

    /// The text of it.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// As part of another definition.
impl fmt::Debug for Definition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_look_like_another_property() {
        let one = Definition::new("file").with("path", "/a\", mode: \"0644");
        let other = Definition::new("file")
            .with("path", "/a")
            .with("mode", "0644");
        assert_ne!(one.into_text(), other.into_text());
    }
}
