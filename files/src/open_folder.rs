//! An open folder as a file system, which writes of whole files use.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use crate::extended_attributes::ExtendedAttributes;
use crate::file_system::{Access, BeingFilled, EntryKind, FileSystem, NewFile};
use crate::lock::{FileLock, create_locked, if_idle};

/// The attributes that a new or changed entry gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryAttributes {
    /// The permission bits, with set-user-ID, set-group-ID and sticky. The umask does not apply.
    pub mode: u32,
    /// The number of the user that owns it; `None` leaves it to the system.
    pub user: Option<u32>,
    /// The number of its group; `None` leaves it to the system.
    pub group: Option<u32>,
}

impl EntryAttributes {
    /// Attributes with permission bits only.
    pub fn with_mode(mode: u32) -> Self {
        Self {
            mode,
            user: None,
            group: None,
        }
    }

    /// The user and group to set; `None` if both stay.
    fn owner(self) -> rustix::io::Result<Option<(Option<Uid>, Option<Gid>)>> {
        // The last number means that the owner stays, for which there is `None`.
        if [self.user, self.group].contains(&Some(u32::MAX)) {
            return Err(Errno::INVAL);
        }
        let (user, group) = (self.user.map(Uid::from_raw), self.group.map(Gid::from_raw));
        Ok((user.is_some() || group.is_some()).then_some((user, group)))
    }
}

/// The entries of an open folder.
///
/// Only the last part of a path counts. The rest names the folder in messages and is not resolved again: a link on the
/// way may lead elsewhere by now.
pub(crate) struct OpenFolder<'folder> {
    pub(crate) folder: &'folder OwnedFd,
    /// The attributes that new files get, in place of those of the files that they replace.
    pub(crate) attributes: EntryAttributes,
}

impl OpenFolder<'_> {
    /// Opens an entry to read it or to lock it.
    fn open(&self, path: &Path, kind: OFlags) -> rustix::io::Result<OwnedFd> {
        // A pipe would block without the third flag.
        let flags = kind | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(self.folder, name_of(path), flags, Mode::empty())
    }

    /// Creates a file that only its owner can open, and locks it.
    fn create(&self, path: &Path) -> io::Result<FileLock> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        create_locked(|| {
            let mode = Mode::RUSR | Mode::WUSR;
            let file = rustix::fs::openat(self.folder, name_of(path), flags, mode)?;
            Ok(Some(file.into()))
        })
    }
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or(OsStr::new("."))
}

/// A new file that gets attributes.
struct FileWithAttributes {
    file: FileLock,
    attributes: EntryAttributes,
    /// Those of the file that it replaces.
    extended: Option<ExtendedAttributes>,
}

impl NewFile for FileWithAttributes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        // Only now, because a write clears set-user-ID and capabilities. A change of the owner does so, too.
        let file = self.file.file();
        apply_owner(file, self.attributes)?;
        if let Some(extended) = &self.extended {
            extended.apply(file)?;
        }
        // Last, because the bits of the group are the mask of an ACL.
        rustix::fs::fchmod(file, Mode::from_raw_mode(self.attributes.mode))?;
        self.file.sync()
    }
}

