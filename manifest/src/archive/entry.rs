//! What the central directory says of an entry, and whether that is allowed.

use crate::diagnostic::{Code, Diagnostic};
use crate::package_path::PackagePath;

use super::records::CentralRecord;
use super::{extra, refused};

/// The sizes and the CRC follow the content.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// The name is UTF-8.
const FLAG_UTF8: u16 = 1 << 11;
/// How hard the content was deflated means nothing for reading it.
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

/// An entry, as the central directory has it.
pub(super) struct Entry<'bytes> {
    pub(super) name: &'bytes [u8],
    pub(super) path: PackagePath,
    pub(super) kind: Kind,
    pub(super) flags: u16,
    pub(super) method: Method,
    pub(super) crc: u32,
    /// How long the content is in the archive.
    pub(super) packed_size: usize,
    /// How long the content is said to be.
    pub(super) size: u64,
    /// Where the local record is said to begin.
    pub(super) offset: usize,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File { executable: bool },
    Folder,
}

/// How a content is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

impl Method {
    pub(super) fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Stored),
            8 => Some(Self::Deflated),
            _ => None,
        }
    }
}

impl<'bytes> Entry<'bytes> {
    /// Checks a central record of an archive of some size.
    pub(super) fn new(
        record: &CentralRecord<'bytes>,
        archive_bytes: usize,
    ) -> Result<Self, Diagnostic> {
        let refuse = |reason: &str| refused(record.name, reason);
        check_flags(record.flags).map_err(|reason| refuse(&reason))?;
        let Some(method) = Method::from_number(record.method) else {
            let number = record.method;
            return Err(refuse(&format!(
                "is packed with method {number}, not stored or deflated"
            )));
        };
        if record.disk != 0 {
            return Err(refuse("is on another disk"));
        }
        if !record.comment.is_empty() {
            return Err(refuse("has a comment"));
        }
        let short = [record.size, record.packed_size, record.offset];
        let [size, packed_size, offset] =
            extra::long_values(record.extra, short).map_err(|reason| refuse(&reason))?;
        // Readers differ in how long the descriptor is.
        if record.flags & FLAG_DESCRIPTOR != 0
            && [record.size, record.packed_size].contains(&u32::MAX)
        {
            return Err(refuse("has both a descriptor and zip64 sizes"));
        }
        let within = |number| {
            usize::try_from(number)
                .ok()
                .filter(|at| *at <= archive_bytes)
        };
        let (Some(packed_size), Some(offset)) = (within(packed_size), within(offset)) else {
            return Err(refuse("reaches past the end of the archive"));
        };
        check_sizes(method, record.flags, packed_size as u64, size).map_err(refuse)?;

        let (text, is_folder) = read_name(record).map_err(refuse)?;
        let path = PackagePath::parse(text)
            .map_err(|error| Diagnostic::error(Code::Path, error.to_string()))?;
        let kind = read_kind(record, is_folder).map_err(refuse)?;
        if is_folder && size != 0 {
            return Err(refuse("is a folder with content"));
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
    method: Method,
    flags: u16,
    packed_size: u64,
    size: u64,
) -> Result<(), &'static str> {
    if method == Method::Stored {
        if flags & FLAG_DESCRIPTOR != 0 {
            return Err("has a descriptor but is not deflated, so its end could be anywhere");
        }
        if packed_size != size {
            return Err("is stored in another size than its own");
        }
    }
    // Deflate makes nothing much larger. Empty blocks without end can.
    let largest = size.saturating_add(size / 8).saturating_add(1024);
    if packed_size > largest {
        return Err("is packed into far more bytes than it has");
    }
    Ok(())
}

/// The name as text, without the slash at the end of the name of a folder.
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

/// What the attributes say an entry is, if its name agrees.
fn read_kind(record: &CentralRecord<'_>, is_folder: bool) -> Result<Kind, &'static str> {
    // Some programs write a mode whatever the system, and some believe it.
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
        return Err("is a folder by its name or by its attributes, but not by both");
    }
    Ok(if is_folder {
        Kind::Folder
    } else {
        Kind::File {
            executable: record.host == HOST_UNIX && mode & 0o111 != 0,
        }
    })
}
