//! Stores artifacts as files.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::stream;
use pkgres_files::{EntryKind, FileSystem, RealFileSystem, make_folder, map_file, write_file};
use pkgres_registry_client::protocol::Digest;

use super::content::{BlobError, Content, PIECE, Pieces, SMALL, is_older};
use super::mark::{MARK, read_mark, write_mark};

/// Artifacts as files `aa/aabb…` below a folder, named by their digests.
pub(crate) struct Folder {
    root: PathBuf,
    /// The folders, by the first byte of digests, that this process has synced to the disk.
    synced: Mutex<Box<[bool; 256]>>,
}

impl Folder {
    /// The artifacts below a folder, which is created if there is none.
    pub(crate) fn open(root: PathBuf) -> Result<Self, BlobError> {
        make_folder(&RealFileSystem, &root)?;
        Ok(Self {
            root,
            synced: Mutex::new(Box::new([false; 256])),
        })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.root.join(&name[..2]).join(name)
    }

    /// The file beside the artifacts that says to which registry they belong.
    pub(super) fn mark_path(&self) -> PathBuf {
        self.root.with_file_name(MARK)
    }

    pub(super) fn owner(&self) -> Result<Option<String>, BlobError> {
        read_mark(&self.mark_path())
    }

    pub(super) fn mark(&self, registry: &str) -> Result<(), BlobError> {
        write_mark(&self.mark_path(), registry)
    }

    /// Stores an artifact, unless there is one with these bytes. Returns whether there was none.
    pub(super) fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<bool, BlobError> {
        let path = self.path(digest);
        if self.length_of(&path)? == Some(bytes.len() as u64)
            // A damaged file may have the right length. One that cannot be read is replaced as well.
            && File::open(&path).is_ok_and(|file| has_bytes(file, bytes).unwrap_or(false))
        {
            return Ok(false);
        }
        // A folder that exists may be gone after a crash, unless it was synced. That waits for the disk
        // twice, so it is done once in a process.
        let first = usize::from(digest.0[0]);
        let synced = || self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        let is_synced = synced()[first];
        let exists = |folder| matches!(RealFileSystem.kind(folder), Ok(Some(EntryKind::Folder)));
        if let Some(folder) = path.parent()
            && (!is_synced || !exists(folder))
        {
            make_folder(&RealFileSystem, folder)?;
            synced()[first] = true;
        }
        write_file(&RealFileSystem, &path, bytes)?;
        Ok(true)
    }

    fn length_of(&self, path: &Path) -> Result<Option<u64>, BlobError> {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BlobError::failed(self.root.display().to_string(), error)),
        }
    }

    pub(super) fn length(&self, digest: &Digest) -> Result<Option<u64>, BlobError> {
        self.length_of(&self.path(digest))
    }

    pub(super) fn read(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, BlobError> {
        let path = self.path(digest);
        let failed = |error: std::io::Error| BlobError::failed(path.display().to_string(), error);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let range = match range {
            Some(range) => range,
            None => 0..file.metadata().map_err(failed)?.len(),
        };
        let length = range.end.saturating_sub(range.start);
        file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        if length <= SMALL {
            let (_, bytes) = next_piece(file, length, length).map_err(failed)?;
            return Ok(Some(Content::Whole(bytes)));
        }
        Ok(Some(Content::Pieces(length, pieces(file, length))))
    }

    pub(super) fn get(&self, digest: &Digest) -> Result<Option<Bytes>, BlobError> {
        // Files here are never changed, so they can be mapped.
        match map_file(&self.path(digest), u64::MAX) {
            Ok(bytes) => Ok(Some(Bytes::from_owner(bytes))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn older_than(
        &self,
        seconds: u64,
        now: SystemTime,
    ) -> Result<Vec<Digest>, BlobError> {
        let system = RealFileSystem;
        let names = |folder: &Path| {
            system
                .names(folder)
                .map_err(|error| BlobError::failed(folder.display().to_string(), error))
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
                let written = std::fs::symlink_metadata(folder.join(&name))
                    .and_then(|metadata| metadata.modified());
                if written.is_ok_and(|written| is_older(written, seconds, now)) {
                    found.push(digest);
                }
            }
        }
        Ok(found)
    }

    pub(super) fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        match RealFileSystem.remove(&self.path(digest)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(BlobError::failed(format!("cannot remove {digest}"), error))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a file has these bytes, or more behind them.
fn has_bytes(mut file: File, bytes: &[u8]) -> std::io::Result<bool> {
    let mut buffer = vec![0; bytes.len().min(PIECE)];
    for piece in bytes.chunks(PIECE) {
        let read = &mut buffer[..piece.len()];
        file.read_exact(read)?;
        if read != piece {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The next `length` bytes of a file, piece by piece.
fn pieces(file: File, length: u64) -> Pieces {
    Box::pin(stream::try_unfold((file, length), async |(file, left)| {
        if left == 0 {
            return Ok(None);
        }
        // Reading waits for the disk.
        let read = tokio::task::spawn_blocking(move || next_piece(file, left, PIECE as u64)).await;
        let (file, bytes) = read.map_err(std::io::Error::other)??;
        let left = left - bytes.len() as u64;
        Ok(Some((bytes, (file, left))))
    }))
}

/// The next piece of a file, of at most `room` bytes. An error if the file ends before `left` bytes.
fn next_piece(mut file: File, left: u64, room: u64) -> std::io::Result<(File, Bytes)> {
    let length = usize::try_from(left.min(room)).map_err(std::io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok((file, bytes.into()))
}
