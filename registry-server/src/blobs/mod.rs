//! Artifacts by digest.
//!
//! Blobs are put where nothing has their name, and never change: two writers of one digest write
//! the same bytes. Which release has which artifact is for the database to say, so a blob is
//! always written before the transaction that refers to it.

mod folder;
mod object;

use bytes::Bytes;
use pkgres_registry_client::protocol::Digest;

pub(crate) use folder::Folder;
pub(crate) use object::ObjectBlobs;

/// Artifacts cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BlobError(pub String);

/// Where artifacts are kept.
pub(crate) enum Blobs {
    /// Files.
    Folder(Folder),
    /// A bucket.
    Object(ObjectBlobs),
}

impl Blobs {
    /// Keeps an artifact. There may be one of the digest already.
    pub(crate) fn put(&self, digest: &Digest, bytes: Bytes) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => folder.put(digest, &bytes),
            Self::Object(object) => object.put(digest, bytes),
        }
    }

    /// An artifact, if there is one of the digest.
    pub(crate) fn get(&self, digest: &Digest) -> Result<Option<Bytes>, BlobError> {
        match self {
            Self::Folder(folder) => folder.get(digest),
            Self::Object(object) => object.get(digest),
        }
    }

    /// Whether there is an artifact of the digest.
    pub(crate) fn has(&self, digest: &Digest) -> Result<bool, BlobError> {
        match self {
            Self::Folder(folder) => folder.has(digest),
            Self::Object(object) => object.has(digest),
        }
    }

    /// The artifacts that are at least so many seconds old.
    pub(crate) fn older_than(&self, seconds: u64) -> Result<Vec<Digest>, BlobError> {
        match self {
            Self::Folder(folder) => folder.older_than(seconds),
            Self::Object(object) => object.older_than(seconds),
        }
    }

    /// Removes an artifact.
    pub(crate) fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => folder.remove(digest),
            Self::Object(object) => object.remove(digest),
        }
    }
}
