//! The central directory of an archive, and the end records that locate it.

use crate::diagnostic::Diagnostic;
use crate::read_options::Limits;

use super::broken;
use super::entry::ArchiveEntry;
use super::zip_records::{
    CENTRAL_RECORD_BYTES, CentralRecord, END, END_RECORD_BYTES, EndRecord, Fields, ZIP64_END_BYTES,
    ZIP64_LOCATOR, ZIP64_LOCATOR_BYTES, Zip64EndRecord, Zip64Locator,
};

/// The longest comment of an archive, in bytes.
const MAX_COMMENT_BYTES: usize = 1024;

/// The central directory, which fills the bytes between the last entry and the end records.
pub(super) struct CentralDirectory<'bytes> {
    /// The place of its first byte.
    pub(super) offset: usize,
    records: &'bytes [u8],
    count: usize,
}

/// The claims of the end records about the directory.
struct Claims {
    entries_on_disk: u64,
    entries: u64,
    directory_size: u64,
    directory_offset: u64,
}

impl<'bytes> CentralDirectory<'bytes> {
    /// Locates the directory of an archive, and checks that all end records agree on it.
    pub(super) fn locate(bytes: &'bytes [u8], limits: &Limits) -> Result<Self, Diagnostic> {
        let (end, record) = end_record(bytes)?;
        let (directory_end, claims) = match zip64_end_record(bytes, end)? {
            Some((start, zip64)) => (start, zip64_claims(&record, &zip64)?),
            None => (end, short_claims(&record)?),
        };
        if record.disks != [0, 0] {
            return Err(broken("the archive is one part of several"));
        }
        if claims.entries_on_disk != claims.entries {
            return Err(broken("the end record has two different counts of entries"));
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
        // Records have a minimum size, so this bounds the allocation for them.
        let count = usize::try_from(claims.entries)
            .ok()
            .filter(|count| *count <= records.len() / CENTRAL_RECORD_BYTES)
            .ok_or_else(too_few_records)?;
        Ok(Self {
            offset,
            records,
            count,
        })
    }

    /// Reads all entries, in the order of the directory.
    pub(super) fn entries(
        &self,
        archive_bytes: usize,
    ) -> Result<Vec<ArchiveEntry<'bytes>>, Diagnostic> {
        let mut fields = Fields::new(self.records);
        let mut entries = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let record = CentralRecord::read(&mut fields);
            entries.push(ArchiveEntry::new(
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
    // With the longest comment that its 16-bit length allows, the record begins here.
    let tail_start = bytes
        .len()
        .saturating_sub(END_RECORD_BYTES + usize::from(u16::MAX));
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
    // Printable text contains no signature.
    if !comment.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(broken("the comment of the archive is not printable ASCII"));
    }
    // A reader that searches from the front for a record whose comment fits would take this one.
    let is_end = |start| {
        read(start)
            .is_some_and(|(record, comment)| usize::from(record.comment_length) == comment.len())
    };
    if candidates.any(is_end) {
        return Err(broken("the archive has two end records"));
    }
    Ok((end, record))
}

/// Finds the zip64 end record, if there is one, and its place.
fn zip64_end_record(
    bytes: &[u8],
    end: usize,
) -> Result<Option<(usize, Zip64EndRecord)>, Diagnostic> {
    let locator = end
        .checked_sub(ZIP64_LOCATOR_BYTES)
        .and_then(|start| bytes.get(start..end))
        .filter(|locator| locator.starts_with(&ZIP64_LOCATOR))
        .and_then(|locator| Zip64Locator::read(&mut Fields::new(locator)));
    let Some(locator) = locator else {
        return Ok(None);
    };
    if locator.disk != 0 || locator.disks != 1 {
        return Err(broken("the archive is one part of several"));
    }
    let found = end
        .checked_sub(ZIP64_LOCATOR_BYTES + ZIP64_END_BYTES)
        .filter(|start| *start as u64 == locator.offset)
        .and_then(|start| {
            let record = Zip64EndRecord::read(&mut Fields::new(bytes.get(start..end)?))?;
            Some((start, record))
        });
    let Some((start, record)) = found else {
        return Err(broken(
            "the zip64 end record is not right before its locator",
        ));
    };
    // The length excludes the signature and the length field itself.
    if record.length != ZIP64_END_BYTES as u64 - 12 {
        return Err(broken("the zip64 end record is not of the usual length"));
    }
    if record.disks != [0, 0] {
        return Err(broken("the archive is one part of several"));
    }
    Ok(Some((start, record)))
}

/// The claims of the end record where there is no zip64 end record.
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

/// The claims of the zip64 end record, with which the end record has to agree.
fn zip64_claims(record: &EndRecord, zip64: &Zip64EndRecord) -> Result<Claims, Diagnostic> {
    let count_agrees = |short: u16, full: u64| short == u16::MAX || u64::from(short) == full;
    let place_agrees = |short: u32, full: u64| short == u32::MAX || u64::from(short) == full;
    if !count_agrees(record.entries_on_disk, zip64.entries_on_disk)
        || !count_agrees(record.entries, zip64.entries)
        || !place_agrees(record.directory_size, zip64.directory_size)
        || !place_agrees(record.directory_offset, zip64.directory_offset)
    {
        return Err(broken("the end record and the zip64 end record disagree"));
    }
    Ok(Claims {
        entries_on_disk: zip64.entries_on_disk,
        entries: zip64.entries,
        directory_size: zip64.directory_size,
        directory_offset: zip64.directory_offset,
    })
}
