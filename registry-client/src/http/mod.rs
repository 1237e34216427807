//! `https://…`: registries on the network.
//!
//! A registry is asked as little as possible. The first question of a run is what changed since the
//! last one; where that is nothing, the cache answers everything else. What is missing comes with
//! all that it requires in one request, or, where the registry is a folder of files that some web
//! server hands out, in many at once.
//!
//! Nothing is believed that is not checked: documents and artifacts have the digest that was
//! announced, and where the registry signs its state, they belong to a state that follows on what
//! was seen before. What cannot be reached, or is cut off, is an error; never "no such package".
//!
//! The trait [`Registry`] is synchronous. A runtime for the network lives inside, made when it is
//! first needed, and works only while somebody waits: an [`HttpRegistry`] must not be asked from
//! within another asynchronous runtime.

mod address;
mod api;
mod artifacts;
mod credentials;
mod fault;
mod fetch;
mod options;
mod refresh;
mod session;
mod store;
mod transport;
mod trust;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    Archive, ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, RegistryName,
};

pub use address::{Address, AddressError};
pub use api::Published;
pub use artifacts::{ArtifactCache, CacheReport};
pub use credentials::{Credential, CredentialError, CredentialSources, Secret, TokenFile};
pub use options::{HttpOptions, RetryPolicy};

use crate::protocol::{ClassDocument, Config, Digest};
use crate::registry::{Artifact, Registry, RegistryError};

use fault::{Failed, Fault, FaultKind};
use session::Session;
use transport::{Ask, Reply, Transport};

/// The largest document about a class, in bytes.
const MAX_CLASS_BYTES: u64 = 16 << 20;

/// How many names a message lists.
const SHOWN_NAMES: usize = 5;

/// A registry on the network.
pub struct HttpRegistry {
    transport: Transport,
    limits: Limits,
    session: RefCell<Session>,
    is_dirty: Cell<bool>,
}

impl std::fmt::Debug for HttpRegistry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HttpRegistry")
            .field("name", &self.transport.name)
            .field("address", &self.transport.address)
            .finish_non_exhaustive()
    }
}

impl HttpRegistry {
    /// A registry at an address. Nothing is asked before there is a question.
    pub fn new(
        name: RegistryName,
        address: Address,
        limits: &Limits,
        options: HttpOptions,
    ) -> Self {
        Self {
            transport: Transport::new(name, address, options),
            limits: limits.clone(),
            session: RefCell::new(Session::new(IndexReader::new(limits.clone()))),
            is_dirty: Cell::new(false),
        }
    }

    /// Where the registry is.
    pub fn address(&self) -> &Address {
        &self.transport.address
    }

    /// How many requests were sent so far, redirected and repeated ones included.
    pub fn requests(&self) -> u64 {
        self.transport.requests()
    }

    /// What the registry offers.
    pub fn config(&self) -> Result<Config, RegistryError> {
        let mut session = self.session.borrow_mut();
        if self.transport.options.offline {
            return Err(self.offline("it has to be"));
        }
        match &session.config {
            Some((config, at)) if *at == self.transport.options.now => Ok(config.clone()),
            _ => self.fetch_config(&mut session).map_err(without_hints),
        }
    }

    /// Forgets what was seen of the state of a registry, and what is kept of its documents; says
    /// whether there was anything.
    pub fn forget(address: &Address, options: &HttpOptions) -> bool {
        let remove = |path: PathBuf| RealFileSystem.remove(&path).is_ok();
        let cache = options.cache_folder.as_deref();
        let documents = cache.is_some_and(|cache| remove(store::folder(cache, address)));
        let state = options.state_folder.as_deref();
        let seen = state.is_some_and(|state| remove(store::state_path(state, address)));
        documents || seen
    }

