//! What a check of a lockfile finds.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ArtifactDigest, ClassName, PackageName, ReleaseSource, Spec, Version};

/// A reason why a lockfile does not fit any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staleness {
    /// The lock knows nothing of a root.
    RootNotLocked(PackageName),
    /// There is an object model, of which a lock never knows.
    ModelNotLocked,
    /// The lock is about a root that there is not.
    NotARoot(PackageName),
    /// A root requires a package that the lock does not bind.
    RequirementAdded {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// What the root requires of it.
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
    /// A root requires other versions than when the lock was written.
    RequirementChanged {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// What was required.
        locked: Spec,
        /// What is required.
        spec: Spec,
        /// Where it is.
        location: Option<Location>,
    },
    /// An override came, went or says something else than when the lock was written.
    OverrideChanged {
        /// The package.
        package: PackageName,
        /// What the override said; `None` if there was none.
        locked: Option<Spec>,
        /// What it says; `None` if there is none any more.
        spec: Option<Spec>,
    },
    /// A release is not where its package comes from.
    Gone {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The source when the lock was written.
        locked: ReleaseSource,
        /// Where all releases of the package come from now; `None` if nobody has it.
        found: Option<ReleaseSource>,
        /// The version that is there instead, if the host supplies the package.
        host_has: Option<Version>,
    },
    /// A release comes from another source.
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
    /// A release has another digest.
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
    /// A requirement is bound to a version that it does not allow.
    NotAllowed {
        /// The release whose requirement it is.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
        /// The versions that are allowed.
        spec: Spec,
        /// Whether that is an override, in place of what the release says.
        is_override: bool,
        /// The version that it is bound to.
        version: Version,
        /// Where the requirement is.
        location: Option<Location>,
    },
    /// The lock binds something that the release does not require.
    NotRequired {
        /// The release.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
    },
    /// A class that is extended is not found.
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
    /// A package has several releases though one is all that is allowed.
    SeveralReleases {
        /// The package.
        package: PackageName,
        /// Its versions, ascending.
        versions: Vec<Version>,
    },
    /// Nothing that is locked leads to a release.
    NotReached {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
    },
}

impl Staleness {
    /// Whether a release has other content than what was locked, or content that nothing is known
    /// of. This is worse than a lock that is out of date: somebody changed what must not change.
    /// A folder is still being worked on, and may.
    pub fn is_violation(&self) -> bool {
        matches!(
            self,
            Self::DigestDiffers {
                locked: Some(ArtifactDigest::Archive(_)),
                ..
            }
        )
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockReport {
    /// Why the lock is stale; it fits if there is nothing.
    pub stale: Vec<Staleness>,
    /// Releases that are locked and were yanked.
    pub yanked: Vec<(PackageName, Version)>,
}
