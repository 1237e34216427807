//! `pkgres config`

use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, without_credentials};
use pkgres_manifest::{PackageName, Spec, did_you_mean, most_similar};
use pkgres_settings::{DECLARED, Declared, Files, Kind, SETTINGS_FILE, declared};
use serde_json::{Value, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::output::Output;
use crate::paths::from_other_folder;
use crate::registries::{are_several, check_registries, named_host};
use crate::settings::{Effective, Origin, Settings, remove_setting, write_setting};
use crate::solve_options::check_cutoff;

pub(super) fn run(args: &ConfigArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    match &args.command {
        ConfigCommand::List { show_origin, .. } => Ok(list(*show_origin, context, output)),
        ConfigCommand::Get { key, .. } => get(key, context, output),
        ConfigCommand::Set {
            key,
            values,
            project,
        } => set(key, values, files(*project), context, output),
        ConfigCommand::Unset { key, project } => unset(key, files(*project), context, output),
    }
}

/// The setting of a name.
fn setting_of(key: &str) -> Result<&'static Declared> {
    declared(key).ok_or_else(|| {
        let message = format!("unknown setting `{}`", Escaped::shortened(key));
        let finding = Diagnostic::error(Code::Usage, message);
        let known = DECLARED.iter().map(|setting| setting.key);
        let hint = match most_similar(key, known) {
            Some(similar) => did_you_mean(similar),
            None => "`pkgres config list` shows all settings".to_owned(),
        };
        finding.hint(hint).into()
    })
}

/// Prints the value of a setting.
fn get(key: &str, context: &Context, output: &mut Output) -> Result<Exit> {
    let setting = setting_of(key)?;
    let settings = &context.settings;
    let Some(effective) = settings.get(setting.key) else {
        let table = settings.project.table.get(setting.key);
        let text = table.map(ToString::to_string).unwrap_or_default();
        let text = without_credentials(&text);
        if output.is_json() {
            output.json(&json!({"schema_version": 1, "key": setting.key, "value": text}));
        } else {
            output.data(&format!("{text}\n"));
        }
        return Ok(Exit::Done);
    };
    if output.is_json() {
        let mut document = to_json(effective);
        document["schema_version"] = json!(1);
        output.json(&document);
    } else {
        let text = effective.value.without_credentials().to_string();
        output.data(&if text.is_empty() { text } else { text + "\n" });
    }
    Ok(Exit::Done)
}

/// A registry as it is written into a settings file: its path, if it has one, is relative to the folder of that file.
fn registry_from_file(text: &str, file: &Path) -> String {
    let (name, location) = match text.split_once('=') {
        Some((name, location)) if !name.contains(':') => (format!("{name}="), location),
        _ => (String::new(), text),
    };
    let kinds = ["dir:", "index:"].into_iter();
    let mut paths = kinds.filter_map(|kind| Some((kind, location.strip_prefix(kind)?)));
    match paths.next() {
        Some((kind, path)) => format!("{name}{kind}{}", path_from_file(path, file)),
        None => text.to_owned(),
    }
}

/// A path that was typed in the current folder, from the folder of the settings file that it is written into.
pub(super) fn path_from_file(path: &str, file: &Path) -> String {
    let folder = file.parent().filter(|folder| folder.is_absolute());
    match folder.filter(|_| !path.is_empty() && Path::new(path).is_relative()) {
        Some(folder) => from_other_folder(folder, Path::new(path))
            .to_string_lossy()
            .into_owned(),
        None => path.to_owned(),
    }
}

