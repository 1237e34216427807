//! The end of an archive, and the central directory before it.

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;

use super::broken;
use super::entry::Entry;
use super::records::{
    CENTRAL_BYTES, CentralRecord, END, END_BYTES, EndRecord, Fields, LOCATOR, LOCATOR_BYTES,
    LONG_END_BYTES, Locator, LongEndRecord,
};

/// The longest comment of an archive, in bytes.
const MAX_COMMENT_BYTES: usize = 1024;

/// The central directory: it fills the bytes from where the last entry ends to the end records.
pub(super) struct Directory<'bytes> {
    /// Where it begins.
    pub(super) offset: usize,
    records: &'bytes [u8],
    count: usize,
}

/// What the end records say about the directory.
struct Claims {
    entries_on_disk: u64,
    entries: u64,
    directory_size: u64,
    directory_offset: u64,
}

impl<'bytes> Directory<'bytes> {
    /// Finds the directory of an archive and checks that the end records say nothing else.
    pub(super) fn locate(bytes: &'bytes [u8], limits: &Limits) -> Result<Self, Diagnostic> {
        let (end, record) = end_record(bytes)?;
        let (directory_end, claims) = match long_end_record(bytes, end)? {
            Some((start, long)) => (start, long_claims(&record, &long)?),
            None => (end, short_claims(&record)?),
        };
        if record.disks != [0, 0] {
            return Err(broken("the archive is a part of a set of archives"));
        }
        if claims.entries_on_disk != claims.entries {
            return Err(broken("the end record counts the entries in two ways"));
        }
        if claims.entries == 0 {
            return Err(broken("the archive has no entries"));
        }
        if claims.entries > limits.archive_entries {
            let limit = limits.archive_entries;
            return Err(Limits::exceeded("entries in an archive", limit));
        }
        let offset = usize::try_from(claims.directory_offset)
            .ok()
            .filter(|offset| *offset <= directory_end)
            .filter(|offset| (directory_end - offset) as u64 == claims.directory_size)
            .ok_or_else(|| {
                broken("the central directory does not fill the bytes before the end record")
            })?;
        let records = bytes.get(offset..directory_end).unwrap_or_default();
        // Records have a minimal size, so this bounds what is allocated for them.
        let count = usize::try_from(claims.entries)
            .ok()
            .filter(|count| *count <= records.len() / CENTRAL_BYTES)
            .ok_or_else(too_few_records)?;
        Ok(Self {
            offset,
            records,
            count,
        })
    }

    /// Reads all entries, in the order of the directory.
    pub(super) fn entries(&self, archive_bytes: usize) -> Result<Vec<Entry<'bytes>>, Diagnostic> {
        let mut fields = Fields::new(self.records);
        let mut entries = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let record = CentralRecord::read(&mut fields);
            entries.push(Entry::new(
                &record.ok_or_else(too_few_records)?,
                archive_bytes,
            )?);
        }
        if fields.rest().is_empty() {
            Ok(entries)
        } else {
            Err(broken(
                "the central directory has more records than the end record counts",
            ))
        }
    }
}

fn too_few_records() -> Diagnostic {
    broken("the central directory does not have the records that the end record counts")
}

