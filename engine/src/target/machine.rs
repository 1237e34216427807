//! The machine that the program runs on, and folders that hold a machine's root file system.

use std::ffi::OsString;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use pkgres_files::{EntryAttributes, FileLock, Follow, RootEntry, RootFolder};
use pkgres_manifest::Facts;

use super::command::{Command, Output};
use super::error::{NOT_ROOT, TargetError};
use super::facts::read_facts;
use super::process_guard::ProcessGuard;
use super::{Probe, Target, TargetLock, mounts, process};

/// Where the description of the operating system is, and how many bytes of it are read.
const OS_RELEASE: (&str, u64) = ("/etc/os-release", 64 << 10);

/// This machine, or a folder that holds the root of another one, such as an unpacked image. In a folder, commands run
/// with it as their root, which needs the rights of root or a user namespace.
#[derive(Debug)]
pub struct Machine {
    root: RootFolder,
    /// The words before each command: how to enter the namespace that the root is in.
    entering: Vec<String>,
    /// The root as commands see it that have entered.
    inside: PathBuf,
    facts: Facts,
    is_read_only_enforced: OnceLock<bool>,
    watchable: bool,
    /// The lock that this process holds.
    lock: Mutex<Weak<MachineLock>>,
}

/// A lock on a folder of a machine. Commands that run under it end with this process, before the lock does.
#[derive(Debug)]
struct MachineLock {
    /// Started with the first command; `None` if it cannot be started. It is dropped before the lock.
    guard: OnceLock<Option<ProcessGuard>>,
    file: FileLock,
}

impl MachineLock {
    fn guard(&self) -> Option<&ProcessGuard> {
        let start = || ProcessGuard::start(self.file.share().ok()).ok();
        self.guard.get_or_init(start).as_ref()
    }
}

impl Machine {
    /// The machine that the program runs on.
    pub fn local() -> Result<Self, TargetError> {
        Self::new(Path::new("/"), PathBuf::from("/"), Vec::new(), true)
    }

    /// A folder that holds the root of a machine.
    pub fn root_folder(folder: &Path) -> Result<Self, TargetError> {
        let inside = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self::new(folder, inside, Vec::new(), true)
    }

    /// The machine that a process sees, such as the first process of a container: its files, and commands that run in its
    /// namespaces. This needs the rights of root.
    pub fn of_process(id: u32) -> Result<Self, TargetError> {
        let root = PathBuf::from(format!("/proc/{id}/root"));
        Self::new(&root, PathBuf::from("/"), mounts::into_process(id), true)
    }

    /// A root that only commands with these words before them can see, at `inside`.
    pub(super) fn entered(
        folder: &Path,
        inside: PathBuf,
        entering: Vec<String>,
    ) -> Result<Self, TargetError> {
        Self::new(folder, inside, entering, false)
    }

    fn new(
        folder: &Path,
        inside: PathBuf,
        entering: Vec<String>,
        watchable: bool,
    ) -> Result<Self, TargetError> {
        let root = RootFolder::open(folder)?;
        let (path, limit) = OS_RELEASE;
        let os_release = match root.read(Path::new(path), limit, Follow::Links) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let os_release = String::from_utf8_lossy(&os_release);
        Ok(Self {
            facts: read_facts(&os_release, std::env::consts::ARCH),
            root,
            entering,
            inside,
            is_read_only_enforced: OnceLock::new(),
            watchable,
            lock: Mutex::default(),
        })
    }

    fn current_lock(&self) -> MutexGuard<'_, Weak<MachineLock>> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn words(&self, command: &Command) -> Vec<String> {
        let mut words = self.entering.clone();
        words.extend(mounts::with_root(&self.inside, command));
        words
    }
}

impl Probe for Machine {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        Ok(self.root.entry(path)?)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        Ok(self.root.read(path, limit, Follow::Links)?)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        Ok(self.root.names(path)?)
    }

    fn check_writable(&self, folder: &Path) -> Result<(), TargetError> {
        Ok(self.root.check_writable(folder)?)
    }

    fn mount_point(&self, path: &Path) -> Result<Option<PathBuf>, TargetError> {
        // What is mounted for other processes is not known here.
        if !self.entering.is_empty() {
            return Ok(None);
        }
        let Some(descriptor) = self.root.descriptor(path)? else {
            return Ok(None);
        };
        let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        let opened = std::fs::read_link(link).ok();
        Ok(opened.and_then(|opened| mounts::first_below_opened(path, &opened)))
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        let words = mounts::with_root(&self.inside, command);
        let mut all = self.entering.clone();
        if self.enforces_read_only() {
            // With another root, or as another user, it could not even start.
            let is_here = self.entering.is_empty() && self.inside == Path::new("/");
            let as_user = is_here && command.user.is_none() && command.group.is_none();
            let scratch = command.has_scratch;
            all.extend(mounts::read_only(&self.inside, scratch, as_user, words));
        } else {
            all.extend(words);
        }
        process::run(&all, command, None)
    }

    fn check_startable(&self) -> Result<(), TargetError> {
        let needs_root = self.entering.is_empty() && self.inside != Path::new("/");
        if needs_root && !rustix::process::geteuid().is_root() {
            return Err(TargetError::Unsupported(NOT_ROOT.to_owned()));
        }
        Ok(())
    }

    fn enforces_read_only(&self) -> bool {
        *self
            .is_read_only_enforced
            .get_or_init(mounts::are_available)
    }

    fn watchable(&self) -> Option<PathBuf> {
        self.watchable.then(|| self.root.path().to_owned())
    }
}

impl Target for Machine {
    fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), TargetError> {
        Ok(self.root.write_file(path, bytes, attributes)?)
    }

    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        Ok(self.root.make_folder(path, attributes)?)
    }

    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError> {
        Ok(self.root.make_link(path, target)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        Ok(self.root.rename(from, to)?)
    }

    fn set_attributes(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        Ok(self.root.set_attributes(path, attributes)?)
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        Ok(self.root.remove(path)?)
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        let lock = self.current_lock().upgrade();
        let guard = lock.as_deref().and_then(MachineLock::guard);
        process::run(&self.words(command), command, guard)
    }

    fn lock(&self, folder: &Path) -> Result<Option<TargetLock>, TargetError> {
        match self.root.lock(folder)? {
            Some(file) => {
                let lock = Arc::new(MachineLock {
                    guard: OnceLock::new(),
                    file,
                });
                // Another run waits for the lock that this one took first.
                let mut current = self.current_lock();
                if current.strong_count() == 0 {
                    *current = Arc::downgrade(&lock);
                }
                Ok(Some(Box::new(lock)))
            }
            None => Err(TargetError::Locked {
                folder: folder.to_owned(),
                holder: self.root.lock_holder(folder),
            }),
        }
    }
}
