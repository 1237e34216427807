//! Collections and projects that are read from memory.

mod check;
mod record;

use std::collections::BTreeMap;

use pkgres_formats::ansible::{Collections, ECOSYSTEM};
use pkgres_formats::{FileTree, Format as _, FormatFile, ReleaseContent, ReleaseLookup};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName, ReadOptions};

/// Files in memory, by their paths.
pub(crate) struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Self(files.collect())
    }
}

impl FileTree for Files {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.0.keys().cloned().collect())
    }

    fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        Ok(self.0.get(path).cloned())
    }
}

/// Releases that a check knows.
pub(crate) struct Known(pub(crate) Vec<IndexRecord>);

/// Known releases, of which one has a `meta/runtime.yml`.
pub(crate) struct WithRuntime(
    pub(crate) Known,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

impl ReleaseLookup for WithRuntime {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        self.0.releases(package)
    }

    fn content(&self, record: &IndexRecord) -> Option<ReleaseContent> {
        let files = Files::new(&[("meta/runtime.yml", self.2)]);
        (record.name.as_str() == self.1).then(|| ReleaseContent::Folder(Box::new(files)))
    }
}

impl ReleaseLookup for Known {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        let records = self.0.iter().filter(|record| record.name == *package);
        let records: Vec<IndexRecord> = records.cloned().collect();
        (!records.is_empty()).then_some(records)
    }
}

/// A release with classes, which are named without their collection.
pub(crate) fn release(name: &str, version: &str, classes: &[&str]) -> IndexRecord {
    let package = ECOSYSTEM.package_name(name).expect("a name");
    let mut record = IndexRecord::new(package, ECOSYSTEM.version(version).expect("a version"));
    record.ecosystem = ECOSYSTEM;
    let classes = classes.iter().map(|class| {
        let class = ClassName::native(&format!("{name}.{class}"));
        IndexedClass::new(class.expect("a name"))
    });
    record.with_classes(classes)
}

/// The record of the collection `acme.web` with some files.
pub(crate) fn collection(files: &[(&str, &str)]) -> IndexRecord {
    let bytes = galaxy_file("");
    let file = FormatFile {
        path: "galaxy.yml",
        bytes: bytes.as_bytes(),
    };
    let read = Collections.read_root(&file, &Files::new(files), &ReadOptions::default());
    read.into_result().expect("a collection").0.record
}

/// A `galaxy.yml` with dependencies, as lines of YAML.
pub(crate) fn galaxy_file(dependencies: &str) -> String {
    format!(
        "namespace: acme\nname: web\nversion: 1.0.0\nreadme: README.md\nauthors: [a]\ndependencies:\n{dependencies}"
    )
}

/// The findings about a root with other files around it.
pub(crate) fn check(
    path: &str,
    text: &str,
    files: &[(&str, &str)],
    known: &dyn ReleaseLookup,
) -> Vec<Diagnostic> {
    let file = FormatFile {
        path,
        bytes: text.as_bytes(),
    };
    Collections.check_root(&file, &Files::new(files), known, &ReadOptions::default())
}
