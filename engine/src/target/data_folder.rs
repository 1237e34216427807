//! Folders on a machine for data of pkgres itself.

use std::path::Path;

use pkgres_files::EntryAttributes;

use super::{Target, TargetError};

/// The mode of folders around a folder that is made.
const AROUND_MODE: u32 = 0o755;

/// Makes a folder for data of pkgres, and those around it, as far as they do not exist.
pub(crate) fn make_data_folder(
    target: &dyn Target,
    folder: &Path,
    mode: u32,
) -> Result<(), TargetError> {
    if target.entry(folder)?.is_some() {
        return Ok(());
    }
    let around: Vec<&Path> = folder.ancestors().skip(1).collect();
    for around in around.into_iter().rev() {
        make_folder(target, around, AROUND_MODE)?;
    }
    make_folder(target, folder, mode)
}

/// Makes a folder unless it exists. Another run may make it at the same time.
fn make_folder(target: &dyn Target, folder: &Path, mode: u32) -> Result<(), TargetError> {
    if target.entry(folder)?.is_some() {
        return Ok(());
    }
    match target.make_folder(folder, EntryAttributes::with_mode(mode)) {
        Err(error) if target.entry(folder)?.is_none() => Err(error),
        _ => Ok(()),
    }
}
