//! Package archives: zip files of which every byte is accounted for.
//!
//! Readers of zip files differ in what they make of a file that is not plain: which directory they
//! take, which of two headers they believe, what they do with bytes between the records. An archive
//! that opens here leaves them no choice, so that what was checked is what everyone sees:
//!
//! - the local records stand one after the other from the first byte on, then the central
//!   directory, then the end record with a comment that ends where the file ends;
//! - local and central headers agree, and each content is exactly as long as they say and has the
//!   CRC they say;
//! - entries are stored or deflated plain files and folders, with names that stay as they are on
//!   every file system and that no file system takes for one another.

mod directory;
mod entry;
mod extra;
mod inflate;
mod known;
mod layout;
mod names;
mod records;
mod write;

pub use known::KnownArchive;
pub use write::write_archive;

use std::fmt;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Escaped};
use crate::digest::ArtifactDigest;
use crate::limits::Limits;
use crate::package_path::PackagePath;

use directory::Directory;
use entry::{Entry, Kind, Method};
use inflate::Inflater;

/// A package archive whose every byte was checked.
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
///
/// `Bytes` is what holds the archive, such as a vector or a part of memory that stands for a file.
#[derive(Clone)]
pub struct Archive<Bytes = Vec<u8>>(KnownArchive<Bytes>);

/// A file of an [`Archive`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Where the file belongs.
    pub path: PackagePath,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it is marked as a program.
    pub executable: bool,
    packed: Packed,
}

/// The content of a file as it stands in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Packed {
    range: Range<usize>,
    method: Method,
    size: u64,
    crc: u32,
}

impl<Bytes: AsRef<[u8]>> Archive<Bytes> {
    /// Checks all of an archive: the framing, the names, the limits and every content.
    ///
    /// `name` is what messages call the archive, such as its path. Contents are unpacked once to
    /// check them, and are not kept. Takes the bytes as they are: whether they are the ones that
    /// were expected, by [`ArtifactDigest::of_archive`], is to be checked before.
    pub fn open(name: &str, bytes: Bytes, limits: &Limits) -> Result<Self, Diagnostic> {
        KnownArchive::open_checked(name, bytes, limits, check_contents).map(Self)
    }

    /// The SHA-256 of the archive. Takes time linear in its size.
    pub fn digest(&self) -> ArtifactDigest {
        ArtifactDigest::of_archive(self.bytes())
    }

    /// The archive itself.
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

    /// The first `limit` bytes of a file and one more, if it has so many; `None` if there is no such
    /// file. Whoever takes no more than `limit` bytes sees that it is too large.
    pub(crate) fn read_start(&self, path: &PackagePath, limit: u64) -> Option<Vec<u8>> {
        checked(self.0.read_start(path, limit))
    }

    /// Hands the content of a file to `sink`, piece by piece; `None` if there is no such file.
    pub fn unpack(&self, path: &PackagePath, sink: impl FnMut(&[u8])) -> Option<()> {
        checked(self.0.unpack(path, sink))
    }

    /// What is said of a file, or `None` if there is no such file.
    pub fn file(&self, path: &PackagePath) -> Option<&ArchiveFile> {
        self.0.file(path)
    }
}

/// What is read of an archive whose contents were checked.
fn checked<Content>(read: Result<Content, Diagnostic>) -> Content {
    read.expect("opening the archive unpacked the same bytes")
}

impl Packed {
    /// Hands the content to `sink`, piece by piece, and checks its size and CRC at the end.
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

/// An entry of an archive with its content, of which nothing is known but what is said of it.
type Listed<'bytes> = (Entry<'bytes>, Packed);

/// Unpacks every content of an archive.
fn check_contents(bytes: &[u8], entries: &[Listed<'_>]) -> Result<(), Diagnostic> {
    let mut inflater = Inflater::new();
    for (entry, packed) in entries {
        // Folders have no content, but it can be packed like any other.
        packed
            .unpack(bytes, &mut inflater, &mut |_| ())
            .map_err(|reason| refused(entry.name, reason))?;
    }
    Ok(())
}

/// Checks the framing, the names and the limits of an archive, and gives its entries.
fn list<'bytes>(bytes: &'bytes [u8], limits: &Limits) -> Result<Vec<Listed<'bytes>>, Diagnostic> {
    if bytes.len() as u64 > limits.archive_bytes {
        return Err(Limits::exceeded(
            "bytes in an archive",
            limits.archive_bytes,
        ));
    }
    let directory = Directory::locate(bytes, limits)?;
    let mut entries = directory.entries(bytes.len())?;
    names::check_distinct(
        entries
            .iter()
            .map(|entry| (&entry.path, entry.kind == Kind::Folder)),
    )?;
    // The sizes are claims until contents are unpacked, but whatever turns out to be larger than
    // its claim is refused: this bounds what is unpacked before any of it is.
    let unpacked = entries
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
    check_unpacked(unpacked, bytes.len() as u64, limits)?;

    let ranges = layout::check(bytes, &mut entries, directory.offset)?;
    let packed = |(entry, range): (Entry<'bytes>, Range<usize>)| {
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
        Kind::File { executable } => Some(ArchiveFile {
            path: entry.path,
            size: entry.size,
            executable,
            packed,
        }),
        Kind::Folder => None,
    };
    let mut files: Vec<ArchiveFile> = entries.into_iter().filter_map(file).collect();
    files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    files
}

/// Checks how much the files of an archive have together.
fn check_unpacked(unpacked: u64, archive: u64, limits: &Limits) -> Result<(), Diagnostic> {
    if unpacked > limits.unpacked_bytes {
        let limit = limits.unpacked_bytes;
        return Err(Limits::exceeded("bytes in the files of an archive", limit));
    }
    if unpacked > limits.unpacked_ratio_floor
        && unpacked > archive.saturating_mul(limits.unpacked_ratio)
    {
        let limit = limits.unpacked_ratio;
        return Err(Limits::exceeded(
            "times the size of the archive in its files",
            limit,
        ));
    }
    Ok(())
}

/// The error for an archive whose framing is wrong.
fn broken(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Archive, message)
}

/// The error for an entry: what it is, after its name.
fn refused(name: &[u8], reason: impl fmt::Display) -> Diagnostic {
    let name = String::from_utf8_lossy(name);
    let name = Escaped::shortened(&name);
    Diagnostic::error(Code::Archive, format!("the entry `{name}` {reason}"))
}
