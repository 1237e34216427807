//! Writes one setting into a settings file. The rest of the file stays as it is, and two runs at once lose nothing.

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, RealFileSystem, lock_folder, make_folder, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, Spec};
use pkgres_settings::{Declared, Files, Kind, MAX_SETTINGS_BYTES, SettingValue, SettingsFile};
use toml_edit::{Array, DocumentMut, Item, value};

use super::layers::value_of;
use crate::failure::{Failure, Result};
use crate::paths::canonical;
use crate::write_together::write_text;

/// Writes a setting into a file, which is made if there is none. `files` is the kind of the file.
/// `wait` is called if another process holds the folder of the file.
pub(crate) fn write_setting(
    path: &Path,
    setting: &Declared,
    values: &[String],
    files: Files,
    wait: impl FnOnce(&Path),
) -> Result<()> {
    let item = item_of(setting, values, path)?;
    let (path, folder) = file_and_folder(path);
    make_folder(&RealFileSystem, &folder)?;
    let _lock = lock_folder(&folder, || wait(&folder))?;
    // Only what is read under the lock counts.
    let before = read_text(&path)?;
    let mut document = parsed(&path, &before)?;
    if document.get(setting.key).is_some_and(Item::is_table_like) {
        return Err(would_remove_tables(&path, setting.key).into());
    }
    document[setting.key] = item;
    let text = text_of(&document, &before);
    SettingsFile::parse(&path, text.as_bytes(), files)?;
    write_text(&path, &before, &text)
}

/// The error about a value in place of tables, such as those of registries: what they say about keys and namespaces would
/// be lost.
fn would_remove_tables(path: &Path, key: &str) -> Diagnostic {
    let shown = path.to_string_lossy();
    let shown = Escaped::new(&shown);
    let message = format!("{shown} has tables `[{key}.NAME]`, which one value would replace");
    Diagnostic::error(Code::Usage, message).hint(format!(
        "write another table `[{key}.NAME]` with its `location` into {shown}"
    ))
}

/// Removes a setting from a settings file, if it is there; says whether it was. `wait` is called if another process holds
/// the folder of the file.
pub(crate) fn remove_setting(
    path: &Path,
    setting: &Declared,
    wait: impl FnOnce(&Path),
) -> Result<bool> {
    let (path, folder) = file_and_folder(path);
    if !folder.is_dir() {
        return Ok(false);
    }
    let _lock = lock_folder(&folder, || wait(&folder))?;
    let before = read_text(&path)?;
    let mut document = parsed(&path, &before)?;
    if document.remove(setting.key).is_none() {
        return Ok(false);
    }
    write_text(&path, &before, &text_of(&document, &before))?;
    Ok(true)
}

/// The file that a path leads to, and its folder. If the user made the path a link, the file behind it changes.
fn file_and_folder(path: &Path) -> (PathBuf, PathBuf) {
    let path = canonical(path);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_owned);
    (path, folder)
}

/// The text of a settings file; empty if there is none.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    match read_file(path, MAX_SETTINGS_BYTES, Follow::Links) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
            let message = format!("{}: the text is not UTF-8", Escaped::path(&path));
            Diagnostic::error(Code::Encoding, message).into()
        }),
        Err(error) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

/// The text of a changed document, with the line ends that it had before: the library writes line feeds alone.
fn text_of(document: &DocumentMut, before: &str) -> String {
    let text = document.to_string();
    if before.contains("\r\n") {
        text.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        text
    }
}

/// The document in the text of a settings file.
fn parsed(path: &Path, text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        Failure::usage(format!("{}: {}", Escaped::path(&path), error.message()))
    })
}

/// The text of the settings file of a project with an override of the requirements on a package.
pub(crate) fn with_override(
    path: &Path,
    text: &str,
    package: &PackageName,
    spec: &Spec,
) -> Result<String> {
    let mut document = parsed(path, text)?;
    let overrides = document.entry("overrides").or_insert_with(toml_edit::table);
    let entry = &mut overrides[package.as_str()];
    let decor = entry.as_value().map(|value| value.decor().clone());
    *entry = value(spec.written());
    // A comment behind the value stays.
    if let (Some(decor), Some(value)) = (decor, entry.as_value_mut()) {
        *value.decor_mut() = decor;
    }
    let after = text_of(&document, text);
    SettingsFile::parse(path, after.as_bytes(), Files::Project)?;
    Ok(after)
}

