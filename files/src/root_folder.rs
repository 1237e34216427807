//! Treats a folder as the root of a file system: paths that start with `/`, and links, are resolved inside of it.
//! Nothing outside of it can be reached.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::atomic::{file_name, parent, sweep, write_file};
use crate::error::FileError;
use crate::file_system::EntryKind;
use crate::lock::{FileLock, holder_of, try_lock_open_folder};
use crate::open_folder::{
    EntryAttributes, OpenFolder, apply, apply_unread, kind_of, names_in, remove_tree,
};
use crate::read::Follow;
use crate::temporary::temporary_name;

/// How often a step is tried that other processes can disturb.
const MAX_ATTEMPTS: u32 = 100;

/// A folder whose content is read and written as the root of a file system, such as an unpacked image of a machine, or
/// `/` itself. Linux alone has the system call that keeps links inside.
///
/// ```
/// use std::path::Path;
/// use pkgres_files::{EntryAttributes, Follow, RootFolder};
///
/// # let folder = tempfile::tempdir()?;
/// let root = RootFolder::open(folder.path())?;
/// root.make_folder(Path::new("/etc"), EntryAttributes::with_mode(0o755))?;
/// root.write_file(Path::new("/etc/web.conf"), b"port=80\n", EntryAttributes::with_mode(0o640))?;
///
/// assert_eq!(root.read(Path::new("/etc/web.conf"), 1024, Follow::Nothing)?, b"port=80\n");
/// let entry = root.entry(Path::new("/etc/web.conf"))?.expect("it was written");
/// assert_eq!(entry.mode, 0o640);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RootFolder {
    directory: OwnedFd,
    path: PathBuf,
}

/// The entry at a path. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootEntry {
    /// The kind.
    pub kind: EntryKind,
    /// The permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// The number of the user that owns it.
    pub user: u32,
    /// The number of its group.
    pub group: u32,
    /// The size in bytes.
    pub size: u64,
    /// The target of a link; `None` for everything else.
    pub link_target: Option<PathBuf>,
}

