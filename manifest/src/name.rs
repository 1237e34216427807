//! Fully qualified names (FQNs) of packages and classes.
//!
//! A name is one or more identifiers `[A-Za-z_][A-Za-z0-9_]*` joined by dots. The reference
//! implementation (Murano) accepts every `\w` of Unicode and a trailing line feed. Here both are errors, so
//! that no two names look alike and no name breaks a line of output.
//!
//! Names of packages can also have `-`, because plug-ins of the host are required by the names of their
//! Python distributions. A manifest cannot give its own package such a name.
//!
//! Other ecosystems name packages and classes differently, for example by URIs. Such *native* names are texts of
//! printable ASCII characters that neither end a field of an output or file of this program nor look like markup.
//!
//! Names are most of what an index consists of. [`is_plainly_a_name`] therefore accepts nearly all of them in
//! one pass over the bytes, and the rules are applied one by one only to the rest.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use crate::diagnostic::Escaped;

/// The longest name in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 255;

/// The package name of the core library, unless the caller names another one.
const DEFAULT_CORE_LIBRARY: &str = "io.murano";

/// The beginning of the name of an interface where classes have names of the same kind.
const INTERFACE: &str = "interface:";

/// The beginning of names that stand for uses of classes. No name of a class has a colon behind this word.
const USER: &str = "user:";

/// The error for a string that is not a fully qualified name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// The text is longer than 255 bytes.
    #[error("a name has at most {MAX_NAME_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// The text begins or ends with a dot, or has two in a row.
    #[error("a name cannot begin or end with a dot, or have two in a row")]
    EmptyPart,
    /// A part begins with a digit.
    #[error("each part of a name begins with a letter or `_`, not with `{0}`")]
    BadStart(char),
    /// The text contains a character that is neither an ASCII letter, a digit, `_` nor `.`.
    #[error("a name has only ASCII letters, digits, `_` and `.`, not `{}`", Escaped::from_char(*.0))]
    BadCharacter(char),
    /// The text contains a character that no name of any ecosystem can have.
    #[error("a name begins with a letter, a digit or `_`, does not end with `:`, and cannot have `{}`", Escaped::from_char(*.0))]
    NotNative(char),
    /// The first part is a device name, which some file systems cannot store.
    #[error("`{0}` is a device name on some systems")]
    Reserved(String),
    /// The text breaks a rule of another ecosystem. It is a whole clause, such as "a name has two identifiers", and is
    /// shown alone.
    #[error("{0}")]
    Other(&'static str),
}

/// Whether `word` names a device on Windows, with or without an extension.
pub(crate) fn is_device_name(word: &str) -> bool {
    // Blanks before the extension mean nothing to such a system.
    let stem = word.split('.').next().unwrap_or(word).trim_end();
    let is_one_of = |text: &str, words: &[&str]| {
        let mut words = words.iter();
        words.any(|word| text.eq_ignore_ascii_case(word))
    };
    let is_port = stem.split_at_checked(3).is_some_and(|(kind, number)| {
        let mut number = number.chars();
        let number = (number.next(), number.next());
        is_one_of(kind, &["com", "lpt"])
            && matches!(
                number,
                (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None)
            )
    });
    is_port || is_one_of(stem, &["con", "prn", "aux", "nul", "conin$", "conout$"])
}

/// The characters of a kind of names, apart from letters, digits, `_` and the dots between parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// Nothing else.
    OfClasses,
    /// `-` after the beginning of a part.
    OfPackages,
}

/// Whether a string is a name without a doubt. True for nearly all names.
fn is_plainly_a_name(text: &str, alphabet: Alphabet) -> bool {
    let mut is_start = true;
    let mut first_part = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => is_start = false,
            b'0'..=b'9' if !is_start => {}
            b'-' if !is_start && alphabet == Alphabet::OfPackages => {}
            b'.' if !is_start => {
                is_start = true;
                first_part.get_or_insert(at);
            }
            _ => return false,
        }
    }
    let first = &text.as_bytes()[..first_part.unwrap_or(text.len())];
    let could_be_device = match first.len() {
        // `com` and `org` are no devices, and begin most names: they need no slower check.
        3 => !first.eq_ignore_ascii_case(b"com") && !first.eq_ignore_ascii_case(b"org"),
        4 => true,
        _ => false,
    };
    !is_start && text.len() <= MAX_NAME_BYTES && !(could_be_device && is_device_name(text))
}

