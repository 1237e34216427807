//! `pkgres.toml`: the settings of a project.

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::most_similar;

use serde::de::{MapAccess, SeqAccess, Visitor};

use crate::failure::Result as Outcome;

/// The name of the settings file.
const SETTINGS_FILE: &str = "pkgres.toml";

/// The largest settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// The settings of a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The folder of the settings file, from which paths in it are taken.
    pub(crate) folder: PathBuf,
    /// The registries in order of preference.
    pub(crate) registries: Option<Registries>,
}

/// Registries as the settings write them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registries {
    /// A list of places: `registries = ["dir:packages"]`.
    Places(Vec<String>),
    /// Tables, by the name of the registry: `[registries.acme]`.
    Tables(Vec<(String, RegistryTable)>),
}

/// What the settings say of a registry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryTable {
    /// Where it is, as after `--registry`.
    pub(crate) location: String,
    /// Names that are asked of this registry alone.
    #[serde(default)]
    pub(crate) namespaces: Vec<String>,
    /// The key that signs its state.
    pub(crate) key: Option<String>,
    /// A file with certificates of authorities that are believed for it.
    pub(crate) ca: Option<PathBuf>,
}

impl<'de> serde::Deserialize<'de> for Registries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl<'de> Visitor<'de> for EitherForm {
            type Value = Registries;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a list of registries, or a table for each")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Registries, A::Error> {
                let mut places = Vec::new();
                while let Some(place) = access.next_element()? {
                    places.push(place);
                }
                Ok(Registries::Places(places))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Registries, A::Error> {
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

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    registries: Option<Registries>,
}

impl Settings {
    /// Reads the nearest settings file in a folder and those above it; there need not be one.
    pub(crate) fn nearest(folder: &Path) -> Outcome<Self> {
        let start = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        for folder in start.ancestors() {
            let path = folder.join(SETTINGS_FILE);
            match read_file(&path, MAX_SETTINGS_BYTES, Follow::Links) {
                Ok(bytes) => return Self::parse(&path, &bytes),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self::default())
    }

    fn parse(path: &Path, bytes: &[u8]) -> Outcome<Self> {
        let text = String::from_utf8_lossy(bytes);
        let file: File = toml::from_str(&text).map_err(|error| {
            let source = SourceText::new(path.to_string_lossy(), text.clone());
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
            let mut finding = Diagnostic::error(Code::Usage, message).at(location);
            let written = text.get(span).unwrap_or_default();
            if let Some(similar) = most_similar(
                written,
                ["registries", "location", "namespaces", "key", "ca"],
            ) {
                finding = finding.hint(format!("did you mean `{similar}`?"));
            }
            finding
        })?;
        Ok(Self {
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            registries: file.registries,
        })
    }
}
