//! Opens a registry, and gives access to its state, its artifacts and its changes.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pkgres_files::{
    EntryKind, FileError, FileSystem as _, RealFileSystem, make_folder, make_private,
    write_private_file,
};
use pkgres_registry_client::protocol::{Changes, Config, Digest, MAX_BATCH_NAMES};

use super::artifact_state::ArtifactState;
use super::last_followed::LastFollowed;
use super::open_error::OpenError;
use super::options::{RegistryOptions, Storage};
use super::storage_identity;
use crate::blobs::{Blobs, Content, Folder, Incoming, ObjectBlobs};
use crate::database::{self, Database};
use crate::environment::Environment;
use crate::index::{Node, Signer};
use crate::problem::Problem;
use crate::store::{changes, facts};

/// The file with the database of a registry on one node.
const DATABASE_FILE: &str = "registry.sqlite";

/// The folder with the artifacts, if they are files.
const BLOBS_FOLDER: &str = "blobs";

/// A registry, with all operations on it. Clients see it as a
/// [`Registry`](pkgres_registry_client::Registry).
pub struct RegistryBackend {
    pub(crate) database: Arc<Database>,
    pub(crate) blobs: Blobs,
    pub(crate) incoming: Incoming,
    pub(crate) node: Arc<Node>,
    pub(crate) options: RegistryOptions,
    pub(crate) environment: Environment,
    pub(super) artifacts: ArtifactState,
    pub(super) last_followed: LastFollowed,
    /// A random UUID, which distinguishes this process from others with the same database.
    pub(super) process: String,
}

impl RegistryBackend {
    /// Opens a registry that exists. Creates nothing in a storage without one.
    pub fn open_existing(
        storage: &Storage,
        options: RegistryOptions,
        environment: Environment,
    ) -> Result<Self, OpenError> {
        let data = || storage.data.display().to_string();
        let has_file = || has_content(&storage.data.join(DATABASE_FILE));
        match &storage.database {
            None if !has_file()? => return Err(OpenError::Missing(data())),
            Some(address) if !database::is_postgres_in_use(address)? => {
                return Err(OpenError::Missing("the database".to_owned()));
            }
            _ => {}
        }
        if storage.blobs.is_none() && !storage.data.join(BLOBS_FOLDER).is_dir() {
            return Err(OpenError::Missing(data()));
        }
        Self::open(storage, options, environment)
    }

    /// Opens a registry, or creates it if the storage is empty.
    pub fn open(
        storage: &Storage,
        mut options: RegistryOptions,
        environment: Environment,
    ) -> Result<Self, OpenError> {
        options.batch_names = options.batch_names.clamp(1, MAX_BATCH_NAMES);
        let is_new = !storage.data.exists();
        make_folder(&RealFileSystem, &storage.data)?;
        if is_new {
            make_private(&storage.data)?;
        }
        let blobs = match &storage.blobs {
            Some(bucket) => Blobs::Object(ObjectBlobs::open(
                &bucket.address,
                bucket.access_key.as_ref(),
                bucket.runtime.clone(),
            )?),
            None => Blobs::Folder(Folder::open(
                storage.data.join(BLOBS_FOLDER).join("sha256"),
            )?),
        };
        let database = if let Some(address) = &storage.database {
            database::open_postgres(address)?
        } else {
            let file = storage.data.join(DATABASE_FILE);
            if !has_content(&file)? {
                storage_identity::check_without_database(&blobs, &file)?;
            }
            database::open_sqlite(&private_file(&file)?)?
        };
        let identity = database.write(|transaction| facts::identity(transaction, &environment))?;
        storage_identity::claim(&storage.data, &blobs, &database, &identity.registry)?;
        let incoming = Incoming::open(&storage.data.join("incoming"))?;
        let database = Arc::new(database);
        let signer = Signer::new(identity, environment.clone());
        let node = Node::new(Arc::clone(&database), options.cache_bytes, signer)?;
        Ok(Self {
            database,
            blobs,
            incoming,
            node: Arc::new(node),
            options,
            artifacts: ArtifactState::default(),
            last_followed: LastFollowed::default(),
            process: environment.uuid(),
            environment,
        })
    }

