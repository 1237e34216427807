//! A registry: everything that can be asked of it and done to it, without HTTP.
//!
//! All of it blocks, except for what says that it does not.

mod export;
mod hierarchy;
mod tokens;
mod views;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pkgres_files::{EntryKind, FileSystem as _, RealFileSystem, make_folder, write_private_file};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind, Changes, Config, Digest};

use crate::access::{Actor, Scope};
use crate::blobs::{BlobError, Blobs, Folder, ObjectBlobs};
use crate::database::{Database, DatabaseError, Transaction};
use crate::environment::Environment;
use crate::index::{Node, Signer, render};
use crate::problem::{Problem, ProblemCode};
use crate::publish::{self, Candidate};
use crate::store::{self, changes, facts, packages, releases};

pub(crate) use hierarchy::{Extender, Extenders};
pub(crate) use store::packages::Search;
pub use tokens::{NewToken, TokenView};
pub use views::{PackageView, ReleaseView};

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
    /// How many names a batch request has, and how many documents its answer.
    pub batch_names: usize,
    /// How many bytes of documents are kept in memory.
    pub cache_bytes: usize,
    /// After how many seconds an artifact that belongs to no release is removed.
    pub orphan_seconds: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            is_private: false,
            batch_names: 10_000,
            cache_bytes: 256 << 20,
            orphan_seconds: 24 * 3600,
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

/// What became of a publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The release is new.
    Created(IndexRecord),
    /// The registry had the release, with the same bytes.
    Unchanged(IndexRecord),
}

/// A registry.
pub struct Registry {
    pub(crate) database: Arc<Database>,
    pub(crate) blobs: Blobs,
    pub(crate) node: Arc<Node>,
    pub(crate) settings: Settings,
    pub(crate) environment: Environment,
}

