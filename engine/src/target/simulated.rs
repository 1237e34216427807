//! A machine in memory, for tests: every operation can fail, and the machine can crash after any of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pkgres_files::{EntryAttributes, EntryKind, RootEntry};
use pkgres_manifest::Facts;

use super::command::{Command, Output};
use super::error::TargetError;
use super::{Probe, Target};

/// Something that is about to happen on a simulated machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Effect<'effect> {
    /// What is at a path is looked at or read.
    Read(&'effect Path),
    /// A file, folder or link is made, changed or removed.
    Write(&'effect Path),
    /// A command is run.
    Run(&'effect Command),
}

/// The fate of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It happens.
    None,
    /// It fails, and changes nothing.
    Fail,
    /// The machine crashes before it happens. From then on nothing happens any more, until
    /// [`SimulatedMachine::restart`].
    Crash,
}

/// The contents of the files of a simulated machine, by path. Folders are not simulated: files can be made in any, and
/// a folder exists if it has files.
pub type SimulatedFiles = BTreeMap<PathBuf, Vec<u8>>;

type BeforeEffect = Box<dyn FnMut(&Effect<'_>, &mut SimulatedFiles) -> Fault + Send>;

/// A machine in memory with files and commands, but without folders, owners and modes.
///
/// ```
/// use pkgres_engine::{Effect, Fault, File, Input, Resource as _, SimulatedMachine};
///
/// let machine = SimulatedMachine::new(|effect, _| match effect {
///     Effect::Write(_) => Fault::Fail,
///     _ => Fault::None,
/// });
/// let file = File::new("/motd").with_content("hi");
/// let outcome = pkgres_engine::attempt(&file, &machine, &Input::default(), false);
/// assert!(matches!(outcome, pkgres_engine::Outcome::Failed(_)));
/// assert!(machine.files().is_empty());
/// ```
pub struct SimulatedMachine {
    facts: Facts,
    state: Mutex<State>,
}

struct State {
    files: SimulatedFiles,
    before: BeforeEffect,
    is_crashed: bool,
}

impl std::fmt::Debug for SimulatedMachine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SimulatedMachine")
            .field("files", &self.state().files)
            .finish_non_exhaustive()
    }
}

impl SimulatedMachine {
    /// A machine without files. `before` is called before each effect; it may also change the files, as others do on a
    /// real machine.
    pub fn new(
        before: impl FnMut(&Effect<'_>, &mut SimulatedFiles) -> Fault + Send + 'static,
    ) -> Self {
        Self {
            facts: Facts::from_pairs([(super::OS, "simulated")]),
            state: Mutex::new(State {
                files: SimulatedFiles::new(),
                before: Box::new(before),
                is_crashed: false,
            }),
        }
    }

    /// The files.
    pub fn files(&self) -> SimulatedFiles {
        self.state().files.clone()
    }

    /// Changes the files, as others do on a real machine.
    pub fn change(&self, change: impl FnOnce(&mut SimulatedFiles)) {
        change(&mut self.state().files);
    }

    /// Whether the machine has crashed.
    pub fn is_crashed(&self) -> bool {
        self.state().is_crashed
    }

    /// Starts a machine that has crashed. Its files are as they were.
    pub fn restart(&self) {
        self.state().is_crashed = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an effect happen, unless it fails.
    fn happen(&self, effect: &Effect<'_>) -> Result<MutexGuard<'_, State>, TargetError> {
        let mut state = self.state();
        if state.is_crashed {
            return Err(TargetError::Cancelled);
        }
        let State { files, before, .. } = &mut *state;
        match before(effect, files) {
            Fault::None => Ok(state),
            Fault::Fail => Err(TargetError::Unsupported("a simulated fault".to_owned())),
            Fault::Crash => {
                state.is_crashed = true;
                Err(TargetError::Cancelled)
            }
        }
    }
}

impl Probe for SimulatedMachine {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        let state = self.happen(&Effect::Read(path))?;
        let (kind, mode, size) = match state.files.get(path) {
            Some(content) => (EntryKind::File, 0o644, content.len() as u64),
            None if state.files.keys().any(|file| file.starts_with(path)) => {
                (EntryKind::Folder, 0o755, 0)
            }
            None => return Ok(None),
        };
        Ok(Some(RootEntry {
            kind,
            mode,
            user: 0,
            group: 0,
            size,
            link_target: None,
        }))
    }

    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, TargetError> {
        let state = self.happen(&Effect::Read(path))?;
        let missing = || TargetError::Unsupported(format!("{} does not exist", path.display()));
        state.files.get(path).cloned().ok_or_else(missing)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        let state = self.happen(&Effect::Read(path))?;
        let entries = state.files.keys().filter_map(|file| {
            let mut rest = file.strip_prefix(path).ok()?.components();
            rest.next().map(|name| name.as_os_str().to_owned())
        });
        let mut names: Vec<_> = entries.collect();
        names.dedup();
        Ok(names)
    }

    fn check_writable(&self, folder: &Path) -> Result<(), TargetError> {
        self.happen(&Effect::Read(folder)).map(|_| ())
    }

    fn mount_point(&self, _: &Path) -> Result<Option<PathBuf>, TargetError> {
        Ok(None)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        self.run(command)
    }

    fn enforces_read_only(&self) -> bool {
        false
    }

    fn watchable(&self) -> Option<PathBuf> {
        None
    }
}

impl Target for SimulatedMachine {
    fn write_file(&self, path: &Path, bytes: &[u8], _: EntryAttributes) -> Result<(), TargetError> {
        let mut state = self.happen(&Effect::Write(path))?;
        state.files.insert(path.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn make_folder(&self, path: &Path, _: EntryAttributes) -> Result<(), TargetError> {
        self.happen(&Effect::Write(path)).map(|_| ())
    }

    fn make_link(&self, path: &Path, _: &Path) -> Result<(), TargetError> {
        self.happen(&Effect::Write(path)).map(|_| ())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        let mut state = self.happen(&Effect::Write(to))?;
        let inside = |path: &Path| path.strip_prefix(from).ok().map(|rest| to.join(rest));
        let files = std::mem::take(&mut state.files);
        let renamed = files.into_iter().map(|(path, bytes)| {
            // Joining nothing would add a separator.
            let new = if path == from {
                Some(to.to_owned())
            } else {
                inside(&path)
            };
            (new.unwrap_or(path), bytes)
        });
        state.files = renamed.collect();
        Ok(())
    }

    fn set_attributes(&self, path: &Path, _: EntryAttributes) -> Result<(), TargetError> {
        self.happen(&Effect::Write(path)).map(|_| ())
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        let mut state = self.happen(&Effect::Write(path))?;
        state.files.remove(path);
        Ok(())
    }

    /// The command succeeds without doing anything, unless the effect fails.
    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        drop(self.happen(&Effect::Run(command))?);
        Ok(Output {
            code: Some(0),
            ..Output::default()
        })
    }
}
