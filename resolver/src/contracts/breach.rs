//! Contracts that are not met, as people are told.

use pkgres_manifest::{ClassName, ObjectId, PackageName, Spec, Version};

/// A contract that an object does not meet, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContractViolation {
    /// The object that has the property.
    pub(crate) holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    pub(crate) path: String,
    /// The class that declares the property, and its release.
    pub(crate) declared_by: (ClassName, PackageName, Version),
    /// The class that the value must be.
    pub(crate) class: ClassName,
    /// The versions that will do.
    pub(crate) allowed: AllowedVersions,
    /// The object that is there.
    pub(crate) object: ObjectId,
    /// The object's own class and release.
    pub(crate) is: (ClassName, PackageName, Version),
    /// The release in which it is the class that is wanted, if it is one at all.
    pub(crate) inherits: Option<(PackageName, Version)>,
}

/// The versions of a class that a contract allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AllowedVersions {
    Spec(Spec),
    /// The versions with the same major component as this one.
    MajorOf(Version),
}

impl AllowedVersions {
    pub(crate) fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Spec(spec) => spec.matches(version),
            Self::MajorOf(own) => own.major() == version.major(),
        }
    }
}
