//! A target whose operations end when a run is cancelled: nothing new starts, and running commands are ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, RootEntry};
use pkgres_manifest::Facts;

use super::cancellation::Cancellation;
use super::command::{Command, Output};
use super::error::TargetError;
use super::{Probe, Target, TargetLock};

/// A target on which nothing new starts, and running commands end, once its work is cancelled.
pub struct Cancellable<'target> {
    target: &'target dyn Target,
    cancellation: Cancellation,
}

impl<'target> Cancellable<'target> {
    /// A target that obeys a cancellation.
    pub fn new(target: &'target dyn Target, cancellation: Cancellation) -> Self {
        Self {
            target,
            cancellation,
        }
    }

    fn go_on(&self) -> Result<&'target dyn Target, TargetError> {
        if self.cancellation.is_cancelled() {
            return Err(TargetError::Cancelled);
        }
        Ok(self.target)
    }

    fn obeying(&self, command: &Command) -> Command {
        let mut command = command.clone();
        command.cancellation = self.cancellation.clone();
        command
    }
}

impl std::fmt::Debug for Cancellable<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cancellable")
            .field("cancellation", &self.cancellation)
            .finish_non_exhaustive()
    }
}

impl Probe for Cancellable<'_> {
    fn facts(&self) -> &Facts {
        self.target.facts()
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        self.go_on()?.entry(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        self.go_on()?.read(path, limit)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        self.go_on()?.names(path)
    }

    fn check_writable(&self, folder: &Path) -> Result<(), TargetError> {
        self.go_on()?.check_writable(folder)
    }

    fn mount_point(&self, path: &Path) -> Result<Option<PathBuf>, TargetError> {
        self.go_on()?.mount_point(path)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        self.go_on()?.query(&self.obeying(command))
    }

    fn check_startable(&self) -> Result<(), TargetError> {
        self.go_on()?.check_startable()
    }

    fn enforces_read_only(&self) -> bool {
        self.target.enforces_read_only()
    }

    fn watchable(&self) -> Option<PathBuf> {
        self.target.watchable()
    }
}

impl Target for Cancellable<'_> {
    fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), TargetError> {
        self.go_on()?.write_file(path, bytes, attributes)
    }

    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        self.go_on()?.make_folder(path, attributes)
    }

    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError> {
        self.go_on()?.make_link(path, target)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        self.go_on()?.rename(from, to)
    }

    fn set_attributes(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        self.go_on()?.set_attributes(path, attributes)
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        self.go_on()?.remove(path)
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        self.go_on()?.run(&self.obeying(command))
    }

    fn lock(&self, folder: &Path) -> Result<Option<TargetLock>, TargetError> {
        self.go_on()?.lock(folder)
    }
}
