//! Compiles index files, and decides when that is worthwhile.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pkgres_manifest::IndexRecord;
use pkgres_resolver::CompiledIndex;

use super::IndexFileRegistry;
use super::chunks::{CHUNK_BYTES, read_all};
use crate::index_cache::{
    CacheEntry, Fingerprint, HashingReader, KnownContent, Sha256Digest, Stamp, content_of,
};

/// Up to this size, in bytes, an index is compiled when it is first seen, which takes less than a tenth of a second. A
/// larger one is compiled when it is seen again: one that is used once is not worth the time.
const COMPILED_AT_ONCE_BYTES: u64 = 8 << 20;

/// Without a cache, an index is compiled once a solver has needed one in so many packages: reading each by itself
/// would soon take longer.
const ONE_IN: usize = 8;

impl IndexFileRegistry {
    /// The compiled index from the cache, or one that is compiled now if that is worthwhile.
    pub(super) fn find_compiled(
        &self,
        entry: &CacheEntry,
        stamp: Option<Stamp>,
    ) -> Option<Arc<CompiledIndex>> {
        let fingerprint = self.fingerprint;
        let known = stamp.filter(|stamp| stamp.fingerprint == fingerprint);
        let content = match known.map(|stamp| stamp.known) {
            Some(KnownContent::Unfit) => return None,
            Some(KnownContent::Content(content)) => Some(content),
            Some(KnownContent::Seen) => Some(self.content_of_file()?),
            None => {
                let known = KnownContent::Seen;
                // Without a writable cache nothing is compiled in vain.
                if !entry.write_stamp(&Stamp { fingerprint, known })
                    || fingerprint.length > COMPILED_AT_ONCE_BYTES
                {
                    return None;
                }
                // A file that was never seen has no compiled index, and need not be read to look for one.
                match stamp {
                    Some(_) => Some(self.content_of_file()?),
                    None => None,
                }
            }
        };
        if let Some(content) = content
            && let Some(index) = entry.load(&content)
        {
            let now = KnownContent::Content(content);
            if known.is_none_or(|stamp| stamp.known != now) {
                entry.settle(stamp, fingerprint, now);
            }
            return Some(Arc::new(index));
        }
        let mut input = HashingReader::new(&self.file);
        let Some((records, index)) = self.compile(&mut input) else {
            entry.settle(stamp, fingerprint, KnownContent::Unfit);
            return None;
        };
        let digest = input.digest();
        let is_same = content.is_none_or(|content| content == digest);
        if !is_same || !self.is_unchanged() {
            return None;
        }
        let index = Arc::new(index);
        let (entry, compiled) = (entry.clone(), Arc::clone(&index));
        self.background.run(move || {
            drop(records);
            entry.store(&digest, &compiled);
            entry.settle(stamp, fingerprint, KnownContent::Content(digest));
        });
        Some(index)
    }

    /// The index compiled for this run alone, if enough of it is needed. `more` is the number of packages that are
    /// needed now.
    pub(super) fn find_prepared(&self, more: usize) -> Option<Arc<CompiledIndex>> {
        let runs = self.runs.get()?;
        let needed = self.needed.fetch_add(more, Ordering::Relaxed) + more;
        if needed < runs.package_count() / ONE_IN
            || self.fingerprint.length > COMPILED_AT_ONCE_BYTES
        {
            return None;
        }
        let prepare = || {
            // It is not stored, so that the digest of its content is not needed.
            let (records, index) = self.compile(&self.file)?;
            if !self.is_unchanged() {
                return None;
            }
            self.background.run(move || drop(records));
            Some(Arc::new(index))
        };
        self.prepared.get_or_init(prepare).clone()
    }

    /// Reads all lines of `input`, which is the file, and compiles them; `None` if one of them has an error or is of an
    /// ecosystem that is not wanted.
    fn compile(&self, input: impl Read + Send) -> Option<(Vec<Vec<IndexRecord>>, CompiledIndex)> {
        let _cursor = self.seek(0).ok()?;
        let chunks = self.fingerprint.length.div_ceil(CHUNK_BYTES as u64);
        let threads = usize::try_from(chunks).unwrap_or(usize::MAX);
        let threads = threads.min(self.threads.get());
        let records = read_all(input, &self.limits, threads, CHUNK_BYTES)?;
        // A package of another ecosystem is reported when it is needed, for which its lines are read.
        if let Some(wanted) = self.ecosystem {
            let mut all = records.iter().flatten();
            if all.any(|record| record.ecosystem.id() != wanted) {
                return None;
            }
        }
        let index = CompiledIndex::compile(in_order(&records)?);
        Some((records, index))
    }

    fn content_of_file(&self) -> Option<Sha256Digest> {
        let _cursor = self.seek(0).ok()?;
        content_of(&self.file).ok()
    }

    /// Whether the metadata of the file is the same as when it was opened.
    fn is_unchanged(&self) -> bool {
        let now = self.file.metadata();
        now.is_ok_and(|now| Fingerprint::of(&now) == self.fingerprint)
    }
}

/// The records of chunks by name and version; `None` if one release has two different records. Of records that
/// differ only in build metadata the one with the least counts, as when a single package is read.
fn in_order(chunks: &[Vec<IndexRecord>]) -> Option<Vec<&IndexRecord>> {
    // Lines about one package mostly follow each other, by version.
    let mut runs: Vec<&[IndexRecord]> = chunks
        .iter()
        .flat_map(|records| records.chunk_by(|one, two| one.name == two.name))
        .collect();
    runs.sort_by(|one, two| one[0].name.cmp(&two[0].name));
    let mut records: Vec<&IndexRecord> = runs.into_iter().flatten().collect();
    let key = |record: &&IndexRecord, other: &&IndexRecord| {
        (&record.name, &record.version).cmp(&(&other.name, &other.version))
    };
    if records.is_sorted_by(|one, two| key(one, two).is_lt()) {
        return Some(records);
    }
    records.sort_by(key);
    let is_same =
        |one: &IndexRecord, two: &IndexRecord| one.name == two.name && one.version == two.version;
    let differs = |pair: &[&IndexRecord]| is_same(pair[0], pair[1]) && pair[0] != pair[1];
    if records.windows(2).any(differs) {
        return None;
    }
    records.dedup_by(|next, kept| {
        let is_same = is_same(next, kept);
        if is_same && next.version.build() < kept.version.build() {
            std::mem::swap(next, kept);
        }
        is_same
    });
    Some(records)
}
