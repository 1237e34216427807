//! Index documents, read by several threads while more arrive.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{IndexReader, IndexRecord, Limits, PackageName, RegistryName};

use crate::protocol::{Digest, IndexDocument};
use crate::threads::lock;

/// The releases of a package, or why they cannot be read.
type DocumentRecords = Result<Vec<IndexRecord>, Box<Diagnostic>>;

/// Reads the documents of one registry.
pub(super) struct DocumentReader {
    registry: RegistryName,
    limits: Limits,
    /// Shares names and specs with records that were read before.
    lines: IndexReader,
}

impl DocumentReader {
    pub(super) fn new(registry: RegistryName, limits: Limits) -> Self {
        Self {
            registry,
            lines: IndexReader::of_ecosystems(limits.clone(), pkgres_formats::ECOSYSTEMS),
            limits,
        }
    }

    /// A reader for another thread.
    pub(super) fn another(&self) -> Self {
        Self::new(self.registry.clone(), self.limits.clone())
    }

    fn read(&mut self, name: &PackageName, bytes: &[u8]) -> DocumentRecords {
        let shown = format!("registry {}: {name}", self.registry);
        IndexDocument::parse(&shown, bytes, name, &mut self.lines).map_err(Box::new)
    }
}

/// An index document.
pub(super) struct Document {
    pub(super) sha256: Digest,
    pub(super) bytes: Bytes,
    /// Whether the bytes have the digest: always for bytes from the network, checked on first use for bytes of
    /// the cache.
    is_whole: OnceLock<bool>,
    /// The releases, once they were read and until they are taken.
    records: Mutex<Option<DocumentRecords>>,
    /// The packages that releases require, sorted.
    requires: OnceLock<Arc<[PackageName]>>,
}

impl Document {
    /// A document whose digest was compared.
    pub(super) fn new(sha256: Digest, bytes: Bytes) -> Self {
        Self {
            sha256,
            bytes,
            is_whole: OnceLock::from(true),
            records: Mutex::default(),
            requires: OnceLock::new(),
        }
    }

    /// A document from the cache, with the packages that it requires.
    pub(super) fn kept(sha256: Digest, bytes: Bytes, requires: Arc<[PackageName]>) -> Self {
        Self {
            is_whole: OnceLock::new(),
            requires: OnceLock::from(requires),
            ..Self::new(sha256, bytes)
        }
    }

    /// Whether the bytes have the digest.
    pub(super) fn is_whole(&self) -> bool {
        *self
            .is_whole
            .get_or_init(|| Digest::of(&self.bytes) == self.sha256)
    }

    /// The releases, or the error in the document.
    pub(super) fn records(
        &self,
        name: &PackageName,
        reader: &mut DocumentReader,
    ) -> DocumentRecords {
        self.with_records(name, reader, Clone::clone)
    }

    /// Takes the releases out. The next call reads them again.
    pub(super) fn take_records(
        &self,
        name: &PackageName,
        reader: &mut DocumentReader,
    ) -> DocumentRecords {
        let taken = self.lock().take();
        taken.unwrap_or_else(|| reader.read(name, &self.bytes))
    }

    /// Reads the releases, unless another thread did.
    fn read(&self, name: &PackageName, reader: &mut DocumentReader) {
        self.with_records(name, reader, |records| {
            self.requires.get_or_init(|| required_by(records));
        });
    }

    /// The packages that releases require, sorted; none if the document cannot be read.
    pub(super) fn requires(
        &self,
        name: &PackageName,
        reader: &mut DocumentReader,
    ) -> Arc<[PackageName]> {
        let find = || self.with_records(name, reader, required_by);
        Arc::clone(self.requires.get_or_init(find))
    }

    fn with_records<T>(
        &self,
        name: &PackageName,
        reader: &mut DocumentReader,
        work: impl FnOnce(&DocumentRecords) -> T,
    ) -> T {
        let mut records = self.lock();
        work(records.get_or_insert_with(|| reader.read(name, &self.bytes)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<DocumentRecords>> {
        lock(&self.records)
    }

    /// The packages that releases require, if they are known.
    pub(super) fn known_requires(&self) -> Option<&Arc<[PackageName]>> {
        self.requires.get()
    }
}

fn required_by(records: &DocumentRecords) -> Arc<[PackageName]> {
    let mut names: Vec<&PackageName> = records
        .iter()
        .flatten()
        .flat_map(|record| &record.requirements)
        .map(|requirement| &requirement.package)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().cloned().collect()
}

/// A queue of documents that several threads read while more arrive.
#[derive(Default)]
pub(super) struct ReadingQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    documents: VecDeque<(PackageName, Arc<Document>)>,
    is_closed: bool,
}

impl ReadingQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Adds documents. Each call wakes threads, so that many at once cost less.
    pub(super) fn add(&self, documents: impl IntoIterator<Item = (PackageName, Arc<Document>)>) {
        self.lock().documents.extend(documents);
        self.changed.notify_all();
    }

    fn next(&self) -> Option<(PackageName, Arc<Document>)> {
        let mut waiting = self.lock();
        loop {
            if let Some(next) = waiting.documents.pop_front() {
                return Some(next);
            }
            if waiting.is_closed {
                return None;
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads documents until the queue is closed and empty.
    pub(super) fn read(&self, reader: &mut DocumentReader) {
        while let Some((name, document)) = self.next() {
            document.read(&name, reader);
        }
    }

    /// Reads what `work` adds on a number of threads, this one included. This thread helps after the work,
    /// unless it failed.
    pub(super) fn read_during<T, E>(
        threads: usize,
        own: &mut DocumentReader,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let queue = Self::default();
        std::thread::scope(|scope| {
            for _ in 1..threads {
                let mut reader = own.another();
                let queue = &queue;
                scope.spawn(move || queue.read(&mut reader));
            }
            // The other threads end even if the work panics.
            let closed = Closed(&queue);
            let result = work(&queue);
            if result.is_err() {
                queue.lock().documents.clear();
            }
            drop(closed);
            queue.read(own);
            result
        })
    }
}

/// Reads documents on a number of threads, this one included.
pub(super) fn read_all(
    documents: &[(PackageName, Arc<Document>)],
    threads: usize,
    own: &mut DocumentReader,
) {
    let unread: Vec<_> = documents
        .iter()
        .filter(|(_, document)| document.lock().is_none())
        .cloned()
        .collect();
    let threads = threads.min(unread.len());
    let add = |queue: &ReadingQueue| {
        queue.lock().documents = unread.into();
        Ok::<_, std::convert::Infallible>(())
    };
    let Ok(()) = ReadingQueue::read_during(threads, own, add);
}

/// Closes a queue when it is dropped.
struct Closed<'queue>(&'queue ReadingQueue);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}
