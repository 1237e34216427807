//! Namespaces: single names, or names with everything below them.

use std::fmt;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ClassName, NameError, PackageName};

/// A name, or a name and everything below it: `org.acme.*` is `org.acme` and everything below. Names are bound to
/// registries by namespaces, and a registry limits tokens to them.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::Namespace;
///
/// let namespace = Namespace::parse("org.acme.*")?;
/// assert!(namespace.contains(&PackageName::parse("org.acme.Web")?));
/// assert!(!namespace.contains(&PackageName::parse("org.acmeother.Web")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    name: PackageName,
    /// What separates the name from those below it; `None` for a single name.
    below: Option<char>,
}

/// A string that is not a namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a namespace such as `org.acme.*`: {reason}", Escaped::shortened(.text))]
pub struct NamespaceError {
    text: String,
    #[source]
    reason: NameError,
}

impl Namespace {
    /// Reads a namespace.
    pub fn parse(text: &str) -> Result<Self, NamespaceError> {
        // Names of information models are URIs.
        let is_uri = text.contains(':');
        let separators: &[char] = if is_uri { &['/', ':'] } else { &['.'] };
        let open = text.strip_suffix('*').and_then(|text| {
            let separator = text.chars().next_back()?;
            let name = text.strip_suffix(separator)?;
            separators.contains(&separator).then_some((name, separator))
        });
        let (name, below) = match open {
            Some((name, separator)) => (name, Some(separator)),
            None => (text, None),
        };
        let name = if is_uri && !name.contains('*') {
            PackageName::native(name)
        } else {
            PackageName::parse(name)
        };
        let name = name.map_err(|reason| NamespaceError {
            text: text.to_owned(),
            reason,
        })?;
        Ok(Self { name, below })
    }

    /// Whether it contains the name of a package.
    pub fn contains(&self, name: &PackageName) -> bool {
        self.contains_text(name.as_str())
    }

    /// Whether it contains the name of a class.
    pub fn contains_class(&self, class: &ClassName) -> bool {
        self.contains_text(class.as_str())
    }

    fn contains_text(&self, name: &str) -> bool {
        match name.strip_prefix(self.name.as_str()) {
            Some("") => true,
            Some(rest) => self.below.is_some_and(|below| rest.starts_with(below)),
            None => false,
        }
    }

    /// Whether it contains all names of another namespace.
    pub fn covers(&self, other: &Self) -> bool {
        // An open namespace that contains a name contains everything below it.
        self.contains(&other.name) && (self.below.is_some() || other.below.is_none())
    }

    /// The binding that applies to a package: of the bindings whose namespaces contain its name, the one with the
    /// narrowest.
    pub fn narrowest<'bindings, T>(
        bindings: impl IntoIterator<Item = (&'bindings Self, T)>,
        package: &PackageName,
    ) -> Option<(&'bindings Self, T)> {
        Self::narrowest_of(bindings, |namespace| namespace.contains(package))
    }

    /// The binding that applies to a class, as [`narrowest`](Self::narrowest) is for a package.
    pub(crate) fn narrowest_for_class<'bindings, T>(
        bindings: impl IntoIterator<Item = (&'bindings Self, T)>,
        class: &ClassName,
    ) -> Option<(&'bindings Self, T)> {
        Self::narrowest_of(bindings, |namespace| namespace.contains_class(class))
    }

    fn narrowest_of<'bindings, T>(
        bindings: impl IntoIterator<Item = (&'bindings Self, T)>,
        contains: impl Fn(&Self) -> bool,
    ) -> Option<(&'bindings Self, T)> {
        let matching = bindings
            .into_iter()
            .filter(|(namespace, _)| contains(namespace));
        // The namespaces that contain a name contain each other, so the longest is the narrowest.
        matching
            .max_by_key(|(namespace, _)| (namespace.name.as_str().len(), namespace.below.is_none()))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.below {
            Some(below) => write!(formatter, "{}{below}*", self.name),
            None => write!(formatter, "{}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_end_at_dots() {
        let contains = |text: &str, name: &str| {
            let namespace = Namespace::parse(text).expect("a namespace");
            assert_eq!(namespace.to_string(), text);
            namespace.contains(&PackageName::parse(name).expect("a name"))
        };
        assert!(contains("org.acme.*", "org.acme"));
        assert!(contains("org.acme.*", "org.acme.a.B"));
        assert!(!contains("org.acme.*", "org.acmeb"));
        assert!(!contains("org.acme.*", "org"));
        assert!(contains("org.acme", "org.acme"));
        assert!(!contains("org.acme", "org.acme.a"));
        for bad in ["", "*", ".*", "org.*.a", "org.acme*", "a b"] {
            assert!(Namespace::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn namespaces_of_models_end_at_slashes() {
        let contains = |text: &str, name: &str| {
            let namespace = Namespace::parse(text).expect("a namespace");
            assert_eq!(namespace.to_string(), text);
            namespace.contains(&PackageName::native(name).expect("a name"))
        };
        let all = "http://opcfoundation.org/UA/*";
        assert!(contains(all, "http://opcfoundation.org/UA/"));
        assert!(contains(all, "http://opcfoundation.org/UA/DI/"));
        assert!(!contains(all, "http://opcfoundation.org/UAFX/"));
        let one = "http://opcfoundation.org/UA/";
        assert!(contains(one, one));
        assert!(!contains(one, "http://opcfoundation.org/UA/DI/"));
        assert!(contains("urn:acme:*", "urn:acme:pump"));
        assert!(!contains("urn:acme:*", "urn:acmes"));
        for bad in ["http://*/x", "urn:*x", "http://a/*/*"] {
            assert!(Namespace::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_namespace_covers_narrower_namespaces() {
        let covers = |one: &str, other: &str| {
            let parse = |text| Namespace::parse(text).expect("a namespace");
            parse(one).covers(&parse(other))
        };
        for (one, other) in [
            ("org.acme", "org.acme"),
            ("org.acme.*", "org.acme"),
            ("org.acme.*", "org.acme.*"),
            ("org.acme.*", "org.acme.Web"),
            ("org.acme.*", "org.acme.web.*"),
        ] {
            assert!(covers(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("org.acme", "org.acme.*"),
            ("org.acme", "org.acme.Web"),
            ("org.acme.Web", "org.acme"),
            ("org.acme.web.*", "org.acme.*"),
            ("org.acme.*", "org.acmeb.*"),
            ("org.acme.*", "org.*"),
        ] {
            assert!(!covers(one, other), "{one} {other}");
        }
    }
}