/// Finds the end record.
fn end_record(bytes: &[u8]) -> Result<(usize, EndRecord), Diagnostic> {
    // With the longest comment that its length can say, the record begins here.
    let tail_start = bytes
        .len()
        .saturating_sub(END_BYTES + usize::from(u16::MAX));
    let tail = bytes.get(tail_start..).unwrap_or_default();
    let read = |start: usize| {
        let mut fields = Fields::new(bytes.get(start..).unwrap_or_default());
        let record = EndRecord::read(&mut fields)?;
        Some((record, fields.rest()))
    };
    let mut candidates = tail
        .windows(END.len())
        .enumerate()
        .filter(|(_, window)| *window == END)
        .map(|(start, _)| tail_start + start);
    let no_end = "there is no end record: this is not a zip file, or it is cut short";
    let end = candidates.next_back().ok_or_else(|| broken(no_end))?;
    let (record, comment) = read(end).ok_or_else(|| broken(no_end))?;
    let comment_length = usize::from(record.comment_length);
    if comment_length < comment.len() {
        return Err(broken("bytes follow the end record"));
    }
    if comment_length > comment.len() {
        return Err(broken("the archive is cut short in its comment"));
    }
    if comment_length > MAX_COMMENT_BYTES {
        return Err(broken("the comment of the archive is too long"));
    }
    // What is printable holds no signature.
    if !comment.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(broken("the comment of the archive is not printable ASCII"));
    }
    // A reader that looks for a comment that fits, from the front, would take this one.
    let is_end = |start| {
        read(start)
            .is_some_and(|(record, comment)| usize::from(record.comment_length) == comment.len())
    };
    if candidates.any(is_end) {
        return Err(broken("the archive has two end records"));
    }
    Ok((end, record))
}

/// Finds the end record that large archives have in addition, and where it begins.
fn long_end_record(bytes: &[u8], end: usize) -> Result<Option<(usize, LongEndRecord)>, Diagnostic> {
    let locator = end
        .checked_sub(LOCATOR_BYTES)
        .and_then(|start| bytes.get(start..end))
        .filter(|locator| locator.starts_with(&LOCATOR))
        .and_then(|locator| Locator::read(&mut Fields::new(locator)));
    let Some(locator) = locator else {
        return Ok(None);
    };
    if locator.disk != 0 || locator.disks != 1 {
        return Err(broken("the archive is a part of a set of archives"));
    }
    let found = end
        .checked_sub(LOCATOR_BYTES + LONG_END_BYTES)
        .filter(|start| *start as u64 == locator.offset)
        .and_then(|start| {
            let record = LongEndRecord::read(&mut Fields::new(bytes.get(start..end)?))?;
            Some((start, record))
        });
    let Some((start, record)) = found else {
        return Err(broken(
            "the zip64 end record does not stand right before its locator",
        ));
    };
    // The signature and the length itself do not count.
    if record.length != LONG_END_BYTES as u64 - 12 {
        return Err(broken("the zip64 end record is not of the usual length"));
    }
    if record.disks != [0, 0] {
        return Err(broken("the archive is a part of a set of archives"));
    }
    Ok(Some((start, record)))
}

/// What the end record says, if there is no other one.
fn short_claims(record: &EndRecord) -> Result<Claims, Diagnostic> {
    if record.entries == u16::MAX
        || record.directory_size == u32::MAX
        || record.directory_offset == u32::MAX
    {
        return Err(broken(
            "the end record refers to a zip64 end record, but there is none",
        ));
    }
    Ok(Claims {
        entries_on_disk: record.entries_on_disk.into(),
        entries: record.entries.into(),
        directory_size: record.directory_size.into(),
        directory_offset: record.directory_offset.into(),
    })
}

/// What the long end record says, if the short one agrees.
fn long_claims(record: &EndRecord, long: &LongEndRecord) -> Result<Claims, Diagnostic> {
    let count_agrees = |short: u16, long: u64| short == u16::MAX || u64::from(short) == long;
    let place_agrees = |short: u32, long: u64| short == u32::MAX || u64::from(short) == long;
    if !count_agrees(record.entries_on_disk, long.entries_on_disk)
        || !count_agrees(record.entries, long.entries)
        || !place_agrees(record.directory_size, long.directory_size)
        || !place_agrees(record.directory_offset, long.directory_offset)
    {
        return Err(broken("the end record and the zip64 end record disagree"));
    }
    Ok(Claims {
        entries_on_disk: long.entries_on_disk,
        entries: long.entries,
        directory_size: long.directory_size,
        directory_offset: long.directory_offset,
    })
}
