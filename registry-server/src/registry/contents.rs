//! Reads manifests, texts and class files from the artifacts of releases.
//!
//! Only the files that are asked for are unpacked, because anonymous users can request them.

use std::collections::BTreeSet;

use bytes::Bytes;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    CLASS_PACKAGES, ClassName, IndexRecord, LazyArchive, MANIFEST_FILE, Package, PackageManifest,
    PackagePath,
};
use pkgres_registry_client::protocol::Digest;

use super::backend::RegistryBackend;
use crate::problem::{Problem, ProblemCode};
use crate::readme_and_licence::{MAX_TEXT, PackageText};

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

/// The error for the archive of a release that the store has lost.
pub(super) fn lost(package: &str, version: &str, digest: &Digest) -> Problem {
    let detail = format!(
        "the archive of {package} {version} (sha256 {digest}) is lost: publishing the same archive again restores it"
    );
    Problem::new(ProblemCode::Internal, detail)
}

/// The error for the archive of a release that has changed in the store.
pub(super) fn damaged_archive(package: &str, version: &str, digest: &Digest) -> Problem {
    let detail = format!(
        "the archive of {package} {version} (sha256 {digest}) is damaged: publishing the same archive again restores it"
    );
    Problem::new(ProblemCode::Internal, detail)
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
    /// Whether the archive, which has all this, is lost.
    pub(crate) is_lost: bool,
}

impl ReleaseContents {
    /// What is left without the archive.
    fn without_archive(record: &IndexRecord) -> Self {
        Self {
            title: record.name.to_string(),
            description: String::new(),
            authors: Vec::new(),
            tags: Vec::new(),
            licences: Vec::new(),
            readme: None,
            licence: None,
            is_lost: true,
        }
    }
}

impl RegistryBackend {
    /// The archive with a digest, of a release of this name and version. `None` if the store has lost it.
    pub(super) fn stored_archive(
        &self,
        digest: &Digest,
        package: &str,
        version: &str,
    ) -> Result<Option<StoredArchive>, Problem> {
        let Some(bytes) = self.artifact(digest)? else {
            let problem = lost(package, version, digest);
            tracing::error!("{problem:#}");
            return Ok(None);
        };
        let shown = format!("{package}-{version}.zip");
        let archive = LazyArchive::open(&shown, bytes, &self.options.read.limits)
            .map_err(|error| damaged(&error))?;
        Ok(Some(StoredArchive { archive, shown }))
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
        let Some(stored) = self.archive_of(record)? else {
            return Ok(ReleaseContents::without_archive(record));
        };
        let manifest = self.stored_manifest(&stored)?;
        Ok(ReleaseContents {
            title: manifest.display_name,
            description: manifest.description.unwrap_or_default(),
            authors: manifest.author.into_iter().collect(),
            tags: manifest.tags,
            licences: Vec::new(),
            readme: first_text(&stored, README_FILES)?,
            licence: first_text(&stored, LICENCE_FILES)?,
            is_lost: false,
        })
    }

    /// A release with only some of its classes and interfaces: the files of others are not unpacked. `None` if one of
    /// these files cannot be read any more, or if the archive is lost.
    pub(super) fn package_with(
        &self,
        record: &IndexRecord,
        classes: &BTreeSet<ClassName>,
        interfaces: &BTreeSet<ClassName>,
    ) -> Result<Option<Package>, Problem> {
        let Some(stored) = self.archive_of(record)? else {
            return Ok(None);
        };
        let mut manifest = self.stored_manifest(&stored)?;
        let listed = manifest.classes.iter();
        let wanted = listed.filter(|entry| classes.contains(&entry.name.value));
        let files: BTreeSet<PackagePath> = wanted.map(|entry| entry.file.value.clone()).collect();
        let is_listed = |class: &ClassName| {
            manifest
                .classes
                .iter()
                .any(|entry| entry.name.value == *class)
        };
        // A class that is not listed is internal: any of the files may have it.
        if classes.iter().all(is_listed) {
            manifest
                .classes
                .retain(|entry| files.contains(&entry.file.value));
        }
        manifest
            .interfaces
            .retain(|entry| interfaces.contains(&entry.name.value));
        manifest.validate = None;
        manifest.resources = None;
        let options = &self.options.read;
        let mut damage = None;
        let read = Package::assemble(manifest, options, |path| {
            let limit = options.limits.class_file_bytes;
            let bytes = stored.archive.read_start(path, limit);
            bytes.unwrap_or_else(|error| {
                damage.get_or_insert(error);
                None
            })
        });
        let package = read.into_result().ok().map(|(package, _)| package);
        match damage {
            Some(error) => Err(damaged(&error)),
            None => Ok(package),
        }
    }

    fn archive_of(&self, record: &IndexRecord) -> Result<Option<StoredArchive>, Problem> {
        let digest = digest_of(record)?;
        self.stored_archive(&digest, record.name.as_str(), &record.version.to_string())
    }
}

/// The digest of the artifact of a release of the registry.
pub(crate) fn digest_of(record: &IndexRecord) -> Result<Digest, Problem> {
    let none = || format!("{} {} has no digest", record.name, record.version);
    Digest::of_record(record).ok_or_else(|| Problem::internal(none()))
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
