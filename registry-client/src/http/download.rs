//! Downloads artifacts.

use std::future::{self, Future};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Archive, ArtifactDigest, CLASS_PACKAGES, Limits};

use crate::artifact::{Artifact, ReceivedArtifact, TakeArtifact, WantedArtifact};
use crate::hand_over::{by_digest, hand_over};
use crate::protocol::{Config, Digest};
use crate::registry_error::RegistryError;

use super::artifact_cache::ArtifactCache;
use super::error::{ErrorKind, RequestError};
use super::request::Request;
use super::response::Reply;
use super::transport::Transport;
use super::{HttpRegistry, mirror};

/// The number of artifacts that are downloaded at once. Each is in memory until its digest was compared.
const AT_ONCE: usize = 6;

/// The number of unreachable artifacts after which no more are requested.
const MAX_UNREACHABLE: usize = 3;

/// Artifacts that are read from the cache, or else downloaded into it.
pub(super) struct ArtifactDownloads<'registry> {
    pub(super) transport: &'registry Transport,
    pub(super) cache: Option<ArtifactCache>,
    pub(super) limits: &'registry Limits,
    /// Whether the artifacts are those of class packages, which are zip archives. Those of other ecosystems are files,
    /// which are read as they are.
    pub(super) of_class_packages: bool,
}

/// Artifacts to download, each for some positions among those that are wanted.
pub(super) struct MissingArtifacts(Vec<(Digest, Vec<usize>)>);

impl MissingArtifacts {
    /// The position of the first one.
    pub(super) fn first(&self) -> usize {
        self.0[0].1[0]
    }
}

