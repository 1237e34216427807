//! Settings: `pkgres.toml`, the user's settings file and environment variables.

mod change;
mod declared;
mod layers;
mod overrides;
mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::most_similar;
use toml::Table;

pub(crate) use change::{
    read_text, with_override, with_setting, without_override, without_setting, write_setting,
};
pub(crate) use declared::{DECLARED, Declared, Files, Kind, VARIABLES, declared};
pub(crate) use layers::{Effective, Origin, Settings};
pub(crate) use overrides::Overrides;
pub(crate) use tables::{Registries, RegistryTable, WorkspaceTable};

use crate::failure::Result;

/// The name of the settings file of a project.
pub(crate) const SETTINGS_FILE: &str = "pkgres.toml";

/// The largest settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// A parsed settings file; empty if there is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// The folder of the file. Paths in it are relative to this folder.
    pub(crate) folder: PathBuf,
    /// The registries, in order of preference.
    pub(crate) registries: Option<Registries>,
    /// All of its content.
    pub(crate) table: Table,
}

/// The part of a settings file that has a type of its own.
#[derive(serde::Deserialize)]
struct TypedSettings {
    registries: Option<Registries>,
}

impl SettingsFile {
    /// Reads the nearest `pkgres.toml` in a folder or above it; there need not be one.
    pub(crate) fn nearest(folder: &Path) -> Result<Self> {
        let start = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        for folder in start.ancestors() {
            let path = folder.join(SETTINGS_FILE);
            match read_file(&path, MAX_SETTINGS_BYTES, Follow::Links) {
                Ok(bytes) => return Self::parse(&path, &bytes, Files::Project),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self::default())
    }

    fn parse(path: &Path, bytes: &[u8], files: Files) -> Result<Self> {
        let text = String::from_utf8_lossy(bytes);
        let source = SourceText::new(path.to_string_lossy(), text.clone());
        let syntax_error = |error: &toml::de::Error| {
            let std::ops::Range { start, end } = error.span().unwrap_or_default();
            let location = Location::new(&source, Span { start, end });
            let message = error.message().lines().next().unwrap_or_default();
            Diagnostic::error(Code::Usage, message).at(location)
        };
        let table: Table = toml::from_str(&text).map_err(|error| syntax_error(&error))?;
        if let Some((key, message, hint)) = layers::check_table(&table, files) {
            let mut finding = Diagnostic::error(Code::Usage, message);
            if let Some(span) = span_of(&text, &key) {
                finding = finding.at(Location::new(&source, span));
            }
            if let Some(hint) = hint {
                finding = finding.hint(hint);
            }
            return Err(finding.into());
        }
        let typed: TypedSettings = toml::from_str(&text).map_err(|error| {
            let key = error.span().and_then(|span| text.get(span));
            match most_similar(key.unwrap_or_default(), tables::REGISTRY_KEYS) {
                Some(similar) => syntax_error(&error).hint(format!("did you mean `{similar}`?")),
                None => syntax_error(&error),
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            registries: typed.registries,
            table,
        })
    }

    /// The value of a setting as text, if the file sets it and it is not a table.
    fn value(&self, key: &str) -> Option<String> {
        layers::as_text(self.table.get(key)?)
    }

    /// The files that `provide` names.
    pub(crate) fn provided_files(&self) -> Result<Vec<PathBuf>> {
        tables::provided_files(self)
    }

    /// The `[overrides]`, by package.
    pub(crate) fn overrides(&self) -> Result<Overrides> {
        Overrides::of(self)
    }

    /// The `[workspace]`, if there is one.
    pub(crate) fn workspace(&self) -> Result<Option<WorkspaceTable>> {
        tables::workspace(self)
    }
}

/// The position of a top-level key.
fn span_of(text: &str, key: &str) -> Option<Span> {
    type Spanned = BTreeMap<toml::Spanned<String>, toml::Value>;
    let keys: Spanned = toml::from_str(text).ok()?;
    let span = keys.keys().find(|known| known.get_ref() == key)?.span();
    Some(Span {
        start: span.start,
        end: span.end,
    })
}
