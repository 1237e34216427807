//! Downloading artifacts.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, future, stream};
use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::ArtifactDigest;

use crate::protocol::{Config, Digest};
use crate::registry::RegistryError;

use super::artifacts::ArtifactCache;
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
        let bytes = self.transport.wait(self.download(&config, *digest))?;
        if let (Some(cache), Some(bytes)) = (cache, &bytes) {
            // A cache that cannot be written costs another download, nothing else.
            let _ = cache.put(digest, bytes);
        }
        Ok(bytes)
    }

    /// Downloads artifacts into the cache, several at once. One that fails does not keep the others from it;
    /// the error is that of the smallest digest, so that it does not depend on the order of arrival. Does
    /// nothing without a cache, and offline, where the error is left to the caller that needs the artifact.
    pub(super) fn fetch_artifacts(&self, digests: &[ArtifactDigest]) -> Result<(), RegistryError> {
        let options = &self.transport.options;
        let Some(folder) = options.cache_folder.as_deref() else {
            return Ok(());
        };
        if options.offline {
            return Ok(());
        }
        let cache = ArtifactCache::new(folder);
        let missing: BTreeSet<Digest> = digests
            .iter()
            .filter_map(|digest| match digest {
                ArtifactDigest::Archive(bytes) => Some(Digest(*bytes)),
                ArtifactDigest::Tree(_) => None,
            })
            // Whether it is damaged is checked on use.
            .filter(|digest| !matches!(RealFileSystem.kind(&cache.path(digest)), Ok(Some(_))))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let config = self.known_config()?;
        // A registry that is gone is not waited for once for each artifact.
        let unreachable = AtomicUsize::new(0);
        let one = |digest: Digest| {
            let (config, cache, unreachable) = (&config, &cache, &unreachable);
            async move {
                if unreachable.load(Ordering::Relaxed) >= MAX_UNREACHABLE {
                    return None;
                }
                match self.download(config, digest).await {
                    Ok(Some(bytes)) => {
                        // A cache that cannot be written costs another download.
                        let _ = cache.put(&digest, &bytes);
                        None
                    }
                    Ok(None) => None,
                    Err(failed) => {
                        if failed.error.kind == ErrorKind::Unreachable {
                            unreachable.fetch_add(1, Ordering::Relaxed);
                        }
                        Some((digest, failed))
                    }
                }
            }
        };
        // The others are kept, and need not be requested again.
        let all = stream::iter(missing)
            .map(one)
            .buffer_unordered(AT_ONCE.min(options.concurrency.max(1)))
            .filter_map(future::ready);
        let first = |found: Option<(Digest, RequestError)>, next: (Digest, RequestError)| {
            future::ready(match found {
                Some(found) if found.0 < next.0 => Some(found),
                _ => Some(next),
            })
        };
        self.transport.wait(async {
            match all.fold(None, first).await {
                Some((_, failed)) => Err(failed),
                None => Ok(()),
            }
        })
    }

    async fn download(
        &self,
        config: &Config,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        let url = self.url_or_failed(&config.blob_address(&digest))?;
        let request = Request::get(url, self.limits.archive_bytes);
        let check = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => mirror::with_digest(reply.body()?, digest).map(Some),
        };
        self.transport.send(&request, check).await
    }
}
