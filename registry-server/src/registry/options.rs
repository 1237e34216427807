//! The options for opening a registry: where its data are stored, limits, and whether it is private.

use std::path::PathBuf;
use std::time::Duration;

use pkgres_manifest::ReadOptions;
use pkgres_registry_client::protocol::{MAX_BATCH_NAMES, MAX_DOCUMENT_BYTES};

use crate::blobs::AccessKey;

/// The storage of a registry.
#[derive(Clone)]
#[non_exhaustive]
pub struct Storage {
    /// The folder for everything that is not stored elsewhere. It is created if there is none.
    pub data: PathBuf,
    /// The address of a PostgreSQL database, `postgres://…`; without it, the database is a file in the
    /// folder.
    pub database: Option<String>,
    /// The bucket for artifacts; without it, they are files in the folder.
    pub blobs: Option<Bucket>,
}

impl Storage {
    /// Everything in a folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            database: None,
            blobs: None,
        }
    }

    /// This storage with the address of a PostgreSQL database, if there is one.
    #[must_use]
    pub fn with_database(mut self, address: Option<String>) -> Self {
        self.database = address;
        self
    }

    /// This storage with a bucket for artifacts, if there is one.
    #[must_use]
    pub fn with_blobs(mut self, bucket: Option<Bucket>) -> Self {
        self.blobs = bucket;
        self
    }
}

/// A bucket for artifacts.
#[derive(Clone)]
#[non_exhaustive]
pub struct Bucket {
    /// `s3://BUCKET[/PREFIX][?endpoint=…&region=…]`.
    pub address: String,
    /// The key that requests are signed with; none for a bucket that is writable without a key.
    pub access_key: Option<AccessKey>,
    /// The runtime on which requests run.
    pub runtime: tokio::runtime::Handle,
}

impl Bucket {
    /// A bucket that needs no key, and the runtime on which requests to it run.
    pub fn new(address: impl Into<String>, runtime: tokio::runtime::Handle) -> Self {
        Self {
            address: address.into(),
            access_key: None,
            runtime,
        }
    }

    /// This bucket with a key, if there is one.
    #[must_use]
    pub fn with_access_key(mut self, key: Option<AccessKey>) -> Self {
        self.access_key = key;
        self
    }
}

/// The options of a registry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegistryOptions {
    /// The options for reading packages, with limits.
    pub read: ReadOptions,
    /// Whether reading needs a token as well.
    pub is_private: bool,
    /// The limit of names in a batch request, and of documents in its response: from one to
    /// [`MAX_BATCH_NAMES`], because clients read no more.
    pub batch_names: usize,
    /// The limit of an index document, in bytes, at most that of clients. A release is refused if it would make the
    /// document longer than seven eighths of it: the rest is left for marks of yanked releases.
    pub document_bytes: u64,
    /// The size of the cache of documents, in bytes.
    pub cache_bytes: usize,
    /// The age in seconds at which an artifact without a release is removed.
    pub orphan_seconds: u64,
    /// How long a publish waits while its artifact is being removed.
    pub removal_timeout: Duration,
}

impl Default for RegistryOptions {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            is_private: false,
            batch_names: MAX_BATCH_NAMES,
            document_bytes: MAX_DOCUMENT_BYTES,
            cache_bytes: 256 << 20,
            orphan_seconds: 24 * 3600,
            removal_timeout: Duration::from_secs(5),
        }
    }
}

impl RegistryOptions {
    /// These options for a private registry, or a public one.
    #[must_use]
    pub fn with_private(mut self, is_private: bool) -> Self {
        self.is_private = is_private;
        self
    }

    /// These options with another limit of batches.
    #[must_use]
    pub fn with_batch_names(mut self, limit: usize) -> Self {
        self.batch_names = limit;
        self
    }

    /// These options with another limit of an index document. Clients read at most [`MAX_DOCUMENT_BYTES`].
    #[must_use]
    pub fn with_document_bytes(mut self, limit: u64) -> Self {
        self.document_bytes = limit.min(MAX_DOCUMENT_BYTES);
        self
    }

    /// These options with another age at which artifacts without a release are removed.
    #[must_use]
    pub fn with_orphan_seconds(mut self, seconds: u64) -> Self {
        self.orphan_seconds = seconds;
        self
    }

    /// These options with another time that a publish waits while its artifact is being removed.
    #[must_use]
    pub fn with_removal_timeout(mut self, timeout: Duration) -> Self {
        self.removal_timeout = timeout;
        self
    }
}
