//! Archives that were checked before, of which a few files are wanted.

use std::fmt;

use crate::diagnostic::{Diagnostic, Location, SourceText, Span};
use crate::limits::Limits;
use crate::package_path::PackagePath;

use super::inflate::Inflater;
use super::{ArchiveFile, Listed, files, list, refused};

/// An archive that was checked as a whole when it came, opened again for some of its files.
///
/// An [`Archive`](super::Archive) unpacks every content when it is opened. Here the framing, the names
/// and the limits are checked, which costs as much as there are entries, and a content only when it is
/// read. So this is for bytes that were an `Archive` once; anything else has to become one first.
///
/// ```
/// use pkgres_manifest::{KnownArchive, Limits, PackagePath, write_archive};
///
/// let limits = Limits::default();
/// let path = PackagePath::parse("logo.png")?;
/// let bytes = write_archive([(path.clone(), false, b"logo".to_vec())], &limits)?;
/// let archive = KnownArchive::open("hello.zip", bytes, &limits)?;
/// assert_eq!(archive.read_start(&path, u64::MAX)?.as_deref(), Some(&b"logo"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KnownArchive<Bytes = Vec<u8>> {
    bytes: Bytes,
    /// Sorted by path.
    files: Vec<ArchiveFile>,
    /// What messages call the archive.
    name: String,
}

impl<Bytes: AsRef<[u8]>> KnownArchive<Bytes> {
    /// Checks the framing of an archive, its names and the limits, without unpacking anything.
    /// `name` is what messages call the archive.
    pub fn open(name: &str, bytes: Bytes, limits: &Limits) -> Result<Self, Diagnostic> {
        Self::open_checked(name, bytes, limits, |_, _| Ok(()))
    }

    /// Likewise if `check` has nothing to say of the bytes and what is listed in them.
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

    /// The archive itself.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The files, sorted by path. Folders are not listed.
    pub(super) fn files(&self) -> &[ArchiveFile] {
        &self.files
    }

    /// What is said of a file, or `None` if there is no such file.
    pub(super) fn file(&self, path: &PackagePath) -> Option<&ArchiveFile> {
        let index = self.files.binary_search_by(|file| file.path.cmp(path));
        index.ok().map(|index| &self.files[index])
    }

    /// The first `limit` bytes of a file and one more, if it has so many; nothing if there is no such
    /// file.
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

    /// Hands the content of a file to `sink`, piece by piece; nothing if there is no such file.
    /// Whether the content is as long as it should be and has its CRC shows at the end: after an
    /// error nothing that was handed out may be used.
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
            .map_err(|reason| located(&self.name, refused(path.as_str().as_bytes(), reason)))?;
        Ok(Some(()))
    }
}

impl<Bytes: AsRef<[u8]>> fmt::Debug for KnownArchive<Bytes> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KnownArchive")
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
    fn only_what_is_read_is_unpacked_and_checked() {
        let limits = Limits::default();
        let [one, two, none] = ["one.txt", "two.txt", "none.txt"]
            .map(|path| PackagePath::parse(path).expect("a path"));
        let written = [
            (one.clone(), false, b"first".to_vec()),
            (two.clone(), false, b"second".to_vec()),
        ];
        let bytes = write_archive(written, &limits).expect("an archive");
        let whole = KnownArchive::open("a.zip", bytes.clone(), &limits).expect("it opens");
        assert_eq!(whole.read_start(&one, 100), Ok(Some(b"first".to_vec())));
        assert_eq!(whole.read_start(&one, 2), Ok(Some(b"fir".to_vec())));
        assert_eq!(whole.read_start(&none, 100), Ok(None));

        // Behind the name in the local record stands the content.
        let mut damaged = bytes.clone();
        let at = damaged
            .windows(7)
            .position(|window| window == b"one.txt")
            .expect("the name stands there");
        damaged[at + 7] ^= 0xff;
        assert!(Archive::open("a.zip", damaged.clone(), &limits).is_err());
        let archive = KnownArchive::open("a.zip", damaged, &limits).expect("it opens");
        assert_eq!(archive.read_start(&two, 100), Ok(Some(b"second".to_vec())));
        let error = archive.read_start(&one, 100).expect_err("it is damaged");
        assert!(error.message.contains("one.txt"), "{error}");

        let shown = format!("{archive:?}");
        let count = format!("bytes: {}", bytes.len());
        assert!(shown.contains(&count), "{shown}");

        let cut = bytes[..bytes.len() - 1].to_vec();
        assert!(KnownArchive::open("a.zip", cut, &limits).is_err());
        let tight = Limits {
            unpacked_bytes: 10,
            ..limits
        };
        assert!(KnownArchive::open("a.zip", bytes, &tight).is_err());
    }
}
