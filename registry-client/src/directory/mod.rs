//! `dir:PATH`: packages in a folder.
//!
//! Every folder with a manifest is a package, and nothing below it is another one; every file whose name ends in
//! `.zip` is a package archive. A package that cannot be read is reported and does not hide the others.
//!
//! [`releases`] has what other ecosystems find in the same folder.

mod artifacts;
mod findings;
mod links;
mod releases;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use pkgres_files::entry_path;
use pkgres_formats::ReleaseExtent;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, quoted};
use pkgres_manifest::{
    ArtifactDigest, CLASS_PACKAGES, ClassName, IndexRecord, MANIFEST_FILE, Package,
    PackageManifest, PackageName, ReadOptions, RegistryName, Version,
};

use crate::artifact::Artifact;
use crate::package_folder::{PackageFolder, STATE_FOLDER};
use crate::registry::Registry;
use crate::registry_error::RegistryError;
use crate::registry_title::titled;
use crate::threads::lock;
use crate::whole_registry::{Found, RecordsResult, defined_classes, requiring_known, search_known};
use artifacts::open_archive;
pub use findings::written_name;
use findings::{broken, left_out, shown};
use links::{LinkProblem, may_be_release, problem_of_link};
pub(crate) use releases::releases_of_folder;
use releases::{ReleaseFile, Releases};

/// A registry of the packages in a folder.
#[derive(Debug)]
pub struct DirectoryRegistry {
    name: RegistryName,
    folder: PathBuf,
    options: ReadOptions,
    packages: BTreeMap<PackageName, Vec<DirectoryEntry>>,
    findings: Mutex<Vec<Diagnostic>>,
    /// The paths of packages that cannot be read, by the names that their manifests have.
    unreadable: Mutex<BTreeMap<String, BTreeSet<PathBuf>>>,
    /// The packages that were reported to be left out of lookups in all packages.
    left_out: Mutex<BTreeSet<PackageName>>,
    /// The first folder that could not be searched, with the reason.
    unread: Option<(PathBuf, String)>,
    /// The paths of the releases whose records were read.
    artifacts: Mutex<BTreeMap<ArtifactDigest, PathBuf>>,
    /// Set once all packages were read to find an artifact.
    all_read: OnceLock<()>,
    /// The releases of other ecosystems.
    releases: Releases,
    /// Files that were left out because their names say that they are parts or other forms of a release.
    pieces: Vec<ReleaseFile>,
}

/// A package whose manifest was read.
#[derive(Debug)]
struct DirectoryEntry {
    path: PathBuf,
    is_archive: bool,
    manifest: PackageManifest,
}

impl DirectoryEntry {
    /// The classes that the package defines for others, from its manifest.
    fn classes(&self) -> impl Iterator<Item = ClassName> {
        let manifest = &self.manifest;
        let own = manifest.name.value.as_class();
        let own = own.filter(|_| manifest.format.is_heat_hot());
        let listed = manifest.classes.iter();
        own.into_iter()
            .chain(listed.map(|class| class.name.value.clone()))
    }

    /// Whether a class is among them.
    fn defines(&self, class: &ClassName) -> bool {
        let manifest = &self.manifest;
        let is_own = || manifest.name.value.as_str() == class.as_str();
        manifest.format.is_heat_hot() && is_own()
            || (manifest.classes.iter()).any(|listed| listed.name.value == *class)
    }
}

impl DirectoryRegistry {
    /// Finds the packages in a folder and reads their manifests. Class files are read when the releases of their
    /// package are needed.
    ///
    /// # Errors
    ///
    /// The folder cannot be read. Folders and packages in it that cannot be read are
    /// [findings](Registry::take_findings). Folders that are removed while the registry is read are skipped.
    pub fn open(
        name: RegistryName,
        folder: &Path,
        options: &ReadOptions,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self {
            name,
            folder: folder.to_owned(),
            options: options.clone(),
            packages: BTreeMap::new(),
            findings: Mutex::new(Vec::new()),
            unreadable: Mutex::new(BTreeMap::new()),
            left_out: Mutex::new(BTreeSet::new()),
            unread: None,
            artifacts: Mutex::new(BTreeMap::new()),
            all_read: OnceLock::new(),
            releases: Releases::default(),
            pieces: Vec::new(),
        };
        if !fs::metadata(folder)
            .map_err(|error| registry.unreachable(folder, error))?
            .is_dir()
        {
            return Err(registry.unreachable(folder, "this is not a folder"));
        }
        let mut rest = vec![folder.to_owned()];
        while let Some(next) = rest.pop() {
            let inside = registry.add_folder(&next, folder)?;
            rest.extend(inside.into_iter().rev());
        }
        let warnings = registry.releases.settle(options);
        lock(&registry.findings).extend(warnings);
        Ok(registry)
    }

