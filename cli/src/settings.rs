//! `pkgres.toml` and the user's settings.

mod declared;
mod layers;
mod overrides;
mod provided;
mod registries;
mod workspace;

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::most_similar;
use toml::Table;

pub(crate) use declared::{DECLARED, Files, Kind, VARIABLES};
pub(crate) use layers::{Effective, Layers, Origin, current, install};
pub(crate) use overrides::{Override, overrides};
pub(crate) use provided::provided;
pub(crate) use registries::{Registries, RegistryTable};
pub(crate) use workspace::workspace;

use crate::failure::Result;

/// The name of the settings file.
pub(crate) const SETTINGS_FILE: &str = "pkgres.toml";

/// The largest settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// What a settings file says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// The settings file.
    pub(crate) path: PathBuf,
    /// The folder of the settings file, from which paths in it are taken.
    pub(crate) folder: PathBuf,
    /// The registries in order of preference.
    pub(crate) registries: Option<Registries>,
    /// Everything that is in it.
    pub(crate) table: Table,
}

#[derive(serde::Deserialize)]
struct File {
    registries: Option<Registries>,
}

impl Settings {
    /// Reads the nearest settings file in a folder and those above it; there need not be one.
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
        let syntax = |error: &toml::de::Error| {
            let span = error.span().unwrap_or_default();
            let location = Location::new(
                &source,
                Span {
                    start: span.start,
                    end: span.end,
                },
            );
            let message = error
                .message()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned();
            Diagnostic::error(Code::Usage, message).at(location)
        };
        let table: Table = toml::from_str(&text).map_err(|error| syntax(&error))?;
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
        let file: File = toml::from_str(&text).map_err(|error| {
            let written = error.span().and_then(|span| text.get(span));
            let similar = most_similar(written.unwrap_or_default(), registries::KEYS);
            match similar {
                Some(similar) => syntax(&error).hint(format!("did you mean `{similar}`?")),
                None => syntax(&error),
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            registries: file.registries,
            table,
        })
    }

    /// A setting as text, if the file has it and it is not a table.
    pub(crate) fn value(&self, key: &str) -> Option<String> {
        layers::as_text(self.table.get(key)?)
    }
}

/// Where a key of the top level stands.
fn span_of(text: &str, key: &str) -> Option<Span> {
    type Spanned = std::collections::BTreeMap<toml::Spanned<String>, toml::Value>;
    let keys: Spanned = toml::from_str(text).ok()?;
    let found = keys.keys().find(|found| found.get_ref() == key)?.span();
    Some(Span {
        start: found.start,
        end: found.end,
    })
}
