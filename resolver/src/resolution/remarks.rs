//! What is worth a remark: prereleases and yanked releases that were chosen.

use pkgres_manifest::{PackageName, Spec, Version};

use crate::owner::Owner;

/// A prerelease that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPrerelease {
    /// The package.
    pub name: PackageName,
    /// The prerelease.
    pub version: Version,
    /// Why.
    pub because: PrereleaseReason,
}

/// Why a prerelease was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrereleaseReason {
    /// A lock holds it.
    Locked,
    /// The policy is to take the newest.
    Policy,
    /// A requirement names a prerelease.
    Named {
        /// Whose requirement it is.
        owner: Owner,
        /// The requirement's spec.
        spec: Spec,
    },
    /// No stable version fits.
    NoStable,
}

/// A yanked release that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChosenYanked {
    /// The package.
    pub name: PackageName,
    /// The release.
    pub version: Version,
    /// Whether an [update](crate::Update) asked for it. Otherwise a lock held it.
    pub was_asked_for: bool,
}
