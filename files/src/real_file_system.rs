//! The real file system, and the group and rights of the files that it makes.

// The functions that are forbidden elsewhere are called here.
#![allow(clippy::disallowed_methods)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::FileError;
use crate::file_system::{Access, BeingFilled, EntryKind, FileSystem, NewFile};

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFileSystem;

/// A file that is locked while it is written.
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Makes a file at a path that does not exist.
    pub(crate) fn create(path: &Path, access: Access) -> io::Result<Self> {
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
        // The lock distinguishes a file that is being written from one that was left behind. On file systems
        // without locks, such files stay.
        loop {
            let file = options.open(path)?;
            match file.lock() {
                Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
                // Another process may have removed the file as left behind before it was locked.
                _ if is_removed(&file)? => {}
                _ => return Ok(Self(file)),
            }
        }
    }
}

/// Whether an open file or folder has no name any more.
#[cfg(unix)]
fn is_removed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    Ok(file.metadata()?.nlink() == 0)
}

/// On this system, what is open cannot be removed.
#[cfg(not(unix))]
fn is_removed(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// A folder that is locked while it is filled or used.
#[derive(Debug)]
pub(crate) struct LockedFolder(Option<File>);

impl LockedFolder {
    /// Makes a folder at a path that does not exist.
    pub(crate) fn create(path: &Path, access: Access) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        if access == Access::Private {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        #[cfg(not(unix))]
        let _ = (access, &mut builder);
        loop {
            builder.create(path)?;
            if cfg!(windows) {
                // Folders cannot be opened on this system.
                return Ok(Self(None));
            }
            let folder = match File::open(path) {
                Ok(folder) => folder,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            match folder.lock() {
                Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
                // Another process may have removed the folder as left behind before it was locked.
                _ if is_removed(&folder)? => {}
                _ => return Ok(Self(Some(folder))),
            }
        }
    }

    /// The open folder, for another process to keep its lock.
    #[cfg(unix)]
    pub(crate) fn share(&self) -> io::Result<File> {
        let folder = self.0.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        folder.try_clone()
    }
}

impl BeingFilled for LockedFolder {}

impl Drop for LockedFolder {
    fn drop(&mut self) {
        // As with files.
        if let Some(folder) = &self.0 {
            let _ = folder.unlock();
        }
    }
}

impl NewFile for LockedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started at this moment shares the file and its lock. On
        // file systems without locks there is nothing to undo.
        let _ = self.0.unlock();
    }
}

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
        Ok(Box::new(LockedFile::create(path, access)?))
    }

    #[cfg(unix)]
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
        let like = fs::symlink_metadata(like)?;
        // Set-user-ID is not copied: the owner may be another one.
        let mut mode = like.mode() & 0o777;
        // The file starts private, so that no other user can read it in between, and the umask does not apply.
        let file = LockedFile::create(path, Access::Private)?;
        let created = file.0.metadata()?;
        if created.gid() != like.gid() && fchown(&file.0, None, Some(like.gid())).is_err() {
            mode = for_another_group(mode);
        }
        // Only the superuser may give a file away; for all others, who replaces a file owns it.
        if created.uid() != like.uid() {
            let _ = fchown(&file.0, Some(like.uid()), None);
        }
        // On file systems with one mode for all files there is nothing to change, and it may not be allowed.
        if created.mode() & 0o777 != mode {
            file.0.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        Ok(Box::new(file))
    }

    #[cfg(not(unix))]
    fn create_file_like(&self, path: &Path, _: &Path) -> io::Result<Box<dyn NewFile>> {
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

    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>> {
        Ok(Box::new(LockedFolder::create(path, Access::Data)?))
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
        let file = match OpenOptions::new().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => self.remove(path).map(|()| true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(false)
            }
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
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
