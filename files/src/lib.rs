//! Atomic writes and careful reads of files.
//!
//! This is the only crate of the workspace that writes. A file is written beside its target and renamed; a folder is
//! filled beside its target and renamed. A reader sees the old state or the new one, never a part. All but files of a
//! cache are synced first, so the same holds after a crash of the machine. Writes never go through a link.
//!
//! Writes of files and folders that stay go through the trait [`FileSystem`], so that tests can let any step fail, or
//! crash before it. Temporary files, locks, and the root file systems of machines do not need it.
//!
//! ```
//! use pkgres_files::{Follow, RealFileSystem, read_file, write_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let path = folder.join("pkgres.lock");
//! write_file(&RealFileSystem, &path, b"lock: 1\n")?;
//! assert_eq!(read_file(&path, 1024, Follow::Nothing)?, b"lock: 1\n");
//! assert!(read_file(&path, 4, Follow::Nothing).is_err(), "it is larger than that");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod atomic;
mod error;
#[cfg(target_os = "linux")]
mod extended_attributes;
mod file_system;
mod lock;
mod map;
#[cfg(target_os = "linux")]
mod open_folder;
mod read;
mod real_file_system;
#[cfg(target_os = "linux")]
mod root_folder;
mod spool;
mod temporary;
#[cfg(unix)]
mod temporary_folder;
mod together;
mod tree;

pub use atomic::{
    FolderWriter, make_folder, remove_empty_folder, write_cache_file, write_cache_pieces,
    write_file, write_private_file,
};
pub use error::FileError;
pub use file_system::{Access, BeingFilled, EntryKind, FileSystem, NewFile};
pub use lock::{FileLock, lock_file, lock_folder, try_lock_folder};
pub use map::{FileBytes, map_file};
#[cfg(target_os = "linux")]
pub use open_folder::EntryAttributes;
pub use read::{
    Follow, entry_path, is_pipe, open_file, read_file, read_file_below, read_file_or_pipe,
    read_head, read_open_file,
};
pub use real_file_system::{RealFileSystem, make_private};
#[cfg(target_os = "linux")]
pub use root_folder::{RootEntry, RootFolder};
pub use spool::Spool;
#[cfg(unix)]
pub use temporary_folder::TemporaryFolder;
pub use together::{NewContent, NotWritten, write_files};
pub use tree::{NewTreeFile, NewTreeLink, PreparedTree, prepare_tree, replace_tree, write_tree};
