//! The trait of registries, and their errors.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
#[cfg(feature = "index")]
use std::ops::ControlFlow;
#[cfg(feature = "index")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "index")]
use pkgres_files::FileError;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
#[cfg(feature = "index")]
use pkgres_manifest::diagnostic::{Escaped, Parsed};
#[cfg(feature = "index")]
use pkgres_manifest::{Archive, PackagePath, sha256};
use pkgres_manifest::{
    ArtifactDigest, CLASS_PACKAGES, ClassName, IndexRecord, Package, PackageName, ReadOptions,
    RegistryName, Release, Version,
};
use pkgres_resolver::CompiledIndex;
use pkgres_resolver::ProvideError;

#[cfg(feature = "index")]
use crate::package_folder::PackageFolder;
use crate::registry_title::titled;

/// The error of a registry that cannot answer. An absent package is not an error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RegistryError {
    /// The registry could not be read at all.
    Unreachable {
        /// The registry.
        registry: RegistryName,
        /// The cause.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The registry was read, and holds or answers something that is not valid.
    Invalid(Box<Diagnostic>),
    /// A request to the registry failed.
    Request {
        /// The error as a finding.
        finding: Box<Diagnostic>,
        /// The error of the network or of the HTTP library behind it, if there is one.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// The call was dropped before a registry could answer: the program ends, or no thread could be started.
    Interrupted,
    /// A registry answered with something that the solver cannot use.
    Unusable(ProvideError),
    /// A registry returned answers for a different number of packages than it was asked for, so nobody knows which
    /// answer is about which package.
    WrongLength {
        /// The registry.
        registry: RegistryName,
        /// The number of names.
        asked: usize,
        /// The number of answers.
        answered: usize,
    },
    /// The solver still needs these packages after all registries have answered.
    Unanswered(Vec<PackageName>),
}

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { registry, source } => {
                write!(formatter, "{} cannot be read: {source}", titled(registry))
            }
            Self::Invalid(finding) | Self::Request { finding, .. } => finding.fmt(formatter),
            Self::Interrupted => {
                formatter.write_str("no registry was read: the call was dropped before it ran")
            }
            Self::Unusable(error) => write!(
                formatter,
                "a registry gave an answer that cannot be used: {error}"
            ),
            Self::WrongLength {
                registry,
                asked,
                answered,
            } => {
                let title = titled(registry);
                write!(
                    formatter,
                    "{title} gave {answered} answers instead of {asked}"
                )
            }
            Self::Unanswered(packages) => {
                write!(
                    formatter,
                    "the registries answered nothing for {}",
                    names(packages)
                )
            }
        }
    }
}

// It can be cloned, so the causes are shared, which `thiserror` cannot read.
impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { source, .. } => Some(source.as_ref()),
            Self::Request { source, .. } => match source {
                Some(source) => Some(source.as_ref()),
                None => None,
            },
            Self::Unusable(error) => Some(error),
            Self::Invalid(_)
            | Self::Interrupted
            | Self::WrongLength { .. }
            | Self::Unanswered(_) => None,
        }
    }
}

/// Two errors are equal if they say the same: causes cannot be compared.
impl PartialEq for RegistryError {
    fn eq(&self, other: &Self) -> bool {
        self.to_diagnostic() == other.to_diagnostic()
    }
}

impl Eq for RegistryError {}

impl From<ProvideError> for RegistryError {
    fn from(error: ProvideError) -> Self {
        Self::Unusable(error)
    }
}

fn names(packages: &[PackageName]) -> String {
    let names: Vec<String> = packages.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl RegistryError {
    /// The error of a registry that could not be read at all, with its cause: another error or a string.
    pub fn unreachable(
        registry: RegistryName,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Unreachable {
            registry,
            source: Arc::from(cause.into()),
        }
    }

    /// The error of a registry of which a file or folder could not be read; the path is as messages show it.
    #[cfg(feature = "index")]
    pub(crate) fn unreachable_at(
        registry: &RegistryName,
        path: String,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let source = cause.into();
        Self::unreachable(registry.clone(), FailedAt { path, source })
    }

    /// The error as a finding.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Self::Unreachable { .. }
            | Self::Interrupted
            | Self::Unusable(_)
            | Self::WrongLength { .. }
            | Self::Unanswered(_) => Diagnostic::error(Code::RegistryUnreachable, self.to_string()),
            Self::Invalid(finding) | Self::Request { finding, .. } => finding.as_ref().clone(),
        }
    }
}

