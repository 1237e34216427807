//! The real file system, and the group and rights of the files that it makes.

// The functions that are forbidden elsewhere are called here.
#![allow(clippy::disallowed_methods)]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::error::FileError;
use crate::file_system::{Access, BeingFilled, EntryKind, FileSystem, NewFile};
use crate::lock::{FileLock, create_locked, if_idle};

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFileSystem;

/// Makes a file at a path that does not exist, and locks it.
pub(crate) fn create_locked_file(path: &Path, access: Access) -> io::Result<FileLock> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(match access {
            Access::Data => 0o644,
            Access::Program => 0o755,
            Access::Private => 0o600,
        });
    }
    #[cfg(not(unix))]
    let _ = access;
    create_locked(|| options.open(path).map(Some))
}

/// Makes a folder at a path that does not exist, and locks it.
#[cfg(unix)]
pub(crate) fn create_locked_folder(path: &Path, access: Access) -> io::Result<FileLock> {
    use std::os::unix::fs::DirBuilderExt as _;

    let mut builder = fs::DirBuilder::new();
    if access == Access::Private {
        builder.mode(0o700);
    }
    create_locked(|| {
        builder.create(path)?;
        match File::open(path) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    })
}

/// A folder that cannot be locked, because folders cannot be opened on this system.
#[cfg(not(unix))]
struct UnlockedFolder;

#[cfg(not(unix))]
impl BeingFilled for UnlockedFolder {}

/// The mode of a file that cannot have the group of the old one: the group and everyone else get the rights that both
/// had, as a member of one may be in the other now.
#[cfg(unix)]
fn for_another_group(mode: u32) -> u32 {
    let common = (mode >> 3) & mode & 0o7;
    (mode & 0o700) | (common << 3) | common
}

/// Takes the rights on a file or folder away from everyone but its owner.
///
/// # Errors
///
/// The rights cannot be read or changed.
pub fn make_private(path: &Path) -> Result<(), FileError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let failed = || FileError::system("cannot change the rights of", path);
        let mode = fs::metadata(path).map_err(failed())?.permissions().mode();
        if mode & 0o077 != 0 {
            let private = fs::Permissions::from_mode(mode & 0o700);
            fs::set_permissions(path, private).map_err(failed())?;
        }
    }
    Ok(())
}

impl FileSystem for RealFileSystem {
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => {
                let kind = metadata.file_type();
                Ok(Some(if kind.is_file() {
                    EntryKind::File
                } else if kind.is_dir() {
                    EntryKind::Folder
                } else if kind.is_symlink() {
                    EntryKind::Link
                } else {
                    EntryKind::Other
                }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(folder)?
            // Names that are written here are UTF-8.
            .filter_map(|entry| {
                entry
                    .map(|entry| entry.file_name().into_string().ok())
                    .transpose()
            })
            .collect()
    }

    fn create_file(&self, path: &Path, access: Access) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(create_locked_file(path, access)?))
    }

    #[cfg(unix)]
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
        reject_read_only(like)?;
        let like = fs::symlink_metadata(like)?;
        // Set-user-ID is not copied: the owner may be another one.
        let mut mode = like.mode() & 0o777;
        // The file starts private, so that no other user can read it in between, and the umask does not apply.
        let new = create_locked_file(path, Access::Private)?;
        let file = new.file();
        let created = file.metadata()?;
        if created.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err() {
            mode = for_another_group(mode);
        }
        // Only the superuser may give a file away; for all others, who replaces a file owns it.
        if created.uid() != like.uid() {
            let _ = fchown(file, Some(like.uid()), None);
        }
        // On file systems with one mode for all files there is nothing to change, and it may not be allowed.
        if created.mode() & 0o777 != mode {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        Ok(Box::new(new))
    }

    #[cfg(not(unix))]
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        reject_read_only(like)?;
        self.create_file(path, Access::Data)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    #[cfg(unix)]
    fn create_link(&self, path: &Path, target: &str) -> io::Result<()> {
        std::os::unix::fs::symlink(target, path)
    }

    #[cfg(not(unix))]
    fn create_link(&self, _: &Path, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(unix)]
    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>> {
        Ok(Box::new(create_locked_folder(path, Access::Data)?))
    }

    #[cfg(not(unix))]
    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>> {
        fs::create_dir(path)?;
        Ok(Box::new(UnlockedFolder))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(windows) {
            // Folders cannot be opened on this system; the journal of the file system keeps renames.
            return Ok(());
        }
        File::open(folder)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path)?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
    }

    fn remove_if_idle(&self, path: &Path) -> io::Result<bool> {
        open_to_lock(path)?.map_or(Ok(false), |file| if_idle(&file, || self.remove(path)))
    }

    fn rename_if_idle(&self, from: &Path, to: &Path) -> io::Result<bool> {
        open_to_lock(from)?.map_or(Ok(false), |file| if_idle(&file, || self.rename(from, to)))
    }
}

/// Rejects a file that this process may not write: the rename of another one over it would succeed.
///
/// The superuser may write files of any mode, as every other program lets it do.
fn reject_read_only(old: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let is_read_only = {
        use rustix::fs::{Access, AtFlags, CWD, accessat};
        match accessat(CWD, old, Access::WRITE_OK, AtFlags::EACCESS) {
            Ok(()) => false,
            Err(rustix::io::Errno::ACCESS) => true,
            Err(error) => return Err(error.into()),
        }
    };
    #[cfg(not(unix))]
    let is_read_only = fs::symlink_metadata(old)?.permissions().readonly();
    if is_read_only {
        let kind = io::ErrorKind::PermissionDenied;
        return Err(io::Error::new(kind, "it is read-only"));
    }
    Ok(())
}

/// Opens a file or folder; `None` if there is none.
fn open_to_lock(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::for_another_group;

    #[test]
    fn another_group_gives_no_user_more_rights() {
        for (mode, expected) in [
            (0o600, 0o600),
            (0o640, 0o600),
            (0o644, 0o644),
            (0o664, 0o644),
            (0o666, 0o666),
            (0o604, 0o600),
            (0o755, 0o755),
        ] {
            assert_eq!(for_another_group(mode), expected, "{mode:o}");
        }
    }
}
