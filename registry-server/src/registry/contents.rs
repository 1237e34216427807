//! Reading manifests, texts and class files out of the artifacts of releases.
//!
//! Only the files that are asked for are unpacked, because anonymous users can request them.

use std::collections::BTreeSet;

use bytes::Bytes;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    CLASS_PACKAGES, ClassDefinition, ClassName, IndexRecord, LazyArchive, MANIFEST_FILE,
    PackageManifest, PackagePath, read_class_file,
};
use pkgres_registry_client::protocol::Digest;

use super::backend::RegistryBackend;
use crate::package_text::{MAX_TEXT, PackageText};
use crate::problem::Problem;

/// The usual names of a readme; the first one in an archive is read.
const README_FILES: &[&str] = &[
    "README.md",
    "readme.md",
    "Readme.md",
    "README.rst",
    "README.txt",
    "README",
];

/// The usual names of a licence; the first one in an archive is read.
const LICENCE_FILES: &[&str] = &[
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "LICENCE",
    "LICENCE.txt",
    "LICENCE.md",
    "COPYING",
    "COPYING.txt",
];

/// An archive in the store, which was checked when it was published.
pub(super) struct StoredArchive {
    archive: LazyArchive<Bytes>,
    /// The name of the archive in messages.
    shown: String,
}

impl StoredArchive {
    /// The archive, to unpack a file.
    pub(super) fn files(&self) -> &LazyArchive<Bytes> {
        &self.archive
    }

    /// The name of the archive in messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }
}

/// The error for an archive that is damaged after it was checked.
pub(super) fn damaged(error: &Diagnostic) -> Problem {
    Problem::internal(error.to_string())
}

/// What a release says about itself beside its record.
#[derive(Debug)]
pub(crate) struct ReleaseContents {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) authors: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// The identifiers of licences, as far as the release states them.
    pub(crate) licences: Vec<String>,
    pub(crate) readme: Option<PackageText>,
    pub(crate) licence: Option<PackageText>,
}

impl RegistryBackend {
    /// The archive with a digest, of a release of this name and version.
    pub(super) fn stored_archive(
        &self,
        digest: &Digest,
        package: &str,
        version: &str,
    ) -> Result<StoredArchive, Problem> {
        let gone = || Problem::internal(format!("the artifact {digest} is missing"));
        let bytes = self.artifact(digest)?.ok_or_else(gone)?;
        let shown = format!("{package}-{version}.zip");
        let archive = LazyArchive::open(&shown, bytes, &self.options.read.limits)
            .map_err(|error| damaged(&error))?;
        Ok(StoredArchive { archive, shown })
    }

    /// The manifest in an archive.
    pub(super) fn stored_manifest(
        &self,
        stored: &StoredArchive,
    ) -> Result<PackageManifest, Problem> {
        let options = &self.options.read;
        let path = usual(MANIFEST_FILE);
        let bytes = stored
            .archive
            .read_start(&path, options.limits.manifest_bytes)
            .map_err(|error| damaged(&error))?
            .unwrap_or_default();
        let (manifest, _) = PackageManifest::read(&stored.shown, &bytes, options)
            .into_result()
            .map_err(|_| Problem::internal(format!("{} cannot be read", stored.shown)))?;
        Ok(manifest)
    }

    /// The texts of a release.
    pub(crate) fn contents(&self, record: &IndexRecord) -> Result<ReleaseContents, Problem> {
        if record.ecosystem != CLASS_PACKAGES {
            return self.collection_contents(record);
        }
        let stored = self.archive_of(record)?;
        let manifest = self.stored_manifest(&stored)?;
        Ok(ReleaseContents {
            title: manifest.display_name,
            description: manifest.description.unwrap_or_default(),
            authors: manifest.author.into_iter().collect(),
            tags: manifest.tags,
            licences: Vec::new(),
            readme: first_text(&stored, README_FILES)?,
            licence: first_text(&stored, LICENCE_FILES)?,
        })
    }

    /// The definition of a class in a release; `None` if no class file of it has the class.
    pub(crate) fn class_definition(
        &self,
        record: &IndexRecord,
        class: &ClassName,
    ) -> Result<Option<ClassDefinition>, Problem> {
        let stored = self.archive_of(record)?;
        let manifest = self.stored_manifest(&stored)?;
        if !manifest.format.has_class_files() {
            return Ok(None);
        }
        let options = &self.options.read;
        let of_class = manifest
            .classes
            .iter()
            .find(|entry| entry.name.value == *class);
        // A class that is not listed is internal: any of the files may have it.
        let others = manifest.classes.iter().filter(|_| of_class.is_none());
        let mut known = BTreeSet::new();
        for entry in of_class.into_iter().chain(others) {
            let file = &entry.file.value;
            if !known.insert(file) {
                continue;
            }
            let Ok(path) = file.below("Classes") else {
                continue;
            };
            let limit = options.limits.class_file_bytes;
            let Some(bytes) = stored
                .archive
                .read_start(&path, limit)
                .map_err(|error| damaged(&error))?
            else {
                continue;
            };
            let requested: Vec<&ClassName> = manifest
                .classes
                .iter()
                .filter(|other| other.file.value == *file)
                .map(|other| &other.name.value)
                .collect();
            let read = read_class_file(path.as_str(), &bytes, &requested, options);
            let Ok((definitions, _)) = read.into_result() else {
                continue;
            };
            let found = definitions
                .into_iter()
                .find(|found| found.name.value == *class);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn archive_of(&self, record: &IndexRecord) -> Result<StoredArchive, Problem> {
        let digest = record
            .digest
            .map(|digest| digest.to_string())
            .unwrap_or_default();
        let digest = Digest::parse(&digest)?;
        self.stored_archive(&digest, record.name.as_str(), &record.version.to_string())
    }
}

/// The path of a file with a name that is a path.
pub(super) fn usual(path: &str) -> PackagePath {
    PackagePath::parse(path).expect("this is a path")
}

/// The text of the first of some files that an archive has.
fn first_text(
    stored: &StoredArchive,
    files: &[&'static str],
) -> Result<Option<PackageText>, Problem> {
    for file in files {
        let bytes = stored
            .archive
            .read_start(&usual(file), MAX_TEXT)
            .map_err(|error| damaged(&error))?;
        if let Some(bytes) = bytes {
            return Ok(Some(PackageText::new(*file, &bytes)));
        }
    }
    Ok(None)
}