impl From<Diagnostic> for RegistryError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(Box::new(diagnostic))
    }
}

/// The error of a file or folder of a registry.
#[cfg(feature = "index")]
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
struct FailedAt {
    path: String,
    source: Box<dyn Error + Send + Sync>,
}

/// The artifact of a release.
#[cfg(feature = "index")]
#[derive(Debug)]
#[non_exhaustive]
pub enum Artifact {
    /// An archive.
    Archive(Archive),
    /// The folder of a class package.
    Folder(PackageFolder),
    /// The bytes of a file of another ecosystem.
    File(Vec<u8>),
    /// The path of a folder of another ecosystem. It can have links, which its format follows within the folder.
    Tree(PathBuf),
}

/// An artifact, and whether the next run can have it without the network.
#[cfg(feature = "index")]
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceivedArtifact {
    /// The artifact.
    pub artifact: Artifact,
    /// Why it is not in the cache, if it came from the network and could not be stored.
    pub not_kept: Option<Box<Diagnostic>>,
}

#[cfg(feature = "index")]
impl ReceivedArtifact {
    /// An artifact that is on this machine.
    pub fn kept(artifact: Artifact) -> Self {
        Self {
            artifact,
            not_kept: None,
        }
    }
}

/// A release whose artifact is wanted.
#[cfg(feature = "index")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedArtifact<'wanted> {
    /// The package.
    pub package: &'wanted PackageName,
    /// The version.
    pub version: &'wanted Version,
    /// The digest that the artifact has to have.
    pub digest: ArtifactDigest,
}

/// A function that takes artifacts, each with its position among those that were wanted; `None` if the registry does not
/// have it.
#[cfg(feature = "index")]
pub type TakeArtifact<'take> = &'take mut (
               dyn FnMut(usize, Result<Option<ReceivedArtifact>, RegistryError>) -> ControlFlow<()>
                   + Send
                   + 'take
           );

#[cfg(feature = "index")]
impl Artifact {
    /// The digest of its files as a folder, which is the same for a folder, for its archives and for what is installed from
    /// them. `None` if they cannot be read, if there is no folder, or if it is one of another ecosystem.
    pub fn tree_digest(&self, options: &ReadOptions) -> Option<ArtifactDigest> {
        match self {
            Self::Archive(archive) => {
                let digests = archive.files().map(|file| {
                    let bytes = archive.read(&file.path)?;
                    Some((&file.path, sha256(&bytes)))
                });
                let digests: Option<Vec<_>> = digests.collect();
                Some(ArtifactDigest::of_tree(digests?))
            }
            Self::Folder(folder) => folder.digest(options).ok(),
            Self::File(bytes) => {
                let mut formats = pkgres_formats::ALL.iter();
                formats.find_map(|format| format.folder_digest(bytes, options))
            }
            Self::Tree(_) => None,
        }
    }

    /// Reads the package in the artifact; `name` is its name in messages.
    pub fn package(&self, name: &str, options: &ReadOptions) -> Parsed<Package> {
        match self {
            Self::Archive(archive) => Package::from_archive(name, archive, options),
            Self::Folder(folder) => folder.package(options),
            Self::File(_) | Self::Tree(_) => {
                let message = format!("{} is not a package of classes", Escaped::new(name));
                Parsed::failed(Diagnostic::error(Code::PackageShape, message))
            }
        }
    }

    /// Reads a file of the artifact, of at most `limit` bytes; `None` if it has no such file, or is a `File` or `Tree`.
    pub fn read(&self, path: &PackagePath, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        match self {
            Self::Archive(archive) => match archive.file(path) {
                Some(file) if file.size > limit => Err(FileError::TooLarge {
                    path: path.as_str().into(),
                    limit,
                }),
                Some(_) => Ok(archive.read(path)),
                None => Ok(None),
            },
            Self::Folder(folder) if folder.files().iter().any(|file| file.path == *path) => {
                folder.read(path, limit).map(Some)
            }
            Self::Folder(_) | Self::File(_) | Self::Tree(_) => Ok(None),
        }
    }

