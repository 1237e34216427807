//! Writing files and folders in one step, as seen from outside.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pkgres_manifest::PackagePath;

use crate::error::FileError;
use crate::file_system::{Access, EntryKind, FileSystem, NewFile};

/// What temporary names begin with. No package may have a file of such a name.
const TEMPORARY_PREFIX: &str = ".pkgres-";

/// How many bytes small pieces are put together to before they are written.
const PIECE: usize = 64 << 10;

/// Writes a file: afterwards there is the old content or the new one, whatever happens.
///
/// The bytes go to a temporary file in the same folder and are brought to the disk; then the file
/// takes the place of the target, and everyone may do with it what they might with the old one, whose
/// group it has; less where it cannot have that. It belongs to whoever writes it. Refused if the target
/// is a link, a folder or a device. What earlier runs left behind after a crash is removed.
pub fn write_file(system: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write(system, path, bytes, Durability::Durable)
}

/// Writes a file that can be made again, such as one of a cache, and its folder if there is none.
///
/// As with [`write_file`] readers see the old content or the new one, also those that have the old
/// one open. But nothing waits for the disk: after a crash of the machine there may be anything at
/// all, so that the content has to show whether it is whole.
pub fn write_cache_file(
    system: &dyn FileSystem,
    path: &Path,
    bytes: &[u8],
) -> Result<(), FileError> {
    make_folders(system, parent(path))?;
    write(system, path, bytes, Durability::Volatile)
}

/// Likewise for a file in pieces, of which there may be many and small ones: they are not put
/// together in memory.
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

/// Writes a file that nobody else may read, such as one with a secret; otherwise as [`write_file`].
pub fn write_private_file(
    system: &dyn FileSystem,
    path: &Path,
    bytes: &[u8],
) -> Result<(), FileError> {
    let put = |file: &mut dyn NewFile| file.write(bytes);
    write_with(system, path, put, Durability::Durable, Access::Private)
}

/// Makes a folder and those that it lies in, as far as they are missing, and brings them to the
/// disk.
pub fn make_folder(system: &dyn FileSystem, folder: &Path) -> Result<(), FileError> {
    let made = make_folders(system, folder)?;
    // The name of a folder is kept by the one that it lies in. Where there are folders already, whoever
    // made them may have come no further.
    for holder in folder.ancestors().skip(1).take(made.max(2)) {
        let holder = if holder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            holder
        };
        system
            .sync_folder(holder)
            .map_err(FileError::system("cannot create", holder))?;
    }
    Ok(())
}

/// Makes a folder and those that it lies in, as far as they are missing; says how many were.
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

/// Whether a file must be there after a crash.
#[derive(Clone, Copy, PartialEq)]
enum Durability {
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

/// Who may do what with a file that is written.
#[derive(Clone, Copy)]
enum NewAccess {
    Given(Access),
    /// What they may do with the file that it takes the place of.
    AsBefore,
}

fn write_with(
    system: &dyn FileSystem,
    path: &Path,
    put: impl FnOnce(&mut dyn NewFile) -> io::Result<()>,
    durability: Durability,
    access: Access,
) -> Result<(), FileError> {
    let folder = parent(path);
    let name = file_name(path)?;
    let kind = system.kind(path);
    let access = match kind.map_err(FileError::system("cannot write", path))? {
        // What can be made again is nobody's but ours, and what is private stays so.
        Some(EntryKind::File) if durability == Durability::Durable && access == Access::Data => {
            NewAccess::AsBefore
        }
        None | Some(EntryKind::File) => NewAccess::Given(access),
        Some(EntryKind::Link) => {
            return Err(FileError::refused(path, "a link is not written through"));
        }
        Some(EntryKind::Folder) => return Err(FileError::refused(path, "there is a folder")),
        Some(EntryKind::Other) => return Err(FileError::refused(path, "this is not a plain file")),
    };
    sweep(system, folder, &name);
    let temporary = folder.join(temporary_name(&name));
    let written = write_and_rename(system, (&temporary, path), put, durability, access);
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = system.remove(&temporary);
    }
    written?;
    if durability == Durability::Volatile {
        return Ok(());
    }
    system
        .sync_folder(folder)
        .map_err(FileError::system("cannot write", folder))
}

