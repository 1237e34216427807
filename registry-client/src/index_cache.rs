//! A cache of compiled index files.
//!
//! The folder holds two kinds of files. A *stamp* has, by the path of an index file or a lockfile, the metadata of that
//! file when it was last seen, and the digest of its content. A *compiled index* is found by the digest of the content
//! that it was compiled from, whatever file that is in.
//!
//! So that a file need not be read to know its content, a stamp is valid while the file has the same length, times,
//! device and inode. A change goes unnoticed only within the same tick of the clock as the change before it
//! (git calls such an index entry "racily clean"). Therefore a stamp has a digest only if the file had not been
//! modified for a while when it was read.
//!
//! A damaged file counts as absent, and a folder that cannot be written is not an error: only time depends on the
//! cache.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pkgres_files::{
    FileSystem as _, Follow, RealFileSystem, map_file, read_file, write_cache_file,
};
use pkgres_manifest::{Hexadecimal, Limits, from_hexadecimal};
use pkgres_resolver::CompiledIndex;
use sha2::{Digest as _, Sha256};

/// The folders of the compiled indexes and of the stamps in the cache.
const COMPILED: &str = "compiled";
const STAMPS: &str = "stamps";

/// The first line of a stamp.
const STAMP_HEADER: &str = "pkgres stamp 1";

/// The limit of a stamp, in bytes.
const MAX_STAMP_BYTES: u64 = 1 << 10;

/// The limit of a compiled index, in bytes.
const MAX_COMPILED_BYTES: u64 = 16 << 30;

/// How long ago a file must have been modified for its times to distinguish it from later versions. The coarsest
/// file systems count in steps of two seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// The number of bytes of a file that are read at a time.
const BUFFER_BYTES: usize = 1 << 17;

/// A SHA-256 of a content, or of the source of a compiled index.
pub(crate) type Sha256Digest = [u8; 32];

/// A cache of compiled index files, in a folder.
///
/// The folder must belong to the user alone: write access to it decides what is resolved.
#[derive(Debug, Clone)]
pub struct IndexCache {
    folder: PathBuf,
    now: SystemTime,
}

impl IndexCache {
    /// A cache in a folder, which need not exist. `now` is the time at which the program started, or any later time
    /// before registries are opened.
    pub fn new(folder: PathBuf, now: SystemTime) -> Self {
        Self { folder, now }
    }

    /// The same cache at a later time.
    pub(crate) fn at(&self, now: SystemTime) -> Self {
        Self::new(self.folder.clone(), now)
    }

    /// The entry of an index file that is read with these limits, for one ecosystem or all.
    pub(crate) fn entry(
        &self,
        path: &Path,
        limits: &Limits,
        ecosystem: Option<&str>,
    ) -> CacheEntry {
        // Another version of this crate, or other limits, may read the file differently. For another ecosystem it may
        // have other packages.
        let ecosystem = ecosystem.unwrap_or_default();
        let context = format!("{} {limits:?} {ecosystem}", env!("CARGO_PKG_VERSION"));
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = digest_of(&[context.as_bytes(), path.as_os_str().as_encoded_bytes()]);
        CacheEntry {
            cache: self.clone(),
            context,
            stamp_path: self
                .folder
                .join(STAMPS)
                .join(Hexadecimal(&name).to_string()),
        }
    }
}

/// The entry of one index file.
#[derive(Debug, Clone)]
pub(crate) struct CacheEntry {
    cache: IndexCache,
    context: String,
    stamp_path: PathBuf,
}