fn validate(text: &str, alphabet: Alphabet) -> Result<(), NameError> {
    if is_plainly_a_name(text, alphabet) {
        return Ok(());
    }
    check_rules(text, alphabet)
}

/// Checks the rules of native names. They hold for every name that [`validate`] accepts.
fn validate_native(text: &str) -> Result<(), NameError> {
    if text.strip_prefix(INTERFACE).unwrap_or(text).len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong(text.len()));
    }
    let first = text.chars().next().ok_or(NameError::Empty)?;
    if !first.is_ascii_alphanumeric() && first != '_' {
        return Err(NameError::NotNative(first));
    }
    let is_native = |next: &char| next.is_ascii_graphic() && !r#"@"'`\<>{}|^,"#.contains(*next);
    if let Some(bad) = text.chars().find(|next| !is_native(next)) {
        return Err(NameError::NotNative(bad));
    }
    if text.ends_with(':') {
        return Err(NameError::NotNative(':'));
    }
    Ok(())
}

/// Checks the rules of names one by one, and returns which of them is broken.
fn check_rules(text: &str, alphabet: Alphabet) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong(text.len()));
    }
    for part in text.split('.') {
        let Some(first) = part.chars().next() else {
            return Err(NameError::EmptyPart);
        };
        if first.is_ascii_digit() {
            return Err(NameError::BadStart(first));
        }
        let is_known = |at: usize, character: char| match character {
            '_' => true,
            '-' => at > 0 && alphabet == Alphabet::OfPackages,
            _ => character.is_ascii_alphanumeric(),
        };
        let bad = part.char_indices().find(|(at, next)| !is_known(*at, *next));
        if let Some((_, bad)) = bad {
            return Err(NameError::BadCharacter(bad));
        }
    }
    if is_device_name(text) {
        let first = text.split('.').next().unwrap_or(text);
        return Err(NameError::Reserved(first.to_owned()));
    }
    Ok(())
}

