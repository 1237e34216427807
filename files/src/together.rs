//! Several files that are written together: all of them, or none.

use std::collections::BTreeSet;
use std::path::Path;

use crate::atomic::{
    Durability, StagedFile, file_name, parent, replace, sweep, sync_folder_of, write_file,
};
use crate::error::FileError;
use crate::file_system::{Access, FileSystem, NewFile};

/// The new content of one of several files.
#[derive(Debug, Clone, Copy)]
pub struct NewContent<'file> {
    /// The path of the file.
    pub path: &'file Path,
    /// Its bytes before; `None` if there is no such file.
    pub before: Option<&'file [u8]>,
    /// Its bytes afterwards.
    pub after: &'file [u8],
}

/// Why several files were not written.
#[derive(Debug)]
pub struct NotWritten {
    /// The error.
    pub error: FileError,
    /// The errors about files that have their new content, because they could not be restored.
    pub not_restored: Vec<FileError>,
}

impl From<FileError> for NotWritten {
    fn from(error: FileError) -> Self {
        Self {
            error,
            not_restored: Vec::new(),
        }
    }
}

/// Writes several files, each as [`write_file`] does, or none of them.
///
/// All of them are written to temporary files before the first is renamed, so that a full disk or a read-only folder is
/// noticed while all files have their old content. Files that were renamed before another cannot be are restored.
///
/// A process that is killed between two renames leaves new files beside old ones. Callers must keep other processes from
/// writing the same files: those would remove the temporary files, which are not locked, as leftovers.
///
/// # Errors
///
/// As for [`write_file`].
pub fn write_files(system: &dyn FileSystem, files: &[NewContent<'_>]) -> Result<(), NotWritten> {
    if let [file] = files {
        return write_one(system, file);
    }
    let staged = stage_all(system, files)?;
    for (at, file) in staged.iter().enumerate() {
        if let Err(error) = file.rename(system) {
            discard_all(system, &staged[at + 1..]);
            return Err(restore(system, &files[..at], error));
        }
    }
    let mut synced = BTreeSet::new();
    for file in files {
        if synced.insert(parent(file.path))
            && let Err(error) = sync_folder_of(system, file.path)
        {
            return Err(restore(system, files, error));
        }
    }
    Ok(())
}

/// Writes a single file, whose temporary file can stay open: other processes do not take it for a leftover.
fn write_one(system: &dyn FileSystem, file: &NewContent<'_>) -> Result<(), NotWritten> {
    sweep(system, parent(file.path), &file_name(file.path)?);
    let put = |new: &mut dyn NewFile| new.write(file.after);
    replace(system, file.path, put, Durability::Durable, Access::Data)?;
    sync_folder_of(system, file.path)
        .map_err(|error| restore(system, std::slice::from_ref(file), error))
}

/// Writes the temporary files. If one cannot be written, there are none.
///
/// They are closed, because there can be more than a process may have open.
fn stage_all<'file>(
    system: &dyn FileSystem,
    files: &[NewContent<'file>],
) -> Result<Vec<StagedFile<'file>>, FileError> {
    let mut staged: Vec<StagedFile<'file>> = Vec::with_capacity(files.len());
    for file in files {
        let next = file_name(file.path).and_then(|name| {
            sweep(system, parent(file.path), &name);
            StagedFile::write(system, file.path, file.after)
        });
        match next {
            Ok(next) => staged.push(next),
            Err(error) => {
                discard_all(system, &staged);
                return Err(error);
            }
        }
    }
    Ok(staged)
}

fn discard_all(system: &dyn FileSystem, staged: &[StagedFile<'_>]) {
    for file in staged {
        file.discard(system);
    }
}

/// Gives files their old content again.
fn restore(system: &dyn FileSystem, files: &[NewContent<'_>], error: FileError) -> NotWritten {
    let restored = files.iter().rev().map(|file| match file.before {
        Some(bytes) => write_file(system, file.path, bytes),
        None => system
            .remove(file.path)
            .map_err(FileError::system("cannot remove", file.path))
            .and_then(|()| sync_folder_of(system, file.path)),
    });
    NotWritten {
        error,
        not_restored: restored.filter_map(Result::err).collect(),
    }
}
