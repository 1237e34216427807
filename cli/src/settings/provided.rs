//! `provide`: files of what the host supplies.

use std::path::PathBuf;

use pkgres_manifest::diagnostic::Escaped;
use toml::Value;

use super::Settings;
use crate::failure::{Failure, Result};

/// The files of what the host supplies to a project.
pub(crate) fn provided(settings: &Settings) -> Result<Vec<PathBuf>> {
    let Some(value) = settings.table.get("provide") else {
        return Ok(Vec::new());
    };
    let paths = value.as_array().and_then(|paths| {
        let paths = paths.iter().map(Value::as_str);
        paths.collect::<Option<Vec<&str>>>()
    });
    let Some(paths) = paths else {
        let file = settings.path.to_string_lossy();
        let file = Escaped::new(&file);
        return Err(Failure::usage(format!(
            "{file}: `provide` is a list of files"
        )));
    };
    let folder = &settings.folder;
    Ok(paths.iter().map(|path| folder.join(path)).collect())
}