/// The name of a class or package that a string was probably meant to be: without blanks, with `_` for `-`. `None` if
/// nothing is left of it, or if it is a name already.
///
/// ```
/// use pkgres_manifest::nearest_name;
///
/// assert_eq!(nearest_name("org.my-shop.web app").as_deref(), Some("org.my_shop.webApp"));
/// ```
pub fn nearest_name(text: &str) -> Option<String> {
    // Other characters belong to something else, such as an address.
    let is_close =
        |next: char| next.is_ascii_alphanumeric() || matches!(next, '.' | '_' | '-' | ' ' | '\t');
    if text.len() > MAX_NAME_BYTES || !text.chars().all(is_close) {
        return None;
    }
    let parts = text.split('.').map(|part| {
        let mut name = String::with_capacity(part.len());
        let mut follows_blank = false;
        for next in part.chars() {
            match next {
                '-' => name.push('_'),
                _ if next.is_ascii_alphanumeric() || next == '_' => {
                    if name.is_empty() && next.is_ascii_digit() {
                        name.push('_');
                    }
                    let is_upper = follows_blank && !name.is_empty();
                    name.push(if is_upper {
                        next.to_ascii_uppercase()
                    } else {
                        next
                    });
                }
                _ => {}
            }
            follows_blank = next.is_whitespace();
        }
        name
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    let name = parts.join(".");
    (name != text && ClassName::is_name(&name)).then_some(name)
}

macro_rules! fully_qualified_name {
    ($(#[$documentation:meta])* $name:ident, $alphabet:expr) => {
        $(#[$documentation])*
        ///
        /// Cheap to clone; compares and hashes as its text, case sensitively.
        #[derive(Clone, Eq)]
        pub struct $name(Arc<str>);

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                // Most names that are equal are clones of one.
                Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                if Arc::ptr_eq(&self.0, &other.0) {
                    return Ordering::Equal;
                }
                self.0.cmp(&other.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }

        impl $name {
            /// Reads a name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                validate(text, $alphabet)?;
                Ok(Self(Arc::from(text)))
            }

            /// Reads a name of another ecosystem: printable ASCII characters, of which the first is a letter,
            /// a digit or `_`, without ``@"'`\<>{}|^,`` and without a `:` at the end. Every name that
            /// [`parse`](Self::parse) reads is one.
            pub fn native(text: &str) -> Result<Self, NameError> {
                validate_native(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// Whether [`native`](Self::native) reads a string.
            pub fn is_native(text: &str) -> bool {
                validate_native(text).is_ok()
            }

            /// Whether a string is a name. Cheaper than [`parse`](Self::parse), because nothing is allocated.
            pub fn is_name(text: &str) -> bool {
                validate(text, $alphabet).is_ok()
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        #[cfg(feature = "json")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        #[cfg(feature = "json")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

fully_qualified_name! {
    /// The fully qualified name of a package, such as `io.murano.applications`, or the name of a plug-in of
    /// the host, such as `murano-plugin-networking-sfc`.
    PackageName,
    Alphabet::OfPackages
}

fully_qualified_name! {
    /// The fully qualified name of a class, such as `io.murano.resources.Instance`.
    ClassName,
    Alphabet::OfClasses
}

impl ClassName {
    /// Returns a name for an interface of this name that no class has, so that a list can have both.
    ///
    /// ```
    /// use pkgres_manifest::ClassName;
    ///
    /// let service = ClassName::parse("org.acme.Service")?;
    /// let interface = service.of_interface();
    /// assert_ne!(interface, service);
    /// assert_eq!(interface.interface_name(), Some(service));
    /// # Ok::<(), pkgres_manifest::NameError>(())
    /// ```
    #[must_use]
    pub fn of_interface(&self) -> Self {
        Self(Arc::from([INTERFACE, &*self.0].concat()))
    }

    /// The name of the interface, if this is a name from [`of_interface`](Self::of_interface).
    pub fn interface_name(&self) -> Option<Self> {
        let name = self.0.strip_prefix(INTERFACE)?;
        Some(Self(Arc::from(name)))
    }

    /// Whether this is a name from [`of_interface`](Self::of_interface).
    pub fn is_of_interface(&self) -> bool {
        self.0.starts_with(INTERFACE)
    }

    /// Returns a name for the n-th thing that a class of this name uses. No class can have it, so that it can stand
    /// beside classes.
    ///
    /// ```
    /// use pkgres_manifest::ClassName;
    ///
    /// let site = ClassName::parse("org.acme.Site")?;
    /// let used = site.of_use_by(2);
    /// assert_ne!(used, site.of_use_by(3));
    /// assert_eq!(used.using_class(), Some(site));
    /// # Ok::<(), pkgres_manifest::NameError>(())
    /// ```
    #[must_use]
    pub fn of_use_by(&self, number: usize) -> Self {
        Self(Arc::from(format!("{USER}{number}:{}", self.0)))
    }

    /// The name of the class that uses another one, if this is a name from [`of_use_by`](Self::of_use_by).
    pub fn using_class(&self) -> Option<Self> {
        let (_, name) = self.0.strip_prefix(USER)?.split_once(':')?;
        Some(Self(Arc::from(name)))
    }

    /// The names of the packages that it is in by its name, the longest first.
    ///
    /// ```
    /// use pkgres_manifest::{ClassName, PackageName};
    ///
    /// let class = ClassName::parse("org.acme.web.Site")?;
    /// let packages: Vec<PackageName> = class.enclosing_packages().collect();
    /// assert_eq!(packages[0].as_str(), "org.acme.web");
    /// assert_eq!(packages.len(), 3);
    /// # Ok::<(), pkgres_manifest::NameError>(())
    /// ```
    pub fn enclosing_packages(&self) -> impl Iterator<Item = PackageName> + '_ {
        let dots = self.0.rmatch_indices('.').map(|(at, _)| at);
        dots.filter_map(|at| PackageName::parse(&self.0[..at]).ok())
    }

    /// The range of the names from [`of_interface`](Self::of_interface) in the order of texts: its begin, and its end
    /// (in ASCII, `;` follows `:`).
    pub const INTERFACES: [&'static str; 2] = [INTERFACE, "interface;"];
}

/// Whether a text is an ASCII letter or `_`, and then only ASCII letters, digits and `_`.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

impl PackageName {
    /// Returns the name of the core library that packages require by default.
    pub fn default_core_library() -> Self {
        static NAME: LazyLock<PackageName> =
            LazyLock::new(|| PackageName(Arc::from(DEFAULT_CORE_LIBRARY)));
        NAME.clone()
    }

    /// The class that classes without `Extends` extend if this package is the core library.
    pub fn root_class(&self) -> ClassName {
        self.class_of_core("Object")
    }

    /// The class of a name in the namespace of this package, if it is the core library.
    pub(crate) fn class_of_core(&self, name: &str) -> ClassName {
        ClassName(Arc::from([&*self.0, ".", name].concat()))
    }

    /// Reads the name that a package gives itself, which cannot have a `-`.
    pub fn parse_own(text: &str) -> Result<Self, NameError> {
        validate(text, Alphabet::OfClasses)?;
        Ok(Self(Arc::from(text)))
    }

    /// The class with this package's own name, which a package of format `Heat.HOT` defines. `None` if the
    /// name has a `-`, as only names of plug-ins have.
    pub fn as_class(&self) -> Option<ClassName> {
        let is_class = !self.0.contains('-');
        is_class.then(|| ClassName(Arc::clone(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHABETS: [Alphabet; 2] = [Alphabet::OfClasses, Alphabet::OfPackages];

    /// Every short text of some characters, and every first part that could be a device.
    #[test]
    fn the_quick_check_of_names_agrees_with_the_rules() {
        let characters = ['a', 'Z', '_', '-', '0', '.', ' ', '\u{e9}'];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer: Vec<String> = texts
                .iter()
                .flat_map(|text| characters.iter().map(move |next| format!("{text}{next}")))
                .collect();
            for text in &longer {
                for alphabet in ALPHABETS {
                    let rules = check_rules(text, alphabet);
                    let quick = is_plainly_a_name(text, alphabet);
                    assert_eq!(quick, rules.is_ok(), "{text}");
                    assert!(!quick || validate_native(text).is_ok(), "{text}");
                }
            }
            texts = longer;
        }
        for device in [
            "con", "Prn", "aUx", "nul", "com1", "LPT9", "lpt0", "com", "org", "comx",
        ] {
            for text in [
                device.to_owned(),
                format!("{device}.a"),
                format!("a.{device}"),
            ] {
                for alphabet in ALPHABETS {
                    let rules = check_rules(&text, alphabet);
                    let quick = is_plainly_a_name(&text, alphabet);
                    assert_eq!(quick, rules.is_ok(), "{text}");
                }
            }
        }
        for length in [254, 255, 256] {
            let text = "a".repeat(length);
            let rules = check_rules(&text, Alphabet::OfClasses);
            assert_eq!(is_plainly_a_name(&text, Alphabet::OfClasses), rules.is_ok());
        }
    }

    #[test]
    fn native_names_are_printable_and_cannot_end_a_field() {
        for good in [
            "a.b-c",
            "http://opcfoundation.org/UA/DI/",
            "urn:example:model;i=58",
            "ns.name.plugins.modules.0x",
        ] {
            assert!(PackageName::native(good).is_ok(), "{good}");
            assert!(ClassName::is_native(good), "{good}");
        }
        for bad in [
            "/a", "a b", "a\n", "a:", "a@b", "a\"", "\u{e9}", "a\u{e9}", "a,b", "", "-a",
        ] {
            assert!(PackageName::native(bad).is_err(), "{bad:?}");
        }
        assert!(!PackageName::is_native(&"a".repeat(256)));
    }

    #[test]
    fn names_are_dotted_ascii_identifiers() {
        for good in [
            "a",
            "io.murano",
            "_x.Y_2",
            "com.example.databases.MySql",
            "com.example.con",
        ] {
            assert!(PackageName::parse(good).is_ok(), "{good}");
        }
        for (bad, reason) in [
            ("", NameError::Empty),
            (".a", NameError::EmptyPart),
            ("a.", NameError::EmptyPart),
            ("a..b", NameError::EmptyPart),
            ("1a", NameError::BadStart('1')),
            ("a.2b", NameError::BadStart('2')),
            ("a b", NameError::BadCharacter(' ')),
            ("a\n", NameError::BadCharacter('\n')),
            ("\u{441}om.example", NameError::BadCharacter('\u{441}')),
            ("a/b", NameError::BadCharacter('/')),
            ("con", NameError::Reserved("con".into())),
            ("AUX.b", NameError::Reserved("AUX".into())),
        ] {
            assert_eq!(PackageName::parse(bad), Err(reason), "{bad:?}");
        }
        for plugin in ["ex-plugin", "a.b-c", "a-1", "a-"] {
            assert!(PackageName::parse(plugin).is_ok(), "{plugin}");
            assert_eq!(
                PackageName::parse_own(plugin),
                Err(NameError::BadCharacter('-'))
            );
            assert_eq!(ClassName::parse(plugin), Err(NameError::BadCharacter('-')));
        }
        for bad in ["-a", "a.-b", "-"] {
            assert_eq!(PackageName::parse(bad), Err(NameError::BadCharacter('-')));
        }
        assert!(PackageName::parse(&"a".repeat(255)).is_ok());
        assert_eq!(
            PackageName::parse(&"a".repeat(256)),
            Err(NameError::TooLong(256))
        );
    }
}
