//! The reader of settings files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::document::merge_conflict;
use pkgres_manifest::{did_you_mean, most_similar};
use toml::de::DeTable;
use toml::{Table, Value};

use crate::declared::{DECLARED, Files, Kind, declared};
use crate::registries::{REGISTRY_KEYS, Registries};
use crate::value::SettingValue;

/// The name of the settings file of a project.
pub const SETTINGS_FILE: &str = "pkgres.toml";

/// The beginning of the names of the keys of `[workspace]`.
const WORKSPACE_PREFIX: &str = "workspace.";

/// The keys of `[workspace]`.
const WORKSPACE_KEYS: [&str; 2] = ["members", "one-solve"];

/// The largest settings file, in bytes.
pub const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// A parsed settings file; empty if there is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct SettingsFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The folder of the file. Paths in it are relative to this folder.
    pub folder: PathBuf,
    /// The registries, in order of preference.
    pub registries: Option<Registries>,
    /// All of its content.
    pub table: Table,
    /// The text that was read, for the positions of errors.
    text: String,
}

/// The part of a settings file that has a type of its own.
#[derive(serde::Deserialize)]
struct TypedSettings {
    registries: Option<Registries>,
}

impl SettingsFile {
    /// Reads the content of a file. The error is the first one.
    pub fn parse(path: &Path, bytes: &[u8], files: Files) -> Result<Self, Diagnostic> {
        let text = String::from_utf8_lossy(bytes);
        let source = SourceText::new(path.to_string_lossy(), text.clone());
        if let Err(error) = std::str::from_utf8(bytes) {
            let start = error.valid_up_to();
            let location = Location::new(&source, Span { start, end: start });
            return Err(Diagnostic::error(Code::Encoding, "the text is not UTF-8")
                .at(location)
                .hint("save the text as UTF-8"));
        }
        let syntax_error = |error: &toml::de::Error| {
            let Range { start, end } = error.span().unwrap_or_default();
            let location = Location::new(&source, Span { start, end });
            let message = error.message().lines().next().unwrap_or_default();
            Diagnostic::error(Code::Usage, message).at(location)
        };
        let table: Table = toml::from_str(&text)
            .map_err(|error| merge_conflict(&source).unwrap_or_else(|| syntax_error(&error)))?;
        if let Some(WrongSetting { key, message, hint }) = check_table(&table, files) {
            let mut finding = Diagnostic::error(Code::Usage, message);
            let path: Vec<&str> = match key.strip_prefix(WORKSPACE_PREFIX) {
                Some(key) => vec!["workspace", key],
                None => vec![&key],
            };
            if let Some(span) = span_of(&text, &path) {
                finding = finding.at(Location::new(&source, span));
            }
            return Err(finding.maybe_hint(hint));
        }
        let typed: TypedSettings = toml::from_str(&text).map_err(|error| {
            let key = error.span().and_then(|span| text.get(span));
            let similar = most_similar(key.unwrap_or_default(), REGISTRY_KEYS);
            syntax_error(&error).maybe_hint(similar.map(did_you_mean))
        })?;
        Ok(Self {
            path: path.to_owned(),
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            registries: typed.registries,
            table,
            text: text.into_owned(),
        })
    }

    /// An error about the value of a key, which is below others.
    pub fn error_at(&self, path: &[&str], message: impl Into<String>) -> Diagnostic {
        let finding = Diagnostic::error(Code::Usage, message);
        match span_of(&self.text, path) {
            Some(span) => {
                let source = SourceText::new(self.path.to_string_lossy(), self.text.clone());
                finding.at(Location::new(&source, span))
            }
            None => finding,
        }
    }

    /// The value of a setting, if the file sets it and it is not a table of its own.
    pub fn value(&self, key: &str) -> Option<SettingValue> {
        SettingValue::from_toml(self.table.get(key)?)
    }

    /// The files that `provide` names.
    pub fn provided_files(&self) -> Result<Vec<PathBuf>, Diagnostic> {
        let Some(value) = self.table.get("provide") else {
            return Ok(Vec::new());
        };
        let paths = value.as_array().and_then(|paths| {
            let paths = paths.iter().map(Value::as_str);
            paths.collect::<Option<Vec<&str>>>()
        });
        let Some(paths) = paths else {
            return Err(self.error_at(&["provide"], "`provide` must be a list of files"));
        };
        Ok(paths.iter().map(|path| self.folder.join(path)).collect())
    }
}

