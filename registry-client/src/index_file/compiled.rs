//! When an index is compiled, and what of.

use std::io::{Seek as _, SeekFrom};

use pkgres_manifest::IndexRecord;
use pkgres_resolver::CompiledIndex;
use sha2::{Digest as _, Sha256};

use super::IndexFileRegistry;
use super::lines::{Line, Lines};
use crate::index_cache::{Entry, Hashing, Known, Stamp, content_of};

/// Up to this size an index is compiled when it is first seen: that takes less than a tenth of a
/// second, and no longer than to solve with most of its packages. A larger one is compiled when it
/// is seen again, so that nobody waits long for what is used once.
const COMPILED_AT_ONCE_BYTES: u64 = 8 << 20;

impl IndexFileRegistry {
    /// The compiled index from the cache; or it is compiled now, if that is worth while.
    pub(super) fn find_compiled(
        &self,
        entry: &Entry,
        stamp: Option<Stamp>,
    ) -> Option<CompiledIndex> {
        let known = stamp.filter(|stamp| stamp.look == self.look);
        let write_stamp = |known| {
            entry.write_stamp(&Stamp {
                look: self.look,
                known,
            })
        };
        let content = match known.map(|stamp| stamp.known) {
            Some(Known::Unfit) => return None,
            Some(Known::Content(content)) => {
                if let Some(index) = entry.load(&content) {
                    return Some(index);
                }
                content
            }
            Some(Known::Seen) => content_of(&self.file).ok()?,
            None => {
                // Where nothing can be written, nothing is done in vain.
                if !write_stamp(Known::Seen) || self.look.length > COMPILED_AT_ONCE_BYTES {
                    return None;
                }
                content_of(&self.file).ok()?
            }
        };
        let index = entry.load(&content).or_else(|| {
            let index = self.compile(&content)?;
            entry.store(&content, &index);
            Some(index)
        });
        if let Some(stamp) = stamp
            && let Known::Content(before) = stamp.known
            && before != content
        {
            entry.forget(&before);
        }
        if entry.is_settled(&self.look) {
            write_stamp(match index {
                Some(_) => Known::Content(content),
                None => Known::Unfit,
            });
        }
        index
    }

    /// Reads all lines and compiles them. Nothing comes of it if one of them is at fault, or the
    /// file no longer has this content.
    fn compile(&self, content: &[u8; 32]) -> Option<CompiledIndex> {
        (&self.file).seek(SeekFrom::Start(0)).ok()?;
        let mut input = Hashing {
            input: &self.file,
            hasher: Sha256::new(),
        };
        let mut lines = Lines::new(&mut input, self.limits.index_line_bytes);
        let mut reader = self.reader.borrow_mut();
        let mut records: Vec<IndexRecord> = Vec::new();
        while let Some(line) = lines.next().ok()? {
            let Line::Whole { content, .. } = line else {
                return None;
            };
            if content.is_empty() {
                continue;
            }
            let text = std::str::from_utf8(content).ok()?;
            // Nobody will see where.
            let nowhere = |span| self.location(1, "", span);
            records.push(reader.read_line(text, &nowhere).ok()?);
        }
        if <[u8; 32]>::from(input.hasher.finalize()) != *content {
            return None;
        }
        // As when a single package is read: the first of equal lines counts.
        records.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
        let is_same = |one: &IndexRecord, two: &IndexRecord| {
            one.name == two.name && one.version == two.version
        };
        let differs = |pair: &[IndexRecord]| is_same(&pair[0], &pair[1]) && pair[0] != pair[1];
        if records.windows(2).any(differs) {
            return None;
        }
        records.dedup_by(|next, kept| is_same(next, kept));
        Some(CompiledIndex::compile(&records))
    }
}
