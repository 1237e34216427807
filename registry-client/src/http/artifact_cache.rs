//! The cache of artifacts, by digest.

use std::io;
use std::path::{Path, PathBuf};

use pkgres_files::{
    FileError, FileSystem as _, Follow, RealFileSystem, read_file, write_cache_file,
};

use crate::protocol::Digest;

/// The folder of artifacts in that of the cache.
const ARTIFACTS: &str = "artifacts";

/// Artifacts in a folder, each in a file with the name of its digest. A file is compared with its name before
/// use: a damaged one counts as absent.
#[derive(Debug, Clone)]
pub struct ArtifactCache {
    folder: PathBuf,
}

/// The state of a cache of artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheReport {
    /// The number of artifacts.
    pub artifacts: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// The files whose content does not have the digest in their name.
    pub damaged: Vec<PathBuf>,
}

impl ArtifactCache {
    /// The artifacts in the folder of a cache, which need not exist.
    pub fn new(cache: &Path) -> Self {
        Self {
            folder: cache.join(ARTIFACTS),
        }
    }

    /// The path of an artifact, whether it is there or not.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        let digits = digest.to_string();
        self.folder.join(&digits[..2]).join(digits)
    }

    /// An artifact of at most `limit` bytes, if it is there and undamaged.
    pub fn get(&self, digest: &Digest, limit: u64) -> Option<Vec<u8>> {
        let bytes = read_file(&self.path(digest), limit, Follow::Nothing).ok()?;
        (Digest::of(&bytes) == *digest).then_some(bytes)
    }

    /// Adds an artifact.
    pub fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), FileError> {
        write_cache_file(&RealFileSystem, &self.path(digest), bytes)
    }

    /// The number of artifacts and their size in bytes. None of them is read.
    pub fn count(&self) -> (usize, u64) {
        let paths = self.paths();
        let length = |path: &PathBuf| {
            let metadata = std::fs::symlink_metadata(path).ok();
            metadata
                .filter(std::fs::Metadata::is_file)
                .map_or(0, |metadata| metadata.len())
        };
        (paths.len(), paths.iter().map(length).sum())
    }

    /// Reads every artifact and compares it with its name.
    pub fn verify(&self, limit: u64) -> CacheReport {
        let mut report = CacheReport::default();
        for path in self.paths() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let bytes = read_file(&path, limit, Follow::Nothing).ok();
            let is_whole = bytes
                .as_ref()
                .is_some_and(|bytes| Digest::of(bytes).to_string() == name);
            report.artifacts += 1;
            report.bytes += bytes.map_or(0, |bytes| bytes.len() as u64);
            if !is_whole {
                report.damaged.push(path);
            }
        }
        report
    }

    /// Removes an artifact, or a folder of the cache. A folder into which another process writes meanwhile stays, with
    /// what is new.
    ///
    /// # Errors
    ///
    /// What is there cannot be removed.
    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        match RealFileSystem.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map_err(|source| FileError::System {
                action: "cannot remove",
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Every artifact, sorted by digest.
    fn paths(&self) -> Vec<PathBuf> {
        let names = |folder: &Path| RealFileSystem.names(folder).unwrap_or_default();
        let mut paths: Vec<PathBuf> = names(&self.folder)
            .into_iter()
            .map(|name| self.folder.join(name))
            .flat_map(|folder| {
                let names = names(&folder).into_iter();
                names.map(move |name| folder.join(name))
            })
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                // A leading dot is a file that is being written.
                !name.starts_with('.')
            })
            .collect();
        paths.sort();
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_artifact_counts_as_absent() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = ArtifactCache::new(folder.path());
        let (digest, bytes) = (Digest::of(b"artifact"), b"artifact");
        assert_eq!(cache.get(&digest, 100), None);
        assert_eq!(cache.verify(100), CacheReport::default());
        cache.put(&digest, bytes).expect("it can be written");
        assert_eq!(cache.get(&digest, 100).as_deref(), Some(&bytes[..]));
        assert_eq!(cache.get(&digest, 3), None);
        cache.put(&digest, b"artifacT").expect("it can be written");
        assert_eq!(cache.get(&digest, 100), None);
        let report = cache.verify(100);
        assert_eq!((report.artifacts, report.bytes), (1, 8));
        assert_eq!(cache.count(), (1, 8));
        assert_eq!(report.damaged, [cache.path(&digest)]);
        // Counting does not read, so that no limit matters.
        assert_eq!((cache.verify(3).bytes, cache.count()), (0, (1, 8)));
        cache.remove(&report.damaged[0]).expect("it can be removed");
        assert_eq!(cache.count(), (0, 0));
        assert_eq!(cache.verify(100), CacheReport::default());
    }
}
