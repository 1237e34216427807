//! A version of a package.

use std::fmt;

use crate::name::PackageName;
use crate::version::Version;

/// A version of a package: what registries have, lockfiles list and objects of a model are pinned to.
///
/// Releases are sorted by name, then by version. Messages and lockfiles write them with a space between both.
///
/// ```
/// use pkgres_manifest::{PackageName, Release, Version};
///
/// let release = Release::new(PackageName::parse("org.acme.Web")?, Version::new(1, 2, 0));
/// assert_eq!(release.to_string(), "org.acme.Web 1.2.0");
/// # Ok::<(), pkgres_manifest::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The package.
    pub name: PackageName,
    /// The version.
    pub version: Version,
}

impl Release {
    /// This version of this package.
    pub fn new(name: PackageName, version: Version) -> Self {
        Self { name, version }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
