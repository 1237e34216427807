//! `https://…`: registries on the network.
//!
//! **Problem.** To solve, the index documents of many packages are needed, over a slow network, from a
//! registry that may be compromised.
//!
//! **Idea.** A run first requests the changes since the last one; without any, the cache answers everything
//! else. Missing documents come with all that they require in one batch request, or, from a mirror of plain
//! files, in many requests at once. Documents and artifacts are compared with the digest that was announced.
//! If the registry signs its state, documents are proved to belong to a state (a Merkle tree) that is not older
//! than the last one seen, and the first key seen is trusted (trust on first use), as in Certificate
//! Transparency (RFC 6962) and TUF.
//!
//! **Cost.** One small request if nothing changed; otherwise one or two more, and the changed documents.
//!
//! A registry that cannot be reached, or a response that is cut off, is an error; never "no such package".
//!
//! The trait [`Registry`] blocks. A runtime for the network lives inside, made when it is first
//! needed, and works only while a call waits. An [`HttpRegistry`] also works inside of an asynchronous
//! runtime, but blocks the thread of its caller there: [`drive_async`](fn@crate::drive_async) does not.

mod account;
mod activity;
mod address;
mod artifact_cache;
mod batch;
mod clients;
mod content_coding;
mod credential;
mod credential_sources;
mod document;
mod download;
mod error;
pub mod galaxy;
mod lookup;
mod mirror;
mod netrc;
mod network_limits;
mod options;
mod prepared_index;
mod publish;
mod reading;
mod reading_cache;
mod redirect;
mod refresh;
mod request;
mod response;
mod search;
mod store;
mod tls_error;
mod transport;
mod trust;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use pkgres_files::{FileError, FileSystem as _, RealFileSystem};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, Limits, Package, PackageName, ReadOptions, RegistryName,
};
use pkgres_resolver::CompiledIndex;

pub use account::TokenRequest;
pub use activity::{AwaitedRegistry, NetworkActivity};
pub use address::{Address, AddressError, why_not_proxy};
pub use artifact_cache::{ArtifactCache, CacheReport};
pub use credential::{Credential, Secret, TokenExchange};
pub use credential_sources::{CredentialError, CredentialOrigin, CredentialSources, TokenFile};
pub use galaxy::GalaxyRegistry;
pub use network_limits::NetworkLimits;
pub use options::{HttpOptions, RetryPolicy};
pub use publish::{Publication, Published};
pub use store::CachedRegistry;

use crate::artifact::{Artifact, TakeArtifact, WantedArtifact, package_of_artifact};
use crate::protocol::{ClassDocument, Config, Digest};
use crate::registry::{PackageDescription, Registry};
use crate::registry_error::RegistryError;
use crate::registry_title::titled_at;
use crate::threads::{Background, lock};
use crate::whole_registry::{Found, defined_classes};

use document::DocumentReader;
use error::{AttemptError, ErrorKind, RequestError};
use reading::Reading;
use request::Request;
use response::Reply;
use transport::{Authorization, Transport};

/// The largest document about a class, in bytes.
const MAX_CLASS_BYTES: u64 = 16 << 20;

/// A registry on the network.
///
/// A value is one reading: from its first request on, it answers from one state of the registry, and its
/// [limits](HttpOptions::limits) count all calls together. Releases that are published later appear in the next reading
/// ([`reread`](Registry::reread)), which shares connections and documents with this one.
pub struct HttpRegistry {
    transport: Transport,
    limits: Limits,
    /// The ecosystem of the releases that are looked for; `None` for class packages.
    ecosystem: Option<&'static str>,
    /// The packages of other ecosystems that were looked up, with their ecosystems.
    others: Mutex<BTreeMap<PackageName, &'static str>>,
    reading: Mutex<Reading>,
    is_dirty: AtomicBool,
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
    /// A registry at an address. No request is sent before the first call.
    pub fn new(
        name: RegistryName,
        address: Address,
        limits: &Limits,
        options: HttpOptions,
    ) -> Self {
        let reader = DocumentReader::new(name.clone(), limits.clone());
        Self {
            transport: Transport::new(name, address, Authorization::Bearer, options),
            limits: limits.clone(),
            ecosystem: None,
            others: Mutex::default(),
            reading: Mutex::new(Reading::new(reader)),
            is_dirty: AtomicBool::new(false),
            background: Background::default(),
        }
    }

    /// The same registry for the releases of the ecosystem with an id, which decides what an artifact is.
    #[must_use]
    pub fn of_ecosystem(mut self, ecosystem: Option<&'static str>) -> Self {
        self.ecosystem = ecosystem;
        self
    }