impl FileSystem for OpenFolder<'_> {
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        match rustix::fs::statat(self.folder, name_of(path), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(kind_of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn names(&self, _: &Path) -> io::Result<Vec<String>> {
        let names = names_in(self.folder)?.into_iter();
        // Names that are written here are UTF-8.
        Ok(names.filter_map(|name| name.into_string().ok()).collect())
    }

    fn create_file(&self, path: &Path, _: Access) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(FileWithAttributes {
            file: self.create(path)?,
            attributes: self.attributes,
            extended: None,
        }))
    }

    /// The permission bits and the owner are those of the folder all the same.
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        let extended = match self.open(like, OFlags::empty()) {
            Ok(like) => Some(ExtendedAttributes::of(&like)?),
            // It is gone, or its owner may replace it without the right to read it.
            Err(Errno::NOENT | Errno::ACCESS) => None,
            Err(errno) => return Err(errno.into()),
        };
        Ok(Box::new(FileWithAttributes {
            file: self.create(path)?,
            attributes: self.attributes,
            extended,
        }))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(self.folder, name_of(path), Mode::RWXU)?)
    }

    fn create_link(&self, path: &Path, target: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, self.folder, name_of(path))?)
    }

    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>> {
        let folder = create_locked(|| {
            self.create_folder(path)?;
            match self.open(path, OFlags::DIRECTORY) {
                Ok(folder) => Ok(Some(folder.into())),
                Err(Errno::NOENT) => Ok(None),
                Err(errno) => Err(errno.into()),
            }
        })?;
        Ok(Box::new(folder))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (name_of(from), name_of(to));
        Ok(rustix::fs::renameat(self.folder, from, self.folder, to)?)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.folder)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(remove_tree(self.folder, name_of(path).to_owned())?)
    }

    fn remove_if_idle(&self, path: &Path) -> io::Result<bool> {
        let file = self.open(path, OFlags::empty())?;
        if_idle(&File::from(file), || self.remove(path))
    }

    fn rename_if_idle(&self, from: &Path, to: &Path) -> io::Result<bool> {
        let file = self.open(from, OFlags::empty())?;
        if_idle(&File::from(file), || self.rename(from, to))
    }
}

pub(crate) fn kind_of(stat: &Stat) -> EntryKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// The names in a folder.
pub(crate) fn names_in(folder: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Gives attributes to an open file or folder.
pub(crate) fn apply(
    file: impl std::os::fd::AsFd,
    attributes: EntryAttributes,
) -> rustix::io::Result<()> {
    // The owner comes first, because a change of it clears set-user-ID.
    apply_owner(&file, attributes)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(attributes.mode))
}

fn apply_owner(
    file: impl std::os::fd::AsFd,
    attributes: EntryAttributes,
) -> rustix::io::Result<()> {
    match attributes.owner()? {
        Some((user, group)) => rustix::fs::fchown(&file, user, group),
        None => Ok(()),
    }
}

/// The same for a file that is open without the right to read it, which the calls above reject.
pub(crate) fn apply_unread(file: &OwnedFd, attributes: EntryAttributes) -> rustix::io::Result<()> {
    if kind_of(&rustix::fs::fstat(file)?) == EntryKind::Link {
        return Err(Errno::LOOP);
    }
    if let Some((user, group)) = attributes.owner()? {
        rustix::fs::chownat(file, "", user, group, AtFlags::EMPTY_PATH)?;
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(attributes.mode))
}

/// Removes what has a name in a folder, with everything in it. Links are removed, not followed.
pub(crate) fn remove_tree(folder: &OwnedFd, name: OsString) -> rustix::io::Result<()> {
    /// A folder that is being emptied, its name in the folder before it, and the names that are left in it.
    struct Level {
        folder: OwnedFd,
        name: OsString,
        left: Vec<OsString>,
    }
    let open = |folder: &OwnedFd, name: &OsString| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(folder.as_fd(), name, flags, Mode::empty())
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut next = Some(name);
    loop {
        let around = levels.last().map_or(folder, |level| &level.folder);
        if let Some(name) = next.take() {
            match rustix::fs::unlinkat(around, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(Errno::ISDIR) => {
                    let opened = open(around, &name)?;
                    let left = names_in(&opened)?;
                    levels.push(Level {
                        folder: opened,
                        name,
                        left,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        let Some(level) = levels.last_mut() else {
            return Ok(());
        };
        next = level.left.pop();
        if next.is_none() {
            let Some(done) = levels.pop() else {
                return Ok(());
            };
            let around = levels.last().map_or(folder, |level| &level.folder);
            rustix::fs::unlinkat(around, &done.name, AtFlags::REMOVEDIR)?;
        }
    }
}
