//! The layout of an archive: entries follow each other from the first byte to the central directory.

use std::ops::Range;

use crate::diagnostic::Diagnostic;

use super::entry::{ArchiveEntry, Compression, FLAG_DESCRIPTOR};
use super::zip_records::{Descriptor, Fields, LocalRecord};
use super::{bad_entry, broken, extra_fields};

/// Sorts the entries by their place in the archive and returns the ranges of their contents, in that order.
/// Fails if there are bytes between entries, or if a local record disagrees with its central one.
pub(super) fn check(
    bytes: &[u8],
    entries: &mut [ArchiveEntry<'_>],
    directory_offset: usize,
) -> Result<Vec<Range<usize>>, Diagnostic> {
    entries.sort_by_key(|entry| entry.offset);
    if entries.first().is_some_and(|entry| entry.offset != 0) {
        return Err(broken("there are bytes before the first entry"));
    }
    let ends = entries.iter().skip(1).map(|entry| entry.offset);
    let ends = ends.chain([directory_offset]);
    entries
        .iter()
        .zip(ends)
        .map(|(entry, end)| {
            // An entry that begins where the next one does, or in the directory, has no bytes, hence no
            // header, which is an error.
            let region = bytes.get(entry.offset..end).unwrap_or_default();
            let content =
                check_local(entry, region).map_err(|reason| bad_entry(entry.name, reason))?;
            Ok(entry.offset + content.start..entry.offset + content.end)
        })
        .collect()
}

/// The range of the content in the bytes of an entry, after checks of all of them.
fn check_local(entry: &ArchiveEntry<'_>, region: &[u8]) -> Result<Range<usize>, String> {
    let mut fields = Fields::new(region);
    let local = LocalRecord::read(&mut fields)
        .ok_or("has no local header where the central directory says")?;
    if local.name != entry.name {
        return Err("has a different name in its local header".to_owned());
    }
    if local.flags != entry.flags {
        return Err("has different flags in its local header".to_owned());
    }
    if Compression::from_number(local.method) != Some(entry.method) {
        return Err("has a different method in its local header".to_owned());
    }
    let sizes = extra_fields::zip64_values(local.extra, [local.size, local.packed_size])?;
    let has_descriptor = entry.flags & FLAG_DESCRIPTOR != 0;
    let agrees = |local: u64, central: u64| local == central || has_descriptor && local == 0;
    if !agrees(local.crc.into(), entry.crc.into()) {
        return Err("has a different CRC in its local header".to_owned());
    }
    if !agrees(sizes[0], entry.size) || !agrees(sizes[1], entry.packed_size as u64) {
        return Err("has different sizes in its local header".to_owned());
    }
    if has_descriptor && [local.size, local.packed_size].contains(&u32::MAX) {
        return Err("has both a descriptor and zip64 sizes".to_owned());
    }

    let start = region.len() - fields.rest().len();
    fields
        .take(entry.packed_size)
        .ok_or("runs into the next record")?;
    if has_descriptor {
        let descriptor = Descriptor::read(&mut fields).ok_or("lacks its descriptor")?;
        if descriptor.crc != entry.crc
            || u64::from(descriptor.packed_size) != entry.packed_size as u64
            || u64::from(descriptor.size) != entry.size
        {
            return Err("has a descriptor that disagrees with its headers".to_owned());
        }
    }
    if !fields.rest().is_empty() {
        return Err("is followed by bytes that belong to no entry".to_owned());
    }
    Ok(start..start + entry.packed_size)
}
