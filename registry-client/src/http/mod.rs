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
mod answer;
mod api;
mod artifacts;
mod ask;
mod batch;
mod clients;
mod credential;
mod credentials;
mod document;
mod download;
mod fault;
mod known;
mod mirror;
mod options;
mod prepared;
mod redirect;
mod refresh;
mod session;
mod store;
mod transport;
mod trust;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    Archive, ArtifactDigest, ClassName, IndexRecord, Limits, PackageName, RegistryName,
};
use pkgres_resolver::CompiledIndex;

pub use address::{Address, AddressError};
pub use api::{Publication, Published};
pub use artifacts::{ArtifactCache, CacheReport};
pub use credential::{Credential, Secret};
pub use credentials::{CredentialError, CredentialSources, TokenFile};
pub use options::{HttpOptions, RetryPolicy};

use crate::background::Background;
use crate::protocol::{ClassDocument, Config, Digest};
use crate::registry::{Artifact, Registry, RegistryError};

use answer::Reply;
use ask::Ask;
use document::DocumentReader;
use fault::{Failed, Fault, FaultKind};
use session::Session;
use transport::Transport;

/// The largest document about a class, in bytes.
const MAX_CLASS_BYTES: u64 = 16 << 20;

/// A registry on the network.
pub struct HttpRegistry {
    transport: Transport,
    limits: Limits,
    session: RefCell<Session>,
    is_dirty: Cell<bool>,
    /// Writes to the cache.
    background: Background,
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
        let reader = DocumentReader::new(name.clone(), limits.clone());
        Self {
            transport: Transport::new(name, address, options),
            limits: limits.clone(),
            session: RefCell::new(Session::new(reader)),
            is_dirty: Cell::new(false),
            background: Background::default(),
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
        self.load(session)?;
        session.forget_damaged(names);
        self.ensure(session, names)?;
        let mut answers = Vec::with_capacity(names.len());
        for name in names {
            let entry = session.entries.get(name);
            let Some(document) = entry.and_then(|entry| entry.document.as_ref()) else {
                answers.push(None);
                continue;
            };
            let records = document.records(name, &mut session.reader);
            answers.push(Some(records.map_err(|error| *error)?));
        }
        Ok(answers)
    }

    fn prepared(&self, names: &[PackageName]) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        self.prepare(&mut self.session.borrow_mut(), names)
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

    fn fetch_ahead(&self, digests: &[ArtifactDigest]) -> Result<(), RegistryError> {
        self.fetch_artifacts(digests)
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
