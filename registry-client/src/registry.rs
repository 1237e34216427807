//! The trait of registries.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ArtifactDigest, CLASS_PACKAGES, ClassName, IndexRecord, Package, PackageName, ReadOptions,
    RegistryName, Release, Version,
};
use pkgres_resolver::CompiledIndex;

#[cfg(feature = "index")]
use crate::artifact::{
    Artifact, ReceivedArtifact, TakeArtifact, WantedArtifact, package_of_artifact,
};
#[cfg(feature = "index")]
use crate::hand_over::{by_digest, hand_over};
use crate::registry_error::RegistryError;
use crate::whole_registry::{Found, requiring_known, search_known};

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

/// A source of releases.
///
/// Calls may block. Registries are shared by threads, so whatever a registry remembers is behind a lock.
///
/// [`name`](Self::name), [`records`](Self::records) and [`defining`](Self::defining) have to be implemented. The
/// rest makes resolution faster or messages better.
pub trait Registry: Send + Sync {
    /// The name of the registry in lockfiles.
    fn name(&self) -> &RegistryName;

    /// Whether this is the override of one package, whose [name](Self::name) nobody chose: messages call it so.
    fn is_override(&self) -> bool {
        false
    }

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
    /// By default one is read after the other, and a file with several of the releases once.
    #[cfg(feature = "index")]
    fn artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        for (digest, positions) in by_digest(wanted) {
            let read = || {
                let found = self.artifact(&digest)?;
                Ok(found.map(ReceivedArtifact::kept))
            };
            if hand_over(&positions, read, take).is_break() {
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

    /// The part of the registry that could not be read, if packages of any name may be there: names that the registry
    /// does not have are not looked up in the registries after it.
    fn unread_part(&self) -> Option<RegistryError> {
        None
    }

    /// Findings about a registry that can be used all the same, such as packages that cannot be read. Each is
    /// returned once.
    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
