//! Writes files atomically: to a temporary file that is synced and renamed over the target.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::FileError;
use crate::file_system::{Access, EntryKind, FileSystem, NewFile};
use crate::temporary::{is_temporary_name, is_temporary_name_of, temporary_name};

/// The size, in bytes, up to which small pieces are put together before they are written.
const PIECE: usize = 64 << 10;

/// Writes a file atomically and durably: whatever happens, it has the old content or the new one.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed over the target. The new file keeps
/// the group and mode of the old one, with fewer rights if it cannot have that group. It keeps the owner too if the
/// process may give files away, and otherwise belongs to the user of the process. Temporary files that a crash left
/// behind are removed.
///
/// # Errors
///
/// The target is a link, a folder or a device, it is read-only, or a step fails.
pub fn write_file(system: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write(system, path, bytes, Durability::Durable)
}

/// Writes a file of a cache atomically but not durably, and its folder if there is none.
///
/// Readers see the old content or the new one, also readers that have the old file open. Nothing is synced: after a crash
/// of the machine the file may hold anything, so that its content must show whether it is damaged.
///
/// # Errors
///
/// The target is a link, a folder or a device, or a step fails.
pub fn write_cache_file(
    system: &dyn FileSystem,
    path: &Path,
    bytes: &[u8],
) -> Result<(), FileError> {
    make_folders(system, parent(path))?;
    write(system, path, bytes, Durability::Volatile)
}

/// Writes a file of a cache from many pieces, which are not put together in memory, as [`write_cache_file`] does.
///
/// # Errors
///
/// As for [`write_cache_file`].
pub fn write_cache_pieces<'piece>(
    system: &dyn FileSystem,
    path: &Path,
    pieces: impl IntoIterator<Item = &'piece [u8]>,
) -> Result<(), FileError> {
    make_folders(system, parent(path))?;
    let put = |file: &mut dyn NewFile| {
        let mut open: Vec<u8> = Vec::with_capacity(PIECE);
        for piece in pieces {
            if open.len() + piece.len() > PIECE {
                file.write(&open)?;
                open.clear();
            }
            if piece.len() > PIECE {
                file.write(piece)?;
            } else {
                open.extend_from_slice(piece);
            }
        }
        file.write(&open)
    };
    write_with(system, path, put, Durability::Volatile, Access::Data)
}

/// Writes a file that only its owner can read, such as one with a secret, otherwise as [`write_file`] does.
///
/// # Errors
///
/// As for [`write_file`].
pub fn write_private_file(
    system: &dyn FileSystem,
    path: &Path,
    bytes: &[u8],
) -> Result<(), FileError> {
    let put = |file: &mut dyn NewFile| file.write(bytes);
    write_with(system, path, put, Durability::Durable, Access::Private)
}

/// Makes a folder and its missing parents, durably.
///
/// # Errors
///
/// A folder cannot be made, or the change of its parent cannot be synced.
pub fn make_folder(system: &dyn FileSystem, folder: &Path) -> Result<(), FileError> {
    let made = make_folders(system, folder)?;
    // The name of a folder is in its parent. Another process may have made a folder and not synced it yet, so that
    // at least two parents are synced.
    for parent in folder.ancestors().skip(1).take(made.max(2)) {
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        system
            .sync_folder(parent)
            .map_err(FileError::system("cannot create", parent))?;
    }
    Ok(())
}

/// Removes a folder if it is empty; returns whether it did. Any error means that it did not.
pub fn remove_empty_folder(folder: &Path) -> bool {
    std::fs::remove_dir(folder).is_ok()
}

/// Makes a folder and its missing parents; returns the number of folders made.
fn make_folders(system: &dyn FileSystem, folder: &Path) -> Result<usize, FileError> {
    let kind = |folder: &Path| {
        let kind = system.kind(folder);
        kind.map_err(FileError::system("cannot create", folder))
    };
    let mut missing = Vec::new();
    for folder in folder.ancestors() {
        if folder.as_os_str().is_empty() || kind(folder)?.is_some() {
            break;
        }
        missing.push(folder);
    }
    let count = missing.len();
    for folder in missing.into_iter().rev() {
        if let Err(error) = system.create_folder(folder) {
            // Another process may have made it meanwhile.
            if kind(folder)? != Some(EntryKind::Folder) {
                return Err(FileError::system("cannot create", folder)(error));
            }
        }
    }
    Ok(count)
}

