//! Package archives: zip files in which every byte is accounted for.
//!
//! Zip readers disagree about unusual files: which central directory counts, which of two headers to trust,
//! what bytes between the records mean. An attacker can use that to show a checker one archive and a
//! consumer another. An archive that opens here leaves readers no choice:
//!
//! - the local records follow each other from the first byte on, then come the central directory and the
//!   end record, whose comment ends with the file;
//! - local and central headers agree, and each content has exactly the size and the CRC that they give;
//! - each entry is a plain file or folder, stored or deflated; every file system keeps its name unchanged, and takes no two
//!   of the names for one.
//!
//! The format is the one of PKWARE's APPNOTE.TXT, of which this is a small subset: no encryption, no links,
//! no multi-disk archives, no unknown extra fields. [`Archive`] checks all contents when it opens;
//! [`LazyArchive`] checks each content when it is read. Checking takes time in proportion to the entries and
//! to the unpacked bytes, both of which [`Limits`] bounds before anything is unpacked.
//!
//! Reading is our own code because no library rejects all of this; writing uses the `zip` crate, and what it
//! writes is checked like any other archive.

mod central_directory;
mod entry;
mod equal_names;
mod extra_fields;
mod inflate;
mod layout;
mod lazy_archive;
mod write;
mod zip_records;

pub use equal_names::check_distinct;
pub use lazy_archive::LazyArchive;
pub use write::write_archive;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Escaped};
use crate::digest::ArtifactDigest;
use crate::package_path::PackagePath;
use crate::read_options::Limits;

use central_directory::CentralDirectory;
use entry::{ArchiveEntry, Compression, EntryKind};
use inflate::Inflater;

/// A package archive in which every byte was checked.
///
/// `Bytes` is what holds the archive, such as a vector or a memory-mapped file.
///
/// ```
/// use pkgres_manifest::{Archive, Limits, PackagePath, write_archive};
///
/// let limits = Limits::default();
/// let path = PackagePath::parse("Resources/hello.txt")?;
/// let bytes = write_archive([(path.clone(), false, b"hello".to_vec())], &limits)?;
/// let archive = Archive::open("hello.zip", bytes, &limits)?;
/// assert_eq!(archive.read(&path).as_deref(), Some(&b"hello"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Archive<Bytes = Vec<u8>>(LazyArchive<Bytes>);

/// A file of an [`Archive`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveFile {
    /// The path below the top of the archive.
    pub path: PackagePath,
    /// The size of the content in bytes.
    pub size: u64,
    /// Whether the file is marked as executable.
    pub executable: bool,
    packed: Packed,
}

/// The packed content of a file, by its place in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Packed {
    range: Range<usize>,
    method: Compression,
    size: u64,
    crc: u32,
}

impl<Bytes: AsRef<[u8]>> Archive<Bytes> {
    /// Opens an archive after checking all of it: the framing, the names, the limits and every content.
    ///
    /// Messages call the archive `name`, for example its path. Contents are unpacked once to check them,
    /// and are not kept. Compare [`ArtifactDigest::of_archive`] with the expected digest before: any
    /// well-formed archive opens.
    pub fn open(name: &str, bytes: Bytes, limits: &Limits) -> Result<Self, Diagnostic> {
        LazyArchive::open_checked(name, bytes, limits, check_contents).map(Self)
    }

    /// The digest of the archive. Takes time linear in its size.
    pub fn digest(&self) -> ArtifactDigest {
        ArtifactDigest::of_archive(self.bytes())
    }

    /// The bytes of the archive.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The files, sorted by path. Folders are not listed.
    pub fn files(&self) -> impl Iterator<Item = &ArchiveFile> {
        self.0.files().iter()
    }

    /// The content of a file, or `None` if there is no such file.
    pub fn read(&self, path: &PackagePath) -> Option<Vec<u8>> {
        self.read_start(path, u64::MAX)
    }

    /// The first bytes of a file, at most `limit + 1`, or `None` if there is no such file. A reader that
    /// accepts at most `limit` bytes thus notices a file that is too large.
    pub(crate) fn read_start(&self, path: &PackagePath, limit: u64) -> Option<Vec<u8>> {
        checked(self.0.read_start(path, limit))
    }

    /// Passes the content of a file to `sink` piece by piece; returns `None` if there is no such file.
    pub fn unpack(&self, path: &PackagePath, sink: impl FnMut(&[u8])) -> Option<()> {
        checked(self.0.unpack(path, sink))
    }

    /// The entry of a file, or `None` if there is no such file.
    pub fn file(&self, path: &PackagePath) -> Option<&ArchiveFile> {
        self.0.file(path)
    }
}

/// The result of reading from an archive whose contents were all checked.
fn checked<Content>(read: Result<Content, Diagnostic>) -> Content {
    read.expect("opening the archive unpacked the same bytes")
}

impl Packed {
    /// Passes the content to `sink` piece by piece, and checks its size and CRC at the end.
    fn unpack(
        &self,
        archive: &[u8],
        inflater: &mut Inflater,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<(), &'static str> {
        let packed = archive.get(self.range.clone()).unwrap_or_default();
        inflater.unpack(packed, self.method, self.size, self.crc, sink)
    }
}