impl CacheEntry {
    /// The stamp of the file.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let bytes = read_file(&self.stamp_path, MAX_STAMP_BYTES, Follow::Nothing).ok()?;
        Stamp::parse(std::str::from_utf8(&bytes).ok()?)
    }

    /// Writes the stamp of the file; returns whether that was possible.
    pub(crate) fn write_stamp(&self, stamp: &Stamp) -> bool {
        write_cache_file(
            &RealFileSystem,
            &self.stamp_path,
            stamp.to_text().as_bytes(),
        )
        .is_ok()
    }

    /// The digest of the content of the file, which is not read if its stamp is valid.
    pub(crate) fn content(&self, file: &File) -> io::Result<Sha256Digest> {
        let fingerprint = Fingerprint::of(&file.metadata()?);
        match self.stamp() {
            Some(Stamp {
                fingerprint: seen,
                known: KnownContent::Content(content),
            }) if seen == fingerprint => return Ok(content),
            _ => {}
        }
        let content = content_of(file)?;
        if self.is_settled(&fingerprint) && Fingerprint::of(&file.metadata()?) == fingerprint {
            let known = KnownContent::Content(content);
            self.write_stamp(&Stamp { fingerprint, known });
        }
        Ok(content)
    }

    /// Whether the last modification of a file is so old that its times distinguish it from later versions.
    pub(crate) fn is_settled(&self, fingerprint: &Fingerprint) -> bool {
        let now = self
            .cache
            .now
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let settled = now.saturating_sub(SETTLED);
        let settled = (i128::from(settled.as_secs()), settled.subsec_nanos());
        let is_before = |time: (i64, i64)| {
            let fraction = u32::try_from(time.1).unwrap_or(u32::MAX);
            (i128::from(time.0), fraction) < settled
        };
        is_before(fingerprint.modified) && is_before(fingerprint.changed)
    }

    /// The compiled index of a content.
    pub(crate) fn load(&self, content: &Sha256Digest) -> Option<CompiledIndex> {
        let source = self.source(content);
        let bytes = map_file(&self.compiled_path(&source), MAX_COMPILED_BYTES).ok()?;
        CompiledIndex::from_bytes(bytes, &source).ok()
    }

    /// Stores the compiled index of a content.
    pub(crate) fn store(&self, content: &Sha256Digest, index: &CompiledIndex) {
        let source = self.source(content);
        if let Some(bytes) = index.to_bytes(&source) {
            // A cache that cannot be written costs time only.
            let path = self.compiled_path(&source);
            let _ = write_cache_file(&RealFileSystem, &path, &bytes);
        }
    }

    /// Stores a stamp for a file with this fingerprint, if it has not changed for a while, and removes
    /// the compiled index of its earlier content.
    pub(crate) fn settle(
        &self,
        before: Option<Stamp>,
        fingerprint: Fingerprint,
        known: KnownContent,
    ) {
        if let Some(stamp) = before
            && let KnownContent::Content(content) = stamp.known
            && stamp.known != known
        {
            let _ = RealFileSystem.remove(&self.compiled_path(&self.source(&content)));
        }
        if self.is_settled(&fingerprint) {
            self.write_stamp(&Stamp { fingerprint, known });
        }
    }

    fn source(&self, content: &Sha256Digest) -> Sha256Digest {
        digest_of(&[self.context.as_bytes(), content])
    }

    fn compiled_path(&self, source: &Sha256Digest) -> PathBuf {
        self.cache
            .folder
            .join(COMPILED)
            .join(Hexadecimal(source).to_string())
    }
}

/// The metadata that distinguishes versions of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) length: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
    device: u64,
    number: u64,
}

impl Fingerprint {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev(),
            number: metadata.ino(),
        }
    }

    /// Other systems have no inodes, and no time that users cannot set.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or((i64::MAX, 0), |since| {
            let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
            (seconds, i64::from(since.subsec_nanos()))
        });
        Self {
            length: metadata.len(),
            modified,
            changed: modified,
            device: 0,
            number: 0,
        }
    }
}

/// The content of a file, as far as a stamp knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownContent {
    /// The file was seen, but not read.
    Seen,
    /// Its content has this digest.
    Content(Sha256Digest),
    /// It has an error, or a release twice with different content: it is not compiled.
    Unfit,
}

/// The metadata of an index file, and its content as it was known then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) known: KnownContent,
}

