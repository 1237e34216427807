//! Models as files, for the command line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pkgres_manifest::{ClassName, IndexRecord};

use super::{Model, Object};
use crate::universe::PrereleasePolicy;

impl Model {
    /// The model in JSON, with the package and the spec of each object.
    pub fn text(&self) -> String {
        self.document(0, &|object: &Object| {
            let mut entries = format!(r#", "package": "{}""#, object.package);
            if object.spec.written() != "*" {
                write!(entries, r#", "version": "{}""#, object.spec).expect("there is memory");
            }
            entries
        })
    }

    /// The files of all packages, by their path in a folder for each release. Yanked releases and those with
    /// unknown classes are left out: a folder cannot have them.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let records = self.universe.records.iter().filter(|record| !record.yanked);
        for (number, record) in records.enumerate() {
            let Some(classes) = &record.classes else {
                continue;
            };
            let mut manifest = manifest(record);
            for (at, class) in classes.iter().enumerate() {
                writeln!(manifest, "  {}: {at}.yaml", class.name).expect("there is memory");
                let parents: Vec<&str> = class.extends.iter().map(ClassName::as_str).collect();
                let extends = parents.join(", ");
                let properties = self.properties_text(&class.name, record);
                let text = format!("Name: {}\nExtends: [{extends}]\n{properties}", class.name);
                files.insert(format!("{number}/Classes/{at}.yaml"), text);
            }
            files.insert(format!("{number}/manifest.yaml"), manifest);
        }
        files
    }

    /// The options of the command line that say how the model is solved.
    pub fn options(&self) -> Vec<String> {
        let universe = &self.universe;
        let mut options = match &universe.core {
            Some(core) => vec!["--core-library".to_owned(), core.to_string()],
            None => vec!["--no-core-library".to_owned()],
        };
        options.push("--prerelease".to_owned());
        options.push(match universe.prerelease {
            PrereleasePolicy::IfNecessary => "if-necessary".to_owned(),
            PrereleasePolicy::Allow => "allow".to_owned(),
            PrereleasePolicy::Never => "never".to_owned(),
        });
        if universe.single_version {
            options.push("--single-version".to_owned());
        }
        options
    }
}

/// The manifest of a release, up to the classes.
fn manifest(record: &IndexRecord) -> String {
    let IndexRecord { name, version, .. } = record;
    let mut manifest =
        format!("Format: 1.4\nType: Library\nFullName: {name}\nVersion: {version}\nRequire:\n");
    for requirement in &record.requirements {
        let spec = requirement.spec.written();
        writeln!(manifest, "  {}: \"{spec}\"", requirement.package).expect("there is memory");
    }
    manifest + "Classes:\n"
}
