//! A registry: everything that can be asked of it and done to it, without HTTP.
//!
//! All of it blocks, except for what says that it does not.

mod bundles;
mod catalog;
mod deletion;
mod export;
mod hierarchy;
mod sweep;
mod tokens;
mod unused;
mod views;
mod write;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pkgres_files::{EntryKind, FileSystem as _, RealFileSystem, make_folder, write_private_file};
use pkgres_manifest::{PackageName, ReadOptions, Version};
use pkgres_registry_client::protocol::{Changes, Config, Digest, MAX_BATCH_NAMES};

use crate::blobs::{BlobError, Blobs, Content, Folder, Incoming, ObjectBlobs};
use crate::database::{Database, DatabaseError, Transaction};
use crate::environment::Environment;
use crate::index::{Node, Signer};
use crate::problem::{Problem, ProblemCode};
use crate::store::{self, changes, facts, packages};

pub(crate) use catalog::{
    CatalogEntry, CategoryView, Comparison, Filter, Part as CatalogPart, Upload, VersionTest,
};
pub(crate) use hierarchy::{Bounds, Extender, Extenders};
pub(crate) use store::packages::Search;
pub use tokens::TokenView;
pub use views::{PackageView, ReleaseView};
pub use write::Published;

/// Where a registry keeps its data.
#[derive(Clone)]
pub struct Storage {
    /// The folder for whatever is not kept elsewhere. Made if there is none.
    pub data: PathBuf,
    /// A PostgreSQL database, `postgres://…`; without it, a file in the folder.
    pub database: Option<String>,
    /// A bucket, `s3://…`, and the runtime on which it is asked; without it, files in the folder.
    pub blobs: Option<Bucket>,
}

/// A bucket for artifacts.
#[derive(Clone)]
pub struct Bucket {
    /// `s3://BUCKET[/PREFIX][?endpoint=…&region=…]`.
    pub address: String,
    /// Key, secret and session token; nothing for a bucket that asks for none.
    pub credentials: Option<(String, String, Option<String>)>,
    /// Where requests are run.
    pub runtime: tokio::runtime::Handle,
}

/// How a registry behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How packages are read, with limits.
    pub read: ReadOptions,
    /// Whether reading needs a token, too.
    pub is_private: bool,
    /// How many names a batch request has, and how many documents its answer; at least one and no
    /// more than [`MAX_BATCH_NAMES`], for clients read no more.
    pub batch_names: usize,
    /// How many bytes of documents are kept in memory.
    pub cache_bytes: usize,
    /// After how many seconds an artifact that belongs to no release is removed.
    pub orphan_seconds: u64,
    /// How long a publish waits while its artifact is being removed.
    pub removal_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            is_private: false,
            batch_names: MAX_BATCH_NAMES,
            cache_bytes: 256 << 20,
            orphan_seconds: 24 * 3600,
            removal_timeout: Duration::from_secs(5),
        }
    }
}

