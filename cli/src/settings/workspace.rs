//! `[workspace]`: the projects that belong together.

use std::path::{Path, PathBuf};

use pkgres_manifest::MANIFEST_FILE;
use pkgres_manifest::diagnostic::Escaped;
use toml::Value;

use super::Settings;
use crate::failure::{Failure, Result};

/// Projects that belong together.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Their folders; there is at least one.
    pub(crate) members: Vec<PathBuf>,
    /// Whether they are solved together.
    pub(crate) one_solve: bool,
}

/// The workspace of some settings, if they have one.
pub(crate) fn workspace(settings: &Settings) -> Result<Option<Workspace>> {
    let Some(Value::Table(table)) = settings.table.get("workspace") else {
        return Ok(None);
    };
    let file = settings.path.to_string_lossy();
    let wrong = || {
        let file = Escaped::new(&file);
        Failure::usage(format!(
            "{file}: workspace: `members` is a list of folders, of which the last part may end in `*`"
        ))
    };
    let Some(Value::Array(written)) = table.get("members") else {
        return Err(wrong());
    };
    let here = std::env::current_dir().unwrap_or_default();
    let folder = settings
        .folder
        .strip_prefix(&here)
        .unwrap_or(&settings.folder);
    let mut members = Vec::new();
    for member in written {
        let member = member.as_str().ok_or_else(wrong)?;
        match member.strip_suffix('*') {
            None => members.push(folder.join(member)),
            Some(stem) if stem.contains('*') => return Err(wrong()),
            Some(stem) => {
                let cut = stem.rfind('/').map_or(0, |at| at + 1);
                let (parent, prefix) = stem.split_at(cut);
                members.extend(packages_in(&folder.join(parent), prefix));
            }
        }
    }
    if members.is_empty() {
        let (file, manifest) = (Escaped::new(&file), MANIFEST_FILE);
        return Err(Failure::usage(format!(
            "{file}: workspace: no folder that `members` names has a {manifest}"
        )));
    }
    let one_solve = table.get("one-solve").and_then(Value::as_bool) == Some(true);
    Ok(Some(Workspace { members, one_solve }))
}

/// The folders of a folder that hold a package and whose names begin so, sorted.
fn packages_in(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let mut found: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| path.join(MANIFEST_FILE).is_file())
        .collect();
    found.sort();
    found
}
