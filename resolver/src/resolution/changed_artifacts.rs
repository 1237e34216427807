//! Releases whose artifacts differ from the locked ones.

use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource, Version};

use crate::request::LockedArtifact;

/// A release whose digest or source differs from what was locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactChange {
    /// The package.
    pub name: PackageName,
    /// The version that was locked.
    pub version: Version,
    /// The locked artifact.
    pub locked: LockedArtifact,
    /// The current source.
    pub source: ReleaseSource,
    /// The current digest, if the source has it.
    pub digest: Option<ArtifactDigest>,
}

impl ArtifactChange {
    /// Whether the content of the release differs from what was locked, or is unknown, although it must
    /// [not change](ArtifactDigest::is_final). The host is responsible for its releases, which have no digest.
    pub fn is_violation(&self) -> bool {
        self.source != ReleaseSource::Host
            && self.locked.digests.iter().any(ArtifactDigest::is_final)
            && self.digest_differs()
    }

    /// Whether the digest is not one of the locked ones.
    pub fn digest_differs(&self) -> bool {
        match &self.digest {
            Some(digest) => !self.locked.digests.contains(digest),
            None => !self.locked.digests.is_empty(),
        }
    }

    /// Whether the source is known to differ from the locked one.
    pub fn source_differs(&self) -> bool {
        self.locked
            .source
            .as_ref()
            .is_some_and(|source| *source != self.source)
    }
}