    /// Reads a folder in the folder of the registry, `top`, or that folder itself. Returns the folders in it that are
    /// still to be read.
    fn add_folder(&mut self, folder: &Path, top: &Path) -> Result<Vec<PathBuf>, RegistryError> {
        if folder != top && is_machine_root(folder) {
            return Ok(Vec::new());
        }
        let reads_class_packages = self.options.looks_for(CLASS_PACKAGES.id());
        if reads_class_packages && folder.join(MANIFEST_FILE).symlink_metadata().is_ok() {
            self.add_package_folder(folder);
            // A registry can have a package at its top, and others below.
            if folder != top {
                return Ok(Vec::new());
            }
        }
        let mut entries: Vec<fs::DirEntry> = match fs::read_dir(folder).and_then(Iterator::collect)
        {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) if folder != top => {
                self.tell_unread(folder, &error);
                return Ok(Vec::new());
            }
            Err(error) => return Err(self.unreachable(folder, error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        if self.add_release_folder(&entries) {
            return Ok(Vec::new());
        }
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry_path(folder, entry.file_name());
            let kind = entry
                .file_type()
                .map_err(|error| self.unreachable(&path, error))?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if is_hidden {
                continue;
            }
            if kind.is_symlink() {
                self.tell_link(&path, top);
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && is_zip(&path) {
                if reads_class_packages {
                    self.add_archive(&path);
                }
            } else if kind.is_file() {
                if let Some(file) = ReleaseFile::recognize(&path, &self.options) {
                    self.add_release(&file);
                } else {
                    let piece = ReleaseFile::recognize_piece(&path, &self.options);
                    self.pieces.extend(piece);
                }
            } else if may_be_release(&path, &self.options) {
                self.tell_special_file(&path);
            }
        }
        Ok(folders)
    }

    /// Reads the release that is a folder, if one of its files says that it is one.
    fn add_release_folder(&mut self, entries: &[fs::DirEntry]) -> bool {
        let files = entries.iter().filter(|entry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| kind.is_file())
        });
        let mut files =
            files.filter_map(|entry| ReleaseFile::recognize(&entry.path(), &self.options));
        let Some(file) = files.find(|file| file.extent == ReleaseExtent::Folder) else {
            return false;
        };
        self.add_release(&file);
        true
    }

    fn add_release(&mut self, file: &ReleaseFile) {
        let (is_release, findings) = match self.releases.add(file, &self.options) {
            Ok((count, unread)) => (count > 0, unread),
            Err(errors) => (false, vec![broken(file.path(), &errors)]),
        };
        // It may name a package without being a release of it.
        if !is_release {
            for name in file.written_names(&self.options) {
                self.remember_unreadable(&name, file.path());
            }
        }
        lock(&self.findings).extend(findings);
    }

    /// Reports a folder that cannot be searched. What is in it is unknown.
    fn tell_unread(&mut self, folder: &Path, error: &io::Error) {
        let message = format!(
            "{} cannot be read, so packages in it are not found: {error}",
            Escaped::path(folder)
        );
        let finding = Diagnostic::warning(Code::BrokenPackage, message).hint(
            "move it elsewhere, or name a folder without it as the registry; folders whose names begin with `.` are not \
             searched",
        );
        lock(&self.findings).push(finding);
        let unread = (folder.to_owned(), error.to_string());
        self.unread.get_or_insert(unread);
    }

    /// Reports a link to what would otherwise be looked at, and is not below the folder of the registry itself.
    fn tell_link(&self, path: &Path, top: &Path) {
        let is_inside = fs::canonicalize(path)
            .and_then(|target| Ok(target.starts_with(fs::canonicalize(top)?)))
            .unwrap_or(false);
        if is_inside {
            return;
        }
        let Some(problem) = problem_of_link(path, &self.options) else {
            return;
        };
        let path = shown(path);
        let path = Escaped::new(&path);
        let (message, hint) = match problem {
            LinkProblem::NotFollowed => (
                format!("{path} is a link, and links are not followed"),
                "copy its target here, or name the target with another `--registry dir:…`",
            ),
            LinkProblem::Dangling => (
                format!("{path} is a link to a file that does not exist"),
                "remove it, or put the file in its place",
            ),
            LinkProblem::Unreadable(error) => (
                format!("{path} is a link that cannot be followed: {error}"),
                "remove it, or repair it",
            ),
        };
        let finding = Diagnostic::warning(Code::BrokenPackage, message).hint(hint);
        lock(&self.findings).push(finding);
    }

