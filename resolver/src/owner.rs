//! Who has a requirement.

use std::fmt;

use pkgres_manifest::{PackageName, Version};

/// Who has a requirement: a release, or the object model, whose objects require packages and which
/// has neither a name nor a version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A release.
    Release {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// The object model, of which there is at most one.
    ObjectModel,
}

impl Owner {
    /// The name and the version, unless it is the object model.
    pub fn release(&self) -> Option<(&PackageName, &Version)> {
        match self {
            Self::Release { name, version } => Some((name, version)),
            Self::ObjectModel => None,
        }
    }

    /// The name, unless it is the object model.
    pub fn name(&self) -> Option<&PackageName> {
        self.release().map(|(name, _)| name)
    }

    /// The version, unless it is the object model.
    pub fn version(&self) -> Option<&Version> {
        self.release().map(|(_, version)| version)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release { name, version } => write!(formatter, "{name} {version}"),
            Self::ObjectModel => formatter.write_str(OBJECT_MODEL),
        }
    }
}

/// What the object model is called where others are called by their names. It is not a valid name,
/// so that no package is taken for it.
pub(crate) const OBJECT_MODEL: &str = "the object model";
