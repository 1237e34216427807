//! Packages that have several releases.

use pkgres_manifest::{PackageName, Spec, Version};

use super::{BoundRequirement, ResolvedOwner};
use crate::owner::Owner;

/// A package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideBySide {
    /// The package.
    pub name: PackageName,
    /// Its versions, ascending.
    pub versions: Vec<Version>,
    /// Whether the lock holds all of them: then they may stay side by side where one would do by now.
    pub are_locked: bool,
    /// Who requires which of them: the reason why one would not do.
    pub because: Vec<Requirer>,
}

impl SideBySide {
    /// The newest of the versions that every requirement allows. Where there is one, requirements on the
    /// package are not what keeps its releases apart: the lock does, or what they require or define.
    pub fn allowed_by_all(&self) -> Option<&Version> {
        let is_allowed = |version: &&Version| {
            (self.because.iter()).all(|requirement| requirement.spec.matches(version))
        };
        self.versions.iter().rfind(is_allowed)
    }
}

/// A requirement on a package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirer {
    /// Who requires it.
    pub owner: Owner,
    /// The versions that it allows.
    pub spec: Spec,
    /// Whether nobody wrote it: every package requires the core library.
    pub is_implied: bool,
    /// The version that it is bound to.
    pub version: Version,
}

impl Requirer {
    /// A requirement of an owner.
    pub(super) fn new(owner: ResolvedOwner<'_>, bound: &BoundRequirement) -> Self {
        Self {
            owner: owner.owner(),
            spec: bound.spec.clone(),
            is_implied: bound.is_implied,
            version: bound.version.clone(),
        }
    }
}