/// The text of the settings file of a project without an override. A table that is empty then goes with it.
pub(crate) fn without_override(path: &Path, text: &str, package: &PackageName) -> Result<String> {
    let mut document = parsed(path, text)?;
    if let Some(overrides) = document
        .get_mut("overrides")
        .and_then(Item::as_table_like_mut)
    {
        overrides.remove(package.as_str());
        if overrides.is_empty() {
            document.remove("overrides");
        }
    }
    Ok(text_of(&document, text))
}

/// The text of the settings file of a project with a setting that is one word.
pub(crate) fn with_setting(path: &Path, text: &str, key: &str, word: &str) -> Result<String> {
    let mut document = parsed(path, text)?;
    let entry = document.entry(key).or_insert(Item::None);
    let decor = entry.as_value().map(|value| value.decor().clone());
    *entry = value(word);
    // A comment behind the value stays.
    if let (Some(decor), Some(value)) = (decor, entry.as_value_mut()) {
        *value.decor_mut() = decor;
    }
    let after = text_of(&document, text);
    SettingsFile::parse(path, after.as_bytes(), Files::Project)?;
    Ok(after)
}

/// The text of the settings file of a project without a setting.
pub(crate) fn without_setting(path: &Path, text: &str, key: &str) -> Result<String> {
    let mut document = parsed(path, text)?;
    document.remove(key);
    Ok(text_of(&document, text))
}

/// The value of a setting as TOML, if it is one.
fn item_of(setting: &Declared, values: &[String], path: &Path) -> Result<Item> {
    let key = setting.key;
    if setting.kind == Kind::Table {
        let message = format!("`{key}` is a table, and `config set` writes only single values");
        let example = match key {
            "workspace" => "[workspace]` and `members = [\"FOLDER\"]",
            _ => "[overrides]` and `\"PACKAGE\" = \"SPEC\"",
        };
        let hint = format!("write `{example}` into {}", Escaped::path(&path));
        return Err(Diagnostic::error(Code::Usage, message).hint(hint).into());
    }
    let parsed = match (setting.kind, values) {
        (Kind::List, _) => SettingValue::List(values.to_vec()),
        (_, [text]) => value_of(setting, text, None)?,
        _ => return Err(Failure::usage(format!("`{key}` has one value"))),
    };
    Ok(match parsed {
        SettingValue::Flag(flag) => value(flag),
        SettingValue::Number(number) => value(
            i64::try_from(number)
                .map_err(|_| Failure::usage(format!("`{key}` is at most {}", i64::MAX)))?,
        ),
        SettingValue::Text(text) => value(text),
        SettingValue::List(items) => value(items.into_iter().collect::<Array>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_stay_as_they_are() {
        let before = "offline = true\r\ncolor = \"auto\"\r\n";
        let mut document = parsed(Path::new("pkgres.toml"), before).expect("it is TOML");
        document["color"] = value("never");
        let after = text_of(&document, before);
        assert_eq!(after, "offline = true\r\ncolor = \"never\"\r\n");
    }

    #[test]
    fn comments_stay_when_an_override_changes() {
        let path = Path::new("pkgres.toml");
        let package = PackageName::parse("org.Db").expect("a name");
        let spec = Spec::parse("^3").expect("a spec");
        let text = "[overrides]\n# the pool\n\"org.Db\" = \"7\" # because\n";
        let changed = with_override(path, text, &package, &spec).expect("it is TOML");
        assert_eq!(
            changed,
            "[overrides]\n# the pool\n\"org.Db\" = \"^3\" # because\n"
        );
        let text = "offline = true # for now\n";
        let changed = with_setting(path, text, "prerelease", "allow").expect("it is TOML");
        assert_eq!(
            changed,
            "offline = true # for now\nprerelease = \"allow\"\n"
        );
        let changed = without_setting(path, &changed, "offline").expect("it is TOML");
        assert_eq!(changed, "prerelease = \"allow\"\n");
        let text = "offline = true\n\n[overrides]\n\"org.Db\" = \"7\"\n";
        let changed = without_override(path, text, &package).expect("it is TOML");
        assert_eq!(changed, "offline = true\n");
    }
}
