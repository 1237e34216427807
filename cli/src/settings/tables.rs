//! The settings that are tables or lists: `registries`, `provide` and `workspace`.

use std::path::{Path, PathBuf};

use pkgres_manifest::MANIFEST_FILE;
use pkgres_manifest::diagnostic::Escaped;
use serde::de::{MapAccess, SeqAccess, Visitor};
use toml::Value;

use super::SettingsFile;
use crate::failure::{Failure, Result};

/// The keys of a `[registries.NAME]` table.
pub(super) const REGISTRY_KEYS: [&str; 4] = ["location", "namespaces", "key", "ca"];

/// The value of `registries`, in either form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Registries {
    /// A list of locations: `registries = ["dir:packages"]`.
    Locations(Vec<String>),
    /// Tables, by the name of the registry: `[registries.acme]`.
    Tables(Vec<(String, RegistryTable)>),
}

/// A `[registries.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryTable {
    /// The location, as for `--registry`.
    pub(crate) location: String,
    /// Namespaces whose packages come from this registry only.
    #[serde(default)]
    pub(crate) namespaces: Vec<String>,
    /// The public key that signs the state of the registry.
    pub(crate) key: Option<String>,
    /// A file of CA certificates that are trusted for this registry.
    pub(crate) ca: Option<PathBuf>,
}

impl<'de> serde::Deserialize<'de> for Registries {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        struct EitherForm;

        impl<'de> Visitor<'de> for EitherForm {
            type Value = Registries;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a list of registries, or a table for each")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut access: A,
            ) -> std::result::Result<Registries, A::Error> {
                let mut locations = Vec::new();
                while let Some(location) = access.next_element()? {
                    locations.push(location);
                }
                Ok(Registries::Locations(locations))
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut access: A,
            ) -> std::result::Result<Registries, A::Error> {
                let mut tables = Vec::new();
                while let Some(table) = access.next_entry()? {
                    tables.push(table);
                }
                Ok(Registries::Tables(tables))
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}

/// The files that `provide` names.
pub(super) fn provided_files(settings: &SettingsFile) -> Result<Vec<PathBuf>> {
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
            "{file}: `provide` must be a list of files"
        )));
    };
    let folder = &settings.folder;
    Ok(paths.iter().map(|path| folder.join(path)).collect())
}

/// The `[workspace]` table, with the folders that `members` matches.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceTable {
    /// The folders of the members; at least one.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether the members are solved together.
    pub(crate) one_solve: bool,
}

/// The `[workspace]` of a project, if it has one.
pub(super) fn workspace(settings: &SettingsFile) -> Result<Option<WorkspaceTable>> {
    let Some(Value::Table(table)) = settings.table.get("workspace") else {
        return Ok(None);
    };
    let file = settings.path.to_string_lossy();
    let invalid = || {
        let file = Escaped::new(&file);
        Failure::usage(format!(
            "{file}: workspace: `members` must be a list of folders; the last component of each can end in `*`"
        ))
    };
    let Some(Value::Array(members)) = table.get("members") else {
        return Err(invalid());
    };
    let current = std::env::current_dir().unwrap_or_default();
    let relative = settings.folder.strip_prefix(&current);
    let folder = relative.unwrap_or(&settings.folder);
    let mut folders = Vec::new();
    for member in members {
        let member = member.as_str().ok_or_else(invalid)?;
        match member.strip_suffix('*') {
            None => folders.push(folder.join(member)),
            Some(stem) if stem.contains('*') => return Err(invalid()),
            Some(stem) => {
                let cut = stem.rfind('/').map_or(0, |at| at + 1);
                let (parent, prefix) = stem.split_at(cut);
                folders.extend(package_folders(&folder.join(parent), prefix));
            }
        }
    }
    if folders.is_empty() {
        let (file, manifest) = (Escaped::new(&file), MANIFEST_FILE);
        return Err(Failure::usage(format!(
            "{file}: workspace: no folder in `members` has a {manifest}"
        )));
    }
    let one_solve = table.get("one-solve").and_then(Value::as_bool) == Some(true);
    Ok(Some(WorkspaceTable { folders, one_solve }))
}

/// The package folders directly in a folder whose names start with `prefix`, sorted.
fn package_folders(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let mut folders: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| path.join(MANIFEST_FILE).is_file())
        .collect();
    folders.sort();
    folders
}
