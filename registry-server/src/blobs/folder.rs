//! Artifacts as files.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use pkgres_files::{
    EntryKind, FileError, FileSystem, RealFileSystem, make_folder, map_file, write_file,
};
use pkgres_registry_client::protocol::Digest;

use super::BlobError;

/// Artifacts as files `aa/aabb…` below a folder, named by their digests.
pub(crate) struct Folder {
    root: PathBuf,
    /// The folders, by the first byte of digests, that this process brought to the disk.
    are_made: Mutex<Box<[bool; 256]>>,
}

impl Folder {
    /// The artifacts below a folder, which is made if there is none.
    pub(crate) fn open(root: PathBuf) -> Result<Self, BlobError> {
        make_folder(&RealFileSystem, &root).map_err(failed)?;
        Ok(Self {
            root,
            are_made: Mutex::new(Box::new([false; 256])),
        })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.root.join(&name[..2]).join(name)
    }

    pub(super) fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), BlobError> {
        let path = self.path(digest);
        if self.length(&path)? == Some(bytes.len() as u64) {
            return Ok(());
        }
        // That a folder is there does not say that it still is after a crash; it waits for the disk
        // twice, and so once a process is enough.
        let first = usize::from(digest.0[0]);
        let are_made = || self.are_made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_made = are_made()[first];
        if !is_made && let Some(folder) = path.parent() {
            make_folder(&RealFileSystem, folder).map_err(failed)?;
            are_made()[first] = true;
        }
        write_file(&RealFileSystem, &path, bytes).map_err(failed)
    }

    fn length(&self, path: &std::path::Path) -> Result<Option<u64>, BlobError> {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BlobError(format!("{}: {error}", self.root.display()))),
        }
    }

    pub(super) fn has(&self, digest: &Digest) -> Result<bool, BlobError> {
        Ok(self.length(&self.path(digest))?.is_some())
    }

    pub(super) fn get(&self, digest: &Digest) -> Result<Option<Bytes>, BlobError> {
        // Files here are written once and never changed, so that they can be mapped.
        match map_file(&self.path(digest), u64::MAX) {
            Ok(bytes) => Ok(Some(Bytes::from_owner(bytes))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn older_than(&self, seconds: u64) -> Result<Vec<Digest>, BlobError> {
        let system = RealFileSystem;
        let names = |folder: &std::path::Path| {
            system
                .names(folder)
                .map_err(|error| BlobError(format!("{}: {error}", folder.display())))
        };
        let mut found = Vec::new();
        for part in names(&self.root)? {
            let folder = self.root.join(part);
            if !matches!(system.kind(&folder), Ok(Some(EntryKind::Folder))) {
                continue;
            }
            for name in names(&folder)? {
                let Ok(digest) = Digest::parse(&name) else {
                    continue;
                };
                let age = std::fs::symlink_metadata(folder.join(&name))
                    .and_then(|metadata| metadata.modified())
                    .ok()
                    .and_then(|written| SystemTime::now().duration_since(written).ok());
                if age.is_some_and(|age| age.as_secs() >= seconds) {
                    found.push(digest);
                }
            }
        }
        Ok(found)
    }

    pub(super) fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        match RealFileSystem.remove(&self.path(digest)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(BlobError(format!("cannot remove {digest}: {error}")))
            }
            _ => Ok(()),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failed(error: FileError) -> BlobError {
    BlobError(error.to_string())
}
