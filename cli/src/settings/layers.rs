//! The settings of a run, from all of their sources.
//!
//! A flag overrides the environment variable, the variable overrides the project's `pkgres.toml`, which overrides
//! the user's settings file, which overrides the default.

use std::fmt;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{did_you_mean, most_similar};
use pkgres_settings::{
    DECLARED, Declared, Files, Kind, MAX_SETTINGS_BYTES, SettingValue, SettingsFile,
};

use super::nearest_settings;
use crate::environment::{cache_folder, settings_file, variable};
use crate::failure::{Failure, Result};

/// The setting that names the folder of cached data.
const CACHE: &str = "cache";

/// The source of the value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag on the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// A settings file.
    File(PathBuf),
    /// The built-in default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(key) => write!(formatter, "--{key}"),
            Self::Variable(name) => formatter.write_str(name),
            Self::File(path) => {
                let current = std::env::current_dir().unwrap_or_default();
                let shown = path.strip_prefix(current).unwrap_or(path).to_string_lossy();
                write!(formatter, "{}", Escaped::new(&shown))
            }
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// The value of a setting, and its source.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    pub(crate) declared: &'static Declared,
    pub(crate) value: SettingValue,
    pub(crate) origin: Origin,
}

/// The settings of a run.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Every setting that is not a table, by name.
    pub(crate) values: Vec<Effective>,
    /// The settings file of the project, which can also hold tables.
    pub(crate) project: SettingsFile,
    /// The settings file of the user.
    pub(crate) user: SettingsFile,
    /// Where the settings file of the user is, or would be.
    pub(crate) user_path: Option<PathBuf>,
}

impl Settings {
    /// Reads the environment and the settings files. `flags` are the settings that the command line sets, with their
    /// values. The user's file may be missing if it is not named, or about to be `written`.
    pub(crate) fn read(
        project_folder: &Path,
        user_file: Option<&Path>,
        flags: &[(&'static str, SettingValue)],
        is_written: bool,
    ) -> Result<Self> {
        let project = nearest_settings(project_folder)?;
        let user_path = user_file.map(Path::to_owned).or_else(settings_file);
        let may_be_missing = user_file.is_none() || is_written;
        let user = read_user_file(user_path.as_deref(), may_be_missing)?;
        let mut values = Vec::new();
        for setting in DECLARED {
            if setting.kind == Kind::Table {
                continue;
            }
            let flag = flags.iter().find(|(key, _)| *key == setting.key);
            let (value, origin) = if let Some((key, value)) = flag {
                (value.clone(), Origin::Flag(key))
            } else if let Some((name, value)) = variable_value(setting)? {
                (value, Origin::Variable(name))
            } else if let Some(value) = file_value(&project, setting)? {
                (value, Origin::File(project.path.clone()))
            } else if let Some(value) = file_value(&user, setting)? {
                (value, Origin::File(user.path.clone()))
            } else {
                (default_value(setting), Origin::Default)
            };
            values.push(Effective {
                declared: setting,
                value,
                origin,
            });
        }
        Ok(Self {
            values,
            project,
            user,
            user_path,
        })
    }

    /// The value of a setting, unless it is a table.
    pub(crate) fn get(&self, key: &str) -> Option<&Effective> {
        self.values.iter().find(|value| value.declared.key == key)
    }

    /// The origin of a setting for the end of a sentence: ` (from PKGRES_LOCKED)`; empty for a flag.
    pub(crate) fn from(&self, key: &str) -> String {
        match self.get(key).map(|effective| &effective.origin) {
            Some(origin @ (Origin::Variable(_) | Origin::File(_))) => format!(" (from {origin})"),
            _ => String::new(),
        }
    }

    /// How to run without a flag that is set: the end of a hint that begins with "run" or "run it".
    pub(crate) fn run_without(&self, flag: &str) -> String {
        if self.is_set(flag) {
            let variable = flag.to_uppercase().replace('-', "_");
            format!("with PKGRES_{variable}=false in front of `pkgres`")
        } else {
            format!("without `--{flag}`")
        }
    }

    /// Whether a variable or a file sets a flag.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.get(key).is_some_and(|effective| {
            let is_given = matches!(effective.origin, Origin::Variable(_) | Origin::File(_));
            is_given && effective.value == SettingValue::Flag(true)
        })
    }

    /// The value of a setting that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)?.value {
            SettingValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The settings from variables and files that are the default of a flag.
    pub(crate) fn flag_defaults(&self) -> impl Iterator<Item = &Effective> {
        self.values.iter().filter(|value| {
            value.declared.has_flag && matches!(value.origin, Origin::Variable(_) | Origin::File(_))
        })
    }
}

