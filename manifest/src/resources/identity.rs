//! Identities of resources.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::diagnostic::Escaped;

/// The most bytes of the name of a resource.
const MAX_NAME_BYTES: usize = 4096;

/// The identity of a resource: its kind and its name. Text has the form `kind:name`.
///
/// ```
/// use pkgres_manifest::ResourceId;
///
/// let id: ResourceId = "file:/etc/web.conf".parse()?;
/// assert_eq!((id.kind(), id.name()), ("file", "/etc/web.conf"));
/// assert!("web.conf".parse::<ResourceId>().is_err());
/// # Ok::<(), pkgres_manifest::ResourceIdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId {
    kind: String,
    name: String,
}

/// Why a string is not the identity of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResourceIdError {
    /// There is no `:`.
    #[error("`{}` does not name a resource: write `kind:name`", Escaped::new(.0))]
    WithoutKind(String),
    /// The kind is not a word of lower-case letters, digits and `-`.
    #[error("`{}` is not a kind of resource: a kind has lower-case letters, digits and `-`", Escaped::new(.0))]
    Kind(String),
    /// The name is empty, too long, or has a character that cannot be shown.
    #[error("`{}` is not a name for a resource", Escaped::new(.0))]
    Name(String),
}

impl ResourceId {
    /// Returns the identity of a resource of a kind, such as `file`.
    pub fn new(kind: &str, name: &str) -> Result<Self, ResourceIdError> {
        let first = kind.bytes().next();
        let is_kind = first.is_some_and(|byte| byte.is_ascii_lowercase())
            && kind
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_kind {
            return Err(ResourceIdError::Kind(kind.to_owned()));
        }
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(ResourceIdError::Name(name.to_owned()));
        }
        Ok(Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The kind, such as `file`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name, which is unique among the resources of the kind.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for ResourceId {
    type Err = ResourceIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((kind, name)) => Self::new(kind, name),
            None => Err(ResourceIdError::WithoutKind(text.to_owned())),
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind, Escaped::new(&self.name))
    }
}
