//! Artifacts by digest.
//!
//! Blobs are put where nothing has their name, and never change: two writers of one digest write
//! the same bytes. Which release has which artifact is for the database to say, so a blob is
//! always written before the transaction that refers to it.
//!
//! No artifact is in memory as a whole, unless it is small. What is to be looked at as a whole is a
//! part of memory that stands for a file; what is sent is read piece by piece.

mod folder;
mod incoming;
mod object;

use std::ops::Range;
use std::pin::Pin;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::Stream;
use pkgres_registry_client::protocol::Digest;

pub(crate) use folder::Folder;
pub(crate) use incoming::Incoming;
pub(crate) use object::ObjectBlobs;

/// Up to so many bytes an artifact may be in memory.
pub(crate) const SMALL: u64 = 1 << 20;

/// How many bytes of larger ones are in memory at once, for each that is on its way.
pub(crate) const PIECE: usize = 256 << 10;

/// Artifacts cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The address of the bucket makes no sense, or asks for what cannot be done.
    #[error("{0}")]
    Address(String),
    /// Where they are kept does not do what it should.
    #[error("{0}")]
    Failed(String),
}

/// What is sent, piece by piece.
pub(crate) type Pieces = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// An artifact, or a part of one, to be sent.
pub(crate) enum Content {
    /// All of it.
    Whole(Bytes),
    /// So many bytes, one piece after the other.
    Pieces(u64, Pieces),
}

/// Whether what was written at a time is at least so many seconds old. Where artifacts are kept may
/// have a clock of its own: what was written after `now` is as old as what was written then.
fn is_older(written: SystemTime, seconds: u64, now: SystemTime) -> bool {
    now.duration_since(written).map_or(0, |age| age.as_secs()) >= seconds
}

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

    /// An artifact, if there is one of the digest, as memory that stands for a file unless it is
    /// small.
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

    /// An artifact or a range of it, to be sent. The range lies in it.
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

    /// How many bytes the artifact of the digest has, if there is one.
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

    /// Removes an artifact.
    pub(crate) fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => folder.remove(digest),
            Self::Object(object) => object.remove(digest),
        }
    }
}
