//! A compiled index of the packages that a solver needs first and all that they require, kept for later runs.
//!
//! Compiling costs about as much as reading the documents, which the solver needs anyhow. If the cache has the
//! index of the same documents, none of them is read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use pkgres_files::{RealFileSystem, map_file, write_cache_file};
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::CompiledIndex;
use sha2::{Digest as _, Sha256};

use crate::protocol::Digest;
use crate::registry_error::RegistryError;

use super::HttpRegistry;
use super::document::{Document, read_all};
use super::reading::{Prepared, Reading};

/// Fewer documents are read as quickly as an index of them is opened.
const WORTH_WHILE: usize = 16;

/// The number of indexes that are kept for a registry. The first packages that are needed choose the slot, so
/// that a project finds its own index again.
const SLOTS: u8 = 16;

/// The limit of an index that is kept, in bytes.
const MAX_PREPARED_BYTES: u64 = 1 << 30;

/// The limit of packages in an index.
const MAX_PACKAGES: usize = 1_000_000;

impl HttpRegistry {
    /// An index of some packages and all that they require, as far as their documents are known. Documents that
    /// cannot be read are left out; looking them up by name reports the error.
    pub(super) fn prepare(
        &self,
        reading: &mut Reading,
        names: &[PackageName],
    ) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        match &reading.prepared {
            Prepared::NotYet => {}
            Prepared::TooFew => return Ok(None),
            Prepared::Done(index) => return Ok(Some(Arc::clone(index))),
        }
        self.ensure(reading, names)?;
        let mut documents = documents_of(reading, names);
        if documents.len() < WORTH_WHILE {
            reading.prepared = Prepared::TooFew;
            return Ok(None);
        }
        let slot = self.slot(names);
        let source = self.source(&documents);
        if let Some(index) = slot.as_deref().and_then(|slot| {
            let bytes = map_file(slot, MAX_PREPARED_BYTES).ok()?;
            CompiledIndex::from_bytes(bytes, &source.0).ok()
        }) {
            return Ok(Some(remember(reading, index)));
        }
        // Documents of the cache are used now: they must not be damaged.
        let damaged = reading.forget_damaged(documents.iter().map(|(name, _)| name));
        if !damaged.is_empty() {
            if !self.transport.options.offline {
                self.ensure(reading, &damaged)?;
            }
            documents = documents_of(reading, names);
        }
        let records = self.read_releases(reading, &documents);
        let index = remember(reading, CompiledIndex::compile(records.iter().flatten()));
        let source = self.source(&documents);
        let kept = Arc::clone(&index);
        self.background.run(move || {
            // Freeing them takes time, too.
            drop(records);
            if let Some(slot) = slot
                && let Some(bytes) = kept.to_bytes(&source.0)
            {
                // A cache that cannot be written costs time only.
                let _ = write_cache_file(&RealFileSystem, &slot, &bytes);
            }
        });
        Ok(Some(index))
    }

    /// The releases of each package.
    fn read_releases(
        &self,
        reading: &mut Reading,
        documents: &[(PackageName, Arc<Document>)],
    ) -> Vec<Vec<IndexRecord>> {
        let threads = self.transport.options.threads.get();
        read_all(documents, threads, &mut reading.reader);
        let reader = &mut reading.reader;
        (documents.iter())
            .map(|(name, document)| document.take_records(name, reader).unwrap_or_default())
            // A package of another ecosystem is looked up by name, which remembers that.
            .filter(|records| self.is_wanted(records))
            .collect()
    }

    /// The file of an index.
    fn slot(&self, names: &[PackageName]) -> Option<PathBuf> {
        let mut names: Vec<&str> = names.iter().map(PackageName::as_str).collect();
        names.sort_unstable();
        let Digest([first, ..]) = Digest::of(names.join("\n").as_bytes());
        let folder = self.folder()?;
        Some(folder.join(format!("prepared-{:02}", first % SLOTS)))
    }

    /// A digest of everything that an index depends on. Another version of this crate, or other limits, may
    /// read the documents differently.
    fn source(&self, documents: &[(PackageName, Arc<Document>)]) -> Digest {
        let mut hasher = Sha256::new();
        let ecosystem = self.ecosystem.unwrap_or_default();
        let context = format!(
            "{} {:?} {ecosystem}\n",
            env!("CARGO_PKG_VERSION"),
            self.limits
        );
        hasher.update(context);
        for (name, document) in documents {
            hasher.update(name.as_str());
            hasher.update([0]);
            hasher.update(document.sha256.0);
        }
        Digest(hasher.finalize().into())
    }
}

fn remember(reading: &mut Reading, index: CompiledIndex) -> Arc<CompiledIndex> {
    let index = Arc::new(index);
    reading.prepared = Prepared::Done(Arc::clone(&index));
    index
}

/// The documents of packages and of all that they require, by name.
fn documents_of(reading: &mut Reading, names: &[PackageName]) -> Vec<(PackageName, Arc<Document>)> {
    let reachable: BTreeSet<PackageName> = reading.reachable(names.iter().cloned(), MAX_PACKAGES);
    let is_offline = !reading.is_refreshed;
    reachable
        .into_iter()
        .filter(|name| is_offline || reading.is_fresh(name))
        .filter_map(|name| {
            let document = Arc::clone(reading.document(&name)?);
            Some((name, document))
        })
        .collect()
}
