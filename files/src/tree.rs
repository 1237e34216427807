//! Writes folders atomically: a folder is filled beside its target and renamed.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use pkgres_manifest::PackagePath;

use crate::atomic::{file_name, parent, sweep, temporary_name};
use crate::error::FileError;
use crate::file_system::{Access, EntryKind, FileSystem};

/// A file of a folder that is written with [`write_tree`] or [`replace_tree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTreeFile {
    /// Its path in the folder.
    pub path: PackagePath,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its access rights.
    pub access: Access,
}

/// A symbolic link of a folder that is to be written.
#[derive(Debug, Clone)]
pub struct NewTreeLink {
    /// Its path in the folder.
    pub path: PackagePath,
    /// Where it leads, relative to its own folder.
    pub target: String,
}

/// Writes a folder with all its files, atomically and durably: there is all of it or nothing.
///
/// # Errors
///
/// The target exists and is not an empty folder, a file is an error, or a step fails.
pub fn write_tree(
    system: &dyn FileSystem,
    folder: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
) -> Result<(), FileError> {
    let occupied = FileError::rejected(folder, "it exists already");
    match system
        .kind(folder)
        .map_err(FileError::system("cannot write", folder))?
    {
        None => {}
        Some(EntryKind::Folder) => {
            let names = system
                .names(folder)
                .map_err(FileError::system("cannot read", folder))?;
            if !names.is_empty() {
                return Err(occupied);
            }
            system
                .remove(folder)
                .map_err(FileError::system("cannot write", folder))?;
        }
        Some(_) => return Err(occupied),
    }
    write_aside(system, folder, files, &[], None)
}

/// Writes a folder with all its files in place of another one, if there is one, durably: whatever happens, the folder
/// has all of the old files or all of the new ones, or for a moment it is not there.
///
/// # Errors
///
/// The target is a link or no folder, a file is an error, a path is below a link, or a step fails.
pub fn replace_tree(
    system: &dyn FileSystem,
    folder: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
    links: &[NewTreeLink],
) -> Result<(), FileError> {
    let kind = system
        .kind(folder)
        .map_err(FileError::system("cannot write", folder))?;
    let old = match kind {
        None => None,
        Some(EntryKind::Folder) => {
            let name = file_name(folder)?;
            Some(parent(folder).join(temporary_name(&name)))
        }
        Some(_) => return Err(FileError::rejected(folder, "it is not a folder")),
    };
    write_aside(system, folder, files, links, old.as_deref())
}

/// Writes a folder beside its target and renames it. The target, if it exists, becomes `old` first, which is removed.
fn write_aside(
    system: &dyn FileSystem,
    folder: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
    links: &[NewTreeLink],
    old: Option<&Path>,
) -> Result<(), FileError> {
    let (parent, name) = (parent(folder), file_name(folder)?);
    sweep(system, parent, &name);
    let temporary = parent.join(temporary_name(&name));
    let rename = || {
        if let Some(old) = old {
            system.rename(folder, old)?;
        }
        let renamed = system.rename(&temporary, folder);
        if let (Err(_), Some(old)) = (&renamed, old) {
            let _ = system.rename(old, folder);
        }
        renamed
    };
    let filled = fill(system, &temporary, folder, files, links, rename);
    if filled.is_err() {
        let _ = system.remove(&temporary);
    }
    filled?;
    if let Some(old) = old {
        system
            .remove(old)
            .map_err(FileError::system("cannot clean", folder))?;
    }
    system
        .sync_folder(parent)
        .map_err(FileError::system("cannot write", parent))
}

/// Makes and fills the folder `temporary`, and renames it with `rename`; errors name the paths in `target`, which it
/// becomes.
fn fill(
    system: &dyn FileSystem,
    temporary: &Path,
    target: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
    links: &[NewTreeLink],
    rename: impl FnOnce() -> io::Result<()>,
) -> Result<(), FileError> {
    let being_filled = system
        .create_temporary_folder(temporary)
        .map_err(FileError::system("cannot create", target))?;
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    folders.insert(temporary.to_owned());
    let mut place = |path: &PackagePath| -> Result<PathBuf, FileError> {
        let mut at = temporary.to_owned();
        let mut parts = path.as_str().split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            if parts.peek().is_some() && folders.insert(at.clone()) {
                let failed = FileError::system("cannot write", target.join(path.as_str()));
                system.create_folder(&at).map_err(failed)?;
            }
        }
        Ok(at)
    };
    for file in files {
        let file = file?;
        let at = place(&file.path)?;
        let failed = || FileError::system("cannot write", target.join(file.path.as_str()));
        let mut new = system.create_file(&at, file.access).map_err(failed())?;
        new.write(&file.bytes).map_err(failed())?;
        new.sync().map_err(failed())?;
    }
    // Last, so that nothing is written through them: what is below a link cannot be made any more, and a link cannot be
    // made where something is.
    for link in links {
        let at = place(&link.path)?;
        let failed = FileError::system("cannot write", target.join(link.path.as_str()));
        system.create_link(&at, &link.target).map_err(failed)?;
    }
    for folder in folders.iter().rev() {
        system
            .sync_folder(folder)
            .map_err(FileError::system("cannot write", target))?;
    }
    rename().map_err(FileError::system("cannot write", target))?;
    // Until here, another process would have taken the folder for one that was left behind.
    drop(being_filled);
    Ok(())
}