/// Checks values that their type alone does not: once written, they would end every command of the project. `command` is
/// the command that sets them.
fn check_values(setting: &Declared, values: &[String], command: &str) -> Result<()> {
    let is_several = |text: &&String| match setting.key {
        "registries" => are_several(text),
        "provide" => {
            let is_file = |path: &str| Path::new(path).is_file();
            text.contains(',') && !is_file(text) && text.split(',').all(|part| is_file(part.trim()))
        }
        _ => false,
    };
    if let Some(text) = values.iter().find(is_several) {
        let words = text.split(',').map(|part| quoted(Path::new(part.trim())));
        let words: Vec<String> = words.collect();
        let command = command.replace(&quoted(Path::new(text)), &words.join(" "));
        let shown = Escaped::shortened(text);
        let message = format!("{}: `{shown}` is several values", setting.key);
        return Err(Diagnostic::error(Code::Usage, message)
            .hint(format!("separate them with blanks: `{command}`"))
            .into());
    }
    let [text] = values else {
        return Ok(());
    };
    let checked = match setting.key {
        "core-library" => PackageName::parse(text)
            .map(drop)
            .map_err(|error| format!("`{}`: {error}", Escaped::shortened(text))),
        "exclude-newer" => check_cutoff(text),
        "required-version" => Spec::parse(text)
            .map(drop)
            .map_err(|error| format!("`{}`: {error}", Escaped::shortened(text))),
        _ => return Ok(()),
    };
    checked.map_err(|error| {
        let finding = Diagnostic::error(Code::Usage, format!("{}: {error}", setting.key));
        if text.trim().is_empty() {
            let project = if command.contains(" --project ") {
                "--project "
            } else {
                ""
            };
            let unset = format!("pkgres config unset {project}{}", setting.key);
            return finding
                .hint(format!("`{unset}` removes the setting"))
                .into();
        }
        finding.into()
    })
}

/// The settings file that `--project` chooses, or its absence.
fn files(is_project: bool) -> Files {
    if is_project {
        Files::Project
    } else {
        Files::User
    }
}

/// Writes a setting into the file of the user or of the project.
fn set(
    key: &str,
    values: &[String],
    files: Files,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let setting = setting_of(key)?;
    let settings = &context.settings;
    let command = |project: &str| {
        let values: Vec<String> = values
            .iter()
            .map(|value| quoted(Path::new(value)))
            .collect();
        format!(
            "pkgres config set {project}{} {}",
            setting.key,
            values.join(" ")
        )
    };
    // A table is in the file of the project, whichever is meant.
    let files = if setting.kind == Kind::Table {
        Files::Project
    } else {
        files
    };
    let is_project = files == Files::Project;
    let path = file_of(settings, files)?;
    if setting.files != Files::Both && setting.files != files {
        let (whose, hint) = if is_project {
            ("the user", command(""))
        } else {
            ("the project", command("--project "))
        };
        let message = format!("`{}` is a setting of {whose}", setting.key);
        return Err(Diagnostic::error(Code::Usage, message)
            .hint(format!("`{hint}`"))
            .into());
    }
    let whole = command(if is_project { "--project " } else { "" });
    check_values(setting, values, &whole)?;
    let wait = |folder: &Path| output.note_waiting(folder);
    let values = match setting.key {
        "registries" => {
            check_registries(values)?;
            let registries = values.iter();
            registries
                .map(|text| registry_from_file(text, &path))
                .collect()
        }
        "provide" => {
            let from_file = |text: &String| match named_host(text) {
                Some(_) => text.clone(),
                None => path_from_file(text, &path),
            };
            values.iter().map(from_file).collect()
        }
        _ => values.to_vec(),
    };
    write_setting(&path, setting, &values, files, wait)
        .map_err(|failure| with_other_file(failure, files))?;
    let shown = Origin::File(path.clone());
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "set",
            "key": setting.key,
            "file": path.to_string_lossy(),
        }));
    }
    output.note(&format!("Set `{}` in {shown}", setting.key));
    let overriding = settings.get(setting.key).map(|effective| &effective.origin);
    let is_hidden = match overriding {
        Some(Origin::Variable(_)) => true,
        Some(Origin::File(other)) => !is_project && *other == settings.project.path,
        _ => false,
    };
    if let Some(origin) = overriding.filter(|_| is_hidden) {
        output.note(&format!("{origin} overrides it here"));
    }
    Ok(Exit::Done)
}