/// Why a registry cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The artifacts.
    #[error("the artifacts cannot be reached: {0}")]
    Blobs(#[from] BlobError),
    /// A file.
    #[error(transparent)]
    File(#[from] pkgres_files::FileError),
    /// Something else.
    #[error("{0}")]
    Problem(#[from] Problem),
}

/// What a registry keeps, and what can be done with it, whatever asks. To clients it is a
/// [`Registry`](pkgres_registry_client::Registry).
pub struct RegistryBackend {
    pub(crate) database: Arc<Database>,
    pub(crate) blobs: Blobs,
    pub(crate) incoming: Incoming,
    pub(crate) node: Arc<Node>,
    pub(crate) settings: Settings,
    pub(crate) environment: Environment,
    /// What tells this process from others that have the same database.
    process: String,
}

impl RegistryBackend {
    /// Opens a registry, or makes it where there is none.
    pub fn open(
        storage: &Storage,
        mut settings: Settings,
        environment: Environment,
    ) -> Result<Self, OpenError> {
        settings.batch_names = settings.batch_names.clamp(1, MAX_BATCH_NAMES);
        make_folder(&RealFileSystem, &storage.data)?;
        let database = match &storage.database {
            Some(address) => Database::open_postgres(address)?,
            None => Database::open_sqlite(&private_file(&storage.data.join("registry.sqlite"))?)?,
        };
        let blobs = match &storage.blobs {
            Some(bucket) => Blobs::Object(ObjectBlobs::open(
                &bucket.address,
                bucket.credentials.as_ref(),
                bucket.runtime.clone(),
            )?),
            None => Blobs::Folder(Folder::open(storage.data.join("blobs").join("sha256"))?),
        };
        let incoming = Incoming::open(&storage.data.join("incoming"))?;
        catalog::complete(&database, &blobs, &incoming, &settings)?;
        let database = Arc::new(database);
        let identity = database.write(|transaction| facts::identity(transaction, &environment))?;
        let signer = Signer::new(identity, environment.clone());
        let node = Node::new(Arc::clone(&database), settings.cache_bytes, signer)?;
        Ok(Self {
            database,
            blobs,
            incoming,
            node: Arc::new(node),
            settings,
            process: environment.uuid(),
            environment,
        })
    }

    /// What `index/config.json` says.
    pub fn config(&self) -> Config {
        let mut config = Config::of_server(vec![self.node.signer().public_key()]);
        config.auth_required = self.settings.is_private;
        config.limits.archive_bytes = self.settings.read.limits.archive_bytes;
        config.limits.batch_names = self.settings.batch_names as u64;
        config
    }

    /// The identity of the registry: a random UUID.
    pub fn identity(&self) -> &str {
        self.node.signer().registry()
    }

    /// The serial of what this node serves. Does not block.
    pub fn serial(&self) -> u64 {
        self.node.state().serial
    }

    /// How many packages this node serves. Does not block.
    pub fn package_count(&self) -> usize {
        self.node.state().packages().len()
    }

    /// Brings what is served up to date with what other nodes wrote.
    pub fn refresh(&self) -> Result<u64, Problem> {
        Ok(self.node.refresh(0)?.serial)
    }

    /// Waits until another node may have changed something, but no longer than `patience`.
    pub fn wait_for_change(&self, patience: Duration) -> Result<(), Problem> {
        Ok(self.database.wait_for_change(patience)?)
    }

    /// Whether other nodes may write as well, so that a node has to look for changes.
    pub fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// The artifact with a digest, if a release has it. One of more than a megabyte is memory that
    /// stands for a file, which the system takes back when it needs it.
    pub fn artifact(&self, digest: &Digest) -> Result<Option<Bytes>, Problem> {
        self.blobs
            .get(digest, &self.incoming)
            .map_err(Problem::unavailable)
    }

    /// An artifact or a range of it, which lies in it, to be sent.
    pub(crate) fn artifact_content(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, Problem> {
        self.blobs.read(digest, range).map_err(Problem::unavailable)
    }

    /// How many bytes an artifact has.
    pub(crate) fn artifact_length(&self, digest: &Digest) -> Result<Option<u64>, Problem> {
        self.blobs.length(digest).map_err(Problem::unavailable)
    }

    /// What happened after a serial: at most `limit` changes.
    pub fn changes(&self, since: u64, limit: u64) -> Result<Changes, Problem> {
        let state = self.node.state();
        let newest = state.serial;
        let mut changes = if since >= newest {
            Vec::new()
        } else {
            self.database
                .read(|transaction| changes::after(transaction, since, limit))?
        };
        // What was committed after the state was taken belongs to the next answer.
        changes.retain(|change| change.serial <= newest);
        let snapshot = self.node.snapshot_of(&state).snapshot;
        Ok(Changes {
            serial: newest,
            changes,
            snapshot: Some(snapshot.as_ref().clone()),
        })
    }
}

pub(crate) fn no_such_package(name: &PackageName) -> Problem {
    Problem::new(
        ProblemCode::NoSuchPackage,
        format!("there is no package {name}"),
    )
}

/// What is missing: the package, or the version of it.
pub(crate) fn no_such_version(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    version: &Version,
) -> Result<Problem, DatabaseError> {
    if packages::get(transaction, name)?.is_none() {
        return Ok(no_such_package(name));
    }
    let detail = format!("{name} has no version {version}");
    Ok(Problem::new(ProblemCode::NoSuchVersion, detail))
}

/// Makes a file that only its owner can read, before anyone else makes it with other rights.
fn private_file(path: &Path) -> Result<PathBuf, pkgres_files::FileError> {
    if !matches!(RealFileSystem.kind(path), Ok(Some(EntryKind::File))) {
        write_private_file(&RealFileSystem, path, b"")?;
    }
    Ok(path.to_owned())
}
