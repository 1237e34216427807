//! Parses the names of collections.

use pkgres_manifest::{NameError, PackageName};

/// The package name of ansible-core, which the host provides.
pub const ANSIBLE_CORE: &str = "ansible-core";

/// The words that are no identifiers in Python.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Whether a text is an identifier of Python in ASCII, and not a keyword.
pub(crate) fn is_identifier(text: &str) -> bool {
    is_content_name(text) && !KEYWORDS.contains(&text)
}

/// Whether a text can be the name of a plug-in, role or playbook, as for [`is_identifier`]. It may be a keyword:
/// ansible-core finds plug-ins by their files and imports none of them by name, and real ones are called `lambda` and
/// `import`.
pub(crate) fn is_content_name(text: &str) -> bool {
    pkgres_manifest::is_identifier(text)
}

/// The dotted path of a file without its extension; `None` if it cannot be the path of a plug-in or module.
pub(super) fn dotted(path: &str) -> Option<String> {
    let (path, _) = path.rsplit_once('.')?;
    path.split('/')
        .all(is_content_name)
        .then(|| path.replace('/', "."))
}

/// Whether a text is the name of a collection: a namespace and a name, which are Python identifiers.
pub fn is_collection_name(text: &str) -> bool {
    text.split_once('.')
        .is_some_and(|(namespace, name)| is_identifier(namespace) && is_identifier(name))
}

/// Reads the name of a collection, or [`ANSIBLE_CORE`].
pub(crate) fn package_name(text: &str) -> Result<PackageName, NameError> {
    if text == ANSIBLE_CORE || is_collection_name(text) {
        return PackageName::native(text);
    }
    // The general rules find out what is wrong with most texts.
    PackageName::parse_own(text)?;
    Err(NameError::Other(
        "a name has two Python identifiers that are not keywords, as in `acme.web`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_two_identifiers_of_python() {
        for good in ["community.general", "a._b", "NetApp.ontap", "ansible-core"] {
            assert!(package_name(good).is_ok(), "{good}");
        }
        for bad in [
            "community",
            "a.b.c",
            "a.",
            ".b",
            "a-b.c",
            "1a.b",
            "a.class",
            "a. b",
            "",
            "a.\u{e9}",
        ] {
            assert!(package_name(bad).is_err(), "{bad}");
        }
        let error = package_name("a.class").expect_err("it has a keyword");
        assert!(error.to_string().contains("Python identifiers"), "{error}");
    }
}