impl Stamp {
    fn to_text(self) -> String {
        let Fingerprint {
            length,
            modified,
            changed,
            device,
            number,
        } = self.fingerprint;
        let known = match self.known {
            KnownContent::Seen => "seen".to_owned(),
            KnownContent::Content(digest) => Hexadecimal(&digest).to_string(),
            KnownContent::Unfit => "unfit".to_owned(),
        };
        format!(
            "{STAMP_HEADER}\n{length} {} {} {} {} {device} {number} {known}\n",
            modified.0, modified.1, changed.0, changed.1
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let line = text.strip_prefix(STAMP_HEADER)?.strip_prefix('\n')?;
        let words: Vec<&str> = line.strip_suffix('\n')?.split(' ').collect();
        let &[
            length,
            modified,
            modified_part,
            changed,
            changed_part,
            device,
            number,
            known,
        ] = words.as_slice()
        else {
            return None;
        };
        let stamp = Self {
            fingerprint: Fingerprint {
                length: length.parse().ok()?,
                modified: (modified.parse().ok()?, modified_part.parse().ok()?),
                changed: (changed.parse().ok()?, changed_part.parse().ok()?),
                device: device.parse().ok()?,
                number: number.parse().ok()?,
            },
            known: match known {
                "seen" => KnownContent::Seen,
                "unfit" => KnownContent::Unfit,
                digits => {
                    let mut digest = [0; 32];
                    from_hexadecimal(digits, &mut digest)
                        .then_some(KnownContent::Content(digest))?
                }
            },
        };
        // A stamp that was cut short may still parse, but is not what `to_text` writes.
        (stamp.to_text() == text).then_some(stamp)
    }
}

/// The digest of the content of a file, from its beginning.
pub(crate) fn content_of(mut file: &File) -> io::Result<Sha256Digest> {
    file.seek(SeekFrom::Start(0))?;
    let mut hashed = HashingReader::new(file);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match hashed.read(&mut buffer) {
            Ok(0) => return Ok(hashed.digest()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// An input that is hashed while it is read.
pub(crate) struct HashingReader<R> {
    input: R,
    hasher: Sha256,
}

impl<R> HashingReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            hasher: Sha256::new(),
        }
    }

    /// The digest of the bytes read.
    pub(crate) fn digest(self) -> Sha256Digest {
        self.hasher.finalize().into()
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.hasher.update(&buffer[..length]);
        Ok(length)
    }
}

/// The digest of some parts with their lengths, so that moving bytes from one part to another changes it.
pub(crate) fn digest_of(parts: &[&[u8]]) -> Sha256Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: i64) -> Fingerprint {
        Fingerprint {
            length: 12,
            modified: (seconds, 5),
            changed: (seconds, 999_999_999),
            device: 3,
            number: u64::MAX,
        }
    }

    #[test]
    fn stamps_are_read_as_they_are_written_and_not_otherwise() {
        for known in [
            KnownContent::Seen,
            KnownContent::Unfit,
            KnownContent::Content([0xa5; 32]),
        ] {
            let stamp = Stamp {
                fingerprint: look(-7),
                known,
            };
            let text = stamp.to_text();
            assert_eq!(Stamp::parse(&text), Some(stamp));
            for end in 0..text.len() {
                assert_eq!(Stamp::parse(&text[..end]), None);
            }
            for other in [
                text.replace("stamp 1", "stamp 2"),
                text.replace("12 ", "+12 "),
                format!("{text}\n"),
                text.to_uppercase(),
            ] {
                assert_eq!(Stamp::parse(&other), None, "{other}");
            }
        }
    }

    #[test]
    fn only_settled_times_count() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let cache = IndexCache::new(PathBuf::new(), now);
        let entry = cache.entry(Path::new("index"), &Limits::default(), None);
        assert!(entry.is_settled(&look(-1)));
        assert!(entry.is_settled(&look(996)));
        assert!(!entry.is_settled(&look(997)));
        assert!(!entry.is_settled(&look(1000)));
        assert!(!entry.is_settled(&look(2000)), "the clock was set back");
    }
}