/// Whether a file must survive a crash of the machine.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Durability {
    Durable,
    Volatile,
}

fn write(
    system: &dyn FileSystem,
    path: &Path,
    bytes: &[u8],
    durability: Durability,
) -> Result<(), FileError> {
    let put = |file: &mut dyn NewFile| file.write(bytes);
    write_with(system, path, put, durability, Access::Data)
}

/// The access rights of a new file.
#[derive(Clone, Copy)]
enum NewAccess {
    Known(Access),
    /// The access rights of the file that it replaces.
    AsBefore,
}

fn write_with(
    system: &dyn FileSystem,
    path: &Path,
    put: impl FnOnce(&mut dyn NewFile) -> io::Result<()>,
    durability: Durability,
    access: Access,
) -> Result<(), FileError> {
    sweep(system, parent(path), &file_name(path)?);
    replace(system, path, put, durability, access)?;
    if durability == Durability::Volatile {
        return Ok(());
    }
    sync_folder_of(system, path)
}

/// Makes the name of a file durable.
pub(crate) fn sync_folder_of(system: &dyn FileSystem, path: &Path) -> Result<(), FileError> {
    let folder = parent(path);
    system
        .sync_folder(folder)
        .map_err(FileError::system("cannot write", folder))
}

/// Writes a file beside its target and renames it, without looking for files that were left behind. The name itself is
/// not synced.
pub(crate) fn replace(
    system: &dyn FileSystem,
    path: &Path,
    put: impl FnOnce(&mut dyn NewFile) -> io::Result<()>,
    durability: Durability,
    access: Access,
) -> Result<(), FileError> {
    let staged = StagedFile::make(system, path, durability, access)?;
    // Until it is renamed, the file is open: no other process removes it as left behind.
    let _file = staged.fill(system, put, durability)?;
    staged.rename(system)
}

/// The new content of a file, in a temporary file beside its target.
pub(crate) struct StagedFile<'path> {
    temporary: PathBuf,
    /// The target.
    path: &'path Path,
    access: NewAccess,
}

impl<'path> StagedFile<'path> {
    /// Writes the new content of a file that stays, and syncs it.
    pub(crate) fn write(
        system: &dyn FileSystem,
        path: &'path Path,
        bytes: &[u8],
    ) -> Result<Self, FileError> {
        let durability = Durability::Durable;
        let staged = Self::make(system, path, durability, Access::Data)?;
        let _file = staged.fill(system, |file| file.write(bytes), durability)?;
        Ok(staged)
    }

    /// A temporary file that is not there yet. A target that is no file is an error.
    fn make(
        system: &dyn FileSystem,
        path: &'path Path,
        durability: Durability,
        access: Access,
    ) -> Result<Self, FileError> {
        let name = file_name(path)?;
        let kind = system.kind(path);
        let access = match kind.map_err(FileError::system("cannot write", path))? {
            // Files of a cache get our rights, and private files stay private.
            Some(EntryKind::File)
                if durability == Durability::Durable && access == Access::Data =>
            {
                NewAccess::AsBefore
            }
            None | Some(EntryKind::File) => NewAccess::Known(access),
            Some(EntryKind::Link) => {
                return Err(FileError::rejected(path, "links are not written through"));
            }
            Some(EntryKind::Folder) => return Err(FileError::rejected(path, "there is a folder")),
            Some(EntryKind::Other) => {
                return Err(FileError::rejected(path, "this is not a plain file"));
            }
        };
        Ok(Self {
            temporary: parent(path).join(temporary_name(&name)),
            path,
            access,
        })
    }