    /// The document `index/config.json`.
    pub fn config(&self) -> Config {
        let mut config = Config::of_server(vec![self.node.signer().public_key()]);
        config.auth_required = self.options.is_private;
        config.limits.archive_bytes = self.options.read.limits.archive_bytes;
        config.limits.batch_names = self.options.batch_names as u64;
        config
    }

    /// The identity of the registry: a random UUID.
    pub fn identity(&self) -> &str {
        self.node.signer().registry()
    }

    /// The serial of the state that this node serves. Does not block.
    pub fn serial(&self) -> u64 {
        self.node.state().serial
    }

    /// How many packages this node serves. Does not block.
    pub fn package_count(&self) -> usize {
        self.node.state().packages().len()
    }

    /// Brings this node up to date with other nodes. Returns the serial that it then serves.
    pub fn refresh(&self) -> Result<u64, Problem> {
        Ok(self.node.refresh()?.serial)
    }

    /// Waits until another node may have changed something, but no longer than `timeout`, and brings this node up to
    /// date. [`check`](Self::check) fails from the first call on if the last success was too long ago.
    pub fn follow(&self, timeout: Duration) -> Result<(), Problem> {
        self.last_followed.begin(self.seconds());
        self.wait_for_change(timeout)?;
        self.refresh()?;
        self.last_followed.set(self.seconds());
        Ok(())
    }

    /// Waits until another node may have changed something, but no longer than `timeout`.
    pub fn wait_for_change(&self, timeout: Duration) -> Result<(), Problem> {
        Ok(self.database.wait_for_change(timeout)?)
    }

    /// Whether other nodes may write as well, so that this node has to look for changes.
    pub fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// The artifact with a digest. One of more than a megabyte is mapped from a file, so that the
    /// system can take its memory back.
    pub fn artifact(&self, digest: &Digest) -> Result<Option<Bytes>, Problem> {
        self.counted(digest, self.blobs.get(digest, &self.incoming))
    }

    /// Stores an artifact that no release has yet. Returns its digest.
    pub fn put_artifact(&self, bytes: impl Into<Bytes>) -> Result<Digest, Problem> {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        self.blobs
            .put(&digest, bytes)
            .map_err(Problem::unavailable)?;
        Ok(digest)
    }

    /// An artifact or a range inside of it, to be sent.
    pub(crate) fn artifact_content(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, Problem> {
        self.counted(digest, self.blobs.read(digest, range))
    }

    /// The length of an artifact, in bytes.
    pub(crate) fn artifact_length(&self, digest: &Digest) -> Result<Option<u64>, Problem> {
        self.counted(digest, self.blobs.length(digest))
    }

    /// The changes after a serial: at most `limit`.
    pub fn changes(&self, since: u64, limit: u64) -> Result<Changes, Problem> {
        let state = self.node.state();
        let newest = state.serial;
        let mut changes = if since >= newest {
            Vec::new()
        } else {
            self.database
                .read(|transaction| changes::after(transaction, since, limit))?
        };
        // Changes that were committed after the state was read belong to a later state.
        changes.retain(|change| change.serial <= newest);
        let snapshot = self.node.snapshot_of(&state).snapshot;
        Ok(Changes {
            serial: newest,
            changes,
            snapshot: Some(snapshot.as_ref().clone()),
        })
    }
}

/// Whether there is a file that is not empty. If that cannot be found out, it is an error, and not an empty storage.
fn has_content(path: &Path) -> Result<bool, FileError> {
    match path.metadata() {
        Ok(file) => Ok(file.is_file() && file.len() > 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FileError::System {
            action: "cannot read",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Creates a file that only its owner can read, before anything else creates it with wider rights. An existing one,
/// such as a backup that was put back, loses the rights of others: the database has the key that signs.
fn private_file(path: &Path) -> Result<PathBuf, FileError> {
    if !matches!(RealFileSystem.kind(path), Ok(Some(EntryKind::File))) {
        write_private_file(&RealFileSystem, path, b"")?;
    }
    make_private(path)?;
    Ok(path.to_owned())
}
