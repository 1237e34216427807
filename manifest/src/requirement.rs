//! What packages require.

use crate::diagnostic::Location;
use crate::name::PackageName;
use crate::spec::Spec;

/// A package that another one requires, and in which versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The package.
    pub package: PackageName,
    /// Its versions.
    pub spec: Spec,
    /// Where the requirement stands, if it was read from a manifest.
    pub location: Option<Location>,
}
