//! Temporary folders for what is no data, such as sockets.

// The functions that are forbidden elsewhere are called here.
#![allow(clippy::disallowed_methods)]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::FileError;
use crate::file_system::{Access, FileSystem as _};
use crate::lock::{FileLock, if_idle};
use crate::real_file_system::{RealFileSystem, create_locked_folder};
use crate::temporary::{is_temporary_name_of, temporary_name};

/// A temporary folder that only its owner can use. It is removed when this is dropped.
///
/// It is locked from the moment it exists. The folders of processes that were killed are not locked, and are removed when
/// the next one of the same name is made beside them.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    folder: FileLock,
}

impl TemporaryFolder {
    /// An empty folder in `parent`, which others may be able to write to. For each folder that a killed process left
    /// behind there, `abandoned` is called before it is removed.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or locked.
    pub fn create(parent: &Path, name: &str, abandoned: impl Fn(&Path)) -> Result<Self, FileError> {
        let path = parent.join(temporary_name(name));
        let failed = || FileError::system("cannot create", &path);
        let folder = create_locked_folder(&path, Access::Private).map_err(failed())?;
        let created = Self { path, folder };
        let owner =
            fs::metadata(&created.path).map_err(FileError::system("cannot read", parent))?;
        for leftover in RealFileSystem.names(parent).unwrap_or_default() {
            let path = parent.join(&leftover);
            // Another user may have put anything there.
            let is_own = fs::symlink_metadata(&path)
                .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == owner.uid());
            if is_own && is_temporary_name_of(name, &leftover) {
                // If it cannot be removed, the next one does it.
                let _ = remove_abandoned(&path, &abandoned);
            }
        }
        Ok(created)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The locked folder, for another process to keep open: the folder is in use until both have closed it.
    ///
    /// # Errors
    ///
    /// The process cannot open more files.
    pub fn share(&self) -> io::Result<File> {
        self.folder.share()
    }
}

/// Removes a folder that no process has locked.
fn remove_abandoned(path: &Path, abandoned: impl Fn(&Path)) -> io::Result<()> {
    let remove = || {
        abandoned(path);
        RealFileSystem.remove(path)
    };
    if_idle(&File::open(path)?, remove).map(|_| ())
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = RealFileSystem.remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_folders_of_killed_processes_are_removed() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let parent = parent.path();
        let left = parent.join(temporary_name("sockets"));
        fs::create_dir(&left).expect("a new folder");
        fs::write(left.join("socket"), "").expect("it is written");
        let others = ["sockets", ".pkgres-others.1-1.tmp"].map(|name| parent.join(name));
        for other in &others {
            fs::create_dir(other).expect("a new folder");
        }
        let link = parent.join(temporary_name("sockets"));
        std::os::unix::fs::symlink(&others[0], &link).expect("a new link");

        let abandoned = RefCell::new(Vec::new());
        let note = |path: &Path| {
            assert!(path.join("socket").exists(), "it is still there");
            abandoned.borrow_mut().push(path.to_owned());
        };
        let first = TemporaryFolder::create(parent, "sockets", note).expect("a folder");
        assert_eq!(*abandoned.borrow(), std::slice::from_ref(&left));
        assert!(!left.exists());
        assert!(others.iter().all(|other| other.exists()));
        assert!(link.is_symlink());
        let mode = fs::metadata(first.path()).expect("it exists").permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);

        let never = |_: &Path| panic!("it is in use");
        let second = TemporaryFolder::create(parent, "sockets", never).expect("a folder");
        assert!(first.path().exists());
        // What was shared keeps the lock.
        let shared = first.share().expect("another file can be opened");
        let path = first.path().to_owned();
        std::mem::forget(first);
        let third = TemporaryFolder::create(parent, "sockets", never).expect("a folder");
        assert!(path.exists());
        drop((second, third, shared));
        assert_eq!(RealFileSystem.names(parent).expect("readable").len(), 4);
    }
}