/// The value of a setting in its variable, if that is set.
fn variable_value(setting: &Declared) -> Result<Option<(&'static str, SettingValue)>> {
    let Some(name) = setting.variable else {
        return Ok(None);
    };
    let Some(value) = variable(name) else {
        return Ok(None);
    };
    let text = match value.into_string() {
        Ok(text) => text,
        // A path need not be UTF-8.
        Err(path) if setting.key == CACHE => path.to_string_lossy().into_owned(),
        Err(_) => return Err(Failure::usage(format!("{name} is not UTF-8"))),
    };
    let value = SettingValue::from_variable(setting.kind, &text)
        .map_err(|expected| invalid(setting, &text, &expected, Some(&Origin::Variable(name))))?;
    Ok(Some((name, value)))
}

/// The value of a setting in a settings file, if it is there.
fn file_value(file: &SettingsFile, setting: &Declared) -> Result<Option<SettingValue>> {
    match file.value(setting.key) {
        Some(SettingValue::Text(text)) => {
            let value = SettingValue::parse(setting.kind, &text);
            value.map(Some).map_err(|expected| {
                let message = wrong_value(setting, &text, &expected);
                let finding = file.error_at(&[setting.key], message);
                with_similar_word(finding, setting, &text).into()
            })
        }
        other => Ok(other),
    }
}

/// The default of a setting.
fn default_value(setting: &Declared) -> SettingValue {
    if setting.key == CACHE {
        let folder = cache_folder().unwrap_or_default();
        return SettingValue::Text(folder.to_string_lossy().into_owned());
    }
    SettingValue::default_of(setting)
}

/// The value of a setting that is written as text; an error names its origin.
pub(super) fn value_of(
    setting: &Declared,
    text: &str,
    origin: Option<&Origin>,
) -> Result<SettingValue> {
    SettingValue::parse(setting.kind, text)
        .map_err(|expected| invalid(setting, text, &expected, origin))
}

/// The error of a text that is no value of a setting.
fn invalid(setting: &Declared, text: &str, expected: &str, origin: Option<&Origin>) -> Failure {
    let from = origin.map_or_else(String::new, |origin| format!(" (from {origin})"));
    let message = wrong_value(setting, text, expected) + &from;
    with_similar_word(Diagnostic::error(Code::Usage, message), setting, text).into()
}

fn wrong_value(setting: &Declared, text: &str, expected: &str) -> String {
    format!(
        "{}: `{}`: {expected}",
        setting.key,
        Escaped::shortened(text)
    )
}

/// The error of a value with the word that was probably meant, if the setting has words.
fn with_similar_word(finding: Diagnostic, setting: &Declared, text: &str) -> Diagnostic {
    if let Kind::Choice(words) = setting.kind
        && let Some(similar) = most_similar(text, words.iter().copied())
    {
        return finding.hint(did_you_mean(similar));
    }
    finding
}

/// Whether a path is the device that is always empty, which names no settings.
fn is_null_device(path: &Path) -> bool {
    path == Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" })
}

/// Reads the settings file of the user.
fn read_user_file(path: Option<&Path>, may_be_missing: bool) -> Result<SettingsFile> {
    let Some(path) = path else {
        return Ok(SettingsFile::default());
    };
    if is_null_device(path) {
        return Ok(SettingsFile::default());
    }
    match read_file(path, MAX_SETTINGS_BYTES, Follow::Links) {
        Ok(bytes) => Ok(SettingsFile::parse(path, &bytes, Files::User)?),
        Err(error) if error.is_not_found() && may_be_missing => Ok(SettingsFile::default()),
        Err(error) => Err(error.into()),
    }
}