    /// The bytes of an artifact, from the cache or the registry; nothing if it has none.
    pub fn artifact_bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, RegistryError> {
        let options = &self.transport.options;
        let cache = options.cache_folder.as_deref().map(ArtifactCache::new);
        let limit = self.limits.archive_bytes;
        if let Some(bytes) = cache.as_ref().and_then(|cache| cache.get(digest, limit)) {
            return Ok(Some(bytes));
        }
        if options.offline {
            return Err(self.offline(&format!("the artifact {digest} is not in the cache")));
        }
        let config = self.known_config()?;
        let ask = Ask::get(self.url(&config.blob_address(digest))?, limit);
        let bytes = self
            .transport
            .wait(self.transport.send(&ask, |reply| match reply {
                Reply::Absent => Ok(None),
                reply => fetch::with_digest(reply.body()?, *digest).map(Some),
            }))?;
        if let (Some(cache), Some(bytes)) = (cache, &bytes) {
            // That it cannot be kept is no reason not to use it.
            let _ = cache.put(digest, bytes);
        }
        Ok(bytes)
    }

    /// What the registry offers, as it was known last.
    fn known_config(&self) -> Result<Config, RegistryError> {
        let mut session = self.session.borrow_mut();
        self.load(&mut session)?;
        match &session.config {
            Some((config, _)) => Ok(config.clone()),
            None => self.fetch_config(&mut session),
        }
    }

    fn url(&self, address: &str) -> Result<url::Url, RegistryError> {
        let joined = self.transport.address.join(address);
        joined.map_err(|error| self.transport.unreachable(error.to_string()))
    }

    fn url_or_failed(&self, address: &str) -> Result<url::Url, Failed> {
        self.transport
            .address
            .join(address)
            .map_err(|error| Failed {
                fault: Fault::new(FaultKind::Malformed, error.to_string()),
                tries: 0,
                request: "GET".to_owned(),
            })
    }

    fn refused(&self, reason: &str) -> RegistryError {
        let message = format!("the registry `{}` refuses: {reason}", self.transport.name);
        Diagnostic::error(Code::Refused, message).into()
    }

    fn offline(&self, reason: &str) -> RegistryError {
        let name = &self.transport.name;
        let message = format!("the registry `{name}` may not be asked, and {reason}");
        Diagnostic::error(Code::Offline, message)
            .hint("run once without `--offline`")
            .into()
    }

    /// The folder of the registry in that of the cache.
    fn folder(&self) -> Option<PathBuf> {
        let cache = self.transport.options.cache_folder.as_deref()?;
        Some(store::folder(cache, &self.transport.address))
    }

    /// Takes over what earlier runs kept, once.
    fn load(&self, session: &mut Session) -> Result<(), RegistryError> {
        if session.is_loaded {
            return Ok(());
        }
        session.is_loaded = true;
        if let Some(folder) = &self.transport.options.state_folder {
            let path = store::state_path(folder, &self.transport.address);
            session.seen = store::read_seen(&path).map_err(|error| error.to_diagnostic())?;
        }
        let kept = self
            .folder()
            .and_then(|folder| store::read_kept(&folder, &self.transport.address));
        if let Some((header, documents)) = kept {
            session.load(header, documents);
        }
        Ok(())
    }

    /// Keeps what is known for later runs.
    fn save(&self, session: &Session) {
        let (Some(folder), Some(header)) = (self.folder(), session.header()) else {
            return;
        };
        let mut documents: Vec<_> = session
            .entries
            .iter()
            .filter_map(|(name, entry)| {
                let document = entry.document.as_ref()?;
                let is_current = entry.serial == session.serial;
                Some((name, document.sha256, &*document.bytes, is_current))
            })
            .collect();
        documents.sort_by(|one, two| one.0.cmp(two.0));
        store::write_kept(&folder, &self.transport.address, header, documents);
    }

