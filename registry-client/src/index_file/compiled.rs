//! When an index is compiled, and what of.

use std::io::{Read, Seek as _, SeekFrom};
use std::sync::Arc;

use pkgres_manifest::IndexRecord;
use pkgres_resolver::CompiledIndex;

use super::IndexFileRegistry;
use super::portions::{PORTION_BYTES, Records, read_all};
use crate::index_cache::{Entry, Hashed, Known, Look, Stamp, content_of};

/// Up to this size an index is compiled when it is first seen: that takes less than a tenth of a
/// second, and no longer than to solve with most of its packages. A larger one is compiled when it
/// is seen again, so that nobody waits long for what is used once.
const COMPILED_AT_ONCE_BYTES: u64 = 8 << 20;

/// Without a cache all lines are read at once when one in so many packages was asked for: then to look
/// at each package by itself would soon take longer.
const ONE_IN: usize = 8;

impl IndexFileRegistry {
    /// The compiled index from the cache; or it is compiled now, if that is worth while.
    pub(super) fn find_compiled(
        &self,
        entry: &Entry,
        stamp: Option<Stamp>,
    ) -> Option<Arc<CompiledIndex>> {
        let look = self.look;
        let known = stamp.filter(|stamp| stamp.look == look);
        let content = match known.map(|stamp| stamp.known) {
            Some(Known::Unfit) => return None,
            Some(Known::Content(content)) => Some(content),
            Some(Known::Seen) => Some(content_of(&self.file).ok()?),
            None => {
                let known = Known::Seen;
                // Where nothing can be written, nothing is done in vain.
                if !entry.write_stamp(&Stamp { look, known })
                    || look.length > COMPILED_AT_ONCE_BYTES
                {
                    return None;
                }
                // For a file that was never seen nothing will be there, so it is read but once.
                let content = stamp.map(|_| content_of(&self.file));
                content.transpose().ok()?
            }
        };
        if let Some(content) = content
            && let Some(index) = entry.load(&content)
        {
            let now = Known::Content(content);
            if known.is_none_or(|stamp| stamp.known != now) {
                entry.settle(stamp, look, now);
            }
            return Some(Arc::new(index));
        }
        let mut input = Hashed::new(&self.file);
        let Some((records, index)) = self.compile(&mut input) else {
            entry.settle(stamp, look, Known::Unfit);
            return None;
        };
        let digest = input.digest();
        let is_same = content.is_none_or(|content| content == digest);
        if !is_same || !self.looks_as_before() {
            return None;
        }
        let index = Arc::new(index);
        let (entry, compiled) = (entry.clone(), Arc::clone(&index));
        self.background.run(move || {
            drop(records);
            entry.store(&digest, &compiled);
            entry.settle(stamp, look, Known::Content(digest));
        });
        Some(index)
    }

    /// The index compiled for this run alone, if so much of it is needed that this is worth while.
    /// `more` is how many packages are asked for beside those that were.
    pub(super) fn find_prepared(&self, more: usize) -> Option<Arc<CompiledIndex>> {
        let runs = self.runs.get()?;
        let asked = self.asked.get() + more;
        self.asked.set(asked);
        if asked < runs.package_count() / ONE_IN || self.look.length > COMPILED_AT_ONCE_BYTES {
            return None;
        }
        let prepare = || {
            // Nobody looks for it in a cache, so that it does not matter what its content is.
            let (records, index) = self.compile(&self.file)?;
            if !self.looks_as_before() {
                return None;
            }
            self.background.run(move || drop(records));
            Some(Arc::new(index))
        };
        self.prepared.get_or_init(prepare).clone()
    }

    /// Reads all lines of `input`, which is the file, and compiles them. Nothing comes of it if one of them is
    /// at fault.
    fn compile(&self, input: impl Read + Send) -> Option<(Records, CompiledIndex)> {
        (&self.file).seek(SeekFrom::Start(0)).ok()?;
        let portions = self.look.length.div_ceil(PORTION_BYTES as u64);
        let threads = usize::try_from(portions).unwrap_or(usize::MAX);
        let threads = threads.min(self.threads.get());
        let records = read_all(input, &self.limits, threads, PORTION_BYTES)?;
        let index = CompiledIndex::compile(in_order(&records)?);
        Some((records, index))
    }

    /// Whether the file is the same as when it was opened, as far as can be seen.
    fn looks_as_before(&self) -> bool {
        let now = self.file.metadata();
        now.is_ok_and(|now| Look::of(&now) == self.look)
    }
}

/// The records of portions by name and version; nothing if two differ that are of one release. As when
/// a single package is read, of lines that differ in build metadata alone the one counts that has the
/// least.
fn in_order(portions: &[Vec<IndexRecord>]) -> Option<Vec<&IndexRecord>> {
    // Lines about one package mostly follow each other, by version.
    let mut runs: Vec<&[IndexRecord]> = portions
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
