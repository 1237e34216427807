//! Sources of releases: a registry, by its name, the host, or pkgres itself.
//!
//! Lockfiles hold names of registries, not addresses, so that a registry can move without making a lock
//! stale.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Escaped;

/// The word for the host, which is reserved.
const HOST: &str = "host";

/// The word for what is built in, which is reserved.
const BUILT_IN: &str = "built-in";

/// The name of a registry, as settings and lockfiles write it: a letter, then letters, digits, `.`, `_` and
/// `-`; at most 64 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryName(Arc<str>);

/// The error for a string that is not the name of a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the name of a registry: use a letter, then letters, digits, `.`, `_` and `-`; `host` and `built-in` are reserved", Escaped::shortened(.0))]
pub struct RegistryNameError(pub String);

impl RegistryName {
    /// The name of the first registry that nobody named. The others are `registry-2` and so on, by their position.
    pub const DEFAULT: &str = "default";

    /// Whether this is the [name](Self::DEFAULT) of the first registry that nobody named. Messages show the location of
    /// this registry instead.
    pub fn is_default(&self) -> bool {
        self.as_str() == Self::DEFAULT
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, RegistryNameError> {
        let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.len() <= 64
            && text != HOST
            && text != BUILT_IN
            && text
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character));
        if is_name {
            Ok(Self(Arc::from(text)))
        } else {
            Err(RegistryNameError(text.to_owned()))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for RegistryName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The source of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReleaseSource {
    /// The host, which has some packages built in, such as plug-ins.
    Host,
    /// The solving program, which has a release of the core library built in for packages that nothing else has.
    BuiltIn,
    /// A registry.
    Registry(RegistryName),
}

impl ReleaseSource {
    /// Reads the word `host` or `built-in`, or the name of a registry.
    pub fn parse(text: &str) -> Result<Self, RegistryNameError> {
        match text {
            HOST => Ok(Self::Host),
            BUILT_IN => Ok(Self::BuiltIn),
            _ => RegistryName::parse(text).map(Self::Registry),
        }
    }

    /// Whether this source can replace another one in a lockfile, if it has the same artifact: the first registry that
    /// nobody named replaces any other, such as a folder of copies of the archives. The lockfile keeps the name then.
    pub fn can_replace(&self, locked: &Self) -> bool {
        match (self, locked) {
            (Self::Registry(name), Self::Registry(_)) => self == locked || name.is_default(),
            _ => self == locked,
        }
    }

    /// The text of the source, which [`parse`](Self::parse) reads.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Host => HOST,
            Self::BuiltIn => BUILT_IN,
            Self::Registry(name) => name.as_str(),
        }
    }
}

impl fmt::Display for ReleaseSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(feature = "json")]
impl serde::Serialize for ReleaseSource {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
