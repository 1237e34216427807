//! The steps that writing is made of.

use std::io;
use std::path::Path;

/// What there is at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A link, wherever it leads.
    Link,
    /// A pipe, device or socket.
    Other,
}

/// Who may do what with a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Everyone may read it.
    Data,
    /// Everyone may read and run it.
    Program,
    /// Its owner alone may read it.
    Private,
}

/// A file that is being written. Until it is dropped, no sweep takes it for a leftover.
pub trait NewFile {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Brings everything written to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The steps that writing is made of, each of which can fail, and after each of which a machine
/// can stop.
pub trait FileSystem {
    /// What there is at a path; nothing if there is nothing.
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>>;

    /// The names in a folder, in any order.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Makes a file where there is nothing.
    fn create_file(&self, path: &Path, access: Access) -> io::Result<Box<dyn NewFile>>;

    /// Makes a file where there is nothing, with which everyone may do what they may with another file.
    /// Where it cannot be given to the group of that one, nobody may do more.
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Makes a folder where there is nothing.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Moves a file over a file or nothing, or a folder over nothing.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Brings the names in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file, or a folder with everything in it; links are removed, not followed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a file that nobody is writing; says whether it did.
    fn remove_if_idle(&self, path: &Path) -> io::Result<bool>;
}
