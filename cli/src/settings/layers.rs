//! Settings from the environment and from files, and which of them counts.
//!
//! A flag goes before the variable, the variable before the project's `pkgres.toml`, that before
//! the user's file, and that before the default.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::most_similar;
use toml::{Table, Value};

use super::declared::{DECLARED, Declared, Files, Kind, declared};
use super::{MAX_SETTINGS_BYTES, Settings};
use crate::environment::variable;
use crate::failure::{Failure, Result};

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag on the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// A settings file.
    File(PathBuf),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(key) => write!(formatter, "--{key}"),
            Self::Variable(name) => formatter.write_str(name),
            Self::File(path) => {
                let here = std::env::current_dir().unwrap_or_default();
                let shown = path.strip_prefix(here).unwrap_or(path).to_string_lossy();
                write!(formatter, "{}", Escaped::new(&shown))
            }
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// A setting and its value.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    pub(crate) declared: &'static Declared,
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// The settings of a run.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// Every setting but tables, by name.
    pub(crate) values: Vec<Effective>,
    /// The project's settings, of which some are tables.
    pub(crate) project: Settings,
    /// The user's settings.
    pub(crate) user: Settings,
}

static CURRENT: OnceLock<Layers> = OnceLock::new();

/// The settings of this run.
pub(crate) fn current() -> &'static Layers {
    CURRENT.get_or_init(Layers::default)
}

/// Fixes the settings of this run.
pub(crate) fn install(layers: Layers) {
    // There is one run in a process, and it does this once.
    let _ = CURRENT.set(layers);
}

impl Layers {
    /// Reads what there is. `flags` are the settings that the command line gives.
    pub(crate) fn read(
        project_folder: &Path,
        user_file: Option<&Path>,
        flags: &[&'static str],
    ) -> Result<Self> {
        let project = Settings::nearest(project_folder)?;
        let user = read_user_file(user_file)?;
        let mut values = Vec::new();
        for setting in DECLARED {
            if setting.kind == Kind::Table {
                continue;
            }
            let (value, origin) = if flags.contains(&setting.key) {
                (String::new(), Origin::Flag(setting.key))
            } else if let Some((name, value)) = of_environment(setting)? {
                (value, Origin::Variable(name))
            } else if let Some(value) = project.value(setting.key) {
                (value, Origin::File(project.path.clone()))
            } else if let Some(value) = user.value(setting.key) {
                (value, Origin::File(user.path.clone()))
            } else {
                (setting.default.to_owned(), Origin::Default)
            };
            if !matches!(origin, Origin::Flag(_) | Origin::Default) {
                check(setting, &value, &origin)?;
            }
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
        })
    }

    /// A setting.
    pub(crate) fn get(&self, key: &str) -> Option<&Effective> {
        self.values.iter().find(|value| value.declared.key == key)
    }

    /// Where the value of a setting comes from, as part of a sentence: ` (from PKGRES_LOCKED)`, or
    /// nothing for a flag.
    pub(crate) fn from(&self, key: &str) -> String {
        match self.get(key).map(|effective| &effective.origin) {
            Some(origin @ (Origin::Variable(_) | Origin::File(_))) => format!(" (from {origin})"),
            _ => String::new(),
        }
    }

    /// Whether something other than the command line and defaults says anything that the command
    /// line could say.
    pub(crate) fn has_values(&self) -> bool {
        let is_said = |value: &Effective| {
            value.declared.has_flag && matches!(value.origin, Origin::Variable(_) | Origin::File(_))
        };
        self.values.iter().any(is_said)
    }
}

fn of_environment(setting: &Declared) -> Result<Option<(&'static str, String)>> {
    let Some(name) = setting.variable else {
        return Ok(None);
    };
    match variable(name) {
        None => Ok(None),
        // Folders need not be text.
        Some(value) if setting.key == "cache" => {
            Ok(Some((name, value.to_string_lossy().into_owned())))
        }
        Some(value) => match value.into_string() {
            Ok(value) => Ok(Some((name, normal(setting, value)))),
            Err(_) => Err(Failure::usage(format!("{name} is not UTF-8"))),
        },
    }
}

