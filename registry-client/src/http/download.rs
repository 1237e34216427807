//! Downloads artifacts.

use std::collections::BTreeMap;
use std::future;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Archive, ArtifactDigest, CLASS_PACKAGES, PackageName, Version};

use crate::artifact::{Artifact, ReceivedArtifact, TakeArtifact, WantedArtifact};
use crate::hand_over::{by_digest, hand_over};
use crate::protocol::{Config, Digest};
use crate::registry_error::RegistryError;

use super::artifact_cache::ArtifactCache;
use super::error::{ErrorKind, RequestError};
use super::request::Request;
use super::response::Reply;
use super::{HttpRegistry, mirror};

/// The number of artifacts that are downloaded at once. Each is in memory until its digest was compared.
const AT_ONCE: usize = 6;

/// The number of unreachable artifacts after which no more are requested.
const MAX_UNREACHABLE: usize = 3;

impl HttpRegistry {
    /// The bytes of an artifact, from the cache or the registry; `None` if the registry does not have it.
    pub fn artifact_bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, RegistryError> {
        let cache = self.artifact_cache();
        let limit = self.limits.archive_bytes;
        if let Some(bytes) = cache.as_ref().and_then(|cache| cache.get(digest, limit)) {
            return Ok(Some(bytes));
        }
        if self.transport.options.offline {
            return Err(self.artifact_offline(&digest.to_string()));
        }
        let config = self.known_config()?;
        let bytes = self.transport.wait(self.download(&config, *digest))?;
        if let (Some(cache), Some(bytes)) = (cache, &bytes) {
            // A cache that cannot be written costs another download, nothing else.
            let _ = cache.put(digest, bytes);
        }
        Ok(bytes)
    }

