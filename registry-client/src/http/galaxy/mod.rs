//! `galaxy:https://…`: servers with the Galaxy API, version 3, such as Ansible Galaxy and automation hubs.
//!
//! **Problem.** A server knows releases, their requirements and digests, but not which modules they have, so their
//! artifacts have to be read. A collection can have hundreds of releases of several megabytes each.
//!
//! **Idea.** Each release is a draft until the solver chooses it, see `complete_drafts`. The cache keeps the
//! descriptions of releases until the server reports a change of the collection, and what was read from an artifact
//! by its digest.
//!
//! **Cost.** In a first run, a request for each release of the collections that may be needed, and the artifacts of the
//! releases that depend on each other; later one request for each collection.
//!
//! A server that cannot be reached is an error; only 404 says that there is no such collection. A release that is
//! described or packed wrongly is left out with a warning, and does not hide the others.
//!
//! `queries` asks the server, `documents` reads its answers, `cache` keeps them on disk, and `artifacts` reads
//! artifacts.

mod artifacts;
mod cache;
mod documents;
mod queries;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, PackageName, ReadOptions, RegistryName, Release,
};
use url::Url;

use crate::artifact::{Artifact, TakeArtifact, WantedArtifact};
use crate::protocol::Digest;
use crate::registry::Registry;
use crate::registry_error::RegistryError;
use crate::registry_title::titled_at;
use crate::threads::lock;
use crate::whole_registry::Found;

use super::address::Address;
use super::artifact_cache::ArtifactCache;
use super::error::RequestError;
use super::options::HttpOptions;
use super::transport::{Authorization, Transport};
use cache::{GalaxyCache, KnownCollection};
pub use documents::{
    DescribedRelease, ListedVersion, ServerDocument, VersionList, VersionPage, described_release,
};

/// A server with the Galaxy API.
///
/// A value is one reading: it requests each collection once, and its [limits](HttpOptions::limits) count all calls
/// together. The next reading ([`reread`](Registry::reread)) requests them again; without a
/// [cache](HttpOptions::cache_folder), it also reads descriptions of releases again.
pub struct GalaxyRegistry {
    transport: Transport,
    read_options: ReadOptions,
    cache: Option<GalaxyCache>,
    artifact_cache: Option<ArtifactCache>,
    /// The address of version 3 of the API.
    api: OnceLock<Url>,
    /// The collections that were asked for; `None` for those that the server does not have.
    collections: Mutex<BTreeMap<PackageName, Option<KnownCollection>>>,
    /// The records of artifacts that were read in this reading; `None` for those that leave their release out.
    completed: Mutex<BTreeMap<Digest, Option<IndexRecord>>>,
    /// How often drafts of each collection were completed.
    rounds: Mutex<BTreeMap<PackageName, u32>>,
    findings: Mutex<Vec<Diagnostic>>,
}

impl std::fmt::Debug for GalaxyRegistry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("GalaxyRegistry")
            .field("name", &self.transport.name)
            .field("address", &self.transport.address)
            .finish_non_exhaustive()
    }
}

impl GalaxyRegistry {
    /// A server at an address: its own, or the address of its API. No request is sent before the first call.
    pub fn new(
        name: RegistryName,
        address: Address,
        read_options: &ReadOptions,
        options: HttpOptions,
    ) -> Self {
        let cache_folder = options.cache_folder.clone();
        Self {
            cache: cache_folder
                .as_deref()
                .map(|folder| GalaxyCache::new(folder, &address)),
            artifact_cache: cache_folder.as_deref().map(ArtifactCache::new),
            transport: Transport::new(name, address, Authorization::Galaxy, options),
            read_options: read_options.clone(),
            api: OnceLock::new(),
            collections: Mutex::default(),
            completed: Mutex::default(),
            rounds: Mutex::default(),
            findings: Mutex::default(),
        }
    }

    /// The number of requests sent in this reading so far, with redirects and retries.
    pub fn requests(&self) -> u64 {
        self.transport.requests()
    }

    /// Asks the server for the versions of its API, which shows whether it accepts the credentials.
    pub fn probe(&self) -> Result<(), RegistryError> {
        if self.transport.options.offline {
            return Err(self.transport.needs_network());
        }
        self.transport.wait(self.fetch_api())
    }

    /// A collection as an earlier run stored it.
    fn cached_collection(&self, name: &PackageName) -> Option<KnownCollection> {
        let cache = self.cache.as_ref()?;
        cache.collection(name, &self.read_options.limits)
    }

    /// Makes sure that each collection is known.
    fn ensure(&self, names: &[PackageName]) -> Result<(), RegistryError> {
        let missing: Vec<PackageName> = {
            let known = lock(&self.collections);
            let mut missing: Vec<PackageName> = names
                .iter()
                .filter(|name| !known.contains_key(*name))
                .cloned()
                .collect();
            missing.sort();
            missing.dedup();
            if known.len() + missing.len() > self.transport.options.limits.packages {
                return Err(self.too_many_packages());
            }
            missing
        };
        if missing.is_empty() {
            return Ok(());
        }
        let found = if self.transport.options.offline {
            missing
                .iter()
                .map(|name| match self.cached_collection(name) {
                    Some(collection) => Ok(Some(collection)),
                    None => Err(self
                        .transport
                        .offline(&format!("{name} is not in the cache"))),
                })
                .collect::<Result<_, _>>()?
        } else {
            self.transport.wait(self.fetch_collections(&missing))?
        };
        for (name, collection) in missing.into_iter().zip(found) {
            for release in collection.iter().flat_map(|one| &one.releases) {
                if let Err(reason) = &release.description {
                    self.leave_out(&name, &release.version, reason);
                }
            }
            lock(&self.collections).insert(name, collection);
        }
        Ok(())
    }

