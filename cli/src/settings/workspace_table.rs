//! The setting `workspace`, whose folders are looked up.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pkgres_manifest::MANIFEST_FILE;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_settings::SettingsFile;
use toml::Value;

use crate::failure::{Failure, Result};
use crate::paths::from_current_folder;

/// The `[workspace]` table, with the folders that `members` matches.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceTable {
    /// The folders of the members; at least one.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether the members are solved together.
    pub(crate) one_solve: bool,
}

/// The `[workspace]` of a project, if it has one.
pub(crate) fn workspace(settings: &SettingsFile) -> Result<Option<WorkspaceTable>> {
    let Some(Value::Table(table)) = settings.table.get("workspace") else {
        return Ok(None);
    };
    let error = |message: String| -> Failure {
        let path = ["workspace", "members"];
        let path = if table.contains_key("members") {
            &path[..]
        } else {
            &path[..1]
        };
        settings.error_at(path, message).into()
    };
    let invalid = || {
        error(
            "workspace: `members` must be a list of folders; the last component of each can end in `*`"
                .to_owned(),
        )
    };
    let unsupported = |member: &str| {
        let member = Escaped::shortened(member);
        error(format!(
            "workspace: `{member}` in `members` cannot be used: only `*` is supported, at the end of the last component"
        ))
    };
    let Some(Value::Array(members)) = table.get("members") else {
        return Err(invalid());
    };
    let from_here = |member: &Path| from_current_folder(&settings.folder, member);
    let mut folders = Vec::new();
    for member in members {
        let member = member.as_str().ok_or_else(invalid)?;
        let without_slash = member.strip_suffix('/').filter(|rest| !rest.is_empty());
        let member = without_slash.unwrap_or(member);
        match member.strip_suffix('*') {
            // A folder can have such a name, but other tools would read a pattern.
            None if is_pattern(member) && !settings.folder.join(member).is_dir() => {
                return Err(unsupported(member));
            }
            None => folders.push(from_here(Path::new(member))),
            Some(stem) if is_pattern(stem) => return Err(unsupported(member)),
            Some(stem) => {
                let cut = stem.rfind('/').map_or(0, |at| at + 1);
                let (parent, prefix) = stem.split_at(cut);
                let found = package_folders(&settings.folder.join(parent), prefix);
                let found = found
                    .iter()
                    .map(|name| from_here(&Path::new(parent).join(name)));
                folders.extend(found);
            }
        }
    }
    if folders.is_empty() {
        let patterns = members.iter().filter_map(Value::as_str);
        let patterns: Vec<String> = patterns
            .map(|pattern| format!("`{}`", Escaped::shortened(pattern)))
            .collect();
        let patterns = if patterns.is_empty() {
            String::new()
        } else {
            format!(" ({})", patterns.join(", "))
        };
        return Err(error(format!(
            "workspace: no folder in `members`{patterns} has a {MANIFEST_FILE}"
        )));
    }
    let one_solve = table.get("one-solve").and_then(Value::as_bool) == Some(true);
    Ok(Some(WorkspaceTable { folders, one_solve }))
}

/// Whether other tools read a text as a pattern of folders.
fn is_pattern(text: &str) -> bool {
    text.starts_with('!') || text.contains(['*', '?', '[', '{'])
}

/// The names of the package folders directly in a folder that start with `prefix`, sorted.
fn package_folders(folder: &Path, prefix: &str) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder);
    let mut names: Vec<OsString> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with(prefix))
        .filter(|name| folder.join(name).join(MANIFEST_FILE).is_file())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use pkgres_settings::Files;

    use super::*;

    /// The folders that a member names in a folder with the packages `apps/a` and `apps/b`; an error as its message.
    fn folders(member: &str) -> std::result::Result<Vec<String>, String> {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = temporary.path();
        for package in ["apps/a", "apps/b"] {
            let package = folder.join(package);
            #[expect(clippy::disallowed_methods, reason = "files of a test")]
            std::fs::create_dir_all(&package).expect("a folder");
            #[expect(clippy::disallowed_methods, reason = "files of a test")]
            std::fs::write(package.join(MANIFEST_FILE), "").expect("a file");
        }
        let text = format!("[workspace]\nmembers = [\"{member}\"]\n");
        let settings =
            SettingsFile::parse(&folder.join("pkgres.toml"), text.as_bytes(), Files::Project)
                .expect("settings");
        let table = workspace(&settings).map_err(|failure| failure.findings[0].message.clone())?;
        let folders = table.expect("there is a workspace").folders;
        let names = folders.iter().map(|found| {
            let found = found.strip_prefix(folder).unwrap_or(found);
            found.to_string_lossy().into_owned()
        });
        Ok(names.collect())
    }

    #[test]
    fn a_star_at_the_end_is_the_only_pattern() {
        for member in ["apps/*", "./apps/*"] {
            let found = folders(member).expect(member);
            assert_eq!(found, ["apps/a", "apps/b"], "{member}");
        }
        assert_eq!(folders("apps/a*").expect("a pattern"), ["apps/a"]);
        for member in [
            "**",
            "apps/**",
            "*/a",
            "apps/?",
            "apps/[ab]",
            "apps/{a,b}",
            "!apps/b",
            "apps/*a",
        ] {
            let message = folders(member).expect_err(member);
            let expected = format!(
                "workspace: `{member}` in `members` cannot be used: only `*` is supported, at the end of the last component"
            );
            assert_eq!(message, expected);
        }
    }
}