    /// The paths of the files of the artifact, sorted; empty for a `File` or `Tree`.
    pub fn paths(&self) -> Vec<PackagePath> {
        match self {
            Self::Archive(archive) => archive.files().map(|file| file.path.clone()).collect(),
            Self::Folder(folder) => folder
                .files()
                .iter()
                .map(|file| file.path.clone())
                .collect(),
            Self::File(_) | Self::Tree(_) => Vec::new(),
        }
    }
}

/// The classes that releases define for others, sorted.
///
/// Only names are kept of a record, so that records can be read one after the other.
pub(crate) fn defined_classes(
    records: impl IntoIterator<Item = impl Borrow<IndexRecord>>,
) -> Vec<ClassName> {
    let mut names: BTreeSet<ClassName> = BTreeSet::new();
    for record in records {
        let classes = record.borrow().classes.iter().flatten();
        for class in classes.filter(|class| !class.internal) {
            // Most releases define what others of the package do.
            if !names.contains(&class.name) {
                names.insert(class.name.clone());
            }
        }
    }
    names.into_iter().collect()
}

/// How many packages are looked up at once.
const AT_ONCE: usize = 500;

/// A package that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The package.
    pub name: PackageName,
    /// Its display name, as the registry has it, if the registry has one.
    pub title: Option<String>,
}

/// The description of a package in a registry, besides its releases. All texts are as the registry has them, so they
/// have to be escaped before they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "http", derive(serde::Deserialize))]
pub struct PackageDescription {
    /// The display name.
    #[cfg_attr(feature = "http", serde(default))]
    pub title: String,
    /// The description.
    #[cfg_attr(feature = "http", serde(default))]
    pub description: String,
    /// The owners.
    #[cfg_attr(feature = "http", serde(default))]
    pub owners: BTreeSet<String>,
    /// What the registry says of the releases.
    #[cfg_attr(feature = "http", serde(default))]
    pub versions: Vec<ReleaseDescription>,
}

/// What a registry says of a release besides its record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "http", derive(serde::Deserialize))]
pub struct ReleaseDescription {
    /// The version.
    pub version: Version,
    /// Why it was yanked, if it was.
    #[cfg_attr(feature = "http", serde(default))]
    pub yank_reason: Option<String>,
}

impl PackageDescription {
    /// The reason why a release was yanked, if the registry gives one.
    pub fn yank_reason(&self, version: &Version) -> Option<&str> {
        let mut versions = self.versions.iter();
        let release = versions.find(|release| release.version == *version)?;
        release.yank_reason.as_deref()
    }
}

/// Whether each word is in one of the texts, in upper or lower case.
pub(crate) fn matches<'text>(words: &[String], texts: impl Iterator<Item = &'text str>) -> bool {
    let texts: Vec<String> = texts.map(str::to_lowercase).collect();
    words.iter().all(|word| {
        let word = word.to_lowercase();
        texts.iter().any(|text| text.contains(&word))
    })
}

/// The releases of each package that was looked up; `None` for a package that the registry does not have.
pub(crate) type RecordsResult = Result<Vec<Option<Vec<IndexRecord>>>, RegistryError>;

/// The packages of a registry that is read as a whole: all words are in the name, or in names of classes and interfaces.
pub(crate) fn search_known(
    known: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    words: &[String],
    limit: usize,
) -> Result<Vec<Found>, RegistryError> {
    let mut found = Vec::new();
    visit(known, records, |name, records| {
        let classes = records
            .iter()
            .flat_map(|record| record.classes.iter().flatten());
        let classes = classes.filter(|class| !class.internal);
        let classes = classes.map(|class| &class.name);
        let interfaces = records.iter().flat_map(|record| &record.interfaces);
        let names = classes.chain(interfaces).map(ClassName::as_str);
        if found.len() < limit && matches(words, std::iter::once(name.as_str()).chain(names)) {
            found.push(Found {
                name: name.clone(),
                title: None,
            });
        }
    })?;
    Ok(found)
}