    /// Reports what has the name of a release and is neither a file nor a folder, such as a named pipe.
    fn tell_special_file(&self, path: &Path) {
        let path = shown(path);
        let message = format!(
            "{} is not a regular file, so it is not read",
            Escaped::new(&path)
        );
        let finding = Diagnostic::warning(Code::BrokenPackage, message).hint("remove it");
        lock(&self.findings).push(finding);
    }

    fn unreachable(
        &self,
        path: &Path,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> RegistryError {
        RegistryError::unreachable_at(&self.name, shown(path), cause)
    }

    fn add_package_folder(&mut self, path: &Path) {
        let read = PackageFolder::read_manifest(path, &self.options);
        self.add(path, false, read);
    }

    fn add_archive(&mut self, path: &Path) {
        let read = open_archive(path, &self.options).and_then(|archive| {
            Package::manifest_of_archive(&shown(path), &archive, &self.options)
                .into_result()
                .map(|(manifest, _)| manifest)
        });
        self.add(path, true, read);
    }

    fn add(
        &mut self,
        path: &Path,
        is_archive: bool,
        read: Result<PackageManifest, Vec<Diagnostic>>,
    ) {
        match read {
            Ok(manifest) => {
                let entry = DirectoryEntry {
                    path: path.to_owned(),
                    is_archive,
                    manifest,
                };
                let name = entry.manifest.name.value.clone();
                self.packages.entry(name).or_default().push(entry);
            }
            Err(errors) => {
                if let Some(name) = written_name(&errors) {
                    self.remember_unreadable(&name, path);
                }
                lock(&self.findings).push(broken(path, &errors));
            }
        }
    }

    /// Remembers that a package cannot be read. Returns whether that was not known.
    fn remember_unreadable(&self, name: &str, path: &Path) -> bool {
        let mut unreadable = lock(&self.unreadable);
        let paths = unreadable.entry(name.to_owned()).or_default();
        paths.insert(path.to_owned())
    }

    /// Replaces a warning about a release that turned out to be used.
    fn replace_warning(&self, (before, after): &(Diagnostic, Diagnostic)) {
        let mut findings = lock(&self.findings);
        if let Some(finding) = findings.iter_mut().find(|finding| *finding == before) {
            *finding = after.clone();
        }
    }

    /// No records, if there are only releases of a package that cannot be read: other registries must not serve its
    /// name.
    fn none_usable(&self, name: &PackageName) -> Option<Vec<IndexRecord>> {
        lock(&self.unreadable)
            .contains_key(name.as_str())
            .then(Vec::new)
    }

    /// The names of the packages, sorted.
    pub fn names(&self) -> impl Iterator<Item = &PackageName> {
        let names: BTreeSet<&PackageName> =
            self.packages.keys().chain(self.releases.names()).collect();
        names.into_iter()
    }

    /// Reads all packages for their digests, once. Errors are reported when a package is needed.
    fn read_all(&self) {
        self.all_read.get_or_init(|| {
            for entries in self.packages.values() {
                let _ = self.records_of(entries);
            }
        });
    }

    /// The records of a package, ascending by version.
    fn records_of(&self, entries: &[DirectoryEntry]) -> Result<Vec<IndexRecord>, RegistryError> {
        let mut records: BTreeMap<Version, (IndexRecord, &DirectoryEntry)> = BTreeMap::new();
        let mut duplicate: Option<Diagnostic> = None;
        for entry in entries {
            let record = match self.read(entry) {
                Ok(record) => record,
                Err(errors) => {
                    // It is read again by the next lookup.
                    if self.remember_unreadable(entry.manifest.name.value.as_str(), &entry.path) {
                        lock(&self.findings).push(broken(&entry.path, &errors));
                    }
                    continue;
                }
            };
            if let Some((first, first_entry)) = records.get(&record.version) {
                if first.digest == record.digest {
                    continue;
                }
                // Whichever is locked can be asked for.
                self.remember(&record, entry);
                let content = self.content(&record, entry);
                if content.is_some() && content == self.content(first, first_entry) {
                    if first_entry.is_archive && !entry.is_archive {
                        // The folder counts, so that packing does not change a lockfile.
                        records.insert(record.version.clone(), (record, entry));
                    }
                    continue;
                }
                let message = format!(
                    "{} {} appears twice with different content",
                    record.name, record.version
                );
                let mut finding = Diagnostic::error(Code::DuplicateRelease, message)
                    .label(first_entry.manifest.name.location.clone(), "first here")
                    .label(entry.manifest.name.location.clone(), "again here")
                    .hint("give one of them another version, or remove it");
                if first.version.to_string() != record.version.to_string() {
                    finding = finding.hint(format!(
                        "{} is the same version: what follows `+` does not count",
                        first.version
                    ));
                }
                duplicate.get_or_insert(finding);
                continue;
            }
            self.remember(&record, entry);
            records.insert(record.version.clone(), (record, entry));
        }
        if let Some(finding) = duplicate {
            return Err(finding.into());
        }
        Ok(records.into_values().map(|(record, _)| record).collect())
    }

    /// The records of packages for a lookup in all of them. A package that cannot be used does not hide the others: it is
    /// left out, with a warning.
    fn usable_records(&self, names: &[PackageName]) -> RecordsResult {
        let records = names.iter().map(|name| {
            let found = self.records(std::slice::from_ref(name));
            match found {
                Ok(found) => Ok(found.into_iter().next().flatten()),
                Err(RegistryError::Invalid(error)) => {
                    if lock(&self.left_out).insert(name.clone()) {
                        lock(&self.findings).push(left_out(name, *error));
                    }
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        });
        records.collect()
    }

    /// Remembers the path of the artifact of a release.
    fn remember(&self, record: &IndexRecord, entry: &DirectoryEntry) {
        if let Some(digest) = record.digest {
            lock(&self.artifacts).insert(digest, entry.path.clone());
        }
    }

    /// The digest of the files of a package as a folder; `None` if it is an archive that has changed.
    fn content(&self, record: &IndexRecord, entry: &DirectoryEntry) -> Option<ArtifactDigest> {
        if !entry.is_archive {
            return record.digest;
        }
        let archive = open_archive(&entry.path, &self.options).ok()?;
        if Some(archive.digest()) != record.digest {
            return None;
        }
        Artifact::Archive(archive).tree_digest(&self.options)
    }

    /// The record of a release with one of some digests: another form of the content that counts, or the folder that an
    /// archive was packed from.
    fn locked_package(
        &self,
        entries: &[DirectoryEntry],
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Option<IndexRecord> {
        let is_locked = |digest: ArtifactDigest| digests.contains(&digest);
        let entries = (entries.iter()).filter(|entry| entry.manifest.version == *version);
        // What cannot be read was reported with the other records.
        let mut found: Vec<(IndexRecord, &DirectoryEntry)> = entries
            .filter_map(|entry| Some((self.read(entry).ok()?, entry)))
            .collect();
        let locked = |(record, _): &(IndexRecord, _)| record.digest.is_some_and(is_locked);
        if let Some(at) = found.iter().position(locked) {
            let (record, entry) = found.swap_remove(at);
            self.remember(&record, entry);
            return Some(record);
        }
        found.into_iter().find_map(|(record, entry)| {
            let digest = self
                .content(&record, entry)
                .filter(|digest| is_locked(*digest));
            digest.map(|digest| IndexRecord {
                digest: Some(digest),
                size: None,
                ..record
            })
        })
    }

    fn read(&self, entry: &DirectoryEntry) -> Result<IndexRecord, Vec<Diagnostic>> {
        let (package, digest, size) = if entry.is_archive {
            let archive = open_archive(&entry.path, &self.options)?;
            let read = Package::from_archive(&shown(&entry.path), &archive, &self.options);
            let (package, _) = read.into_result()?;
            (
                package,
                archive.digest(),
                Some(archive.bytes().len() as u64),
            )
        } else {
            let folder =
                PackageFolder::open(&entry.path, &self.options).map_err(|error| vec![error])?;
            let (package, _) = folder.package(&self.options).into_result()?;
            let digest = folder
                .digest(&self.options)
                .map_err(|error| vec![error.to_diagnostic()])?;
            (package, digest, None)
        };
        let mut record = package.index_record();
        record.digest = Some(digest);
        record.size = size;
        Ok(record)
    }
}

/// Whether the name of a file is that of a package archive.
fn is_zip(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zip")
}

/// Whether a folder is the root of a machine: it has an operating system, or pkgres has deployed something below it. What
/// lies on a machine are copies, which may have been changed there, and must not decide which releases there are.
fn is_machine_root(folder: &Path) -> bool {
    ["etc/os-release", "usr/lib/os-release", STATE_FOLDER]
        .iter()
        .any(|path| folder.join(path).symlink_metadata().is_ok())
}

impl Registry for DirectoryRegistry {
    fn name(&self) -> &RegistryName {
        &self.name
    }

    fn reread(&self, _: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        let again = Self::open(self.name.clone(), &self.folder, &self.options)?;
        Ok(Some(Box::new(again)))
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        names
            .iter()
            .map(|name| match self.packages.get(name) {
                Some(entries) => self.records_of(entries).map(Some),
                None => Ok(self
                    .releases
                    .records(name)
                    .or_else(|| self.none_usable(name))),
            })
            .collect()
    }

    fn locked_record(
        &self,
        package: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Result<Option<IndexRecord>, RegistryError> {
        if let Some(entries) = self.packages.get(package) {
            return Ok(self.locked_package(entries, version, digests));
        }
        let Some(locked) = self.releases.locked(package, version, digests) else {
            return Ok(None);
        };
        if let Some(warnings) = locked.warnings {
            self.replace_warning(&warnings);
        }
        Ok(Some(locked.record))
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let packages = self.packages.iter();
        let found =
            packages.filter(|(_, entries)| entries.iter().any(|entry| entry.defines(class)));
        let releases = self.releases.all().filter(|record| record.exports(class));
        let names: BTreeSet<&PackageName> = found
            .map(|(name, _)| name)
            .chain(releases.map(|record| &record.name))
            .collect();
        Ok(names.into_iter().cloned().collect())
    }

    fn defined_classes(&self) -> Vec<ClassName> {
        let entries = self.packages.values().flatten();
        let mut names: BTreeSet<ClassName> = entries.flat_map(DirectoryEntry::classes).collect();
        names.extend(defined_classes(self.releases.all()));
        names.into_iter().collect()
    }

    fn known_packages(&self) -> Vec<PackageName> {
        self.names().cloned().collect()
    }

    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        let records = |names: &[PackageName]| self.usable_records(names);
        search_known(self.known_packages(), records, words, limit)
    }

    fn requiring(&self, package: &PackageName) -> Result<Option<Vec<PackageName>>, RegistryError> {
        let records = |names: &[PackageName]| self.usable_records(names);
        requiring_known(self.known_packages(), records, package).map(Some)
    }

    fn unreadable(&self, package: &PackageName) -> Vec<String> {
        let unreadable = lock(&self.unreadable);
        let paths = unreadable.get(package.as_str()).into_iter().flatten();
        let sentence = |path: &PathBuf| {
            format!(
                "{} has the package `{package}`, but cannot be read: `pkgres check {}` shows why",
                shown(path),
                quoted(path)
            )
        };
        let ambiguous = self.releases.ambiguous_releases(package);
        let has_package = |piece: &&ReleaseFile| {
            let mut names = piece.written_names(&self.options).into_iter();
            names.any(|name| name == package.as_str())
        };
        let is_known = self.names().any(|name| name == package);
        let pieces = self.pieces.iter().filter(|_| !is_known);
        let left_out = pieces.filter(has_package).map(|piece| {
            let place = shown(piece.path());
            format!(
                "{place} has the package `{package}`, but files of such a name are left out, because they are parts or other \
                 forms of a release; rename it if it is the release"
            )
        });
        paths
            .map(sentence)
            .chain(ambiguous)
            .chain(left_out)
            .collect()
    }

    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        self.find_artifact(digest)
    }

    fn unread_part(&self) -> Option<RegistryError> {
        let (folder, reason) = self.unread.as_ref()?;
        let message = format!(
            "{} cannot be read, and may have the packages that are looked up in other registries: {}: {reason}",
            titled(&self.name),
            Escaped::path(folder)
        );
        Some(
            Diagnostic::error(Code::RegistryUnreachable, message)
                .hint("move it elsewhere, or name a folder without it as the registry")
                .hint("`namespaces` in pkgres.toml bind the names of packages to one registry")
                .into(),
        )
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut lock(&self.findings))
    }
}
