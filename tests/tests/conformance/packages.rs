//! Packages made of texts, bound to each other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, ClassConformance, conformance};
use pkgres_manifest::{
    ClassName, ConformanceStatus, Facts, Package, PackageManifest, PackageName, ReadOptions,
    Release, Version,
};

/// A package with its files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    name: String,
    version: String,
    rest: String,
    files: BTreeMap<String, String>,
    requires: Vec<(String, String)>,
}

impl Text {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            ..Self::default()
        }
    }

    /// Defines classes, each with the text of its file.
    pub(crate) fn classes(mut self, classes: &[(&str, &str)]) -> Self {
        self.list("Classes", classes);
        self
    }

    /// Defines interfaces, each with the text of its file.
    pub(crate) fn interfaces(mut self, interfaces: &[(&str, &str)]) -> Self {
        self.list("Interfaces", interfaces);
        self
    }

    fn list(&mut self, key: &str, files: &[(&str, &str)]) {
        writeln!(self.rest, "{key}:").expect("writing to a string does not fail");
        for (name, text) in files {
            writeln!(self.rest, "  {name}: {name}.yaml").expect("likewise");
            let path = format!("{key}/{name}.yaml");
            self.files.insert(path, format!("Name: {name}\n{text}"));
        }
    }

    pub(crate) fn implements(mut self, class: &str, interfaces: &[&str]) -> Self {
        if !self.rest.contains("Implements:") {
            self.rest.push_str("Implements:\n");
        }
        let interfaces = interfaces.join(", ");
        writeln!(self.rest, "  {class}: [{interfaces}]").expect("likewise");
        self
    }

    pub(crate) fn requires(mut self, name: &str, version: &str) -> Self {
        self.requires.push((name.to_owned(), version.to_owned()));
        self
    }

    fn package(&self) -> Package {
        let manifest = format!(
            "FullName: {}\nType: Library\nVersion: {}\n{}",
            self.name, self.version, self.rest
        );
        let options = ReadOptions::with_core(None);
        let read = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
        let (manifest, _) = read.into_result().expect("the manifest is valid");
        let read = Package::assemble(manifest, &options, |path| {
            let text = self.files.get(path.as_str())?;
            Some(text.clone().into_bytes())
        });
        let (package, _) = read.into_result().expect("the package is valid");
        package
    }
}

/// Binds packages to each other.
pub(crate) fn bind(texts: &[Text]) -> (BoundPackages, Vec<Release>) {
    let mut packages = BoundPackages::default();
    let mut releases = Vec::new();
    let release = |name: &str, version: &str| {
        let name = PackageName::parse(name).expect("a name");
        Release::new(name, Version::parse(version).expect("a version"))
    };
    for text in texts {
        let own = release(&text.name, &text.version);
        let required = text.requires.iter();
        let bound = BoundPackage {
            package: Some(Arc::new(text.package())),
            requires: required
                .map(|(name, version)| release(name, version))
                .collect(),
        };
        packages.releases.insert(own.clone(), bound);
        releases.push(own);
    }
    (packages, releases)
}

pub(crate) fn facts(text: &str) -> Facts {
    Facts::from_pairs(
        text.split_whitespace()
            .map(|fact| fact.split_once('=').expect("a fact is a key and a value")),
    )
}

/// The status of a function of a class on a platform; `None` if there is no such function.
pub(crate) fn status(
    classes: &[ClassConformance<'_>],
    class: &str,
    function: &str,
    facts: &Facts,
) -> Option<ConformanceStatus> {
    let class = classes.iter().find(|it| it.class.value.as_str() == class)?;
    let mut functions = class.functions();
    let function = functions.find(|it| it.name == function)?;
    function.capability(facts).map(|it| it.status())
}

/// The classes of the last of some packages.
pub(crate) fn conformance_of_last<'packages>(
    packages: &'packages BoundPackages,
    releases: &[Release],
) -> Vec<ClassConformance<'packages>> {
    conformance(packages, releases.last().expect("there are packages"))
}

pub(crate) fn class(name: &str) -> ClassName {
    ClassName::parse(name).expect("a name")
}