    /// Whether a package is of the ecosystem that is looked for. For others, there is no such package.
    fn is_wanted(&self, records: &[IndexRecord]) -> bool {
        let first = records.first().map(|record| record.ecosystem.id());
        let other = first
            .zip(self.ecosystem)
            .filter(|(is, wanted)| is != wanted);
        if let (Some(record), Some((ecosystem, _))) = (records.first(), other) {
            let mut others = lock(&self.others);
            others.insert(record.name.clone(), ecosystem);
        }
        other.is_none()
    }

    /// The address of the registry.
    pub fn address(&self) -> &Address {
        &self.transport.address
    }

    /// The number of requests sent in this reading so far, with redirects and retries.
    pub fn requests(&self) -> u64 {
        self.transport.requests()
    }

    /// The configuration of the registry: what it offers, and its limits.
    pub fn config(&self) -> Result<Config, RegistryError> {
        let mut reading = lock(&self.reading);
        if self.transport.options.offline {
            return Err(self.transport.needs_network());
        }
        match &reading.config {
            Some((config, at)) if *at == self.transport.options.now => Ok(config.clone()),
            _ => self
                .fetch_config(&mut reading)
                .map_err(RegistryError::without_cache),
        }
    }

    /// Removes the trusted state of a registry and its cached documents; returns whether there were any.
    ///
    /// # Errors
    ///
    /// Something cannot be removed, and may still be used.
    pub fn forget(address: &Address, options: &HttpOptions) -> Result<bool, FileError> {
        let cache = options.cache_folder.as_deref();
        let state = options.state_folder.as_deref();
        let documents = cache.map(|cache| store::folder(cache, address));
        let seen = state.map(|state| store::state_path(state, address));
        let mut was_known = false;
        for path in documents.into_iter().chain(seen) {
            match RealFileSystem.remove(&path) {
                Ok(()) => was_known = true,
                Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(FileError::System {
                        action: "cannot remove",
                        path,
                        source,
                    });
                }
            }
        }
        Ok(was_known)
    }

    /// The last known configuration.
    fn known_config(&self) -> Result<Config, RegistryError> {
        let mut reading = lock(&self.reading);
        self.load(&mut reading)?;
        match &reading.config {
            Some((config, _)) => Ok(config.clone()),
            None => self.fetch_config(&mut reading),
        }
    }

    fn url(&self, address: &str) -> Result<url::Url, RegistryError> {
        let joined = self.transport.address.join(address);
        joined.map_err(|error| self.transport.unreachable(error))
    }

    fn url_or_failed(&self, address: &str) -> Result<url::Url, RequestError> {
        self.transport.address.join(address).map_err(|error| {
            let error = AttemptError::new(ErrorKind::Malformed, error.to_string());
            RequestError::unsent(error, "GET")
        })
    }

    /// The error of a registry of which a reading needs too many packages.
    fn too_many_packages(&self) -> RequestError {
        let error = self.transport.options.limits.too_many_packages();
        RequestError::unsent(error, self.transport.address.to_string())
    }

    fn rejected(&self, reason: &str) -> Diagnostic {
        let message = format!(
            "{} rejects the request: {reason}",
            titled_at(&self.transport.name, &self.transport.address)
        );
        Diagnostic::error(Code::Rejected, message)
    }

    /// The packages that define a class, from the documents of all packages. Buckets may refuse access to files that do
    /// not exist, so a mirror in one cannot say that no package defines a class; its list of names says which packages
    /// exist.
    fn defining_by_documents(
        &self,
        reading: &mut Reading,
        config: &Config,
        class: &ClassName,
    ) -> Result<Vec<PackageName>, RegistryError> {
        let names = reading.names.as_ref();
        let mut names: Vec<PackageName> = names
            .into_iter()
            .flat_map(|names| names.keys().cloned())
            .collect();
        names.sort_unstable();
        let missing = names.iter().filter(|name| !reading.is_fresh(name));
        let missing = missing.cloned().collect();
        self.fetch_each(reading, config, missing)?;
        let mut defining = Vec::new();
        for name in names {
            let entry = reading.entries.get(&name);
            let Some(document) = entry.and_then(|entry| entry.document.clone()) else {
                continue;
            };
            let records = document
                .records(&name, &mut reading.reader)
                .map_err(|error| *error)?;
            if records.iter().any(|record| record.exports(class)) {
                defining.push(name);
            }
        }
        Ok(defining)
    }

    async fn fetch_class(
        &self,
        config: &Config,
        class: &ClassName,
    ) -> Result<Vec<PackageName>, RequestError> {
        let url = self.url_or_failed(&config.class_address(class))?;
        let request = Request::get(url, MAX_CLASS_BYTES);
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
        self.transport.send(&request, read).await
    }
}

impl Registry for HttpRegistry {
    fn name(&self) -> &RegistryName {
        &self.transport.name
    }

