//! Writes folders atomically: a folder is filled beside its target and renamed.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use pkgres_manifest::PackagePath;

use crate::atomic::{file_name, parent, sweep};
use crate::error::FileError;
use crate::file_system::{Access, BeingFilled, EntryKind, FileSystem};
use crate::temporary::{replaced_name, replacement_of, temporary_name};

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
    recover(system, folder)?;
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
    let mut tree = PreparedTree::create(system, folder, false)?;
    tree.fill(files, &[], &[])?;
    tree.commit()
}

/// Writes a folder with all its files in place of another one, if there is one, durably: whatever happens, the folder
/// has all of the old files or all of the new ones, or for a moment it is not there. If the process ends at that moment,
/// the next write of the same folder puts the new files in place before it begins.
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
    prepare_tree(system, folder, files, links, &[])?.commit()
}

/// Fills a folder that can take the place of another one later, as [`replace_tree`] does at once. So several folders
/// can be written although each must only change if all of them can be written. `folders` are made even if they have no
/// files.
///
/// # Errors
///
/// As for [`replace_tree`].
pub fn prepare_tree<'system, S: FileSystem + ?Sized>(
    system: &'system S,
    folder: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
    links: &[NewTreeLink],
    folders: &[PackagePath],
) -> Result<PreparedTree<'system, S>, FileError> {
    recover(system, folder)?;
    let kind = system
        .kind(folder)
        .map_err(FileError::system("cannot write", folder))?;
    let replaces = match kind {
        None => false,
        Some(EntryKind::Folder) => true,
        Some(_) => return Err(FileError::rejected(folder, "it is not a folder")),
    };
    let mut tree = PreparedTree::create(system, folder, replaces)?;
    tree.fill(files, links, folders)?;
    Ok(tree)
}

/// A folder that was filled beside its target. It is removed unless it is [committed](Self::commit).
pub struct PreparedTree<'system, S: FileSystem + ?Sized> {
    system: &'system S,
    target: PathBuf,
    temporary: PathBuf,
    /// Where the folder that it replaces goes, to be removed.
    old: Option<PathBuf>,
    /// Until this is dropped, another process does not take the folder for one that was left behind.
    being_filled: Option<Box<dyn BeingFilled>>,
}

impl<S: FileSystem + ?Sized> Drop for PreparedTree<'_, S> {
    fn drop(&mut self) {
        if self.being_filled.is_some() {
            // If it cannot be, the next one in the same place does it.
            let _ = self.system.remove(&self.temporary);
        }
    }
}

impl<'system, S: FileSystem + ?Sized> PreparedTree<'system, S> {
    fn create(system: &'system S, target: &Path, replaces: bool) -> Result<Self, FileError> {
        let (parent, name) = (parent(target), temporary_name(&file_name(target)?));
        let old = replaces.then(|| parent.join(replaced_name(&name)));
        let temporary = parent.join(name);
        let being_filled = system
            .create_temporary_folder(&temporary)
            .map_err(FileError::system("cannot create", target))?;
        Ok(Self {
            system,
            target: target.to_owned(),
            temporary,
            old,
            being_filled: Some(being_filled),
        })
    }

    /// Writes the files; errors name the paths that they will have.
    fn fill(
        &mut self,
        files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
        links: &[NewTreeLink],
        folders: &[PackagePath],
    ) -> Result<(), FileError> {
        let Self {
            system,
            target,
            temporary,
            ..
        } = self;
        let mut made: BTreeSet<PathBuf> = BTreeSet::new();
        made.insert(temporary.clone());
        // Makes the folders in front of the last part of a path, or all of it.
        let mut place = |path: &PackagePath, is_folder: bool| -> Result<PathBuf, FileError> {
            let mut at = temporary.clone();
            let mut parts = path.as_str().split('/').peekable();
            while let Some(part) = parts.next() {
                at.push(part);
                if (is_folder || parts.peek().is_some()) && made.insert(at.clone()) {
                    let failed = FileError::system("cannot write", target.join(path.as_str()));
                    system.create_folder(&at).map_err(failed)?;
                }
            }
            Ok(at)
        };
        for file in files {
            let file = file?;
            let at = place(&file.path, false)?;
            let failed = || FileError::system("cannot write", target.join(file.path.as_str()));
            let mut new = system.create_file(&at, file.access).map_err(failed())?;
            new.write(&file.bytes).map_err(failed())?;
            new.sync().map_err(failed())?;
        }
        for folder in folders {
            place(folder, true)?;
        }
        // Last, so that nothing is written through them: what is below a link cannot be made any more, and a link cannot
        // be made where something is.
        for link in links {
            let at = place(&link.path, false)?;
            let failed = FileError::system("cannot write", target.join(link.path.as_str()));
            system.create_link(&at, &link.target).map_err(failed)?;
        }
        for folder in made.iter().rev() {
            system
                .sync_folder(folder)
                .map_err(FileError::system("cannot write", target.as_path()))?;
        }
        Ok(())
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    ///
    /// A step fails. The target is as it was unless only cleaning failed.
    pub fn commit(mut self) -> Result<(), FileError> {
        let (system, target) = (self.system, self.target.clone());
        let failed = |action| FileError::system(action, target.as_path());
        let old = self.old.take();
        if let Some(old) = &old {
            system
                .rename(&target, old)
                .map_err(failed("cannot write"))?;
        }
        if let Err(error) = system.rename(&self.temporary, &target) {
            if let Some(old) = &old
                && system.rename(old, &target).is_err()
            {
                // Without the new folder, the next process would not know that the old one is needed.
                self.being_filled = None;
            }
            return Err(failed("cannot write")(error));
        }
        self.being_filled = None;
        let parent = parent(&target);
        system
            .sync_folder(parent)
            .map_err(FileError::system("cannot write", parent))?;
        // Only now, so that a crash does not leave a part of the old folder in its old place.
        match old.map_or(Ok(()), |old| system.remove(&old)) {
            // Another process, which is about to write the same folder, was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed("cannot clean")),
        }
    }
}

/// Finishes what another process has not: if it ended after it moved the old folder out of the way, the new one, which is
/// complete, gets its place. Everything else that was left behind is removed.
fn recover<S: FileSystem + ?Sized>(system: &S, target: &Path) -> Result<(), FileError> {
    let (folder, name) = (parent(target), file_name(target)?);
    let failed = || FileError::system("cannot write", target);
    for old in system.names(folder).unwrap_or_default() {
        let Some(new) = replacement_of(&name, &old) else {
            continue;
        };
        let new = folder.join(new);
        if system.kind(target).map_err(failed())?.is_none() {
            system.rename_if_idle(&new, target).map_err(failed())?;
        }
        // As long as the new folder is there, it may fail to get its place, which the old one then needs again.
        if system.kind(&new).map_err(failed())?.is_none() {
            // If it cannot be, the next process does it.
            let _ = system.remove(&folder.join(old));
        }
    }
    sweep(system, folder, &name);
    Ok(())
}