    /// Reports a release that cannot be used.
    fn leave_out(&self, name: &PackageName, version: &str, reason: &str) {
        let message = format!(
            "{name} {} of {} is ignored: {}",
            Escaped::shortened(version),
            titled_at(&self.transport.name, &self.transport.address),
            Escaped::within(reason, 300),
        );
        lock(&self.findings).push(Diagnostic::warning(Code::BrokenPackage, message));
    }

    fn too_many_packages(&self) -> RegistryError {
        let error = self.transport.options.limits.too_many_packages();
        let request = self.transport.address.to_string();
        self.transport.error(RequestError::unsent(error, request))
    }
}

impl Registry for GalaxyRegistry {
    fn name(&self) -> &RegistryName {
        &self.transport.name
    }

    fn reread(&self, now: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        Ok(Some(Box::new(Self {
            api: self.api.clone(),
            completed: Mutex::new(lock(&self.completed).clone()),
            transport: self.transport.reread(now),
            ..Self::new(
                self.transport.name.clone(),
                self.transport.address.clone(),
                &self.read_options,
                self.transport.options.clone(),
            )
        })))
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        if !self
            .read_options
            .looks_for(pkgres_formats::ansible::ECOSYSTEM.id())
        {
            return Ok(vec![None; names.len()]);
        }
        self.ensure(names)?;
        let collections = lock(&self.collections);
        let completed = lock(&self.completed);
        let records = names.iter().map(|name| {
            let collection = collections.get(name)?.as_ref()?;
            let described = collection.releases.iter();
            let described = described.filter_map(|release| release.description.as_ref().ok());
            let records = described.filter_map(|release| {
                match completed.get(&Digest::of_record(&release.record)?) {
                    Some(record) => record.clone(),
                    None => Some(release.record.clone()),
                }
            });
            let mut records: Vec<IndexRecord> = records.collect();
            records.sort_by(|one, two| one.version.cmp(&two.version));
            Some(records)
        });
        Ok(records.collect())
    }

    fn has_drafts(&self) -> bool {
        true
    }

    fn complete(&self, releases: &[Release]) -> Result<bool, RegistryError> {
        let names: Vec<PackageName> = releases
            .iter()
            .map(|Release { name, .. }| name.clone())
            .collect();
        self.ensure(&names)?;
        self.complete_drafts(releases)
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let completed = lock(&self.completed);
        let records = completed.values().flatten();
        let mut names: Vec<PackageName> = records
            .filter(|record| record.exports(class))
            .map(|record| record.name.clone())
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn may_have_class_packages(&self) -> bool {
        false
    }

    fn known_packages(&self) -> Vec<PackageName> {
        let collections = lock(&self.collections);
        let known = collections.iter().filter(|(_, found)| found.is_some());
        known.map(|(name, _)| name.clone()).collect()
    }

    fn can_search(&self) -> bool {
        false
    }

    fn search(&self, _: &[String], _: usize) -> Result<Vec<Found>, RegistryError> {
        let message = format!(
            "{} cannot be searched: the Galaxy API has no search by name",
            titled_at(&self.transport.name, &self.transport.address)
        );
        let finding = Diagnostic::error(Code::RegistryUnreachable, message);
        Err(finding
            .hint("search on the website of the server, then use `pkgres info NAMESPACE.NAME`")
            .into())
    }

    fn requiring(&self, _: &PackageName) -> Result<Option<Vec<PackageName>>, RegistryError> {
        Ok(None)
    }

    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        let known: Option<Release> = {
            let collections = lock(&self.collections);
            let releases = collections.values().flatten().flat_map(|one| &one.releases);
            let mut described = releases.filter_map(|release| release.description.as_ref().ok());
            described
                .find(|release| release.record.digest.as_ref() == Some(digest))
                .map(|release| release.record.release())
        };
        let Some(Release {
            name: package,
            version,
        }) = known
        else {
            return Ok(None);
        };
        let wanted = WantedArtifact {
            package: &package,
            version: &version,
            digest: *digest,
        };
        let mut found = Ok(None);
        self.take_artifacts(&[wanted], &mut |_, one| {
            found = one.map(|received| received.map(|received| received.artifact));
            ControlFlow::Continue(())
        });
        found
    }

    fn artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        self.take_artifacts(wanted, take);
    }

    fn unreadable(&self, package: &PackageName) -> Vec<String> {
        let collections = lock(&self.collections);
        let listed = collections.get(package).into_iter().flatten();
        let listed = listed.map(|collection| collection.releases.len());
        let ignored = listed.filter(|count| *count > 0).map(|count| {
            let server = titled_at(&self.transport.name, &self.transport.address);
            match count {
                1 => {
                    format!("{server} has `{package}`, but its only release is ignored: see above")
                }
                count => format!(
                    "{server} has `{package}`, but its {count} releases are ignored: see above"
                ),
            }
        });
        ignored.collect()
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut lock(&self.findings))
    }
}
