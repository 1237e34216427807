//! The trait `FileSystem`: the single steps of a write, so that tests can let each of them fail.

use std::io;
use std::path::Path;

/// The kind of a directory entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, device or socket.
    Other,
}

impl EntryKind {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Other => "special file",
        }
    }
}

/// The access rights of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Everyone may read it, as far as the umask of the process permits.
    Data,
    /// Everyone may read and run it, as far as the umask of the process permits.
    Program,
    /// Only its owner may read it.
    Private,
}

/// A file that is being written. Until it is dropped, it is not removed as left behind.
pub trait NewFile {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Syncs everything written to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// A folder that is being filled. Until it is dropped, it is not removed as left behind.
pub trait BeingFilled: Send {}

/// The steps of writing. Each can fail, and the machine can crash after each.
pub trait FileSystem {
    /// The kind of the entry at a path; `None` if there is none.
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>>;

    /// The names in a folder, in any order.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Makes a file at a path that does not exist.
    fn create_file(&self, path: &Path, access: Access) -> io::Result<Box<dyn NewFile>>;

    /// Makes a file at a path that does not exist, to replace another file, with the group and mode of that file. If it
    /// cannot have that group, no user gets more rights than with the other file. A file that is read-only is an error.
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Makes a folder at a path that does not exist.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes a symbolic link at a path that does not exist. The target is relative to the folder of the link.
    fn create_link(&self, path: &Path, target: &str) -> io::Result<()>;

    /// Makes a folder at a path that does not exist, which is renamed once it is filled.
    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>>;

    /// Renames a file, also over another one, or a folder to a path that does not exist.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Syncs the names in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file, or a folder with everything in it; links are removed, not followed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a file that no process is writing, or a folder that none is filling; returns whether it did.
    fn remove_if_idle(&self, path: &Path) -> io::Result<bool>;

    /// Renames a folder that no process is filling to a path that does not exist; returns whether it did.
    fn rename_if_idle(&self, from: &Path, to: &Path) -> io::Result<bool>;
}
