//! The findings of a lock check.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ArtifactDigest, ClassName, PackageName, ReleaseSource, Spec, Version};

/// A reason why a lockfile is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staleness {
    /// A root is not in the lock.
    RootNotLocked(PackageName),
    /// There is an object model, which a lock never has.
    ModelNotLocked,
    /// The lock has a root that the request does not have.
    NotARoot(PackageName),
    /// A root requires a package that the lock does not bind.
    RequirementAdded {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// The required versions.
        spec: Spec,
        /// Where it does.
        location: Option<Location>,
    },
    /// The lock binds a package that the root does not require any more.
    RequirementRemoved {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
    },
    /// A root requires different versions than when the lock was written.
    RequirementChanged {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// The spec when the lock was written.
        locked: Spec,
        /// The spec now.
        spec: Spec,
        /// The location of the requirement.
        location: Option<Location>,
    },
    /// An override was added, removed or changed since the lock was written.
    OverrideChanged {
        /// The package.
        package: PackageName,
        /// The spec of the override when the lock was written, if there was one.
        locked: Option<Spec>,
        /// The spec of the override now, if there is one.
        spec: Option<Spec>,
    },
    /// A release does not exist any more.
    Gone {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The source when the lock was written.
        locked: ReleaseSource,
        /// The source of the package now; `None` if the package is unknown.
        found: Option<ReleaseSource>,
        /// The newest version that this source has, if any.
        newest: Option<Version>,
    },
    /// A release comes from a different source.
    SourceDiffers {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The source when the lock was written.
        locked: ReleaseSource,
        /// The source now.
        found: ReleaseSource,
    },
    /// A release has a different digest.
    DigestDiffers {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The digest when the lock was written.
        locked: Option<ArtifactDigest>,
        /// The digest now.
        found: Option<ArtifactDigest>,
    },
    /// A release requires a package that the lock does not bind.
    NotBound {
        /// The release that requires it.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
    },
    /// A requirement does not allow its locked version.
    NotAllowed {
        /// The release whose requirement it is.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
        /// The versions that are allowed.
        spec: Spec,
        /// Whether this is the spec of an override.
        is_override: bool,
        /// The version that it is bound to.
        version: Version,
        /// The location of the requirement.
        location: Option<Location>,
    },
    /// The lock has a binding without a requirement.
    NotRequired {
        /// The release.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
    },
    /// A class that another one extends is not found.
    ClassNotFound {
        /// The release whose class extends it.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The class.
        class: ClassName,
    },
    /// A class inherits two classes of one name.
    InheritsTwice {
        /// The class.
        class: ClassName,
        /// The class that it inherits twice.
        inherited: ClassName,
    },
    /// Classes extend each other.
    ClassCycle(Vec<ClassName>),
    /// A package has several releases, but the request allows one.
    SeveralReleases {
        /// The package.
        package: PackageName,
        /// Its versions, ascending.
        versions: Vec<Version>,
    },
    /// A locked release is not reached from the roots.
    NotReached {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
    },
}

impl Staleness {
    /// Whether the content of a release differs from what was locked, or is unknown, although it must
    /// [not change](ArtifactDigest::is_final). This is worse than a stale lock.
    pub fn is_violation(&self) -> bool {
        matches!(self, Self::DigestDiffers { locked: Some(locked), .. } if locked.is_final())
    }
}

/// The result of a lock check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockReport {
    /// The reasons why the lock is stale; empty if it is valid.
    pub stale: Vec<Staleness>,
    /// The locked releases that were yanked.
    pub yanked: Vec<(PackageName, Version)>,
}
