//! Namespaces of a class file, and the short class names that they resolve: `prefix:Name`, `:Name`, `Name`
//! and `absolute.Name`.

use std::collections::HashMap;

use crate::diagnostic::Escaped;
use crate::name::ClassName;

/// The namespaces that apply to a document. The prefix `=` is for names without one.
#[derive(Debug, Clone, Default)]
pub(super) struct Namespaces {
    by_prefix: HashMap<String, String>,
}

impl Namespaces {
    /// Declares a prefix. The error names the text that is not well-formed.
    pub(super) fn declare(&mut self, prefix: &str, namespace: &str) -> Result<(), String> {
        if prefix != "=" && !is_identifier(prefix) {
            return Err(format!(
                "`{}` is not a namespace prefix: use letters, digits and `_` only",
                Escaped::shortened(prefix)
            ));
        }
        ClassName::parse(namespace).map_err(|error| {
            format!(
                "`{}` is not a namespace: {error}",
                Escaped::shortened(namespace)
            )
        })?;
        self.by_prefix
            .insert(prefix.to_owned(), namespace.to_owned());
        Ok(())
    }

    /// Resolves a short name to a full one.
    pub(super) fn resolve(&self, written: &str) -> Result<ClassName, String> {
        let absolute = match written.split_once(':') {
            Some(("", name)) => self.in_default(name)?,
            Some((prefix, name)) => match self.by_prefix.get(prefix) {
                Some(_) if name.contains('.') => {
                    return Err(format!(
                        "`{}` has a dot after the prefix",
                        Escaped::shortened(written)
                    ));
                }
                Some(namespace) => format!("{namespace}.{name}"),
                None => {
                    return Err(format!(
                        "the namespace prefix `{}` is not declared",
                        Escaped::shortened(prefix)
                    ));
                }
            },
            None if written.contains('.') => written.to_owned(),
            None => self.in_default(written)?,
        };
        ClassName::parse(&absolute).map_err(|error| {
            format!(
                "`{}` is not a class name: {error}",
                Escaped::shortened(written)
            )
        })
    }

    fn in_default(&self, name: &str) -> Result<String, String> {
        if name.contains('.') {
            return Err(format!(
                "`:{}` has a dot after the prefix",
                Escaped::shortened(name)
            ));
        }
        Ok(match self.by_prefix.get("=") {
            Some(namespace) => format!("{namespace}.{name}"),
            None => name.to_owned(),
        })
    }
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_as_in_the_reference_implementation() {
        let mut namespaces = Namespaces::default();
        assert_eq!(namespaces.resolve("A").expect("a name").as_str(), "A");
        namespaces.declare("=", "org.acme").expect("valid");
        namespaces.declare("std", "io.murano").expect("valid");
        for (written, full) in [
            ("A", "org.acme.A"),
            (":A", "org.acme.A"),
            ("std:A", "io.murano.A"),
            ("x.y.A", "x.y.A"),
        ] {
            assert_eq!(namespaces.resolve(written).expect(written).as_str(), full);
        }
        for bad in [
            "nope:A",
            "a:b:c",
            "std:",
            "std:a.B",
            ":a.B",
            "http://x/y",
            "",
            "1a",
        ] {
            assert!(namespaces.resolve(bad).is_err(), "{bad}");
        }
        assert!(namespaces.declare("a b", "x").is_err());
        assert!(namespaces.declare("a", "1com..x").is_err());
    }
}