    /// Writes the temporary file. If that fails, there is none.
    fn fill(
        &self,
        system: &dyn FileSystem,
        put: impl FnOnce(&mut dyn NewFile) -> io::Result<()>,
        durability: Durability,
    ) -> Result<Box<dyn NewFile>, FileError> {
        let fill = || {
            let mut file = match self.access {
                NewAccess::Known(access) => system.create_file(&self.temporary, access),
                NewAccess::AsBefore => system.create_file_like(&self.temporary, self.path),
            }?;
            put(file.as_mut())?;
            if durability == Durability::Durable {
                file.sync()?;
            }
            Ok(file)
        };
        fill().map_err(|error| self.failed(system, error))
    }

    /// Makes the temporary file the target. If that fails, the temporary file is removed.
    pub(crate) fn rename(&self, system: &dyn FileSystem) -> Result<(), FileError> {
        let renamed = system.rename(&self.temporary, self.path);
        renamed.map_err(|error| self.failed(system, error))
    }

    /// Removes the temporary file.
    pub(crate) fn discard(&self, system: &dyn FileSystem) {
        // The error that is reported is the first one.
        let _ = system.remove(&self.temporary);
    }

    /// The error of a step. It names the target: the temporary file means nothing to a user.
    fn failed(&self, system: &dyn FileSystem, error: io::Error) -> FileError {
        self.discard(system);
        FileError::system("cannot write", self.path)(error)
    }
}

/// Writes many files of a folder, each atomically as [`write_file`] does. The folder is listed once and synced once,
/// however many files there are.
pub struct FolderWriter<'system, System> {
    system: &'system System,
    folder: PathBuf,
    durability: Durability,
}

impl<System> std::fmt::Debug for FolderWriter<'_, System> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FolderWriter")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl<'system, System: FileSystem> FolderWriter<'system, System> {
    /// Makes the folder if there is none, and removes temporary files of any name that a crash left behind in it.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn open(system: &'system System, folder: &Path) -> Result<Self, FileError> {
        make_folder(system, folder)?;
        sweep_where(system, folder, is_temporary_name);
        Ok(Self {
            system,
            folder: folder.to_owned(),
            durability: Durability::Durable,
        })
    }

    /// The same for files that can be made again: a crash of the machine can leave them empty, and writing many is
    /// faster.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.durability = Durability::Volatile;
        self
    }

    /// Writes a file. Its content is durable at once, its name once [`finish`](Self::finish) returned.
    ///
    /// # Errors
    ///
    /// As for [`write_file`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let put = |file: &mut dyn NewFile| file.write(bytes);
        let path = self.folder.join(name);
        replace(self.system, &path, put, self.durability, Access::Data)
    }

    /// Makes the names of all files durable.
    ///
    /// # Errors
    ///
    /// The folder cannot be synced.
    pub fn finish(self) -> Result<(), FileError> {
        if self.durability == Durability::Volatile {
            return Ok(());
        }
        self.system
            .sync_folder(&self.folder)
            .map_err(FileError::system("cannot write", &self.folder))
    }
}

pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

pub(crate) fn file_name(path: &Path) -> Result<String, FileError> {
    let name = path
        .file_name()
        .ok_or_else(|| FileError::rejected(path, "the path does not end in a name"))?;
    let name = name.to_str();
    name.map(str::to_owned)
        .ok_or_else(|| FileError::rejected(path, "the name is not UTF-8"))
}

/// Removes temporary files and folders of `name` that no process is writing. Failing to is not an error.
pub(crate) fn sweep<S: FileSystem + ?Sized>(system: &S, folder: &Path, name: &str) {
    sweep_where(system, folder, |leftover| {
        is_temporary_name_of(name, leftover)
    });
}

/// Removes temporary files and folders with certain names.
fn sweep_where<S: FileSystem + ?Sized>(
    system: &S,
    folder: &Path,
    is_temporary: impl Fn(&str) -> bool,
) {
    for leftover in system.names(folder).unwrap_or_default() {
        let path = folder.join(&leftover);
        if !is_temporary(&leftover) {
            continue;
        }
        let _ = match system.kind(&path) {
            Ok(Some(EntryKind::File | EntryKind::Folder)) => system.remove_if_idle(&path),
            // Links cannot be locked. A process that is about to rename it makes it again.
            Ok(Some(EntryKind::Link)) => system.remove(&path).map(|()| true),
            _ => Ok(false),
        };
    }
}
