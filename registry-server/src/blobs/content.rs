//! The contents that all stores of artifacts take and return, and their errors.

use std::error::Error;
use std::pin::Pin;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::Stream;

/// The largest artifact that is held in memory, in bytes.
pub(crate) const SMALL: u64 = 1 << 20;

/// The number of bytes of each larger artifact in memory while it is received or sent.
pub(crate) const PIECE: usize = 256 << 10;

/// An error of the store of artifacts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// The address of the bucket is invalid, or requires something impossible.
    #[error("{0}")]
    Address(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] pkgres_files::FileError),
    /// Another operation of the store failed.
    #[error("{action}: {source}")]
    Failed {
        /// The failed action.
        action: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl BlobError {
    pub(super) fn failed(
        action: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed {
            action: action.into(),
            source: source.into(),
        }
    }
}

/// A stream of bytes, of which one piece at a time is in memory.
pub(crate) type Pieces = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// An artifact, or a range of one, to be sent.
pub(crate) enum Content {
    /// All of it.
    Whole(Bytes),
    /// The length in bytes, and the bytes piece by piece.
    Pieces(u64, Pieces),
}

/// Whether something that was written at a time is at least so many seconds old. The store may have a
/// clock of its own: something that was written after `now` counts as written at `now`.
pub(super) fn is_older(written: SystemTime, seconds: u64, now: SystemTime) -> bool {
    now.duration_since(written).map_or(0, |age| age.as_secs()) >= seconds
}
