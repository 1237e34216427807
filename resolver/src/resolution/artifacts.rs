//! Artifacts that are not what was locked.

use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource, Version};

use crate::request::LockedArtifact;

/// A release whose artifact is not what was locked: it has another digest or another source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactChange {
    /// The package.
    pub name: PackageName,
    /// The version, which is the one that was locked.
    pub version: Version,
    /// What was locked.
    pub locked: LockedArtifact,
    /// Where the release comes from.
    pub source: ReleaseSource,
    /// The digest of its artifact, if the source knows it.
    pub digest: Option<ArtifactDigest>,
}

impl ArtifactChange {
    /// Whether the release has other content than what was locked, or content that nothing is
    /// known of. What the host supplies has no digest: it answers for that itself. A folder is
    /// still being worked on: that its content changes is no violation.
    pub fn is_violation(&self) -> bool {
        let is_folder = |digest: &ArtifactDigest| matches!(digest, ArtifactDigest::Tree(_));
        self.source != ReleaseSource::Host
            && !self.locked.digests.iter().all(is_folder)
            && self.digest_differs()
    }

    /// Whether the digest is not one that was locked.
    pub fn digest_differs(&self) -> bool {
        match &self.digest {
            Some(digest) => !self.locked.digests.contains(digest),
            None => !self.locked.digests.is_empty(),
        }
    }

    /// Whether the source is known not to be the one that was locked.
    pub fn source_differs(&self) -> bool {
        self.locked
            .source
            .as_ref()
            .is_some_and(|source| *source != self.source)
    }
}