impl Registry {
    /// Opens a registry, or makes it where there is none.
    pub fn open(
        storage: &Storage,
        settings: Settings,
        environment: Environment,
    ) -> Result<Self, OpenError> {
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
        let database = Arc::new(database);
        let identity = database.write(|transaction| facts::identity(transaction, &environment))?;
        let signer = Signer::new(identity, environment.clone());
        let node = Node::new(Arc::clone(&database), settings.cache_bytes, signer)?;
        Ok(Self {
            database,
            blobs,
            node: Arc::new(node),
            settings,
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

    /// The artifact with a digest, if a release has it.
    pub fn artifact(&self, digest: &Digest) -> Result<Option<Bytes>, Problem> {
        self.blobs.get(digest).map_err(Problem::unavailable)
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

    /// Publishes a release: all of it is there afterwards, or nothing.
    ///
    /// `may_be_unsatisfiable` leaves out the check that requirements can be satisfied, as it has
    /// to be for packages that require each other.
    pub fn publish(
        &self,
        actor: &Actor,
        name: &PackageName,
        version: &Version,
        archive: Bytes,
        may_be_unsatisfiable: bool,
    ) -> Result<Published, Problem> {
        actor.require_for(Scope::Publish, name)?;
        let options = &self.settings.read;
        let Candidate {
            mut record,
            title,
            description,
        } = publish::candidate(name, version, &archive, options)?;
        let digest = Digest::of(&archive);
        // What is there already needs no solver; the transaction looks again.
        let known = self.database.read(|transaction| {
            allowed(transaction, actor, name)?;
            self.known(transaction, &record, &digest)
        })?;
        if let Some(known) = known {
            return Ok(Published::Unchanged(known));
        }
        if !may_be_unsatisfiable {
            publish::check_satisfiable(&self.node, &record, options)?;
        }
        self.blobs
            .put(&digest, archive)
            .map_err(Problem::unavailable)?;
        let (published, serial) = self
            .database
            .write(|transaction| {
                let serial = store::next_serial(transaction)?;
                allowed(transaction, actor, name)?;
                if let Some(known) = self.known(transaction, &record, &digest)? {
                    // Ending with an error gives the serial back.
                    return Err(Interrupted::Unchanged(Box::new(known)));
                }
                let now = self.environment.now();
                record.published = Some(now.to_string());
                if packages::get(transaction, name)?.is_none() {
                    packages::add(transaction, name, &actor.owner, &now.to_string())?;
                }
                releases::add(transaction, &record, &actor.token)?;
                let all = releases::all(transaction, name, &options.limits)?;
                if all
                    .last()
                    .is_some_and(|newest| newest.record.version == record.version)
                {
                    packages::describe(transaction, name, &title, &description, &now.to_string())?;
                }
                let change = Change {
                    serial,
                    kind: ChangeKind::Publish,
                    name: name.clone(),
                    version: Some(record.version.clone()),
                    at: now,
                };
                changes::add(transaction, &change, &actor.token)?;
                render(transaction, name, Some(&record), serial, &options.limits)?;
                Ok::<_, Interrupted>((Published::Created(record.clone()), serial))
            })
            .or_else(Interrupted::settle)?;
        self.node.refresh(serial)?;
        Ok(published)
    }

    /// The release of a version if it has the digest; an error if it has another one, or if
    /// another package has the name in other case.
    fn known(
        &self,
        transaction: &mut dyn Transaction,
        record: &IndexRecord,
        digest: &Digest,
    ) -> Result<Option<IndexRecord>, Problem> {
        let name = &record.name;
        let limits = &self.settings.read.limits;
        if let Some(known) = releases::get(transaction, name, &record.version, limits)? {
            if known.sha256 == digest.to_string() {
                return Ok(Some(known.record));
            }
            let detail = format!(
                "{name} {} was published with other bytes: sha256 {}",
                known.record.version, known.sha256
            );
            return Err(Problem::new(ProblemCode::VersionExists, detail));
        }
        match packages::same_after_folding(transaction, name)? {
            Some(other) if other != name.as_str() => {
                let detail = format!("there is a package {other}, which differs in case alone");
                Err(Problem::new(ProblemCode::NameTaken, detail))
            }
            _ => Ok(None),
        }
    }

    /// Yanks a release for a reason, or takes that back. Says whether that changed anything.
    pub fn set_yanked(
        &self,
        actor: &Actor,
        name: &PackageName,
        version: &Version,
        reason: Option<&str>,
    ) -> Result<bool, Problem> {
        actor.require_for(Scope::Yank, name)?;
        let limits = &self.settings.read.limits;
        let (is_changed, serial) = self
            .database
            .write(|transaction| {
                let serial = store::next_serial(transaction)?;
                allowed(transaction, actor, name)?;
                let Some(mut release) = releases::get(transaction, name, version, limits)? else {
                    return Err(no_such_version(transaction, name, version)?.into());
                };
                if release.record.yanked == reason.is_some() && release.yanked.as_deref() == reason
                {
                    return Err(Interrupted::Nothing);
                }
                release.record.yanked = reason.is_some();
                releases::set_yanked(transaction, &release.record, reason)?;
                let change = Change {
                    serial,
                    kind: if reason.is_some() {
                        ChangeKind::Yank
                    } else {
                        ChangeKind::Unyank
                    },
                    name: name.clone(),
                    version: Some(release.record.version.clone()),
                    at: self.environment.now(),
                };
                changes::add(transaction, &change, &actor.token)?;
                render(transaction, name, None, serial, limits)?;
                Ok::<_, Interrupted>((true, serial))
            })
            .or_else(|interrupted| match interrupted {
                Interrupted::Nothing => Ok((false, 0)),
                Interrupted::Problem(problem) => Err(problem),
                Interrupted::Unchanged(_) => Err(Problem::internal("a yank publishes nothing")),
            })?;
        if is_changed {
            self.node.refresh(serial)?;
        }
        Ok(is_changed)
    }

    /// Exchanges the owners of a package, if it still is at the generation; gives the next one.
    pub fn set_owners(
        &self,
        actor: &Actor,
        name: &PackageName,
        generation: u64,
        owners: &BTreeSet<String>,
    ) -> Result<u64, Problem> {
        actor.require_for(Scope::Owners, name)?;
        let now = self.environment.now().to_string();
        self.database.write(|transaction| {
            allowed(transaction, actor, name)?;
            let package = packages::get(transaction, name)?.ok_or_else(|| no_such_package(name))?;
            if !packages::set_owners(transaction, name, generation, owners, &now)? {
                let detail = format!(
                    "{name} is at generation {}, not {generation}: read it again",
                    package.generation
                );
                return Err(Problem::new(ProblemCode::ConcurrentUpdate, detail));
            }
            Ok(generation + 1)
        })
    }

    /// Removes artifacts that no release has and that are old enough for that to stay so; says how
    /// many. A publish writes its artifact before the release, so that a young one may get one.
    pub fn sweep(&self) -> Result<usize, Problem> {
        let old = self
            .blobs
            .older_than(self.settings.orphan_seconds)
            .map_err(Problem::unavailable)?;
        let mut removed = 0;
        for digest in old {
            let is_needed = self
                .database
                .read(|transaction| releases::has_artifact(transaction, &digest.to_string()))?;
            if !is_needed {
                self.blobs.remove(&digest).map_err(Problem::unavailable)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// Refuses if a package exists and belongs to others.
fn allowed(
    transaction: &mut dyn Transaction,
    actor: &Actor,
    name: &PackageName,
) -> Result<(), Problem> {
    if actor.is_admin() {
        return Ok(());
    }
    let owners = packages::owners(transaction, name)?;
    if owners.is_empty() || owners.contains(&actor.owner) {
        return Ok(());
    }
    let detail = format!("{name} belongs to others than {}", actor.owner);
    Err(Problem::new(ProblemCode::NotOwner, detail))
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

/// Why a transaction that took a serial ends without using it.
enum Interrupted {
    Problem(Problem),
    /// The release is there already.
    Unchanged(Box<IndexRecord>),
    /// There is nothing to do.
    Nothing,
}

impl Interrupted {
    fn settle(self) -> Result<(Published, u64), Problem> {
        match self {
            Self::Problem(problem) => Err(problem),
            Self::Unchanged(record) => Ok((Published::Unchanged(*record), 0)),
            Self::Nothing => Err(Problem::internal("a publish has something to do")),
        }
    }
}

impl From<Problem> for Interrupted {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<DatabaseError> for Interrupted {
    fn from(error: DatabaseError) -> Self {
        Self::Problem(error.into())
    }
}

/// Makes a file that only its owner can read, before anyone else makes it with other rights.
fn private_file(path: &Path) -> Result<PathBuf, pkgres_files::FileError> {
    if !matches!(RealFileSystem.kind(path), Ok(Some(EntryKind::File))) {
        write_private_file(&RealFileSystem, path, b"")?;
    }
    Ok(path.to_owned())
}