    fn reread(&self, now: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        Ok(Some(Box::new(Self {
            transport: self.transport.reread(now),
            limits: self.limits.clone(),
            ecosystem: self.ecosystem,
            others: Mutex::default(),
            reading: Mutex::new(lock(&self.reading).reread()),
            is_dirty: AtomicBool::new(false),
            background: Background::default(),
        })))
    }

    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        self.search_api(words, limit)
    }

    fn requiring(&self, package: &PackageName) -> Result<Option<Vec<PackageName>>, RegistryError> {
        self.dependants_api(package)
    }

    fn description(
        &self,
        package: &PackageName,
    ) -> Result<Option<PackageDescription>, RegistryError> {
        self.description_api(package)
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let reading = &mut *lock(&self.reading);
        self.load(reading)?;
        reading.forget_damaged(names);
        self.ensure(reading, names)?;
        let mut answers = Vec::with_capacity(names.len());
        for name in names {
            let entry = reading.entries.get(name);
            let Some(document) = entry.and_then(|entry| entry.document.as_ref()) else {
                answers.push(None);
                continue;
            };
            let records = document.records(name, &mut reading.reader);
            let records = records.map_err(|error| *error)?;
            answers.push(self.is_wanted(&records).then_some(records));
        }
        Ok(answers)
    }

    fn unreadable(&self, package: &PackageName) -> Vec<String> {
        let others = lock(&self.others);
        let sentence = |ecosystem: &&'static str| {
            let registry = titled_at(&self.transport.name, &self.transport.address);
            format!("{registry} has `{package}` only as a package of the ecosystem `{ecosystem}`")
        };
        others.get(package).map(sentence).into_iter().collect()
    }

    fn prepared(&self, names: &[PackageName]) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        self.prepare(&mut lock(&self.reading), names)
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        if !ClassName::is_name(class.as_str()) {
            return Ok(Vec::new());
        }
        let reading = &mut *lock(&self.reading);
        self.load(reading)?;
        let kept = |reading: &Reading| {
            let (packages, serial) = reading.classes.get(class)?;
            (*serial == reading.serial).then(|| packages.clone())
        };
        if self.transport.options.offline {
            return kept(reading).ok_or_else(|| {
                self.offline(&format!(
                    "it is not in the cache which packages define {class}"
                ))
            });
        }
        let config = self.refresh(reading)?;
        if let Some(packages) = kept(reading) {
            return Ok(packages);
        }
        let packages = match self.transport.wait(self.fetch_class(&config, class)) {
            Err(error @ RegistryError::Request { kind, .. })
                if config.batch.is_none() && kind.is_refusal() =>
            {
                self.defining_by_documents(reading, &config, class)
                    .map_err(|_| error)?
            }
            found => found?,
        };
        let entry = (packages.clone(), reading.serial);
        reading.classes.insert(class.clone(), entry);
        self.is_dirty.store(true, Ordering::Relaxed);
        Ok(packages)
    }

    /// The classes of the packages that were looked up in this reading.
    fn defined_classes(&self) -> Vec<ClassName> {
        let reading = &mut *lock(&self.reading);
        let entries = reading.entries.iter();
        let documents = entries.filter(|(_, entry)| entry.is_fresh);
        let documents =
            documents.filter_map(|(name, entry)| Some((name, entry.document.as_ref()?)));
        // Errors in documents are reported to the caller that needs their records.
        let records = documents
            .filter_map(|(name, document)| document.records(name, &mut reading.reader).ok());
        defined_classes(records.flatten())
    }

    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        let ArtifactDigest::Archive(bytes) = digest else {
            return Ok(None);
        };
        let Some(bytes) = self.artifact_bytes(&Digest(*bytes))? else {
            return Ok(None);
        };
        self.artifact_downloads()
            .artifact_of(digest, bytes)
            .map(Some)
    }

    fn artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        self.fetch_artifacts(wanted, take);
    }

    fn package(
        &self,
        record: &IndexRecord,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        let Some(digest) = &record.digest else {
            return Ok(None);
        };
        // Nobody knows a release by its digest.
        let named = |error: RegistryError| match error.to_diagnostic().code {
            Code::Offline => self
                .transport
                .release_offline(&record.name, &record.version),
            _ => error,
        };
        match self.artifact(digest).map_err(named)? {
            Some(artifact) => package_of_artifact(&artifact, record, options),
            None => Ok(None),
        }
    }
}

impl Drop for HttpRegistry {
    fn drop(&mut self) {
        // The definers of classes are looked up class by class, and saved once.
        if self.is_dirty.load(Ordering::Relaxed) {
            self.save(&lock(&self.reading));
        }
    }
}

/// The registries of which the folder of a cache has documents, by address.
pub fn cached_registries(cache: &Path) -> Vec<CachedRegistry> {
    let folder = cache.join("registries");
    let mut all: Vec<CachedRegistry> = RealFileSystem
        .names(&folder)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|name| store::summary(&folder.join(name)))
        .collect();
    all.sort();
    all
}