/// A value of a variable as it would stand in a file.
fn normal(setting: &Declared, value: String) -> String {
    match (setting.kind, value.to_ascii_lowercase().as_str()) {
        (Kind::Flag, "1" | "yes" | "on" | "true") => "true".to_owned(),
        (Kind::Flag, "0" | "no" | "off" | "false") => "false".to_owned(),
        _ => value,
    }
}

fn check(setting: &Declared, value: &str, origin: &Origin) -> Result<()> {
    let shown = Escaped::shortened(value);
    let (is_right, expected) = match setting.kind {
        Kind::Flag => (
            matches!(value, "true" | "false"),
            "`true` or `false` is expected".to_owned(),
        ),
        Kind::Number => (
            value.parse::<u64>().is_ok(),
            "a whole number is expected".to_owned(),
        ),
        Kind::Choice(words) => (
            words.contains(&value),
            format!("`{}` is expected", words.join("`, `")),
        ),
        Kind::Text | Kind::List | Kind::Table => (true, String::new()),
    };
    if is_right {
        return Ok(());
    }
    let message = format!("{}: `{shown}`: {expected} (from {origin})", setting.key);
    let mut finding = Diagnostic::error(Code::Usage, message);
    if let Kind::Choice(words) = setting.kind
        && let Some(similar) = most_similar(value, words.iter().copied())
    {
        finding = finding.hint(format!("did you mean `{similar}`?"));
    }
    Err(finding.into())
}

/// Where the user's settings are.
fn user_path() -> Option<PathBuf> {
    let folder = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let configuration =
        folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(configuration.join("pkgres").join("config.toml"))
}

/// The user's settings; there need not be any.
fn read_user_file(named: Option<&Path>) -> Result<Settings> {
    let Some(path) = named.map(Path::to_owned).or_else(user_path) else {
        return Ok(Settings::default());
    };
    match read_file(&path, MAX_SETTINGS_BYTES, Follow::Links) {
        Ok(bytes) => Settings::parse(&path, &bytes, Files::User),
        // A file that was asked for has to be there.
        Err(error) if error.is_not_found() && named.is_none() => Ok(Settings::default()),
        Err(error) => Err(error.into()),
    }
}

/// A value of a settings file as text; nothing for tables.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(as_text).collect();
            texts.map(|texts| texts.join(","))
        }
        // Tables of registries, as they would be given on the command line.
        Value::Table(tables) => {
            let place = |(name, table): (&String, &Value)| {
                let location = table.get("location")?.as_str()?;
                Some(format!("{name}={location}"))
            };
            let texts: Option<Vec<String>> = tables.iter().map(place).collect();
            texts.map(|texts| texts.join(","))
        }
        _ => None,
    }
}

/// What is wrong with the keys and kinds of a settings file.
pub(super) fn check_table(table: &Table, files: Files) -> Option<(String, String, Option<String>)> {
    for (key, value) in table {
        let Some(setting) = declared(key) else {
            let known = DECLARED
                .iter()
                .filter(|setting| setting.files == Files::Both || setting.files == files)
                .map(|setting| setting.key);
            let hint = most_similar(key, known).map(|similar| format!("did you mean `{similar}`?"));
            let message = format!("there is no setting `{}`", Escaped::shortened(key));
            return Some((key.clone(), message, hint));
        };
        let hint = match (setting.files, files) {
            (Files::User, Files::Project) => Some("it belongs into the user's settings"),
            (Files::Project, Files::User) => Some("it belongs into the project's pkgres.toml"),
            _ => None,
        };
        if let Some(hint) = hint {
            let message = format!("`{key}` cannot be set here");
            return Some((key.clone(), message, Some(hint.to_owned())));
        }
        let (is_right, expected) = match setting.kind {
            Kind::Flag => (value.is_bool(), "`true` or `false`"),
            Kind::Number => (value.is_integer(), "a whole number"),
            Kind::Choice(_) | Kind::Text => (value.is_str(), "text"),
            // What registries look like is for their reader to say.
            Kind::List => (true, ""),
            Kind::Table => (value.is_table(), "a table"),
        };
        if !is_right {
            let message = format!("`{key}` is {expected}, not {}", value.type_str());
            return Some((key.clone(), message, None));
        }
    }
    None
}
