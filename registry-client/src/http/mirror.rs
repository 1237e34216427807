//! Fetches index documents one by one, from mirrors of plain files.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pkgres_manifest::PackageName;

use crate::protocol::{Config, Digest, MAX_DOCUMENT_BYTES};
use crate::registry_error::RegistryError;

use super::HttpRegistry;
use super::document::Document;
use super::error::{AttemptError, ErrorKind, RequestError};
use super::reading::Reading;
use super::request::Request;

impl HttpRegistry {
    /// Fetches packages and all that they require, several at once. Required packages are requested
    /// as soon as it has arrived.
    pub(super) fn fetch_each(
        &self,
        reading: &mut Reading,
        config: &Config,
        wanted: Vec<PackageName>,
    ) -> Result<(), RegistryError> {
        // Without the list of names it is not known which packages do not exist.
        let names = reading.names.take().ok_or_else(|| {
            let reason = "it gave no list of its packages";
            self.transport.unreachable(reason)
        })?;
        let fetched = self.fetch_queue(reading, config, &names, wanted);
        let result = self.transport.wait(fetched);
        reading.names = Some(names);
        result
    }

    async fn fetch_queue(
        &self,
        reading: &mut Reading,
        config: &Config,
        names: &HashMap<PackageName, Digest>,
        wanted: Vec<PackageName>,
    ) -> Result<(), RequestError> {
        let mut seen: BTreeSet<PackageName> = wanted.iter().cloned().collect();
        let mut queue: VecDeque<PackageName> = wanted.into();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < self.transport.options.concurrency
                && let Some(name) = queue.pop_front()
            {
                let serial = reading.serial;
                let cached = reading.document(&name).map(|document| document.sha256);
                match names.get(&name) {
                    None => reading.set(name, None, serial),
                    Some(digest) if cached == Some(*digest) => {
                        if let Some(entry) = reading.entries.get_mut(&name) {
                            (entry.is_fresh, entry.serial) = (true, serial);
                        }
                        let required = reading.required_by(&name);
                        let new = required.iter().filter(|name| seen.insert((*name).clone()));
                        queue.extend(new.cloned());
                    }
                    Some(digest) => under_way.push(self.fetch_one(config, name, *digest)),
                }
            }
            if reading.answered > self.transport.options.limits.packages {
                return Err(self.too_many_packages());
            }
            let Some(fetched) = under_way.next().await else {
                return Ok(());
            };
            let (name, digest, bytes) = fetched?;
            let serial = reading.serial;
            let document = Arc::new(Document::new(digest, bytes.into()));
            reading.set(name.clone(), Some(document), serial);
            let required = reading.required_by(&name);
            let new = required.iter().filter(|name| seen.insert((*name).clone()));
            queue.extend(new.cloned());
        }
    }

    async fn fetch_one(
        &self,
        config: &Config,
        name: PackageName,
        digest: Digest,
    ) -> Result<(PackageName, Digest, Vec<u8>), RequestError> {
        let url = self.url_or_failed(&config.package_address(&name))?;
        let request = Request::get(url, MAX_DOCUMENT_BYTES);
        let bytes = self
            .transport
            .send(&request, |reply| with_digest(reply.body()?, digest))
            .await?;
        Ok((name, digest, bytes))
    }
}

/// The bytes, if they have the digest. Otherwise they may have been damaged on the way, and another attempt may
/// succeed.
pub(super) fn with_digest(bytes: Vec<u8>, expected: Digest) -> Result<Vec<u8>, AttemptError> {
    let found = Digest::of(&bytes);
    if found == expected {
        Ok(bytes)
    } else {
        let reason = format!("the digest is {found}; {expected} was announced");
        Err(AttemptError::transient(ErrorKind::Digest, reason))
    }
}
