//! Downloading artifacts.

use std::cell::Cell;
use std::collections::BTreeSet;

use futures_util::{StreamExt as _, future, stream};
use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::ArtifactDigest;

use crate::protocol::{Config, Digest};
use crate::registry::RegistryError;

use super::answer::Reply;
use super::artifacts::ArtifactCache;
use super::ask::Ask;
use super::fault::{Failed, FaultKind};
use super::{HttpRegistry, mirror};

/// How many artifacts are downloaded at once. Each is in memory until its digest was compared.
const AT_ONCE: usize = 6;

/// After how many artifacts for which the registry could not be reached no more are asked for.
const GIVEN_UP: usize = 3;

impl HttpRegistry {
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
        let bytes = self.transport.wait(self.download(&config, *digest))?;
        if let (Some(cache), Some(bytes)) = (cache, &bytes) {
            // That it cannot be kept is no reason not to use it.
            let _ = cache.put(digest, bytes);
        }
        Ok(bytes)
    }

    /// Downloads artifacts into the cache, some at once. One that cannot be had does not keep the
    /// others from it; the error is that of the smallest digest, whichever came first. Without a
    /// cache there is nowhere to keep them, and what may not be asked for is told to those who need
    /// it.
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
            // Whether it is whole is looked at by those who use it.
            .filter(|digest| !matches!(RealFileSystem.kind(&cache.path(digest)), Ok(Some(_))))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let config = self.known_config()?;
        // Nobody waits for a registry that is gone as often as there are artifacts.
        let unreachable = Cell::new(0);
        let one = |digest: Digest| {
            let (config, cache, unreachable) = (&config, &cache, &unreachable);
            async move {
                if unreachable.get() >= GIVEN_UP {
                    return None;
                }
                match self.download(config, digest).await {
                    Ok(Some(bytes)) => {
                        // That it cannot be kept costs a second download.
                        let _ = cache.put(&digest, &bytes);
                        None
                    }
                    Ok(None) => None,
                    Err(failed) => {
                        if failed.fault.kind == FaultKind::Unreachable {
                            unreachable.set(unreachable.get() + 1);
                        }
                        Some((digest, failed))
                    }
                }
            }
        };
        // One that fails is no reason to lose the others: they need not be asked for again.
        let all = stream::iter(missing)
            .map(one)
            .buffer_unordered(AT_ONCE.min(options.concurrency.max(1)))
            .filter_map(future::ready);
        let first = |found: Option<(Digest, Failed)>, next: (Digest, Failed)| {
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

    async fn download(&self, config: &Config, digest: Digest) -> Result<Option<Vec<u8>>, Failed> {
        let url = self.url_or_failed(&config.blob_address(&digest))?;
        let ask = Ask::get(url, self.limits.archive_bytes);
        let check = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => mirror::with_digest(reply.body()?, digest).map(Some),
        };
        self.transport.send(&ask, check).await
    }
}
