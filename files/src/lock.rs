//! File locks between processes.

// Only this module may use these functions.
#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::error::FileError;

/// A file lock, released on drop.
#[derive(Debug)]
pub struct FileLock(File);

/// Locks a file, which is made if there is none. Blocks while another process holds the lock.
///
/// The lock makes reading a file, deciding and replacing it one step. As that replaces the file itself, the lock is
/// another file beside it. It ends with the process. On a file system without locks nothing is locked.
pub fn lock_file(path: &Path) -> Result<FileLock, FileError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = options
        .open(path)
        .map_err(FileError::system("cannot lock", path))?;
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => {
            Err(FileError::system("cannot lock", path)(error))
        }
        _ => Ok(FileLock(file)),
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started at this moment shares the file.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lock");
        let count = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let held = lock_file(&path).expect("it can be locked");
                        let before = count.load(std::sync::atomic::Ordering::SeqCst);
                        std::thread::yield_now();
                        count.store(before + 1, std::sync::atomic::Ordering::SeqCst);
                        drop(held);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 200);
    }
}
