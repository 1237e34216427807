//! Maps cache files into memory: no copy of them is made, and processes share what the system has in memory anyway.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::error::FileError;
use crate::read::{Follow, open_plain, read_rest};

/// The content of a file: mapped, or read into memory.
#[derive(Debug)]
pub struct FileBytes(Storage);

/// Where the bytes of a file are.
#[derive(Debug)]
enum Storage {
    Mapped(memmap2::Mmap),
    Read(Vec<u8>),
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Mapped(bytes) => bytes,
            Storage::Read(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Maps a plain file of at most `limit` bytes into memory, or reads it if it cannot be mapped. The last part of the path
/// must not be a link.
///
/// Use it only for files that [`write_cache_file`](crate::write_cache_file) or [`write_file`](crate::write_file) wrote,
/// in a folder that no other program writes to: such files are replaced, never changed, so that the mapping of an old
/// one stays valid. Files that users edit, such as the index of a registry, must be read instead.
///
/// # Errors
///
/// The file cannot be read, is larger, is not a plain file, or is a link.
pub fn map_file(path: &Path, limit: u64) -> Result<FileBytes, FileError> {
    let (file, length) = open_plain(path, limit, Follow::Nothing)?;
    Ok(FileBytes(match map(&file) {
        Ok(bytes) => Storage::Mapped(bytes),
        // Some file systems cannot map files.
        Err(_) => Storage::Read(read_rest(file, path, length, limit)?),
    }))
}

#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<memmap2::Mmap> {
    let mut options = memmap2::MmapOptions::new();
    // All of a cache file is looked at right away, to check it for damage.
    options.populate();
    // SAFETY: the memory is only read, and belongs to the map as long as it lives. It is sound as
    // long as no process changes the file meanwhile. Files of a cache are only ever replaced by others
    // of the same name: the map is then still that of the old file, which continues to exist without
    // a name. If another program writes into such a file in spite of that, readers can see bytes
    // that change under their eyes, and if it cuts the file short, the system ends this process
    // with a signal. Both need the rights of the user whose cache it is, with which one could as
    // well exchange the program; and what is read is only taken for numbers and for texts that
    // are looked at again, never for pointers or lengths of memory.
    unsafe { options.map(file) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RealFileSystem, write_cache_file};

    #[test]
    fn a_mapping_outlives_the_replacement_of_its_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("some/where/file");
        for bytes in [&b"old"[..], b"", b"new"] {
            write_cache_file(&RealFileSystem, &path, bytes).expect("it can be written");
            let mapped = map_file(&path, 3).expect("it can be mapped");
            assert_eq!(&*mapped, bytes);
            write_cache_file(&RealFileSystem, &path, b"other").expect("it can be replaced");
            assert_eq!(&*mapped, bytes);
        }
        assert!(map_file(&path, 4).is_err(), "it is larger than that");
        assert!(map_file(folder.path(), 4).is_err(), "this is a folder");
        assert!(map_file(&folder.path().join("none"), 4).is_err());
    }
}
