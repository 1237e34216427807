//! Reads plain files of limited size. Devices and larger files are errors, and so are pipes, unless the user names one.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
#[cfg(unix)]
use std::path::Component;
use std::path::{Path, PathBuf};

use crate::error::FileError;

/// Whether the last part of a path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// It may be a link: the user chose the path.
    Links,
    /// It must not be a link: the path is inside of foreign content, such as a package folder.
    Nothing,
}

/// Reads a plain file of at most `limit` bytes.
///
/// # Errors
///
/// The file cannot be read, is larger, or is not a plain file. Pipes are rejected without blocking, and devices without
/// reading.
pub fn read_file(path: &Path, limit: u64, follow: Follow) -> Result<Vec<u8>, FileError> {
    let (file, length) = open_plain(path, limit, follow)?;
    read_rest(file, path, length, limit)
}

/// The path of an entry of a folder, as messages show it: in the current folder, it is without `./`.
pub fn entry_path(folder: &Path, entry: impl AsRef<Path>) -> PathBuf {
    if folder == Path::new(".") {
        entry.as_ref().to_owned()
    } else {
        folder.join(entry)
    }
}

/// Whether a path leads to a pipe, such as the one of `<(…)` in a shell.
pub fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| is_pipe_type(metadata.file_type()))
}

#[cfg(unix)]
fn is_pipe_type(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe_type(_: std::fs::FileType) -> bool {
    false
}

/// Reads a plain file of at most `limit` bytes, or all that comes through a pipe, if that is not more. For a path that
/// the user chose: a pipe is waited for.
///
/// # Errors
///
/// As for [`read_file`].
pub fn read_file_or_pipe(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    if !is_pipe(path) {
        return read_file(path, limit, Follow::Links);
    }
    let pipe = File::open(path).map_err(FileError::system("cannot read", path))?;
    read_rest(pipe, path, 0, limit)
}

/// Opens a plain file of at most `limit` bytes. Its later growth is not checked.
///
/// # Errors
///
/// The file cannot be opened, is larger, or is not a plain file.
pub fn open_file(path: &Path, limit: u64, follow: Follow) -> Result<File, FileError> {
    open_plain(path, limit, follow).map(|(file, _)| file)
}

/// Reads at most `length` bytes from the beginning of a plain file.
///
/// # Errors
///
/// The file cannot be read, or is not a plain file.
pub fn read_head(path: &Path, length: usize, follow: Follow) -> Result<Vec<u8>, FileError> {
    let file = open_file(path, u64::MAX, follow)?;
    let mut head = Vec::with_capacity(length);
    file.take(length as u64)
        .read_to_end(&mut head)
        .map_err(FileError::system("cannot read", path))?;
    Ok(head)
}

/// Reads a plain file of at most `limit` bytes in a folder with foreign content: neither the file nor a folder on the
/// way to it may be a link, which could lead anywhere.
///
/// `below` is relative to the folder and does not lead out of it.
///
/// # Errors
///
/// As for [`read_file`], and if the path has a link.
pub fn read_file_below(folder: &Path, below: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let path = folder.join(below);
    let file = open_below(folder, below)?;
    let (file, length) = plain(file, &path, limit)?;
    read_rest(file, &path, length, limit)
}

/// Opens a file below a folder, and each folder on the way in the one before: a link that is put there meanwhile is not
/// followed either.
#[cfg(unix)]
fn open_below(folder: &Path, below: &Path) -> Result<File, FileError> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

    let failed =
        |path: &Path, errno| FileError::system("cannot read", path)(std::io::Error::from(errno));
    // A folder can be entered without being readable.
    #[cfg(target_os = "linux")]
    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file_flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut path = folder.to_owned();
    let root = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let opened = openat(CWD, root, folder_flags, Mode::empty());
    let mut opened = opened.map_err(|errno| failed(&path, errno))?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        if !matches!(part, Component::Normal(_)) {
            return Err(FileError::rejected(
                path,
                "this path leads out of its folder",
            ));
        }
        let flags = if parts.peek().is_some() {
            folder_flags
        } else {
            file_flags
        };
        let name = part.as_os_str();
        let inner = openat(&opened, name, flags | OFlags::NOFOLLOW, Mode::empty());
        opened = inner.map_err(|errno| {
            // The system would speak of too many levels of links, or of something that is no folder.
            let entry = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW);
            let kind = entry.map(|entry| FileType::from_raw_mode(entry.st_mode));
            if kind == Ok(FileType::Symlink) {
                is_link(&path)
            } else {
                failed(&path, errno)
            }
        })?;
    }
    Ok(opened.into())
}

/// Opens a file below a folder, if no part of the path is a link.
#[cfg(not(unix))]
fn open_below(folder: &Path, below: &Path) -> Result<File, FileError> {
    let between = below.ancestors().skip(1);
    for part in between.filter(|part| !part.as_os_str().is_empty()) {
        let part = folder.join(part);
        if std::fs::symlink_metadata(&part).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(is_link(&part));
        }
    }
    open_named(&folder.join(below), Follow::Nothing)
}

fn is_link(path: &Path) -> FileError {
    FileError::rejected(path, "this is a link, and links are not followed here")
}

/// Opens a plain file of at most `limit` bytes; returns it with its length.
pub(crate) fn open_plain(
    path: &Path,
    limit: u64,
    follow: Follow,
) -> Result<(File, u64), FileError> {
    plain(open_named(path, follow)?, path, limit)
}

/// Opens a file. The error names a link that is not followed.
fn open_named(path: &Path, follow: Follow) -> Result<File, FileError> {
    open(path, follow).map_err(|error| {
        let leads_on = follow == Follow::Nothing
            && std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        if leads_on {
            // The system would speak of too many levels of links where there is one.
            is_link(path)
        } else {
            FileError::system("cannot read", path)(error)
        }
    })
}

/// Returns an open file with its length, if it is a plain file of at most `limit` bytes.
fn plain(file: File, path: &Path, limit: u64) -> Result<(File, u64), FileError> {
    let metadata = file
        .metadata()
        .map_err(FileError::system("cannot read", path))?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() {
            "a folder"
        } else {
            "not a plain file"
        };
        return Err(FileError::rejected(path, format!("this is {kind}")));
    }
    if metadata.len() > limit {
        return Err(too_large(path, limit));
    }
    Ok((file, metadata.len()))
}

fn too_large(path: &Path, limit: u64) -> FileError {
    FileError::TooLarge {
        path: path.to_owned(),
        limit,
    }
}

/// Reads the rest of an [open file](open_file), if it is at most `limit` bytes. Errors call it `path`.
///
/// # Errors
///
/// The file cannot be read, or has become larger.
pub fn read_open_file(file: File, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_rest(file, path, 0, limit)
}

/// Reads a file that was opened and has about `length` bytes.
pub(crate) fn read_rest(
    file: File,
    path: &Path,
    length: u64,
    limit: u64,
) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::system("cannot read", path))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(path, limit));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn open(path: &Path, follow: Follow) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if follow == Follow::Nothing {
        flags |= OFlags::NOFOLLOW;
    }
    let flags = i32::try_from(flags.bits()).expect("the flags of open fit its argument");
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path, follow: Follow) -> std::io::Result<File> {
    if follow == Follow::Nothing && std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(std::io::Error::other("this is a link"));
    }
    OpenOptions::new().read(true).open(path)
}
