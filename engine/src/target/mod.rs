//! Targets: the machines that resources are checked and changed on.
//!
//! A [`Probe`] reads, a [`Target`] also writes. A check gets a probe, so that one that writes does not compile:
//!
//! ```compile_fail
//! use pkgres_engine::{EntryAttributes, Probe};
//!
//! fn check(probe: &dyn Probe) {
//!     let _ = probe.write_file("/motd".as_ref(), b"", EntryAttributes::with_mode(0o644));
//! }
//! ```

mod cancellable;
mod cancellation;
mod command;
mod data_folder;
mod error;
mod facts;
mod file_differences;
mod inventory;
mod location;
mod machine;
mod mounts;
mod overlay;
mod pipes;
mod process;
mod process_guard;
mod simulated;
mod ssh;

pub use cancellable::Cancellable;
pub use cancellation::Cancellation;
pub(crate) use cancellation::GRACE;
pub(crate) use command::MAX_OUTPUT;
pub use command::{Command, Output};
pub(crate) use data_folder::{make_data_folder, make_folder, missing_folders};
pub use error::TargetError;
pub(crate) use error::{NO_SHELL, shown};
pub use facts::{ARCHITECTURE, OS, OS_FAMILY, OS_VERSION, read_facts};
pub use file_differences::{ContentDifference, FileDifference};
pub use inventory::{Inventory, InventoryArgument, InventoryTarget};
pub use location::{TargetLocation, TargetLocationError};
pub use machine::Machine;
pub use overlay::{Overlay, OverlayChange};
pub use simulated::{Effect, Fault, SimulatedFiles, SimulatedMachine};
pub use ssh::{SshAddress, SshMachine, SshOptions};

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind, RootEntry};
use pkgres_manifest::Facts;

/// The side of a machine that reads. Paths are absolute, and mean what they mean to a process on the machine.
pub trait Probe: Send + Sync {
    /// What is known about the machine: its operating system (`os`, `os_family`, `os_version`) and `architecture`.
    fn facts(&self) -> &Facts;

    /// What is at a path; `None` if there is nothing. Links are not followed.
    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError>;

    /// Reads a plain file of at most `limit` bytes. Links are followed.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError>;

    /// The names in a folder, sorted.
    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError>;

    /// Checks that something can be made in a folder, as far as that is known without making it. Links are followed.
    fn check_writable(&self, folder: &Path) -> Result<(), TargetError> {
        let kind = self.entry(folder)?.map(|entry| entry.kind);
        let problem = match kind {
            Some(EntryKind::Folder) => return Ok(()),
            // At the end of a path, `.` follows a link, and only one to a folder.
            Some(EntryKind::Link) if self.entry(&folder.join("."))?.is_some() => return Ok(()),
            Some(EntryKind::Link) => "is a link that leads to no folder",
            Some(_) => "is not a folder",
            None => "does not exist",
        };
        let message = format!("the folder {} {problem}", folder.display());
        Err(TargetError::Unsupported(message))
    }

    /// Where something is mounted at a path or below it, as far as that is known: it can be neither removed nor replaced.
    fn mount_point(&self, path: &Path) -> Result<Option<PathBuf>, TargetError> {
        // A system without this file has no mounts that could be found.
        let mounts = self.read(Path::new(mounts::LIST), mounts::MOST_BYTES);
        Ok(mounts
            .ok()
            .and_then(|list| mounts::first_below(&list, path)))
    }

    /// Runs a command that must not change anything. Where the machine allows it, its file systems are read-only
    /// meanwhile; [`enforces_read_only`](Self::enforces_read_only) says whether they are.
    fn query(&self, command: &Command) -> Result<Output, TargetError>;

    /// Checks that commands that change the machine can be started at all.
    ///
    /// # Errors
    ///
    /// This user may not start them.
    fn check_startable(&self) -> Result<(), TargetError> {
        Ok(())
    }

    /// Whether a command that is run by [`query`](Self::query) cannot write files.
    fn enforces_read_only(&self) -> bool;

    /// The folder outside of the machine at which changes of files can be watched; `None` if that is not possible.
    fn watchable(&self) -> Option<PathBuf>;
}

/// The side of a machine that also writes.
pub trait Target: Probe {
    /// Writes a file atomically: whatever happens, it has the old content and attributes, or the new ones.
    fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), TargetError>;

    /// Makes a folder whose parent exists.
    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError>;

    /// Makes a link whose parent exists, in place of a link or file.
    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError>;

    /// Renames a file, link or folder at once, to a place in the same file system. A file that is there is replaced, and
    /// so is an empty folder by a folder.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError>;

    /// Changes the attributes of a file or folder. Links are not followed.
    fn set_attributes(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError>;

    /// Removes a file or link, or a folder with everything in it. Nothing at the path is no error.
    fn remove(&self, path: &Path) -> Result<(), TargetError>;

    /// Runs a command that may change the machine.
    fn run(&self, command: &Command) -> Result<Output, TargetError>;

    /// Locks a folder against other processes, until the lock is dropped or the process ends. If another one has locked
    /// it, this is [`TargetError::Locked`]. A machine without such locks is not locked, and answers `None`.
    fn lock(&self, _folder: &Path) -> Result<Option<TargetLock>, TargetError> {
        Ok(None)
    }
}

/// A lock on a machine, which ends when it is dropped.
pub type TargetLock = Box<dyn std::any::Any + Send + Sync>;

/// Whether the file at a path, whose size is known, has a content. Nothing is read if the sizes differ.
pub(crate) fn has_content(
    probe: &dyn Probe,
    path: &Path,
    size: u64,
    content: &[u8],
) -> Result<bool, TargetError> {
    let limit = content.len() as u64;
    if size != limit {
        return Ok(false);
    }
    match probe.read(path, limit) {
        Ok(bytes) => Ok(bytes == content),
        // It grew meanwhile.
        Err(TargetError::File(error)) if error.is_too_large() => Ok(false),
        Err(error) => Err(error),
    }
}
