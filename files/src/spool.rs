//! Temporary files for data that arrives piece by piece and is too large for memory.

use std::path::{Path, PathBuf};

use crate::atomic::sweep;
use crate::error::FileError;
use crate::file_system::{Access, FileSystem as _, NewFile as _};
use crate::lock::FileLock;
use crate::map::{FileBytes, map_file};
use crate::real_file_system::{RealFileSystem, create_locked_file};
use crate::temporary::temporary_name;

/// The name that temporary files contain.
const NAME: &str = "spool";

/// A temporary file for bytes that are too many for memory while they arrive.
///
/// Nothing is synced, and the file is removed when this, or the [`FileBytes`] made from it, is dropped. Files that a
/// killed process left behind are removed when the next one is made in the same folder. Only its owner can read it.
pub struct Spool {
    file: FileLock,
    path: Removed,
    length: u64,
}

/// A path that is removed when it is dropped.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // If it cannot be, the next one does it.
        let _ = RealFileSystem.remove(&self.0);
    }
}

impl Spool {
    /// An empty temporary file in a folder that exists.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn create(folder: &Path) -> Result<Self, FileError> {
        sweep(&RealFileSystem, folder, NAME);
        let path = folder.join(temporary_name(NAME));
        let file = create_locked_file(&path, Access::Private)
            .map_err(FileError::system("cannot write", &path))?;
        Ok(Self {
            file,
            path: Removed(path),
            length: 0,
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// The bytes cannot be written, for instance because the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file
            .write(bytes)
            .map_err(FileError::system("cannot write", &self.path.0))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The whole content as mapped memory, which the system can reclaim.
    ///
    /// # Errors
    ///
    /// The content cannot be written, mapped or read.
    pub fn finish(self) -> Result<FileBytes, FileError> {
        map_file(&self.path.0, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        RealFileSystem
            .names(folder)
            .expect("the folder can be read")
    }

    #[test]
    fn the_content_outlives_the_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut spool = Spool::create(folder.path()).expect("a file");
        for piece in ["one ", "", "two"] {
            spool.write(piece.as_bytes()).expect("it is written");
        }
        assert_eq!(names(folder.path()).len(), 1);
        let bytes = spool.finish().expect("it is there");
        assert_eq!(&*bytes, b"one two");
        #[cfg(unix)]
        assert_eq!(names(folder.path()), [""; 0]);
        let empty = Spool::create(folder.path()).expect("a file").finish();
        assert_eq!(&*empty.expect("it is there"), b"");
    }

    #[test]
    fn an_unfinished_file_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        drop(Spool::create(folder.path()).expect("a file"));
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn only_files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let left = folder.path().join(temporary_name(NAME));
        crate::write_file(&RealFileSystem, &left, b"left").expect("it is written");
        let mut first = Spool::create(folder.path()).expect("a file");
        assert_eq!(names(folder.path()).len(), 1);
        // The first one is still being written.
        let _second = Spool::create(folder.path()).expect("a file");
        assert_eq!(names(folder.path()).len(), 2);
        first.write(b"more").expect("it is still there");
        assert_eq!(&*first.finish().expect("it is there"), b"more");
    }
}