    /// Makes sure that it is known of each package whether the registry has it, and which
    /// releases.
    fn ensure(&self, session: &mut Session, names: &[PackageName]) -> Result<(), RegistryError> {
        self.load(session)?;
        if self.transport.options.offline {
            let is_known = |name: &&PackageName| session.entries.contains_key(*name);
            let missing: Vec<&PackageName> = names.iter().filter(|name| !is_known(name)).collect();
            return match missing.len() {
                0 => Ok(()),
                count => {
                    let shown: Vec<&str> = missing
                        .iter()
                        .take(SHOWN_NAMES)
                        .map(|name| name.as_str())
                        .collect();
                    let more = match count.saturating_sub(SHOWN_NAMES) {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    };
                    let shown = shown.join(", ");
                    Err(self.offline(&format!("nothing is in the cache of {shown}{more}")))
                }
            };
        }
        if names.iter().all(|name| session.is_fresh(name)) {
            return Ok(());
        }
        let was_refreshed = session.is_refreshed;
        let config = self.refresh(session)?;
        let missing: Vec<PackageName> = names
            .iter()
            .filter(|name| !session.is_fresh(name))
            .cloned()
            .collect();
        if !missing.is_empty() {
            match &config.batch {
                Some(address) => self.fetch_batches(session, &config, address, missing)?,
                None => self.fetch_each(session, &config, missing)?,
            }
        } else if was_refreshed {
            return Ok(());
        }
        self.save(session);
        Ok(())
    }

    async fn fetch_class(
        &self,
        config: &Config,
        class: &ClassName,
    ) -> Result<Vec<PackageName>, Failed> {
        let url = self.url_or_failed(&config.class_address(class))?;
        let ask = Ask::get(url, MAX_CLASS_BYTES);
        let read = |reply: Reply| match reply {
            Reply::Absent => Ok(Vec::new()),
            reply => {
                let document = ClassDocument::parse(&reply.body()?)
                    .map_err(|error| refresh::malformed(&error))?;
                let mut packages = document.packages;
                packages.sort();
                packages.dedup();
                Ok(packages)
            }
        };
        self.transport.send(&ask, read).await
    }
}

impl Registry for HttpRegistry {
    fn name(&self) -> &RegistryName {
        &self.transport.name
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let session = &mut *self.session.borrow_mut();
        self.ensure(session, names)?;
        let mut answers = Vec::with_capacity(names.len());
        for name in names {
            let entry = session.entries.get(name);
            let Some(document) = entry.and_then(|entry| entry.document.as_ref()) else {
                answers.push(None);
                continue;
            };
            let shown = format!("registry {}: {name}", self.transport.name);
            let records = document.records(&shown, name, &mut session.reader);
            answers.push(Some(records.clone().map_err(|error| *error)?));
        }
        Ok(answers)
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let session = &mut *self.session.borrow_mut();
        self.load(session)?;
        let kept = |session: &Session| {
            let (packages, serial) = session.classes.get(class)?;
            (*serial == session.serial).then(|| packages.clone())
        };
        if self.transport.options.offline {
            return kept(session).ok_or_else(|| {
                self.offline(&format!(
                    "it is not in the cache which packages define {class}"
                ))
            });
        }
        let config = self.refresh(session)?;
        if let Some(packages) = kept(session) {
            return Ok(packages);
        }
        let packages = self.transport.wait(self.fetch_class(&config, class))?;
        let entry = (packages.clone(), session.serial);
        session.classes.insert(class.clone(), entry);
        self.is_dirty.set(true);
        Ok(packages)
    }

    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        let ArtifactDigest::Archive(bytes) = digest else {
            return Ok(None);
        };
        let Some(bytes) = self.artifact_bytes(&Digest(*bytes))? else {
            return Ok(None);
        };
        let name = format!("registry {}: {digest}", self.transport.name);
        let archive = Archive::open(&name, bytes, &self.limits)?;
        Ok(Some(Artifact::Archive(archive)))
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// An error where the cache would be of no help.
fn without_hints(error: RegistryError) -> RegistryError {
    match error {
        RegistryError::Invalid(mut finding) if finding.code == Code::RegistryUnreachable => {
            finding.hints.clear();
            RegistryError::Invalid(finding)
        }
        other => other,
    }
}

impl Drop for HttpRegistry {
    fn drop(&mut self) {
        // Who defines a class is asked class by class, and kept once.
        if self.is_dirty.get() {
            self.save(&self.session.borrow());
        }
    }
}

/// The cached documents of registries in the folder of a cache: for each address, how many there
/// are and how many bytes they have.
pub fn cached_registries(cache: &Path) -> Vec<(String, usize, u64)> {
    let folder = cache.join("registries");
    let mut all: Vec<(String, usize, u64)> = RealFileSystem
        .names(&folder)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|name| store::summary(&folder.join(name)))
        .collect();
    all.sort();
    all
}