impl ArtifactDownloads<'_> {
    /// The bytes of an artifact in the cache.
    pub(super) fn cached(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.cache.as_ref()?.get(digest, self.limits.archive_bytes)
    }

    /// Stores an artifact in the cache; returns why it could not be stored.
    pub(super) fn keep(&self, digest: &Digest, bytes: &[u8]) -> Option<Box<Diagnostic>> {
        let Some(cache) = &self.cache else {
            let message = "there is no folder for the cache";
            return Some(Box::new(Diagnostic::error(Code::File, message)));
        };
        let stored = cache.put(digest, bytes);
        stored.err().map(|error| Box::new(error.to_diagnostic()))
    }

    /// The artifact with these bytes, whose digest was compared.
    pub(super) fn artifact_of(
        &self,
        digest: &ArtifactDigest,
        bytes: Vec<u8>,
    ) -> Result<Artifact, RegistryError> {
        if !self.of_class_packages {
            return Ok(Artifact::File(bytes.into()));
        }
        let name = format!("registry {}: {digest}", self.transport.name);
        let archive = Archive::open(&name, bytes, self.limits)?;
        Ok(Artifact::Archive(archive))
    }

    /// The number of artifacts that are downloaded at once.
    pub(super) fn at_once(&self) -> usize {
        AT_ONCE.min(self.transport.options.concurrency.max(1))
    }

    /// Passes on the artifacts that are in the cache, and errors for the others if nothing may be downloaded. Returns
    /// those to download; `None` if there are none, or if the caller has enough.
    pub(super) fn take_cached(
        &self,
        wanted: &[WantedArtifact<'_>],
        take: TakeArtifact<'_>,
    ) -> Option<MissingArtifacts> {
        let mut missing = Vec::new();
        // The first in the list of the caller is requested first: if no registry answers, it is named.
        for (digest, positions) in by_digest(wanted) {
            let sha256 = match &digest {
                ArtifactDigest::Tree(_) => None,
                ArtifactDigest::Archive(bytes) => Some(Digest(*bytes)),
            };
            let mut bytes = sha256.and_then(|sha256| self.cached(&sha256));
            if let (None, Some(sha256)) = (&bytes, sha256) {
                if !self.transport.options.offline {
                    missing.push((sha256, positions));
                    continue;
                }
                for at in positions {
                    let error = self
                        .transport
                        .release_offline(wanted[at].package, wanted[at].version);
                    if take(at, Err(error)).is_break() {
                        return None;
                    }
                }
                continue;
            }
            let read = || {
                let bytes = (bytes.take()).or_else(|| self.cached(&sha256?));
                let artifact = bytes.map(|bytes| self.artifact_of(&digest, bytes));
                Ok(artifact.transpose()?.map(ReceivedArtifact::kept))
            };
            if hand_over(&positions, read, take).is_break() {
                return None;
            }
        }
        (!missing.is_empty()).then_some(MissingArtifacts(missing))
    }

    /// Downloads artifacts into the cache, several at once. One that fails does not keep the others from it. `download`
    /// gets a digest and its first position, and returns the bytes, if the registry has them.
    ///
    /// # Errors
    ///
    /// No request was sent. The error would be the same for every artifact.
    pub(super) fn take_missing<Download>(
        &self,
        missing: MissingArtifacts,
        download: impl Fn(Digest, usize) -> Download + Sync,
        take: TakeArtifact<'_>,
    ) -> Result<(), RegistryError>
    where
        Download: Future<Output = Result<Option<Vec<u8>>, RequestError>> + Send,
    {
        // A registry that is gone is not waited for once for each artifact.
        let unreachable = AtomicUsize::new(0);
        let one = |(digest, positions): (Digest, Vec<usize>)| {
            let (unreachable, download) = (&unreachable, &download);
            async move {
                if unreachable.load(Ordering::Relaxed) >= MAX_UNREACHABLE {
                    return None;
                }
                let outcome = download(digest, positions[0]).await;
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
        self.transport.wait(async {
            let mut arriving = stream::iter(missing.0)
                .map(one)
                // In order, so that the same one is the first to fail in each run.
                .buffered(self.at_once())
                .filter_map(future::ready);
            while let Some((digest, positions, outcome)) = arriving.next().await {
                if self.hand_over(digest, &positions, outcome, take).is_break() {
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
        take: TakeArtifact<'_>,
    ) -> ControlFlow<()> {
        let outcome = outcome.map_err(|failed| self.transport.error(failed));
        let not_kept = match &outcome {
            Ok(Some(bytes)) => self.keep(&digest, bytes),
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
}

impl HttpRegistry {
    /// The bytes of an artifact, from the cache or the registry; `None` if the registry does not have it.
    pub fn artifact_bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, RegistryError> {
        let downloads = self.artifact_downloads();
        if let Some(bytes) = downloads.cached(digest) {
            return Ok(Some(bytes));
        }
        if self.transport.options.offline {
            let reason = format!("the artifact {digest} is not in the cache");
            return Err(self.offline(&reason));
        }
        let config = self.known_config()?;
        let bytes = self.transport.wait(self.download(&config, *digest))?;
        if let Some(bytes) = &bytes {
            // A cache that cannot be written costs another download, nothing else.
            let _ = downloads.keep(digest, bytes);
        }
        Ok(bytes)
    }

    /// Reads artifacts from the cache, and downloads the others into it, several at once. One that fails does not keep
    /// the others from it.
    pub(super) fn fetch_artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        let downloads = self.artifact_downloads();
        let Some(missing) = downloads.take_cached(wanted, take) else {
            return;
        };
        let first = missing.first();
        let downloaded = self.known_config().and_then(|config| {
            let download = |digest, _| self.download(&config, digest);
            downloads.take_missing(missing, download, take)
        });
        if let Err(error) = downloaded {
            let _ = take(first, Err(error));
        }
    }

    pub(super) fn artifact_downloads(&self) -> ArtifactDownloads<'_> {
        let folder = self.transport.options.cache_folder.as_deref();
        ArtifactDownloads {
            transport: &self.transport,
            cache: folder.map(ArtifactCache::new),
            limits: &self.limits,
            of_class_packages: self.ecosystem.is_none_or(|id| id == CLASS_PACKAGES.id()),
        }
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
