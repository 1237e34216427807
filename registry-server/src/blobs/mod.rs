//! Stores artifacts by their digests, in files or a bucket.
//!
//! Blobs are put under their digest and never change: two writers of one digest write the same bytes.
//! The database maps releases to artifacts, so a blob is always written before the
//! transaction that refers to it.
//!
//! No artifact is in memory as a whole unless it is small. One that is read as a whole is mapped from a
//! file; one that is sent is read piece by piece.

mod content;
mod folder;
mod incoming;
mod mark;
mod object;

use std::ops::Range;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pkgres_registry_client::protocol::Digest;

pub use content::BlobError;
pub(crate) use content::{Content, PIECE, Pieces};
pub(crate) use folder::Folder;
pub(crate) use incoming::Incoming;
pub(crate) use mark::{MARK, read_mark, write_mark};
pub use object::AccessKey;
pub(crate) use object::ObjectBlobs;

/// The store of artifacts.
pub(crate) enum Blobs {
    /// A folder of files.
    Folder(Folder),
    /// A bucket of an object store.
    Object(ObjectBlobs),
}

impl Blobs {
    /// Stores an artifact, unless there is one with the digest.
    pub(crate) fn put(&self, digest: &Digest, bytes: Bytes) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => folder.put(digest, &bytes).map(|_| ()),
            Self::Object(object) => object.put(digest, bytes),
        }
    }

    /// Stores an artifact again that is missing or damaged. Returns whether it was.
    pub(crate) fn restore(&self, digest: &Digest, bytes: Bytes) -> Result<bool, BlobError> {
        match self {
            Self::Folder(folder) => folder.put(digest, &bytes),
            Self::Object(object) => object.restore(digest, bytes),
        }
    }

    /// The artifact with a digest. A large one is mapped from a file.
    pub(crate) fn get(
        &self,
        digest: &Digest,
        incoming: &Incoming,
    ) -> Result<Option<Bytes>, BlobError> {
        match self {
            Self::Folder(folder) => folder.get(digest),
            Self::Object(object) => object.get(digest, incoming),
        }
    }

    /// The artifact with a digest, or a range inside of it, to be sent.
    pub(crate) fn read(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, BlobError> {
        match self {
            Self::Folder(folder) => folder.read(digest, range),
            Self::Object(object) => object.read(digest, range),
        }
    }

    /// The length of the artifact with a digest, in bytes.
    pub(crate) fn length(&self, digest: &Digest) -> Result<Option<u64>, BlobError> {
        match self {
            Self::Folder(folder) => folder.length(digest),
            Self::Object(object) => object.length(digest),
        }
    }

    /// The artifacts that are at least so many seconds old at a time.
    pub(crate) fn older_than(
        &self,
        seconds: u64,
        now: SystemTime,
    ) -> Result<Vec<Digest>, BlobError> {
        match self {
            Self::Folder(folder) => folder.older_than(seconds, now),
            Self::Object(object) => object.older_than(seconds, now),
        }
    }

    /// The identity of the registry that the store belongs to; none if it has no mark.
    pub(crate) fn owner(&self) -> Result<Option<String>, BlobError> {
        match self {
            Self::Folder(folder) => folder.owner(),
            Self::Object(object) => object.owner(),
        }
    }

    /// As [`owner`](Self::owner), but an error if a bucket does not answer in time.
    pub(crate) fn owner_within(&self, timeout: Duration) -> Result<Option<String>, BlobError> {
        match self {
            Self::Folder(folder) => folder.owner(),
            Self::Object(object) => object.owner_within(timeout),
        }
    }

    /// Marks a store that has no mark as that of a registry.
    pub(crate) fn mark(&self, registry: &str) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => folder.mark(registry),
            Self::Object(object) => object.mark(registry),
        }
    }

    /// Where the mark is.
    pub(crate) fn mark_place(&self) -> String {
        match self {
            Self::Folder(folder) => folder.mark_path().display().to_string(),
            Self::Object(object) => object.mark_place(),
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
