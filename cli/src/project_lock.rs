//! The lock of a project: commands that change its files run one after the other.
//!
//! A command reads the manifest and the lockfile, solves, and writes them again. Two that did so at the same
//! time would write over each other, and both would succeed. So each holds a lock on the folder of the project
//! from before it reads anything until it ends.

use std::path::{Path, PathBuf};

use pkgres_files::{FileLock, lock_folder};

use crate::args::Command;
use crate::failure::Result;
use crate::output::Output;
use crate::read_manifest::folder_of;
use crate::settings::{Settings, nearest_settings, workspace};

/// The locks that a run holds.
#[derive(Default)]
pub(crate) struct ProjectLocks {
    _held: Vec<FileLock>,
}

impl ProjectLocks {
    /// Locks the projects whose files a command changes, and says so if it has to wait. `folders` are those that the
    /// command line names.
    pub(crate) fn take(
        command: &Command,
        folders: &[PathBuf],
        settings: &Settings,
        output: &mut Output,
    ) -> Result<Self> {
        let mut changed = changed_by(command, folders);
        if !changed.is_empty() && command.is_for_members() {
            // An error in the table is reported when the members are read.
            let table = workspace(&settings.project).ok().flatten();
            changed.extend(table.into_iter().flat_map(|table| table.folders));
        }
        let mut folders: Vec<PathBuf> = changed
            .iter()
            .map(|folder| folder_to_lock(folder))
            .filter_map(|folder| folder.canonicalize().ok())
            .collect();
        // In the same order in every process, so that no two wait for each other.
        folders.sort_unstable();
        folders.dedup();
        let mut held = Vec::with_capacity(folders.len());
        for folder in folders {
            held.push(lock_folder(&folder, || output.note_waiting(&folder))?);
        }
        Ok(Self { _held: held })
    }
}

/// The folder that is locked for a project: that of its settings file, which is the same for all members of a workspace,
/// which can change together. Members with a settings file of their own are projects of their own.
fn folder_to_lock(folder: &Path) -> PathBuf {
    let settings = nearest_settings(folder).unwrap_or_default();
    if settings.folder.as_os_str().is_empty() {
        folder.to_owned()
    } else {
        settings.folder
    }
}

/// The folders whose files a command changes. `named` are those of the projects that its command line names.
fn changed_by(command: &Command, named: &[PathBuf]) -> Vec<PathBuf> {
    let changes = match command {
        Command::Lock(args) => !args.check && !args.locked && !args.dry_run,
        Command::Add(args) => !args.edit.write.dry_run,
        Command::Remove(args) => !args.edit.write.dry_run,
        Command::Repair(args) => args.apply.is_some() && !args.write.dry_run,
        Command::Update(args) => !args.write.dry_run,
        Command::Pin(args) if !args.in_place => {
            return args.output.iter().map(|path| folder_of(path)).collect();
        }
        Command::Pin(_) => true,
        Command::Init(args) if !args.dry_run => {
            // Of two that create the folder, one has to see what the other wrote.
            let mut existing = args.folder.ancestors().map(or_here);
            return existing
                .find(|folder| folder.is_dir())
                .into_iter()
                .collect();
        }
        _ => false,
    };
    if changes { named.to_vec() } else { Vec::new() }
}

/// A folder, which is the current one if the path is empty.
fn or_here(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_owned()
    }
}
