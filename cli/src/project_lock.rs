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
use crate::settings::Settings;

/// The locks that a run holds.
#[derive(Default)]
pub(crate) struct ProjectLocks {
    _held: Vec<FileLock>,
}

impl ProjectLocks {
    /// Locks the folders of the files that a command changes, and says so if it has to wait.
    pub(crate) fn take(
        command: &Command,
        settings: &Settings,
        output: &mut Output,
    ) -> Result<Self> {
        // The settings file is the same for all members of a workspace, which can change together.
        let project = &settings.project.folder;
        let mut folders: Vec<PathBuf> = changed_by(command)
            .into_iter()
            .map(|folder| {
                let has_project = !project.as_os_str().is_empty();
                if has_project { project.clone() } else { folder }
            })
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

/// The folders whose files a command changes.
fn changed_by(command: &Command) -> Vec<PathBuf> {
    let of = |path: &Path| vec![folder_of(path)];
    match command {
        Command::Lock(args) if !args.check && !args.locked && !args.dry_run => {
            args.manifest.iter().map(|path| folder_of(path)).collect()
        }
        Command::Add(args) if !args.edit.write.dry_run => of(&args.edit.project.manifest),
        Command::Remove(args) if !args.edit.write.dry_run => of(&args.edit.project.manifest),
        Command::Repair(args) if args.apply.is_some() && !args.write.dry_run => of(args.manifest()),
        Command::Update(args) if !args.write.dry_run => of(&args.project.manifest),
        Command::Pin(args) if args.in_place => of(&args.model),
        Command::Pin(args) => args.output.iter().flat_map(|path| of(path)).collect(),
        _ => Vec::new(),
    }
}
