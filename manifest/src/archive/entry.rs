//! Entries of an archive, as the central directory describes them, and which of them are allowed.

use crate::diagnostic::{Code, Diagnostic};
use crate::package_path::PackagePath;

use super::zip_records::CentralRecord;
use super::{bad_entry, extra_fields};

/// The sizes and the CRC follow the content.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// The name is UTF-8.
const FLAG_UTF8: u16 = 1 << 11;
/// The compression level, which has no effect on reading.
const FLAGS_LEVEL: u16 = 0b110;
/// Encrypted, strongly encrypted, encrypted headers.
const FLAGS_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;

/// The system `unix` of [`CentralRecord::host`].
const HOST_UNIX: u8 = 3;

/// Attributes of DOS and Windows.
const VOLUME_LABEL: u32 = 0x08;
const FOLDER: u32 = 0x10;
const DEVICE: u32 = 0x40;
const REPARSE_POINT: u32 = 0x400;

/// An entry, as the central directory describes it.
pub(super) struct ArchiveEntry<'bytes> {
    pub(super) name: &'bytes [u8],
    pub(super) path: PackagePath,
    pub(super) kind: EntryKind,
    pub(super) flags: u16,
    pub(super) method: Compression,
    pub(super) crc: u32,
    /// The size of the packed content.
    pub(super) packed_size: usize,
    /// The size of the unpacked content, as the central directory claims it.
    pub(super) size: u64,
    /// The offset of the local header, as the central directory claims it.
    pub(super) offset: usize,
}

/// Whether an entry is a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File { executable: bool },
    Folder,
}

/// The compression of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Stored,
    Deflated,
}

impl Compression {
    pub(super) fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Stored),
            8 => Some(Self::Deflated),
            _ => None,
        }
    }
}

impl<'bytes> ArchiveEntry<'bytes> {
    /// Reads an entry from its central record; `archive_bytes` is the size of the archive.
    pub(super) fn new(
        record: &CentralRecord<'bytes>,
        archive_bytes: usize,
    ) -> Result<Self, Diagnostic> {
        let bad = |reason: &str| bad_entry(record.name, reason);
        check_flags(record.flags).map_err(|reason| bad(&reason))?;
        let Some(method) = Compression::from_number(record.method) else {
            let number = record.method;
            return Err(bad(&format!(
                "is packed with method {number}, not stored or deflated"
            )));
        };
        if record.disk != 0 {
            return Err(bad("is on another disk"));
        }
        if !record.comment.is_empty() {
            return Err(bad("has a comment"));
        }
        let short = [record.size, record.packed_size, record.offset];
        let [size, packed_size, offset] =
            extra_fields::zip64_values(record.extra, short).map_err(|reason| bad(&reason))?;
        // Readers differ in how long the descriptor is.
        if record.flags & FLAG_DESCRIPTOR != 0
            && [record.size, record.packed_size].contains(&u32::MAX)
        {
            return Err(bad("has both a descriptor and zip64 sizes"));
        }
        let within = |number| {
            usize::try_from(number)
                .ok()
                .filter(|at| *at <= archive_bytes)
        };
        let (Some(packed_size), Some(offset)) = (within(packed_size), within(offset)) else {
            return Err(bad("reaches past the end of the archive"));
        };
        check_sizes(method, record.flags, packed_size as u64, size).map_err(bad)?;

        let (text, is_folder) = read_name(record).map_err(bad)?;
        let path = PackagePath::parse(text)
            .map_err(|error| Diagnostic::error(Code::Path, error.to_string()))?;
        let kind = read_kind(record, is_folder).map_err(bad)?;
        if is_folder && size != 0 {
            return Err(bad("is a folder with content"));
        }
        Ok(Self {
            name: record.name,
            path,
            kind,
            flags: record.flags,
            method,
            crc: record.crc,
            packed_size,
            size,
            offset,
        })
    }
}

fn check_flags(flags: u16) -> Result<(), String> {
    if flags & FLAGS_ENCRYPTED != 0 {
        return Err("is encrypted".to_owned());
    }
    let others = flags & !(FLAGS_LEVEL | FLAG_DESCRIPTOR | FLAG_UTF8);
    if others != 0 {
        return Err(format!(
            "has the flags {others:#06x}, which are not allowed"
        ));
    }
    Ok(())
}

fn check_sizes(
    method: Compression,
    flags: u16,
    packed_size: u64,
    size: u64,
) -> Result<(), &'static str> {
    if method == Compression::Stored {
        if flags & FLAG_DESCRIPTOR != 0 {
            return Err("has a descriptor but is not deflated, so its end is ambiguous");
        }
        if packed_size != size {
            return Err("is stored with a size that is not its own");
        }
    }
    // Deflate hardly enlarges anything, but an endless row of empty blocks does.
    let largest = size.saturating_add(size / 8).saturating_add(1024);
    if packed_size > largest {
        return Err("is packed into far more bytes than it contains");
    }
    Ok(())
}

/// The name as text without a final slash, and whether it had one, as names of folders do.
fn read_name<'bytes>(record: &CentralRecord<'bytes>) -> Result<(&'bytes str, bool), &'static str> {
    if record.flags & FLAG_UTF8 == 0 && !record.name.is_ascii() {
        return Err("has a name that is neither ASCII nor marked as UTF-8");
    }
    let name = str::from_utf8(record.name).map_err(|_| "has a name that is not UTF-8")?;
    Ok(match name.strip_suffix('/') {
        Some(folder) => (folder, true),
        None => (name, false),
    })
}

/// The kind of an entry by its attributes, which have to agree with its name.
fn read_kind(record: &CentralRecord<'_>, is_folder: bool) -> Result<EntryKind, &'static str> {
    // Some programs write a mode for every system, and some readers use it.
    let mode = record.attributes >> 16;
    let is_folder_mode = match mode & 0o170_000 {
        0 => None,
        0o040_000 => Some(true),
        0o100_000 => Some(false),
        0o120_000 => return Err("is a symbolic link"),
        _ => return Err("is a device or another special file"),
    };
    if mode & 0o7_000 != 0 {
        return Err("has a setuid, setgid or sticky bit");
    }
    if record.attributes & REPARSE_POINT != 0 {
        return Err("is a reparse point, which is a kind of link");
    }
    if record.attributes & (VOLUME_LABEL | DEVICE) != 0 {
        return Err("is a volume label or a device");
    }
    let agrees = if is_folder {
        is_folder_mode != Some(false)
    } else {
        is_folder_mode != Some(true) && record.attributes & FOLDER == 0
    };
    if !agrees {
        return Err("is a folder by its name or its attributes, but not both");
    }
    Ok(if is_folder {
        EntryKind::Folder
    } else {
        EntryKind::File {
            executable: record.host == HOST_UNIX && mode & 0o111 != 0,
        }
    })
}
