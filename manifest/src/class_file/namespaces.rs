//! Namespaces of a class file, and the short class names that they resolve: `prefix:Name`, `:Name`, `Name`
//! and `absolute.Name`.

use std::collections::HashMap;

use crate::diagnostic::Escaped;
use crate::name::ClassName;
use crate::similar::most_similar;

/// The namespaces that apply to a document. The prefix `=` is for names without one.
///
/// As in the reference implementation, a namespace that no class name can have is only an error where a name
/// uses it.
#[derive(Debug, Clone, Default)]
pub(super) struct Namespaces {
    by_prefix: HashMap<String, String>,
}

impl Namespaces {
    /// Declares a prefix. Names with the prefix of an empty namespace have none. The error names the prefix,
    /// if names cannot have it; an empty one is merely useless.
    pub(super) fn declare(&mut self, prefix: &str, namespace: &str) -> Result<(), String> {
        if !matches!(prefix, "=" | "") && !is_engine_name(prefix) {
            return Err(format!(
                "`{}` is not a namespace prefix: use letters, digits and `_` only",
                Escaped::shortened(prefix)
            ));
        }
        self.by_prefix
            .insert(prefix.to_owned(), namespace.to_owned());
        Ok(())
    }

    /// The declared prefix that is most similar to another one. The first one by name, so that it is always the
    /// same.
    pub(super) fn similar(&self, prefix: &str) -> Option<&str> {
        if self.by_prefix.contains_key(prefix) {
            return None;
        }
        let mut known: Vec<&str> = self.by_prefix.keys().map(String::as_str).collect();
        known.sort_unstable();
        most_similar(prefix, known)
    }

    /// Whether a prefix is not declared, but could be.
    pub(super) fn could_declare(&self, prefix: &str) -> bool {
        !self.by_prefix.contains_key(prefix) && is_engine_name(prefix)
    }

    /// Resolves a short name to a full one.
    pub(super) fn resolve(&self, written: &str) -> Result<ClassName, String> {
        let absolute = match written.split_once(':') {
            Some(("", name)) => self.in_default(name),
            Some(("=", _)) => {
                let shown = Escaped::shortened(written);
                return Err(format!(
                    "`{shown}` is not a class name: names in the namespace `=` have no prefix"
                ));
            }
            Some((prefix, name)) => match self.by_prefix.get(prefix) {
                Some(namespace) => joined(namespace, name),
                None => {
                    return Err(format!(
                        "the namespace prefix `{}` is not declared",
                        Escaped::shortened(prefix)
                    ));
                }
            },
            None if written.contains('.') => written.to_owned(),
            None => self.in_default(written),
        };
        ClassName::parse(&absolute).map_err(|error| {
            let shown = Escaped::shortened(written);
            if absolute == written {
                format!("`{shown}` is not a class name: {error}")
            } else {
                let absolute = Escaped::shortened(&absolute);
                format!("`{shown}` stands for `{absolute}`, which is not a class name: {error}")
            }
        })
    }

    fn in_default(&self, name: &str) -> String {
        let namespace = self.by_prefix.get("=").map_or("", String::as_str);
        joined(namespace, name)
    }
}

/// Whether the deployment engine reads a text as a name: unlike an identifier, it may have letters of all languages after
/// the first.
pub(super) fn is_engine_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|character| character.is_alphanumeric() || character == '_')
}

/// The full name of a class. The empty namespace adds nothing.
fn joined(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
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
        namespaces.declare("bare", "").expect("valid");
        namespaces.declare("bad", "1com..x").expect("valid");
        namespaces.declare("a\u{e9}", "x").expect("valid");
        namespaces.declare("a b", "x").expect_err("no name has it");
        for (written, full) in [
            ("A", "org.acme.A"),
            (":A", "org.acme.A"),
            ("std:A", "io.murano.A"),
            ("x.y.A", "x.y.A"),
            ("bare:A", "A"),
            ("a\u{e9}:A", "x.A"),
            ("std:a.B", "io.murano.a.B"),
            (":a.B", "org.acme.a.B"),
        ] {
            assert_eq!(namespaces.resolve(written).expect(written).as_str(), full);
        }
        for bad in [
            "nope:A",
            "=:A",
            "a:b:c",
            "std:",
            "std:a..B",
            "http://x/y",
            "",
            "1a",
            "bad:A",
        ] {
            assert!(namespaces.resolve(bad).is_err(), "{bad}");
        }
        namespaces.declare("=", "").expect("valid");
        assert_eq!(namespaces.resolve("A").expect("a name").as_str(), "A");
        assert_eq!(namespaces.resolve(":A").expect("a name").as_str(), "A");
    }
}
