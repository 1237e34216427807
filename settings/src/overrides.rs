//! The `[overrides]` of a project: what replaces the requirements on a package.
//!
//! Names and specs are those of the ecosystem of the root, which is known only when a root is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, Ecosystem, PackageName, Spec};
use toml::Value;

use crate::file::SettingsFile;

/// The replacements for the requirements on packages.
#[derive(Debug, Default)]
pub struct Overrides {
    /// The settings file, for messages.
    file: String,
    /// By the name of the package.
    replacements: BTreeMap<String, Override>,
}

/// The replacement for the requirements on a package.
#[derive(Debug)]
enum Override {
    /// This spec.
    Spec(String),
    /// The package in this folder, with any version.
    Path(PathBuf),
}

impl Overrides {
    /// The `[overrides]` of a settings file.
    pub fn of(settings: &SettingsFile) -> Result<Self, Diagnostic> {
        let mut overrides = Self {
            file: settings.path.to_string_lossy().into_owned(),
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
                    _ => return Err(overrides.invalid(name, "`{ path = \"FOLDER\" }` is expected")),
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
        let (file, name) = (Escaped::new(&self.file), Escaped::shortened(name));
        let message = format!("{file}: overrides: `{name}`: {reason}");
        Diagnostic::error(Code::Usage, message)
    }
}