impl<Bytes: AsRef<[u8]>> fmt::Debug for Archive<Bytes> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Archive")
            .field("bytes", &self.bytes().len())
            .field("files", &self.0.files())
            .finish()
    }
}

/// An entry of an archive with its packed content, whose size and CRC are claims so far.
type Listed<'bytes> = (ArchiveEntry<'bytes>, Packed);

/// Unpacks every content of an archive to check its size and CRC.
fn check_contents(bytes: &[u8], entries: &[Listed<'_>]) -> Result<(), Diagnostic> {
    let mut inflater = Inflater::new();
    for (entry, packed) in entries {
        // Folders have no content, but it can be packed like any other.
        packed
            .unpack(bytes, &mut inflater, &mut |_| ())
            .map_err(|reason| bad_entry(entry.name, reason))?;
    }
    Ok(())
}

/// Checks the names of the files and folders of an archive together: that [no two collide](check_distinct), and that
/// there are not more folders than there may be entries. The `bool` is true for the name of a folder.
pub fn check_names<'path>(
    names: impl Iterator<Item = (&'path PackagePath, bool)> + Clone,
    limits: &Limits,
) -> Result<(), Diagnostic> {
    check_folders(names.clone().map(|(path, _)| path), limits)?;
    check_distinct(names)
}

/// Checks that not more folders are needed than there may be entries: a path of a few bytes can need hundreds, and making
/// them takes as long as writing files.
fn check_folders<'path>(
    paths: impl Iterator<Item = &'path PackagePath>,
    limits: &Limits,
) -> Result<(), Diagnostic> {
    let mut folders: HashSet<&str> = HashSet::new();
    for path in paths {
        let mut folder = path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if !folders.insert(above) {
                break;
            }
            folder = above;
        }
        if folders.len() as u64 > limits.archive_entries {
            let limit = limits.archive_entries;
            return Err(Limits::exceeded("folders in an archive", limit));
        }
    }
    Ok(())
}

/// The entries of an archive, after checks of the framing, the names and the limits.
fn list<'bytes>(bytes: &'bytes [u8], limits: &Limits) -> Result<Vec<Listed<'bytes>>, Diagnostic> {
    if bytes.len() as u64 > limits.archive_bytes {
        return Err(Limits::exceeded(
            "bytes in an archive",
            limits.archive_bytes,
        ));
    }
    let directory = CentralDirectory::locate(bytes, limits)?;
    let mut entries = directory.entries(bytes.len())?;
    let names = entries.iter();
    check_names(
        names.map(|entry| (&entry.path, entry.kind == EntryKind::Folder)),
        limits,
    )?;
    // The sizes are claims until contents are unpacked. A content that is larger than its claim is an
    // error, so this bounds the work before anything is unpacked.
    let unpacked = entries
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
    check_unpacked(unpacked, bytes.len() as u64, limits)?;

    let ranges = layout::check(bytes, &mut entries, directory.offset)?;
    let packed = |(entry, range): (ArchiveEntry<'bytes>, Range<usize>)| {
        let packed = Packed {
            range,
            method: entry.method,
            size: entry.size,
            crc: entry.crc,
        };
        (entry, packed)
    };
    Ok(entries.into_iter().zip(ranges).map(packed).collect())
}

/// The files among entries, sorted by path.
fn files(entries: Vec<Listed<'_>>) -> Vec<ArchiveFile> {
    let file = |(entry, packed): Listed<'_>| match entry.kind {
        EntryKind::File { executable } => Some(ArchiveFile {
            path: entry.path,
            size: entry.size,
            executable,
            packed,
        }),
        EntryKind::Folder => None,
    };
    let mut files: Vec<ArchiveFile> = entries.into_iter().filter_map(file).collect();
    files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    files
}

/// Checks the total size of the files of an archive.
fn check_unpacked(unpacked: u64, archive: u64, limits: &Limits) -> Result<(), Diagnostic> {
    if unpacked > limits.unpacked_bytes {
        let limit = limits.unpacked_bytes;
        return Err(Limits::exceeded("bytes in the files of an archive", limit));
    }
    if archive < smallest_archive(unpacked, limits) {
        let limit = limits.unpacked_ratio;
        return Err(Limits::exceeded(
            "times the size of the archive in its files",
            limit,
        ));
    }
    Ok(())
}

/// The size in bytes that an archive must have for the size of its files: a small one that unpacks to much could be
/// made to exhaust whoever unpacks it.
fn smallest_archive(unpacked: u64, limits: &Limits) -> u64 {
    if unpacked > limits.unpacked_ratio_floor {
        unpacked.div_ceil(limits.unpacked_ratio.max(1))
    } else {
        0
    }
}

/// The error for an archive whose framing is wrong.
fn broken(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Archive, message)
}

/// The error for an entry; `reason` continues a sentence that begins with its name.
fn bad_entry(name: &[u8], reason: impl fmt::Display) -> Diagnostic {
    let name = String::from_utf8_lossy(name);
    let name = Escaped::shortened(&name);
    Diagnostic::error(Code::Archive, format!("the entry `{name}` {reason}"))
}