impl RootFolder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory =
            rustix::fs::open(path, flags, Mode::empty()).map_err(failed("cannot open", path))?;
        Ok(Self {
            directory,
            path: path.to_owned(),
        })
    }

    /// The folder outside of it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that entries can be made in a folder, which links may lead to.
    ///
    /// # Errors
    ///
    /// There is no such folder, its file system is read-only, or this user may not write in it.
    pub fn check_writable(&self, folder: &Path) -> Result<(), FileError> {
        let error = || failed("cannot write in", folder);
        let opened = self.resolve(folder, OFlags::RDONLY | OFlags::DIRECTORY);
        let opened = opened.map_err(error())?;
        let access = Access::WRITE_OK | Access::EXEC_OK;
        rustix::fs::accessat(&opened, ".", access, AtFlags::EACCESS).map_err(error())
    }

    /// The entry at a path; `None` if there is none.
    pub fn entry(&self, path: &Path) -> Result<Option<RootEntry>, FileError> {
        let error = || failed("cannot read", path);
        let Some(file) = self.descriptor(path)? else {
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&file).map_err(error())?;
        let kind = kind_of(&stat);
        let link_target = if kind == EntryKind::Link {
            let target = rustix::fs::readlinkat(&file, "", Vec::new()).map_err(error())?;
            Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
        } else {
            None
        };
        Ok(Some(RootEntry {
            kind,
            mode: stat.st_mode & 0o7777,
            user: stat.st_uid,
            group: stat.st_gid,
            size: stat.st_size.try_into().unwrap_or(0),
            link_target,
        }))
    }

    /// Whether a character device with the number 0 is at a path, by which an
    /// [overlay](https://docs.kernel.org/filesystems/overlayfs.html#whiteouts-and-opaque-directories) marks what was
    /// removed.
    ///
    /// # Errors
    ///
    /// The path cannot be read.
    pub fn is_whiteout(&self, path: &Path) -> Result<bool, FileError> {
        let Some(file) = self.descriptor(path)? else {
            return Ok(false);
        };
        let stat = rustix::fs::fstat(&file).map_err(failed("cannot read", path))?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        Ok(is_device && stat.st_rdev == 0)
    }

    /// A descriptor of what is at a path, which can be watched but not read; `None` if there is nothing. Links are not
    /// followed at the end of the path.
    pub fn descriptor(&self, path: &Path) -> Result<Option<OwnedFd>, FileError> {
        match self.resolve(path, OFlags::PATH | OFlags::NOFOLLOW) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(failed("cannot open", path)(errno)),
        }
    }

    /// Reads a plain file of at most `limit` bytes.
    pub fn read(&self, path: &Path, limit: u64, follow: Follow) -> Result<Vec<u8>, FileError> {
        let error = || failed("cannot read", path);
        // A pipe would block without this.
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK;
        if follow == Follow::Nothing {
            flags |= OFlags::NOFOLLOW;
        }
        let file = self.resolve(path, flags).map_err(error())?;
        let stat = rustix::fs::fstat(&file).map_err(error())?;
        if kind_of(&stat) != EntryKind::File {
            return Err(FileError::rejected(path, "this is not a plain file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::from(file)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(FileError::system("cannot read", path))?;
        if bytes.len() as u64 > limit {
            let path = path.to_owned();
            return Err(FileError::TooLarge { path, limit });
        }
        Ok(bytes)
    }

    /// The names in a folder, sorted.
    pub fn names(&self, path: &Path) -> Result<Vec<OsString>, FileError> {
        let folder = self
            .resolve(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(failed("cannot read", path))?;
        let mut names = names_in(&folder).map_err(failed("cannot read", path))?;
        names.sort();
        Ok(names)
    }

    /// Writes a file atomically and durably: whatever happens, it has the old content and attributes, or the new ones.
    /// The access control list and other extended attributes of a file that is replaced stay. Temporary files of the
    /// same name that a crash left behind are removed.
    ///
    /// # Errors
    ///
    /// There is a link, a folder or a device, an extended attribute cannot be kept, or a step fails.
    pub fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), FileError> {
        let folder = &self.folder_of(path)?;
        write_file(&OpenFolder { folder, attributes }, path, bytes)
    }

    /// Makes a folder whose parent exists.
    pub fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), FileError> {
        let error = || failed("cannot create", path);
        let name = file_name(path)?;
        let folder = self.folder_of(path)?;
        rustix::fs::mkdirat(&folder, &name, Mode::RWXU).map_err(error())?;
        self.set_attributes(path, attributes)?;
        rustix::fs::fsync(&folder).map_err(error())
    }

    /// Makes a link whose parent exists, in place of a link or file. Temporary links and files of the same name that a
    /// crash left behind are removed.
    pub fn make_link(&self, path: &Path, target: &Path) -> Result<(), FileError> {
        let error = || failed("cannot create", path);
        let name = file_name(path)?;
        let folder = self.folder_of(path)?;
        let attributes = EntryAttributes::with_mode(0);
        sweep(
            &OpenFolder {
                folder: &folder,
                attributes,
            },
            path,
            &name,
        );
        let temporary = temporary_name(&name);
        let mut attempts = 0;
        loop {
            rustix::fs::symlinkat(target, &folder, &temporary).map_err(error())?;
            match rustix::fs::renameat(&folder, &temporary, &folder, &name) {
                Ok(()) => break,
                // Another process took it for one that was left behind: links cannot be locked.
                Err(Errno::NOENT) if attempts < MAX_ATTEMPTS => attempts += 1,
                Err(first) => {
                    let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
                    return Err(error()(first));
                }
            }
        }
        rustix::fs::fsync(&folder).map_err(error())
    }

    /// Renames a file, link or folder at once, to a place in the same file system. A file that is there is replaced, and
    /// so is an empty folder by a folder.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        let error = || failed("cannot rename", from);
        let (old, new) = (file_name(from)?, file_name(to)?);
        let (before, after) = (self.folder_of(from)?, self.folder_of(to)?);
        rustix::fs::renameat(&before, &old, &after, &new).map_err(error())?;
        rustix::fs::fsync(&after).map_err(error())?;
        rustix::fs::fsync(&before).map_err(error())
    }

    /// Changes the attributes of a file or folder. Links are not followed.
    pub fn set_attributes(
        &self,
        path: &Path,
        attributes: EntryAttributes,
    ) -> Result<(), FileError> {
        let error = || failed("cannot change the attributes of", path);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match self.resolve(path, flags) {
            Ok(file) => apply(&file, attributes),
            // Its owner may change a file that he may not read.
            Err(Errno::ACCESS) => self
                .resolve(path, OFlags::PATH | OFlags::NOFOLLOW)
                .and_then(|file| apply_unread(&file, attributes)),
            Err(errno) => Err(errno),
        }
        .map_err(error())
    }

    /// Removes a file or link, or a folder with everything in it. Nothing at the path is no error.
    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        let error = || failed("cannot remove", path);
        let name = file_name(path)?;
        let folder = match self.folder_of(path) {
            Ok(folder) => folder,
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        remove_tree(&folder, OsString::from(name)).map_err(error())?;
        rustix::fs::fsync(&folder).map_err(error())
    }

    /// Locks a folder; `None` if another process has locked it. The lock ends with the process.
    pub fn lock(&self, path: &Path) -> Result<Option<FileLock>, FileError> {
        let folder = self
            .resolve(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(failed("cannot lock", path))?;
        try_lock_open_folder(std::fs::File::from(folder))
            .map_err(FileError::system("cannot lock", path))
    }

    /// The process that has locked a folder, as far as the system says so; for messages.
    pub fn lock_holder(&self, path: &Path) -> Option<u32> {
        let folder = self.resolve(path, OFlags::PATH | OFlags::DIRECTORY).ok()?;
        holder_of(folder.as_fd())
    }

    /// Opens what is at a path.
    fn resolve(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let mut attempts = 0;
        loop {
            let opened = rustix::fs::openat2(
                &self.directory,
                path,
                flags,
                Mode::empty(),
                ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
            );
            match opened {
                // Something was renamed meanwhile, so that the system cannot tell whether the path stays inside.
                Err(Errno::AGAIN) if attempts < MAX_ATTEMPTS => attempts += 1,
                opened => return opened,
            }
        }
    }

    /// The folder that an entry is in.
    fn folder_of(&self, path: &Path) -> Result<OwnedFd, FileError> {
        self.resolve(parent(path), OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(failed("cannot open the folder of", path))
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(Errno) -> FileError {
    let error = FileError::system(action, path);
    move |errno| error(io::Error::from(errno))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_stay_inside() {
        let outside = tempfile::tempdir().expect("a folder for the test");
        let root = outside.path().join("root");
        std::fs::create_dir(&root).expect("its folder exists");
        for (link, target) in [("up", "../.."), ("absolute", "/")] {
            symlink(target, root.join(link)).expect("its folder exists");
            let folder = RootFolder::open(&root).expect("it exists");
            let path = Path::new("/").join(link).join("written");
            folder
                .write_file(&path, link.as_bytes(), EntryAttributes::with_mode(0o644))
                .expect("the link leads to the root");
            let written = std::fs::read(root.join("written")).expect("it is in the root");
            assert_eq!(written, link.as_bytes());
            assert!(!outside.path().join("written").exists());
        }
    }

    #[test]
    fn leftovers_are_removed_and_trees_without_following_links() {
        let outside = tempfile::tempdir().expect("a folder for the test");
        let kept = tempfile::tempdir().expect("a folder for the test");
        symlink(kept.path(), outside.path().join("link")).expect("the folder exists");
        let root = RootFolder::open(outside.path()).expect("it exists");
        let attributes = EntryAttributes::with_mode(0o700);
        for folder in ["/a", "/a/b", "/a/b/c"] {
            root.make_folder(Path::new(folder), attributes)
                .expect("its parent exists");
        }
        let leftover = outside.path().join("a").join(temporary_name("file"));
        symlink(kept.path(), outside.path().join("a/b/link")).expect("the folder exists");
        std::fs::File::create_new(&leftover).expect("the folder exists");
        let left_link = outside.path().join("a").join(temporary_name("file"));
        symlink("nowhere", &left_link).expect("the folder exists");
        let file = Path::new("/a/file");
        root.write_file(file, b"", attributes).expect("no obstacle");
        assert!(!leftover.exists() && !left_link.is_symlink());
        symlink("nowhere", &left_link).expect("the folder exists");
        root.make_link(file, Path::new("there"))
            .expect("no obstacle");
        assert!(!left_link.is_symlink());
        assert_eq!(root.names(Path::new("/a")).expect("it exists").len(), 2);

        root.remove(Path::new("/a")).expect("no obstacle");
        root.remove(Path::new("/link")).expect("no obstacle");
        root.remove(Path::new("/link")).expect("nothing is there");
        assert!(root.names(Path::new("/")).expect("it exists").is_empty());
        assert!(kept.path().exists());
    }

    /// A file that cannot be removed is not taken for a folder.
    #[test]
    fn the_reason_why_a_file_cannot_be_removed_is_reported() {
        use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

        let outside = tempfile::tempdir().expect("a folder for the test");
        let file = std::fs::File::create_new(outside.path().join("file")).expect("a new file");
        let root = RootFolder::open(outside.path()).expect("it exists");
        // Not every file system has such flags, and only the superuser may set this one.
        let Ok(flags) = ioctl_getflags(&file) else {
            return;
        };
        if ioctl_setflags(&file, flags | IFlags::IMMUTABLE).is_ok() {
            let removed = root.remove(Path::new("/file"));
            ioctl_setflags(&file, flags).expect("it was set before");
            let error = removed.expect_err("it is immutable").to_string();
            assert!(error.contains("not permitted"), "{error}");
        }
    }

    #[test]
    fn attributes_change_without_reading() {
        use std::os::unix::fs::PermissionsExt as _;

        let outside = tempfile::tempdir().expect("a folder for the test");
        let root = RootFolder::open(outside.path()).expect("it exists");
        let path = Path::new("/file");
        let attributes = EntryAttributes::with_mode;
        root.write_file(path, b"", attributes(0o200))
            .expect("no obstacle");
        // The superuser may read it, so that the step that others need is called by itself.
        let file = root.descriptor(path).expect("no obstacle").expect("there");
        apply_unread(&file, attributes(0o2640)).expect("it is ours");
        let mode = || {
            let metadata = std::fs::metadata(outside.path().join("file"));
            metadata.expect("it is there").permissions().mode() & 0o7777
        };
        assert_eq!(mode(), 0o2640);
        root.set_attributes(path, attributes(0o200))
            .expect("it is ours");
        root.set_attributes(path, attributes(0o600))
            .expect("it is ours");
        assert_eq!(mode(), 0o600);

        root.make_link(Path::new("/link"), path)
            .expect("no obstacle");
        let link = root.descriptor(Path::new("/link")).expect("no obstacle");
        let changed = apply_unread(&link.expect("there"), attributes(0o777));
        assert_eq!(changed, Err(Errno::LOOP));
        assert_eq!(mode(), 0o600);
    }
}
