//! Folders on a machine that are made with those around them, such as folders for data of pkgres itself.

use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind};

use super::{Probe, Target, TargetError};

/// The mode of folders around a folder that is made.
const AROUND_MODE: u32 = 0o755;

/// Makes a folder for data of pkgres, and those around it, as far as they do not exist.
pub(crate) fn make_data_folder(
    target: &dyn Target,
    folder: &Path,
    mode: u32,
) -> Result<(), TargetError> {
    for missing in missing_folders(target, folder)? {
        let mode = if missing == folder { mode } else { AROUND_MODE };
        make_folder(target, &missing, mode)?;
    }
    Ok(())
}

/// A folder and those around it, as far as they do not exist, the outermost first.
pub(crate) fn missing_folders(
    probe: &dyn Probe,
    folder: &Path,
) -> Result<Vec<PathBuf>, TargetError> {
    let mut missing = Vec::new();
    for folder in folder.ancestors() {
        if probe.entry(folder)?.is_some() {
            break;
        }
        missing.push(folder.to_owned());
    }
    missing.reverse();
    Ok(missing)
}

/// Makes a folder that did not exist. Another run, or another resource, may make it at the same time.
pub(crate) fn make_folder(
    target: &dyn Target,
    folder: &Path,
    mode: u32,
) -> Result<(), TargetError> {
    let Err(error) = target.make_folder(folder, EntryAttributes::with_mode(mode)) else {
        return Ok(());
    };
    match target.entry(folder)? {
        Some(entry) if entry.kind == EntryKind::Folder => Ok(()),
        _ => Err(error),
    }
}
