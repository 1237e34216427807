//! File locks, so that processes wait for each other instead of losing changes.

// Only this module may use these functions.
#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::Path;

use crate::error::FileError;
use crate::file_system::{BeingFilled, NewFile};

/// A file lock, released on drop.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// The locked file, for another process to keep open: the lock ends once both have closed it.
    ///
    /// # Errors
    ///
    /// The process cannot open more files.
    pub fn share(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// The locked file.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl BeingFilled for FileLock {}

impl NewFile for FileLock {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Locks a file, which is made if there is none. Blocks while another process holds the lock.
///
/// The lock makes reading a file, deciding and replacing it one step. As that replaces the file itself, the lock is
/// another file beside it. It ends with the process. On a file system without locks nothing is locked.
///
/// # Errors
///
/// The file cannot be made, opened or locked.
pub fn lock_file(path: &Path) -> Result<FileLock, FileError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = options
        .open(path)
        .map_err(FileError::system("cannot lock", path))?;
    match file.lock() {
        Err(error) if !is_without_locks(&error) => {
            Err(FileError::system("cannot lock", path)(error))
        }
        _ => Ok(FileLock(file)),
    }
}

/// Locks a folder itself, without a lock file. While another process holds the lock, this calls `wait` once and
/// blocks.
///
/// The lock makes reading files of a folder, deciding and writing them one step for all that take it. It ends with
/// the process. On a file system without locks nothing is locked.
///
/// # Errors
///
/// The folder cannot be opened or locked.
pub fn lock_folder(folder: &Path, wait: impl FnOnce()) -> Result<FileLock, FileError> {
    if let Some(lock) = try_lock_folder(folder)? {
        return Ok(lock);
    }
    wait();
    let failed = || FileError::system("cannot lock", folder);
    let file = open_for_lock(folder).map_err(failed())?;
    match file.lock() {
        Err(error) if !is_without_locks(&error) => Err(failed()(error)),
        _ => Ok(FileLock(file)),
    }
}

/// Locks a folder itself; `None` if another process has locked it. On a file system without locks nothing is locked.
///
/// # Errors
///
/// The folder cannot be opened or locked. That another process has locked it is no error.
pub fn try_lock_folder(folder: &Path) -> Result<Option<FileLock>, FileError> {
    let open = open_for_lock(folder);
    open.and_then(try_lock_open_folder)
        .map_err(FileError::system("cannot lock", folder))
}

/// Locks an open folder; `None` if another process has locked it.
pub(crate) fn try_lock_open_folder(folder: File) -> io::Result<Option<FileLock>> {
    match folder.try_lock() {
        Ok(()) => Ok(Some(FileLock(folder))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) if is_without_locks(&error) => Ok(Some(FileLock(folder))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Makes a file or folder and locks it. The lock distinguishes one that is being written from one that was left behind;
/// on file systems without locks, what was left behind stays.
///
/// `create` returns `None` if another process removed the entry, as left behind, before it was opened.
pub(crate) fn create_locked(create: impl Fn() -> io::Result<Option<File>>) -> io::Result<FileLock> {
    loop {
        let Some(file) = create()? else { continue };
        // A process that holds the lock is about to remove the entry.
        match file.lock() {
            Err(error) if !is_without_locks(&error) => return Err(error),
            _ if is_removed(&file)? => {}
            _ => return Ok(FileLock(file)),
        }
    }
}

/// Calls `act`, which removes the name of an open file or folder, or renames it, unless a process has locked it; returns
/// whether it did.
pub(crate) fn if_idle(file: &File, act: impl FnOnce() -> io::Result<()>) -> io::Result<bool> {
    match file.try_lock() {
        // The name may belong to another file by now, which a process is writing.
        Ok(()) if is_removed(file)? => Ok(false),
        // The lock is held until the name is gone, so that no process begins to write under it.
        Ok(()) => act().map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if is_without_locks(&error) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
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

/// The process that holds a lock on an open file or folder; `None` if the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn holder_of(file: BorrowedFd<'_>) -> Option<u32> {
    let number = rustix::fs::fstat(file).ok()?.st_ino;
    let read = |path: String| std::fs::read_to_string(path).ok();
    let opened = read(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let mounts = read("/proc/self/mountinfo".to_owned())?;
    holder_in(
        &read("/proc/locks".to_owned())?,
        device_of(&opened, &mounts)?,
        number,
    )
}

/// The major and minor number of the file system of an open file, from `/proc/PID/fdinfo` and `/proc/PID/mountinfo`.
/// Btrfs reports other numbers for its files.
#[cfg(target_os = "linux")]
fn device_of(opened: &str, mounts: &str) -> Option<(u32, u32)> {
    let mut lines = opened.lines();
    let mount = lines.find_map(|line| line.strip_prefix("mnt_id:"))?.trim();
    // `26 1 254:0 / / rw,relatime - ext4 /dev/vda rw`
    mounts.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (number, _, device) = (words.next()?, words.next()?, words.next()?);
        let (major, minor) = device.split_once(':')?;
        (number == mount).then_some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// The process that holds the lock on a file with a number on a device, according to `/proc/locks`. Files of different
/// devices have the same numbers.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, device: (u32, u32), number: u64) -> Option<u32> {
    // `1: FLOCK  ADVISORY  WRITE 4711 00:2a:1234 0 EOF`; those that wait have an arrow behind their number.
    let mut held = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, place, ..] = words.as_slice() else {
            return None;
        };
        let (found_device, found) = place.rsplit_once(':')?;
        let (major, minor) = found_device.split_once(':')?;
        let hexadecimal = |text| u32::from_str_radix(text, 16).ok();
        let found_device = (hexadecimal(major)?, hexadecimal(minor)?);
        (found_device == device && found.parse() == Ok(number)).then(|| process.parse().ok())?
    });
    // A process of another namespace has no number here.
    held.find(|process| *process > 0)
}

#[cfg(unix)]
fn open_for_lock(folder: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    // A pipe with this name would block until somebody writes to it.
    let only_folders = rustix::fs::OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .custom_flags(only_folders)
        .open(folder)
}

/// Folders cannot be opened on this system, so that the lock is a file in it.
#[cfg(not(unix))]
fn open_for_lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(".pkgres-lock");
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Whether a file system has no locks, or none on folders that can only be read.
fn is_without_locks(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    ) || is_of_network_file_system(error)
}

/// Whether this is the error of a network file system whose server has no locks, or which locks only files that are open
/// for writing.
#[cfg(unix)]
fn is_of_network_file_system(error: &io::Error) -> bool {
    let errors = [rustix::io::Errno::NOLCK, rustix::io::Errno::BADF];
    errors.contains(&rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO))
}

#[cfg(not(unix))]
fn is_of_network_file_system(_: &io::Error) -> bool {
    false
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started at this moment shares the file.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lock");
        let count = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let held = lock_file(&path).expect("it can be locked");
                        let before = count.load(std::sync::atomic::Ordering::SeqCst);
                        std::thread::yield_now();
                        count.store(before + 1, std::sync::atomic::Ordering::SeqCst);
                        drop(held);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 200);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_holder_of_a_lock_is_looked_up_by_device_and_number() {
        use std::os::fd::AsFd as _;

        let locks = "1: FLOCK  ADVISORY  WRITE 11 00:2a:1234 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 12 fe:00:1234 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:00:1234 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 fe:00:1234 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 fe:00:99 0 EOF\n";
        for (device, number, expected) in [
            ((0, 42), 1234, Some(11)),
            ((254, 0), 1234, Some(13)),
            ((254, 1), 1234, None),
            ((254, 0), 99, None),
        ] {
            assert_eq!(holder_in(locks, device, number), expected, "{device:?}");
        }
        let opened = "pos:\t0\nflags:\t0100000\nmnt_id:\t26\nino:\t3\n";
        let mounts =
            "2 1 0:6 / /dev rw - devtmpfs devtmpfs rw\n26 1 254:0 / / rw - ext4 /dev/vda rw\n";
        assert_eq!(device_of(opened, mounts), Some((254, 0)));

        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = open_for_lock(folder.path()).expect("it exists");
        assert_eq!(holder_of(open.as_fd()), None);
        let lock = try_lock_folder(folder.path()).expect("it can be locked");
        assert_eq!(holder_of(open.as_fd()), Some(std::process::id()));
        drop(lock);
        assert_eq!(holder_of(open.as_fd()), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_is_no_folder_to_lock() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        assert!(try_lock_folder(&pipe).is_err());
    }

    #[test]
    fn a_locked_folder_is_waited_for() {
        use std::sync::mpsc;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        let first = lock_folder(path, || panic!("nobody has it")).expect("it can be locked");
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            let waiting = send.clone();
            scope.spawn(move || {
                let second = lock_folder(path, || waiting.send("waits").expect("a receiver"));
                send.send("has it").expect("a receiver");
                drop(second);
            });
            assert_eq!(receive.recv(), Ok("waits"));
            assert_eq!(receive.try_recv(), Err(mpsc::TryRecvError::Empty));
            drop(first);
            assert_eq!(receive.recv(), Ok("has it"));
        });
        let names = std::fs::read_dir(path).expect("readable").count();
        assert_eq!(names, usize::from(!cfg!(unix)), "the lock cannot be seen");
    }
}
