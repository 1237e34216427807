//! What is kept of a release itself: its flags and its digest.

use pkgres_manifest::{ArtifactDigest, IndexRecord};

use crate::index::column::Column;
use crate::index::{HAS_DIGEST, PRERELEASE, YANKED};

pub(in crate::index) const DIGEST_BYTES: usize = 33;

const ARCHIVE: u8 = 0;
const TREE: u8 = 1;

/// The flags of a release.
pub(super) fn release_flags(record: &IndexRecord) -> u8 {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    flag(record.yanked, YANKED)
        | flag(record.version.is_prerelease(), PRERELEASE)
        | flag(record.digest.is_some(), HAS_DIGEST)
}

/// Whether a release with these flags is neither yanked nor a prerelease.
pub(in crate::index) fn has_default_order(flags: u8) -> bool {
    flags & (YANKED | PRERELEASE) == 0
}

/// The digests of releases, if any has one.
pub(super) fn digests(records: &[&IndexRecord]) -> Column<u8> {
    if records.iter().all(|record| record.digest.is_none()) {
        return Column::default();
    }
    let mut digests: Vec<u8> = Vec::with_capacity(records.len() * DIGEST_BYTES);
    for record in records {
        digests.extend_from_slice(&digest_bytes(record.digest.as_ref()));
    }
    digests.into()
}

fn digest_bytes(digest: Option<&ArtifactDigest>) -> [u8; DIGEST_BYTES] {
    let mut bytes = [0; DIGEST_BYTES];
    let (kind, digest) = match digest {
        None => return bytes,
        Some(ArtifactDigest::Archive(digest)) => (ARCHIVE, digest),
        Some(ArtifactDigest::Tree(digest)) => (TREE, digest),
    };
    bytes[0] = kind;
    bytes[1..].copy_from_slice(digest);
    bytes
}

pub(in crate::index) fn digest_from(bytes: &[u8]) -> ArtifactDigest {
    let digest = bytes[1..].try_into().expect("a digest has 32 bytes");
    if bytes[0] == TREE {
        ArtifactDigest::Tree(digest)
    } else {
        ArtifactDigest::Archive(digest)
    }
}
