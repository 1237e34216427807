//! Archives that check the content of an entry only when it is read.

use std::fmt;

use crate::diagnostic::{Diagnostic, Location, SourceText, Span};
use crate::package_path::PackagePath;
use crate::read_options::Limits;

use super::inflate::Inflater;
use super::{ArchiveFile, Listed, bad_entry, files, list};

/// An archive whose contents are unpacked and checked only when they are read.
///
/// An [`Archive`](super::Archive) unpacks every content when it opens. This one checks the framing, the
/// names and the limits then, in time linear in the number of entries. It is for a few files of an
/// archive that was an `Archive` before, such as one in a store; open anything else as an `Archive` first.
///
/// ```
/// use pkgres_manifest::{LazyArchive, Limits, PackagePath, write_archive};
///
/// let limits = Limits::default();
/// let path = PackagePath::parse("logo.png")?;
/// let bytes = write_archive([(path.clone(), false, b"logo".to_vec())], &limits)?;
/// let archive = LazyArchive::open("hello.zip", bytes, &limits)?;
/// assert_eq!(archive.read_start(&path, u64::MAX)?.as_deref(), Some(&b"logo"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LazyArchive<Bytes = Vec<u8>> {
    bytes: Bytes,
    /// Sorted by path.
    files: Vec<ArchiveFile>,
    /// The name of the archive in messages.
    name: String,
}

impl<Bytes: AsRef<[u8]>> LazyArchive<Bytes> {
    /// Opens an archive after checking its framing, its names and the limits, without unpacking anything.
    /// Messages call the archive `name`.
    pub fn open(name: &str, bytes: Bytes, limits: &Limits) -> Result<Self, Diagnostic> {
        Self::open_checked(name, bytes, limits, |_, _| Ok(()))
    }

    /// Opens an archive like [`open`](Self::open) if its bytes and entries pass a further check.
    pub(super) fn open_checked(
        name: &str,
        bytes: Bytes,
        limits: &Limits,
        check: impl FnOnce(&[u8], &[Listed<'_>]) -> Result<(), Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let checked = list(bytes.as_ref(), limits).and_then(|listed| {
            check(bytes.as_ref(), &listed)?;
            Ok(files(listed))
        });
        let name = name.to_owned();
        match checked {
            Ok(files) => Ok(Self { bytes, files, name }),
            Err(error) => Err(located(&name, error)),
        }
    }

    /// The bytes of the archive.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The files, sorted by path. Folders are not listed.
    pub(super) fn files(&self) -> &[ArchiveFile] {
        &self.files
    }

    /// The entry of a file, or `None` if there is no such file.
    pub(super) fn file(&self, path: &PackagePath) -> Option<&ArchiveFile> {
        let index = self.files.binary_search_by(|file| file.path.cmp(path));
        index.ok().map(|index| &self.files[index])
    }

    /// The first bytes of a file, at most `limit + 1`, or `None` if there is no such file.
    pub fn read_start(
        &self,
        path: &PackagePath,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, Diagnostic> {
        let Some(file) = self.file(path) else {
            return Ok(None);
        };
        // The size is a claim, but one that the limits allow.
        let wanted = file.size.min(limit.saturating_add(1));
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut content = Vec::with_capacity(wanted);
        let found = self.unpack(path, |piece| {
            let missing = wanted - content.len();
            content.extend_from_slice(&piece[..piece.len().min(missing)]);
        })?;
        Ok(found.map(|()| content))
    }

    /// Passes the content of a file to `sink` piece by piece; returns `None` if there is no such file.
    /// Size and CRC are checked at the end: after an error, discard everything that `sink` got.
    pub fn unpack(
        &self,
        path: &PackagePath,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<Option<()>, Diagnostic> {
        let Some(file) = self.file(path) else {
            return Ok(None);
        };
        file.packed
            .unpack(self.bytes.as_ref(), &mut Inflater::new(), &mut sink)
            .map_err(|reason| located(&self.name, bad_entry(path.as_str().as_bytes(), reason)))?;
        Ok(Some(()))
    }
}

impl<Bytes: AsRef<[u8]>> fmt::Debug for LazyArchive<Bytes> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LazyArchive")
            .field("name", &self.name)
            .field("bytes", &self.bytes.as_ref().len())
            .field("files", &self.files)
            .finish()
    }
}

fn located(name: &str, error: Diagnostic) -> Diagnostic {
    error.at(Location::new(&SourceText::new(name, ""), Span::default()))
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, write_archive};
    use super::*;

    #[test]
    fn a_content_is_checked_when_it_is_read() {
        let limits = Limits::default();
        let [one, two, none] = ["one.txt", "two.txt", "none.txt"]
            .map(|path| PackagePath::parse(path).expect("a path"));
        let written = [
            (one.clone(), false, b"first".to_vec()),
            (two.clone(), false, b"second".to_vec()),
        ];
        let bytes = write_archive(written, &limits).expect("an archive");
        let whole = LazyArchive::open("a.zip", bytes.clone(), &limits).expect("it opens");
        assert_eq!(whole.read_start(&one, 100), Ok(Some(b"first".to_vec())));
        assert_eq!(whole.read_start(&one, 2), Ok(Some(b"fir".to_vec())));
        assert_eq!(whole.read_start(&none, 100), Ok(None));

        // In the local record, the content follows the name.
        let mut damaged = bytes.clone();
        let at = damaged
            .windows(7)
            .position(|window| window == b"one.txt")
            .expect("the archive contains the name");
        damaged[at + 7] ^= 0xff;
        assert!(Archive::open("a.zip", damaged.clone(), &limits).is_err());
        let archive = LazyArchive::open("a.zip", damaged, &limits).expect("it opens");
        assert_eq!(archive.read_start(&two, 100), Ok(Some(b"second".to_vec())));
        let error = archive.read_start(&one, 100).expect_err("it is damaged");
        assert!(error.message.contains("one.txt"), "{error}");

        let shown = format!("{archive:?}");
        let count = format!("bytes: {}", bytes.len());
        assert!(shown.contains(&count), "{shown}");

        let cut = bytes[..bytes.len() - 1].to_vec();
        assert!(LazyArchive::open("a.zip", cut, &limits).is_err());
        let tight = Limits {
            unpacked_bytes: 10,
            ..limits
        };
        assert!(LazyArchive::open("a.zip", bytes, &tight).is_err());
    }
}