/// The packages of a registry that is read as a whole with a release that requires a package.
pub(crate) fn requiring_known(
    known: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    package: &PackageName,
) -> Result<Vec<PackageName>, RegistryError> {
    let mut found = Vec::new();
    visit(known, records, |name, records| {
        if records.iter().any(|record| requires(record, package)) {
            found.push(name.clone());
        }
    })?;
    Ok(found)
}

fn requires(record: &IndexRecord, package: &PackageName) -> bool {
    let mut requirements = record.requirements.iter();
    requirements.any(|requirement| requirement.package == *package)
}

/// The records of packages, one answer for each name. A missing answer is no "there is no such package".
pub(crate) fn records_of(
    registry: &dyn Registry,
    names: &[PackageName],
) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
    let answers = registry.records(names)?;
    if answers.len() == names.len() {
        return Ok(answers);
    }
    Err(RegistryError::WrongLength {
        registry: registry.name().clone(),
        asked: names.len(),
        answered: answers.len(),
    })
}

/// Visits packages that a registry has, with their releases. Those without an answer are left out.
fn visit(
    mut names: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    mut each: impl FnMut(&PackageName, &[IndexRecord]),
) -> Result<(), RegistryError> {
    names.sort_unstable();
    for names in names.chunks(AT_ONCE) {
        for (name, records) in names.iter().zip(records(names)?) {
            if let Some(records) = records {
                each(name, &records);
            }
        }
    }
    Ok(())
}

/// The package in the artifact of a release.
#[cfg(feature = "index")]
pub(crate) fn package_of_artifact(
    artifact: &Artifact,
    record: &IndexRecord,
    options: &ReadOptions,
) -> Result<Option<Arc<Package>>, RegistryError> {
    let name = format!("{} {}", record.name, record.version);
    match artifact.package(&name, options).into_result() {
        Ok((package, _)) => Ok(Some(Arc::new(package))),
        Err(errors) => match errors.into_iter().next() {
            Some(error) => Err(error.into()),
            None => Ok(None),
        },
    }
}

/// A source of releases.
///
/// Calls may block. Registries are shared by threads, so whatever a registry remembers is behind a lock.
///
/// [`name`](Self::name), [`records`](Self::records) and [`defining`](Self::defining) have to be implemented. The
/// rest makes resolution faster or messages better.
pub trait Registry: Send + Sync {
    /// The name of the registry in lockfiles.
    fn name(&self) -> &RegistryName;

    /// The releases of each package, yanked ones included, or `None` if the registry has no
    /// package of the name. The result has the length and order of `names`.
    ///
    /// # Errors
    ///
    /// The registry cannot be read. An absent package is not an error.
    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError>;

    /// The registry for a reading that begins at `now`: it has what changed since this value was made, and shares what
    /// stays the same, such as connections. `None`, the default, if this value can be used for it as it is.
    ///
    /// # Errors
    ///
    /// The registry cannot be read any more. A registry on the network reports this only when it is asked for something.
    fn reread(&self, now: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        let _ = now;
        Ok(None)
    }

    /// Whether [`records`](Self::records) returns drafts, whose classes are unknown until they are
    /// [completed](Self::complete).
    fn has_drafts(&self) -> bool {
        false
    }

    /// Replaces the drafts of releases by whole records, which [`records`](Self::records) returns from then on; a
    /// release whose artifact turns out to be broken is left out from then on. Releases that the registry does not
    /// have are skipped.
    ///
    /// Returns whether there were drafts among them.
    fn complete(&self, releases: &[Release]) -> Result<bool, RegistryError> {
        let _ = releases;
        Ok(false)
    }

