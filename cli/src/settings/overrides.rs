//! `[overrides]`: what requirements are taken to say in place of what is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, Spec};
use toml::Value;

use super::Settings;
use crate::failure::{Failure, Result};

/// What requirements on a package are taken to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Override {
    /// This spec.
    Spec(Spec),
    /// Whatever version the package in this folder has.
    Path(PathBuf),
}

/// The overrides of a project, by package.
pub(crate) fn overrides(settings: &Settings) -> Result<BTreeMap<PackageName, Override>> {
    let Some(Value::Table(table)) = settings.table.get("overrides") else {
        return Ok(BTreeMap::new());
    };
    let file = settings.path.to_string_lossy();
    let wrong = |name: &str, what: &str| {
        let (file, name) = (Escaped::new(&file), Escaped::shortened(name));
        Failure::usage(format!("{file}: overrides: `{name}`: {what}"))
    };
    table
        .iter()
        .map(|(key, value)| {
            let name = PackageName::parse(key).map_err(|error| wrong(key, &error.to_string()))?;
            let found = match value {
                Value::String(text) => {
                    let spec = Spec::parse(text).map_err(|error| wrong(key, &error.to_string()))?;
                    Override::Spec(spec)
                }
                Value::Table(table) => match (table.get("path"), table.len()) {
                    (Some(Value::String(path)), 1) => Override::Path(settings.folder.join(path)),
                    _ => return Err(wrong(key, "`{ path = \"FOLDER\" }` is expected")),
                },
                _ => {
                    return Err(wrong(key, "a spec or `{ path = \"FOLDER\" }` is expected"));
                }
            };
            Ok((name, found))
        })
        .collect()
}
