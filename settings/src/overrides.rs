//! The `[overrides]` of a project: what replaces the requirements on a package.
//!
//! Names and specs are those of the ecosystem of the root, which is known only when a root is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, Ecosystem, PackageName, Spec};
use toml::{Table, Value};

use crate::file::SettingsFile;

/// The replacements for the requirements on packages.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The settings file, for messages.
    file: SettingsFile,
    /// By the name of the package.
    replacements: BTreeMap<String, Override>,
}

/// The replacement for the requirements on a package.
#[derive(Debug, Clone)]
enum Override {
    /// This spec.
    Spec(String),
    /// The package in this folder, with any version.
    Path(PathBuf),
}

/// The name that the dots of a key split into tables, with its value as TOML, if there is one.
fn dotted(name: &str, table: &Table) -> Option<(String, String)> {
    let (key, value) = table.iter().next().filter(|_| table.len() == 1)?;
    let name = format!("{name}.{key}");
    match value {
        Value::Table(below) if !below.contains_key("path") => dotted(&name, below),
        Value::String(_) | Value::Table(_) => Some((name, value.to_string())),
        _ => None,
    }
}

impl Overrides {
    /// The `[overrides]` of a settings file.
    pub fn of(settings: &SettingsFile) -> Result<Self, Diagnostic> {
        let mut overrides = Self {
            file: settings.clone(),
            ..Self::default()
        };
        let Some(Value::Table(table)) = settings.table.get("overrides") else {
            return Ok(overrides);
        };
        for (name, value) in table {
            let replacement = match value {
                Value::String(spec) => Override::Spec(spec.clone()),
                Value::Table(table) => match (table.get("path"), table.len()) {
                    (Some(Value::String(path)), 1) => Override::Path(settings.folder.join(path)),
                    _ => return Err(overrides.invalid_table(name, table)),
                },
                _ => {
                    let expected = "a spec or `{ path = \"FOLDER\" }` is expected";
                    return Err(overrides.invalid(name, expected));
                }
            };
            overrides.replacements.insert(name.clone(), replacement);
        }
        Ok(overrides)
    }

    /// The specs that replace those of requirements in a project of an ecosystem, by package.
    pub fn specs(
        &self,
        ecosystem: &dyn Ecosystem,
    ) -> Result<BTreeMap<PackageName, Spec>, Diagnostic> {
        let replacements = self.replacements.iter();
        let specs = replacements.map(|(name, replacement)| {
            let package = ecosystem
                .package_name(name)
                .map_err(|error| self.invalid(name, &error.to_string()))?;
            let spec = match replacement {
                Override::Spec(text) => ecosystem
                    .spec(text)
                    .map_err(|error| self.invalid(name, &error.to_string()))?,
                Override::Path(_) if ecosystem.id() == CLASS_PACKAGES.id() => Spec::any(),
                Override::Path(_) => {
                    return Err(self.invalid(
                        name,
                        "a folder can replace a class package only; add it as a registry with `dir:FOLDER`",
                    ));
                }
            };
            Ok((package, spec))
        });
        specs.collect()
    }

    /// The folders of the class packages that replace all others of their name.
    pub fn folders(&self) -> Result<Vec<(PackageName, &PathBuf)>, Diagnostic> {
        let mut folders = Vec::new();
        for (name, replacement) in &self.replacements {
            if let Override::Path(path) = replacement {
                let package = PackageName::parse(name);
                let package = package.map_err(|error| self.invalid(name, &error.to_string()))?;
                folders.push((package, path));
            }
        }
        Ok(folders)
    }

    fn invalid(&self, name: &str, reason: &str) -> Diagnostic {
        let message = format!("overrides: `{}`: {reason}", Escaped::shortened(name));
        self.file.error_at(&["overrides", name], message)
    }