    /// An index of all releases, if it is loaded or cheap to load. It holds what
    /// [`records`](Self::records) returns.
    fn compiled(&self) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        Ok(None)
    }

    /// An index of these packages and of others that may be needed with them, if there is one once the
    /// packages are known. It holds what [`records`](Self::records) returns; packages that it lacks are
    /// looked up by name.
    fn prepared(&self, names: &[PackageName]) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        let _ = names;
        Ok(None)
    }

    /// A digest of everything in the registry, if it is known without reading the registry: while it is the
    /// same, so is every answer.
    fn content(&self) -> Option<[u8; 32]> {
        None
    }

    /// The record of a release with one of some digests, if the registry has this content besides the one of
    /// [`records`](Self::records), or the same content in another form. This is how the content that a lockfile names is
    /// found where a release has several. By default there is none.
    fn locked_record(
        &self,
        package: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Result<Option<IndexRecord>, RegistryError> {
        let _ = (package, version, digests);
        Ok(None)
    }

    /// The packages with a release that defines the class for others, sorted.
    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError>;

    /// The classes for which [`defining`](Self::defining) returns a package, sorted, as far as they are
    /// known without asking: for suggestions in messages only. Classes that are internal to a package are
    /// not among them.
    fn defined_classes(&self) -> Vec<ClassName> {
        Vec::new()
    }

    /// The packages of the registry, as far as they are known without asking: for suggestions in messages, and for
    /// the defaults of [`search`](Self::search) and [`requiring`](Self::requiring).
    fn known_packages(&self) -> Vec<PackageName> {
        Vec::new()
    }

    /// Whether there may be class packages. By default, there are none if packages are known and all of them are of other
    /// ecosystems.
    fn may_have_class_packages(&self) -> bool {
        let known = self.known_packages();
        let Ok(found) = self.records(&known) else {
            return true;
        };
        let mut records = found.iter().flatten().flatten();
        known.is_empty() || records.any(|record| record.ecosystem == CLASS_PACKAGES)
    }

    /// Whether it can be searched for packages.
    fn can_search(&self) -> bool {
        true
    }

    /// The packages that match all words, sorted by name: at most `limit`. By default, the known packages with the
    /// words in their names or those of their classes and interfaces.
    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        let records = |names: &[PackageName]| self.records(names);
        search_known(self.known_packages(), records, words, limit)
    }

    /// The packages with a release that states a requirement on a package; `None` if the registry cannot tell. By
    /// default, those among the known packages.
    fn requiring(&self, package: &PackageName) -> Result<Option<Vec<PackageName>>, RegistryError> {
        let records = |names: &[PackageName]| self.records(names);
        requiring_known(self.known_packages(), records, package).map(Some)
    }

    /// What the registry says of a package besides its releases, if it says anything.
    fn description(
        &self,
        package: &PackageName,
    ) -> Result<Option<PackageDescription>, RegistryError> {
        let _ = package;
        Ok(None)
    }

    /// The artifact with a digest, which was verified; `None` if the registry does not have it.
    #[cfg(feature = "index")]
    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        let _ = digest;
        Ok(None)
    }

    /// Several artifacts. Each goes to `take` with its position in `wanted` once it is there, in any order, until
    /// `take` breaks. After many errors a registry may leave out the rest.
    ///
    /// By default one is read after the other.
    #[cfg(feature = "index")]
    fn artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        for (at, wanted) in wanted.iter().enumerate() {
            let found = self.artifact(&wanted.digest);
            let found = found.map(|artifact| artifact.map(ReceivedArtifact::kept));
            if take(at, found).is_break() {
                return;
            }
        }
    }

    /// The package of a release with all its classes, if the registry has it. By default it is read from the
    /// artifact.
    fn package(
        &self,
        record: &IndexRecord,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        #[cfg(feature = "index")]
        if let Some(digest) = &record.digest
            && let Some(artifact) = self.artifact(digest)?
        {
            return package_of_artifact(&artifact, record, options);
        }
        // Without artifacts nothing is read from them.
        let _ = (record, options);
        Ok(None)
    }

    /// A sentence for each package of this name that cannot be read, as far as it was looked at, for a hint. Such a
    /// package is not among the [`records`](Self::records).
    fn unreadable(&self, _package: &PackageName) -> Vec<String> {
        Vec::new()
    }

    /// The part of the registry that could not be read, if packages of any name may be there: names that the registry does
    /// not have are not looked up in the registries after it.
    fn unread_part(&self) -> Option<RegistryError> {
        None
    }

    /// Findings about a registry that can be used all the same, such as packages that cannot be read. Each is
    /// returned once.
    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