    /// Reads artifacts from the cache, and downloads the others into it, several at once. One that fails does not keep
    /// the others from it.
    pub(super) fn fetch_artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        let cache = self.artifact_cache();
        let limit = self.limits.archive_bytes;
        let mut missing: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
        let cached = |sha256: &Digest| cache.as_ref().and_then(|cache| cache.get(sha256, limit));
        for (digest, positions) in by_digest(wanted) {
            let sha256 = match &digest {
                ArtifactDigest::Tree(_) => None,
                ArtifactDigest::Archive(bytes) => Some(Digest(*bytes)),
            };
            let mut bytes = sha256.and_then(|sha256| cached(&sha256));
            if let (None, Some(sha256)) = (&bytes, sha256) {
                if !self.transport.options.offline {
                    missing.insert(sha256, positions);
                    continue;
                }
                for at in positions {
                    let WantedArtifact {
                        package, version, ..
                    } = &wanted[at];
                    let error = self.release_offline(package, version);
                    if take(at, Err(error)).is_break() {
                        return;
                    }
                }
                continue;
            }
            let read = || {
                let bytes = (bytes.take()).or_else(|| cached(&sha256?));
                let artifact = bytes.map(|bytes| self.artifact_of(&digest, bytes));
                Ok(artifact.transpose()?.map(ReceivedArtifact::kept))
            };
            if hand_over(&positions, read, take).is_break() {
                return;
            }
        }
        let Some(first) = missing.values().flatten().min().copied() else {
            return;
        };
        let downloaded = self
            .known_config()
            .and_then(|config| self.download_all(&config, cache.as_ref(), missing, take));
        if let Err(error) = downloaded {
            // No request was sent. The error would be the same for every artifact.
            let _ = take(first, Err(error));
        }
    }

    /// Downloads artifacts, each for some positions.
    fn download_all(
        &self,
        config: &Config,
        cache: Option<&ArtifactCache>,
        missing: BTreeMap<Digest, Vec<usize>>,
        take: TakeArtifact<'_>,
    ) -> Result<(), RegistryError> {
        // The first in the list of the caller is requested first: if no registry answers, it is named.
        let mut missing: Vec<(Digest, Vec<usize>)> = missing.into_iter().collect();
        missing.sort_by(|one, two| one.1.cmp(&two.1));
        // A registry that is gone is not waited for once for each artifact.
        let unreachable = AtomicUsize::new(0);
        let one = |(digest, positions): (Digest, Vec<usize>)| {
            let unreachable = &unreachable;
            async move {
                if unreachable.load(Ordering::Relaxed) >= MAX_UNREACHABLE {
                    return None;
                }
                let outcome = self.download(config, digest).await;
                if let Err(failed) = &outcome
                    && matches!(
                        failed.error.kind,
                        ErrorKind::Unreachable | ErrorKind::Intercepted | ErrorKind::Limit(_)
                    )
                {
                    unreachable.fetch_add(1, Ordering::Relaxed);
                }
                Some((digest, positions, outcome))
            }
        };
        let at_once = AT_ONCE.min(self.transport.options.concurrency.max(1));
        self.transport.wait(async {
            let mut arriving = stream::iter(missing)
                .map(one)
                // In order, so that the same one is the first to fail in each run.
                .buffered(at_once)
                .filter_map(future::ready);
            while let Some((digest, positions, outcome)) = arriving.next().await {
                if self
                    .hand_over(digest, &positions, outcome, cache, take)
                    .is_break()
                {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Stores a downloaded artifact, and passes it on for each of its positions.
    fn hand_over(
        &self,
        digest: Digest,
        positions: &[usize],
        outcome: Result<Option<Vec<u8>>, RequestError>,
        cache: Option<&ArtifactCache>,
        take: TakeArtifact<'_>,
    ) -> ControlFlow<()> {
        let outcome = outcome.map_err(|failed| self.transport.error(failed));
        let not_kept = match (&outcome, cache) {
            (Ok(Some(bytes)), Some(cache)) => {
                let stored = cache.put(&digest, bytes);
                stored.err().map(|error| Box::new(error.to_diagnostic()))
            }
            (_, None) => {
                let message = "there is no folder for the cache";
                Some(Box::new(Diagnostic::error(Code::File, message)))
            }
            _ => None,
        };
        let digest = ArtifactDigest::Archive(digest.0);
        let received = |bytes: Option<Vec<u8>>| {
            let artifact = bytes
                .map(|bytes| self.artifact_of(&digest, bytes))
                .transpose()?;
            Ok(artifact.map(|artifact| ReceivedArtifact {
                artifact,
                not_kept: not_kept.clone(),
            }))
        };
        match positions {
            [at] => take(*at, outcome.and_then(received)),
            _ => hand_over(positions, || outcome.clone().and_then(received), take),
        }
    }

    fn artifact_cache(&self) -> Option<ArtifactCache> {
        let folder = self.transport.options.cache_folder.as_deref();
        folder.map(ArtifactCache::new)
    }

    fn artifact_offline(&self, artifact: &str) -> RegistryError {
        self.offline(&format!("the artifact {artifact} is not in the cache"))
    }

    /// The error for the artifact of a release that no cache has.
    pub(super) fn release_offline(&self, name: &PackageName, version: &Version) -> RegistryError {
        self.artifact_offline(&format!("of {name} {version}"))
    }

    /// The artifact with these bytes, whose digest was compared: for class packages a zip archive, for other ecosystems
    /// the file as it is.
    pub(super) fn artifact_of(
        &self,
        digest: &ArtifactDigest,
        bytes: Vec<u8>,
    ) -> Result<Artifact, RegistryError> {
        if self.ecosystem.is_some_and(|id| id != CLASS_PACKAGES.id()) {
            return Ok(Artifact::File(bytes.into()));
        }
        let name = format!("registry {}: {digest}", self.transport.name);
        let archive = Archive::open(&name, bytes, &self.limits)?;
        Ok(Artifact::Archive(archive))
    }

    async fn download(
        &self,
        config: &Config,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        let url = self.url_or_failed(&config.blob_address(&digest))?;
        let request = Request::artifact(url, self.limits.archive_bytes);
        let check = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => mirror::with_digest(reply.body()?, digest).map(Some),
        };
        self.transport.send(&request, check).await
    }
}
