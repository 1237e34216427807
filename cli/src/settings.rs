//! Settings: `pkgres.toml`, the user's settings file and environment variables.

mod change;
mod layers;
mod workspace_table;

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_settings::{Files, MAX_SETTINGS_BYTES, SETTINGS_FILE, SettingsFile};

pub(crate) use change::{
    read_text, remove_setting, with_override, with_setting, without_override, without_setting,
    write_setting,
};
pub(crate) use layers::{Effective, Origin, Settings};
pub(crate) use workspace_table::{WorkspaceTable, workspace};

use crate::failure::Result;

/// Reads the nearest `pkgres.toml` in a folder or above it; there need not be one. "Above" is above the folder that a
/// link leads to, as it is for a command that runs in the folder.
pub(crate) fn nearest_settings(folder: &Path) -> Result<SettingsFile> {
    let start = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let start = start
        .canonicalize()
        .or_else(|_| std::path::absolute(start))
        .unwrap_or_else(|_| start.to_owned());
    // A path that goes on below a file leads nowhere, and what needs it says so.
    let is_folder = |folder: &&Path| !folder.ancestors().any(Path::is_file);
    for folder in start.ancestors().filter(is_folder) {
        let path = folder.join(SETTINGS_FILE);
        match read_file(&path, MAX_SETTINGS_BYTES, Follow::Links) {
            Ok(bytes) => return Ok(SettingsFile::parse(&path, &bytes, Files::Project)?),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(SettingsFile::default())
}