fn write_and_rename(
    system: &dyn FileSystem,
    (temporary, path): (&Path, &Path),
    put: impl FnOnce(&mut dyn NewFile) -> io::Result<()>,
    durability: Durability,
    access: NewAccess,
) -> Result<(), FileError> {
    // Errors name the target: nobody knows the temporary file.
    let failed = || FileError::system("cannot write", path);
    let file = match access {
        NewAccess::Given(access) => system.create_file(temporary, access),
        NewAccess::AsBefore => system.create_file_like(temporary, path),
    };
    let mut file = file.map_err(failed())?;
    put(file.as_mut()).map_err(failed())?;
    if durability == Durability::Durable {
        file.sync().map_err(failed())?;
    }
    system.rename(temporary, path).map_err(failed())
}

/// A file of a folder that is written as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTreeFile {
    /// Its path in the folder.
    pub path: PackagePath,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it can be run.
    pub access: Access,
}

/// Writes a folder with all its files: afterwards there is nothing or all of it.
///
/// The target must not exist, or be an empty folder.
pub fn write_tree(
    system: &dyn FileSystem,
    folder: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
) -> Result<(), FileError> {
    let parent = parent(folder);
    let name = file_name(folder)?;
    let occupied = FileError::refused(folder, "there is something already");
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
    let temporary = parent.join(temporary_name(&name));
    let filled = fill(system, &temporary, folder, files).and_then(|()| {
        system
            .rename(&temporary, folder)
            .map_err(FileError::system("cannot write", folder))
    });
    if filled.is_err() {
        let _ = system.remove(&temporary);
    }
    filled?;
    system
        .sync_folder(parent)
        .map_err(FileError::system("cannot write", parent))
}

/// Fills the folder `temporary`; errors name the places in `target`, which it becomes.
fn fill(
    system: &dyn FileSystem,
    temporary: &Path,
    target: &Path,
    files: impl IntoIterator<Item = Result<NewTreeFile, FileError>>,
) -> Result<(), FileError> {
    system
        .create_folder(temporary)
        .map_err(FileError::system("cannot create", target))?;
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    folders.insert(temporary.to_owned());
    for file in files {
        let file = file?;
        let mut at = temporary.to_owned();
        let failed = || FileError::system("cannot write", target.join(file.path.as_str()));
        let mut parts = file.path.as_str().split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            if parts.peek().is_some() && folders.insert(at.clone()) {
                system.create_folder(&at).map_err(failed())?;
            }
        }
        let mut new = system.create_file(&at, file.access).map_err(failed())?;
        new.write(&file.bytes).map_err(failed())?;
        new.sync().map_err(failed())?;
    }
    for folder in folders.iter().rev() {
        system
            .sync_folder(folder)
            .map_err(FileError::system("cannot write", target))?;
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn file_name(path: &Path) -> Result<String, FileError> {
    path.file_name()
        .and_then(|name| name.to_str())
        .map(str::to_owned)
        .ok_or_else(|| FileError::refused(path, "the path does not end in a name"))
}

/// A name that no other write of this or another process uses at the same time.
pub(crate) fn temporary_name(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(
        "{TEMPORARY_PREFIX}{name}.{}-{number}.tmp",
        std::process::id()
    )
}

/// Removes temporary files of `name` that nobody is writing any more. That it cannot is no reason
/// not to write.
pub(crate) fn sweep(system: &dyn FileSystem, folder: &Path, name: &str) {
    let prefix = format!("{TEMPORARY_PREFIX}{name}.");
    for leftover in system.names(folder).unwrap_or_default() {
        let is_temporary = leftover.starts_with(&prefix)
            && Path::new(&leftover)
                .extension()
                .is_some_and(|extension| extension == "tmp");
        let path = folder.join(&leftover);
        if is_temporary && matches!(system.kind(&path), Ok(Some(EntryKind::File))) {
            let _ = system.remove_if_idle(&path);
        }
    }
}