/// The failure to write a settings file, with a hint that names another one if it is that of the user.
fn with_other_file(mut failure: Failure, files: Files) -> Failure {
    for finding in &mut failure.findings {
        if files == Files::User && finding.code == Code::File {
            let hint = "name another settings file with `--config FILE` or PKGRES_CONFIG";
            finding.hints.push(hint.to_owned());
        }
    }
    failure
}

/// The settings file of the user or of the project.
fn file_of(settings: &Settings, files: Files) -> Result<PathBuf> {
    if files == Files::Project {
        let known = Some(settings.project.path.clone()).filter(|path| !path.as_os_str().is_empty());
        return Ok(known.unwrap_or_else(|| PathBuf::from(SETTINGS_FILE)));
    }
    settings
        .user_path
        .clone()
        .ok_or_else(|| Failure::usage("there is no folder for settings: set PKGRES_CONFIG or HOME"))
}

/// Removes a setting from the file of the user or of the project.
fn unset(key: &str, files: Files, context: &Context, output: &mut Output) -> Result<Exit> {
    let setting = setting_of(key)?;
    let settings = &context.settings;
    let path = file_of(settings, files)?;
    let was_set = remove_setting(&path, setting, |folder| output.note_waiting(folder))?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if was_set { "unset" } else { "unknown" },
            "key": setting.key,
            "file": path.to_string_lossy(),
        }));
    }
    let shown = Origin::File(path);
    if was_set {
        output.note(&format!("Removed `{}` from {shown}", setting.key));
        return Ok(Exit::Done);
    }
    output.note(&format!("`{}` is not set in {shown}", setting.key));
    let origin = settings.get(setting.key).map(|effective| &effective.origin);
    if let Some(origin @ (Origin::File(_) | Origin::Variable(_))) = origin {
        output.note(&format!("{origin} sets it"));
    }
    Ok(Exit::Done)
}

fn list(show_origin: bool, context: &Context, output: &mut Output) -> Exit {
    let settings = &context.settings;
    if output.is_json() {
        let values = settings.values.iter().map(to_json);
        let from = Origin::File(settings.project.path.clone()).to_string();
        let tables = settings.project.table.iter().filter_map(|(key, value)| {
            let value = value.as_table().map(|_| value_json(value))?;
            Some(json!({"key": key, "value": value, "origin": "file", "from": from}))
        });
        let values: Vec<Value> = values.chain(tables).collect();
        output.json(&json!({"schema_version": 1, "settings": values}));
        return Exit::Done;
    }
    for effective in &settings.values {
        let value = effective.value.without_credentials().to_toml();
        let key = effective.declared.key;
        let line = match &effective.origin {
            origin if show_origin => format!("{key} = {value} ({origin})\n"),
            _ => format!("{key} = {value}\n"),
        };
        output.data(&line);
    }
    for (key, table) in &settings.project.table {
        if let toml::Value::Table(table) = table {
            for (name, value) in table {
                let origin = Origin::File(settings.project.path.clone());
                let value = value.to_string();
                let value = without_credentials(&value);
                output.data(&if show_origin {
                    format!("{key}.\"{name}\" = {value} ({origin})\n")
                } else {
                    format!("{key}.\"{name}\" = {value}\n")
                });
            }
        }
    }
    Exit::Done
}

/// A value of a table as JSON, without credentials.
fn value_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => json!(without_credentials(text)),
        toml::Value::Array(items) => items.iter().map(value_json).collect(),
        toml::Value::Table(table) => table
            .iter()
            .map(|(key, value)| (key.clone(), value_json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(flag) => json!(flag),
        toml::Value::Datetime(time) => json!(time.to_string()),
    }
}

fn to_json(effective: &Effective) -> Value {
    let origin = match &effective.origin {
        Origin::Flag(_) => "flag",
        Origin::Variable(_) => "variable",
        Origin::File(_) => "file",
        Origin::Default => "default",
    };
    json!({
        "key": effective.declared.key,
        "value": effective.value.without_credentials(),
        "origin": origin,
        "from": effective.origin.to_string(),
    })
}