    /// The error of a table that names no folder. The dots of a name without quotes make tables.
    fn invalid_table(&self, name: &str, table: &Table) -> Diagnostic {
        let finding = self.invalid(name, "`{ path = \"FOLDER\" }` is expected");
        // As in the files of other programs.
        if let Some(Value::String(spec)) = table.get("version") {
            let spec = Value::from(spec.as_str()).to_string();
            let (name, spec) = (Escaped::shortened(name), Escaped::shortened(&spec));
            return finding.hint(format!("write the spec itself: `\"{name}\" = {spec}`"));
        }
        // A name with dots was in quotes.
        if let (true, 1, Some(Value::String(folder))) =
            (name.contains('.'), table.len(), table.values().next())
            && is_folder(folder)
        {
            let folder = Value::from(folder.as_str()).to_string();
            let (name, folder) = (Escaped::shortened(name), Escaped::shortened(&folder));
            return finding.hint(format!("write `\"{name}\" = {{ path = {folder} }}`"));
        }
        finding.maybe_hint(dotted(name, table).map(|(name, value)| {
            let (name, value) = (Escaped::shortened(&name), Escaped::shortened(&value));
            format!("write a name with dots in quotes: `\"{name}\" = {value}`")
        }))
    }
}

/// Whether a text looks like the path of a folder, rather than like a spec or an address.
fn is_folder(text: &str) -> bool {
    text.contains(['/', '\\']) && !text.contains("://")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::declared::Files;

    /// The error of the overrides in a settings file: message, hints and line.
    fn error(text: &str) -> (String, Vec<String>, Option<usize>) {
        let file = SettingsFile::parse(Path::new("pkgres.toml"), text.as_bytes(), Files::Project);
        let overrides = Overrides::of(&file.expect("it is TOML"));
        let error = overrides
            .and_then(|overrides| overrides.specs(CLASS_PACKAGES).map(drop))
            .expect_err(text);
        let line = error
            .labels
            .first()
            .map(|label| label.location.position().line);
        (error.message, error.hints, line)
    }

    #[test]
    fn a_name_without_quotes_is_recognized() {
        for (text, hint) in [
            (
                "[overrides]\norg.example.Base = \"1\"\n",
                "write a name with dots in quotes: `\"org.example.Base\" = \"1\"`",
            ),
            (
                "[overrides]\norg = { version = \"1\", path = \"b\" }\n",
                "write the spec itself: `\"org\" = \"1\"`",
            ),
            (
                "[overrides]\norg.Base = { path = \"b\" }\n",
                "write a name with dots in quotes: `\"org.Base\" = { path = \"b\" }`",
            ),
        ] {
            let (message, hints, line) = error(text);
            assert_eq!(
                message,
                "overrides: `org`: `{ path = \"FOLDER\" }` is expected"
            );
            assert_eq!((hints.as_slice(), line), (&[hint.to_owned()][..], Some(2)));
        }
    }

    #[test]
    fn a_key_with_a_folder_is_taken_for_the_path() {
        let (_, hints, _) = error("[overrides]\n\"org.Base\" = { folder = \"../b\" }\n");
        assert_eq!(hints, ["write `\"org.Base\" = { path = \"../b\" }`"]);
        for other in ["git = \"https://x/y\"", "spec = \"1.2\""] {
            let (_, hints, _) = error(&format!("[overrides]\n\"org.Base\" = {{ {other} }}\n"));
            assert!(
                hints.iter().all(|hint| !hint.contains("path")),
                "{other}: {hints:?}"
            );
        }
    }

    #[test]
    fn errors_have_the_position_of_the_key() {
        let (message, hints, line) = error("offline = true\n[overrides]\n\"a.B\" = \"x y\"\n");
        assert!(message.starts_with("overrides: `a.B`: "), "{message}");
        assert_eq!((hints.len(), line), (0, Some(3)));
        let (.., line) = error("[overrides]\n\"a.B\" = 7\n");
        assert_eq!(line, Some(2));
    }
}
