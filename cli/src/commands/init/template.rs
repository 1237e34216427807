//! The files of a new package.

use pkgres_manifest::{MANIFEST_FILE, PackageName, PackagePath, yaml_word};
use serde_json::json;

use crate::args::Template;
use pkgres_settings::SETTINGS_FILE;

/// The file with the releases that the host provides.
pub(super) const PROVIDED_FILE: &str = "plugin.ndjson";

/// A package that is about to be written.
pub(super) struct NewPackage<'run> {
    pub(super) name: &'run PackageName,
    pub(super) template: Template,
    pub(super) core: Option<&'run PackageName>,
    /// Whether the command line names the core library, so that later commands have to learn of it from a file.
    pub(super) is_core_named: bool,
}

/// A file of a new package.
pub(super) struct TemplateFile {
    /// The path in the folder of the package.
    pub(super) path: String,
    pub(super) text: String,
}

impl NewPackage<'_> {
    /// All files, the manifest first.
    pub(super) fn files(&self) -> Vec<TemplateFile> {
        let file = |path: &str, text| TemplateFile {
            path: path.to_owned(),
            text,
        };
        let class_file = format!("Classes/{}", self.class_file());
        let mut files = vec![
            file(MANIFEST_FILE, self.manifest()),
            file(&class_file, self.class()),
            // Archives in folders are kept: `pkgres vendor` writes them for builds without a registry.
            file(
                ".gitignore",
                "# What `pkgres pack` writes\n/*.zip\n".to_owned(),
            ),
        ];
        if self.template == Template::Plugin {
            files.push(file(PROVIDED_FILE, self.provided()));
        }
        let settings = self.settings(&[PROVIDED_FILE.to_owned()]);
        if !settings.is_empty() {
            files.push(file(SETTINGS_FILE, settings));
        }
        files
    }

    /// The namespace of its name, and the rest.
    fn parts(&self) -> (Option<&str>, &str) {
        match self.name.as_str().rsplit_once('.') {
            Some((namespace, last)) => (Some(namespace), last),
            None => (None, self.name.as_str()),
        }
    }

    /// The file of the first class, in the folder of classes.
    fn class_file(&self) -> String {
        let (_, last) = self.parts();
        let file = format!("{last}.yaml");
        // No package can have a file with the name of a device, such as `Con.yaml`.
        match PackagePath::parse(&file) {
            Ok(_) => file,
            Err(_) => format!("Class{file}"),
        }
    }

    fn class_name(&self, suffix: &str) -> String {
        match self.parts() {
            (Some(namespace), last) => format!("{namespace}.{last}{suffix}"),
            (None, last) => format!("{last}{suffix}"),
        }
    }

    /// The name of the plug-in, which is a Python distribution.
    fn plugin(&self) -> String {
        format!("{}-plugin", self.parts().1.to_ascii_lowercase())
    }

    /// The settings that commands about the package need. `provided` are the paths of the files with the releases that
    /// the host provides, from the folder of the settings.
    pub(super) fn settings(&self, provided: &[String]) -> String {
        let mut text = String::new();
        match self.core {
            _ if !self.is_core_named => {}
            Some(core) => text.push_str(&format!("core-library = \"{core}\"\n")),
            None => text.push_str("no-core-library = true\n"),
        }
        if self.template == Template::Plugin {
            let paths = toml::Value::from(provided.to_vec());
            text.push_str(&format!("provide = {paths}\n"));
        }
        text
    }

    /// The core library, unless this is the package.
    fn required_core(&self) -> Option<&PackageName> {
        self.core.filter(|core| *core != self.name)
    }

    fn manifest(&self) -> String {
        let kind = match self.template {
            Template::Application => "Application",
            Template::Library | Template::Plugin => "Library",
        };
        let (_, last) = self.parts();
        let mut text = format!(
            "\
Format: MuranoPL/1.0
FullName: {}
Type: {kind}
Name: {}
Version: 0.1.0
",
            yaml_word(self.name.as_str()),
            yaml_word(last)
        );
        let plugin = (self.template == Template::Plugin).then(|| self.plugin());
        let core = self.required_core().map(PackageName::as_str);
        let required: Vec<&str> = core.into_iter().chain(plugin.as_deref()).collect();
        if !required.is_empty() {
            text.push_str("Require:\n");
        }
        for name in required {
            text.push_str(&format!("  {}: \"0\"\n", yaml_word(name)));
        }
        let class = self.class_name("");
        let file = self.class_file();
        text.push_str(&format!("Classes:\n  {}: {file}\n", yaml_word(&class)));
        text
    }

    /// The first class. Only the default core library is known to have an `Application`.
    fn class(&self) -> String {
        let (namespace, last) = self.parts();
        let standard = self
            .required_core()
            .filter(|core| **core == PackageName::default_core_library());
        let is_application = self.template == Template::Application;
        let standard = standard.filter(|_| is_application);
        let namespaces = [
            ("'='", namespace),
            ("std", standard.map(PackageName::as_str)),
        ];
        let mut text = String::new();
        for (prefix, namespace) in namespaces {
            let Some(namespace) = namespace else {
                continue;
            };
            if text.is_empty() {
                text.push_str("Namespaces:\n");
            }
            text.push_str(&format!("  {prefix}: {}\n", yaml_word(namespace)));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("Name: {}\n", yaml_word(last)));
        if standard.is_some() {
            text.push_str("Extends: std:Application\n");
        }
        text.push_str(match self.template {
            Template::Application => {
                "
Properties:
  size:
    Contract: $.int().notNull()
    Default: 1

Methods:
  deploy:
    Body:
      - Return: $.size
"
            }
            Template::Library => {
                "
Properties:
  label:
    Contract: $.string().notNull()
    Default: example

Methods:
  describe:
    Body:
      - Return: $.label
"
            }
            Template::Plugin => "",
        });
        if self.template == Template::Plugin {
            text.push_str(&format!(
                "
Methods:
  connect:
    Usage: Static
    Body:
      - Return: new({last}Client)
"
            ));
        }
        text
    }

    /// The record of the plug-in. Plug-ins have no version of their own.
    fn provided(&self) -> String {
        let (plugin, class) = (self.plugin(), self.class_name("Client"));
        let record = json!({"name": plugin, "version": "0.0.0", "classes": {class: {}}});
        format!("{record}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkgres_manifest::{PackageManifest, ReadOptions};

    #[test]
    fn a_new_manifest_can_be_read() {
        let core = PackageName::default_core_library();
        for name in [
            "org.example.Web",
            "Null",
            "true",
            "On",
            "Nan",
            "org.example.Null",
            "org.example.Con",
        ] {
            let name = PackageName::parse(name).expect("a name");
            for (template, core) in [
                (Template::Application, Some(&core)),
                (Template::Library, None),
                (Template::Plugin, Some(&core)),
            ] {
                let package = NewPackage {
                    name: &name,
                    template,
                    core,
                    is_core_named: false,
                };
                for file in package.files() {
                    assert!(PackagePath::parse(&file.path).is_ok(), "{}", file.path);
                }
                let text = package.manifest();
                let read = PackageManifest::read("m", text.as_bytes(), &ReadOptions::default());
                let (read, _) = read.into_result().expect("it is a manifest");
                assert_eq!(read.name.value, name);
                assert_eq!(
                    Some(read.display_name.as_str()),
                    name.as_str().rsplit('.').next()
                );
                let required = read.requirements.len();
                let plugin = usize::from(template == Template::Plugin);
                assert_eq!(required, usize::from(core.is_some()) + plugin);
            }
        }
    }
}