/// The position of a key below others.
fn span_of(text: &str, path: &[&str]) -> Option<Span> {
    let (key, around) = path.split_last()?;
    let file = DeTable::parse(text).ok()?;
    let mut table = file.get_ref();
    for key in around {
        table = table.get(*key)?.get_ref().as_table()?;
    }
    let (key, _) = table.get_key_value(*key)?;
    let Range { start, end } = key.span();
    Some(Span { start, end })
}

/// Where a key belongs that stands at the top of a settings file, if it is one of a table.
fn hint_for_table(key: &str) -> Option<String> {
    if WORKSPACE_KEYS.contains(&key) {
        return Some(format!("`{key}` belongs under `[workspace]`"));
    }
    let is_of_registry = REGISTRY_KEYS.contains(&key);
    is_of_registry.then(|| format!("`{key}` belongs under `[registries.NAME]`"))
}

/// What is wrong with a key of a settings file.
struct WrongSetting {
    /// The key with those of the tables around it.
    key: String,
    message: String,
    hint: Option<String>,
}

/// The first key of `[workspace]` that is wrong. What `members` has to be depends on folders, and is checked with these.
fn check_workspace(table: &Table) -> Option<WrongSetting> {
    for (key, value) in table {
        let name = format!("{WORKSPACE_PREFIX}{key}");
        if !WORKSPACE_KEYS.contains(&key.as_str()) {
            let message = format!("unknown setting `{}`", Escaped::shortened(&name));
            let similar = most_similar(key, WORKSPACE_KEYS);
            let hint = similar.map(did_you_mean);
            return Some(WrongSetting {
                key: name,
                message,
                hint,
            });
        }
        if key == "one-solve" && !value.is_bool() {
            let kind = value.type_str();
            let message = format!("`{name}` must be `true` or `false`, not {kind}");
            return Some(WrongSetting {
                key: name,
                message,
                hint: None,
            });
        }
    }
    None
}

/// The first key of a settings file that is wrong.
fn check_table(table: &Table, files: Files) -> Option<WrongSetting> {
    for (key, value) in table {
        let Some(setting) = declared(key) else {
            let known = DECLARED
                .iter()
                .filter(|setting| setting.files == Files::Both || setting.files == files)
                .map(|setting| setting.key);
            let hint = hint_for_table(key).or_else(|| most_similar(key, known).map(did_you_mean));
            let message = format!("unknown setting `{}`", Escaped::shortened(key));
            return Some(WrongSetting {
                key: key.clone(),
                message,
                hint,
            });
        };
        let hint = match (setting.files, files) {
            (Files::User, Files::Project) => Some("set it in the settings file of the user"),
            (Files::Project, Files::User) => Some("set it in pkgres.toml of the project"),
            _ => None,
        };
        if let Some(hint) = hint {
            let message = format!("`{key}` cannot be set here");
            return Some(WrongSetting {
                key: key.clone(),
                message,
                hint: Some(hint.to_owned()),
            });
        }
        let (is_valid, expected) = match setting.kind {
            Kind::Flag => (value.is_bool(), "`true` or `false`"),
            Kind::Number => (
                value.as_integer().is_some_and(|number| number >= 0),
                if value.is_integer() {
                    "0 or more"
                } else {
                    "an integer"
                },
            ),
            Kind::Choice(_) | Kind::Text => (value.is_str(), "text"),
            // Registries have two forms; their own parser checks them.
            Kind::List => (true, ""),
            Kind::Table => (value.is_table(), "a table"),
        };
        if !is_valid {
            let found = match value {
                Value::Integer(number) => number.to_string(),
                other => other.type_str().to_owned(),
            };
            let message = format!("`{key}` must be {expected}, not {found}");
            return Some(WrongSetting {
                key: key.clone(),
                message,
                hint: None,
            });
        }
        let workspace = value.as_table().filter(|_| key == "workspace");
        if let Some(wrong) = workspace.and_then(check_workspace) {
            return Some(wrong);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_conflict_markers_are_named() {
        let text = "color = \"auto\"\n<<<<<<< HEAD\nregistries = [\"dir:a\"]\n=======\n>>>>>>> b\n";
        let path = Path::new(SETTINGS_FILE);
        let error = SettingsFile::parse(path, text.as_bytes(), Files::Project);
        let error = error.expect_err("a merge conflict");
        assert_eq!(
            error.to_string(),
            "pkgres.toml:2:1: error[PK0002]: the file contains merge conflict markers; hint: resolve the conflict, and \
             remove the lines with markers"
        );
    }
}
