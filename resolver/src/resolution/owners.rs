//! Everything in a resolution that has requirements.

use pkgres_manifest::{PackageName, Version};

use super::{BoundRequirement, ResolvedPackage, ResolvedRoot};
use crate::owner::Owner;

/// A root or a release of a resolution, either of which has requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolvedOwner<'resolution> {
    /// A root.
    Root(&'resolution ResolvedRoot),
    /// A release that is no root.
    Package(&'resolution ResolvedPackage),
}

impl<'resolution> ResolvedOwner<'resolution> {
    /// What its requirements are bound to.
    pub fn requires(self) -> &'resolution [BoundRequirement] {
        match self {
            Self::Root(root) => &root.requires,
            Self::Package(package) => &package.requires,
        }
    }

    /// The name and the version, unless it is the object model.
    pub fn release(self) -> Option<(&'resolution PackageName, &'resolution Version)> {
        match self {
            Self::Root(root) => root.owner.release(),
            Self::Package(package) => Some((&package.name, &package.version)),
        }
    }

    /// The owner as a value of its own.
    pub fn owner(self) -> Owner {
        match self {
            Self::Root(root) => root.owner.clone(),
            Self::Package(package) => Owner::Release {
                name: package.name.clone(),
                version: package.version.clone(),
            },
        }
    }
}
