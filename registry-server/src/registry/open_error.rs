//! The errors of opening a registry.

use crate::blobs::BlobError;
use crate::database::DatabaseError;
use crate::problem::Problem;

/// The reason why a registry cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The store of artifacts cannot be opened.
    #[error("the artifacts cannot be reached: {0}")]
    Blobs(#[from] BlobError),
    /// There is no registry in the storage.
    #[error("there is no registry in {0}")]
    Missing(String),
    /// The artifacts or the data folder belong to another registry than the database.
    #[error("the data belong to another registry: {0}")]
    Foreign(String),
    /// The database has releases, but none of their artifacts is in the store.
    #[error("the archives are missing: {0}")]
    NoArchives(String),
    /// A file or folder cannot be created.
    #[error(transparent)]
    File(#[from] pkgres_files::FileError),
    /// The data cannot be read.
    #[error("{0:#}")]
    Problem(#[from] Problem),
}
