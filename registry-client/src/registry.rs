//! What a registry is.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Parsed};
use pkgres_manifest::{
    Archive, ArtifactDigest, ClassName, IndexRecord, Package, PackageName, PackagePath,
    ReadOptions, RegistryName,
};

use pkgres_resolver::CompiledIndex;

use crate::package_folder::PackageFolder;

/// A registry could not answer. This is never the same as "there is no such package".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The registry could not be read at all.
    #[error("the registry `{registry}` cannot be read: {reason}")]
    Unreachable {
        /// The registry.
        registry: RegistryName,
        /// Why.
        reason: String,
    },
    /// The registry says something that cannot be right.
    #[error("{0}")]
    Invalid(Box<Diagnostic>),
}

impl RegistryError {
    /// The error as a finding.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Self::Unreachable { .. } => {
                Diagnostic::error(Code::RegistryUnreachable, self.to_string())
            }
            Self::Invalid(diagnostic) => diagnostic.as_ref().clone(),
        }
    }
}

impl From<Diagnostic> for RegistryError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(Box::new(diagnostic))
    }
}

/// The artifact of a release.
#[derive(Debug)]
pub enum Artifact {
    /// An archive.
    Archive(Archive),
    /// A folder.
    Folder(PackageFolder),
}

impl Artifact {
    /// Reads the package that the artifact holds; `name` is how messages call it.
    pub fn package(&self, name: &str, options: &ReadOptions) -> Parsed<Package> {
        match self {
            Self::Archive(archive) => Package::from_archive(name, archive, options),
            Self::Folder(folder) => folder.package(options),
        }
    }

    /// The paths of the files of the artifact, sorted.
    pub fn paths(&self) -> Vec<PackagePath> {
        match self {
            Self::Archive(archive) => archive.files().map(|file| file.path.clone()).collect(),
            Self::Folder(folder) => folder
                .files()
                .iter()
                .map(|file| file.path.clone())
                .collect(),
        }
    }
}

/// The classes that releases are known to define for others, sorted.
///
/// Nothing is kept of a record but names, so that records may be read one after the other.
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

/// Something that releases come from.
pub trait Registry {
    /// The name that lockfiles call the registry by.
    fn name(&self) -> &RegistryName;

    /// For each name all releases of the package, withdrawn ones included, or `None` if the
    /// registry has no package of the name.
    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError>;

    /// All releases of the registry, prepared for solving, if they are at hand. They are the same
    /// that [`records`](Self::records) gives.
    fn compiled(&self) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        Ok(None)
    }

    /// All releases of these packages, and of further ones that may be needed with them, prepared
    /// for solving, if that is at hand once the packages are. They are the same that
    /// [`records`](Self::records) gives; packages that it does not have are asked for by name.
    fn prepared(&self, names: &[PackageName]) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        let _ = names;
        Ok(None)
    }

    /// What stands for everything that the registry says, if that is known without reading it: as
    /// long as it is the same, so is every answer.
    fn content(&self) -> Option<[u8; 32]> {
        None
    }

    /// The packages that have a release which defines the class for others, sorted.
    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError>;

    /// The classes for which [`defining`](Self::defining) knows a package, sorted, as far as they are
    /// at hand: to say what somebody may have meant, and for nothing else. Classes that are internal
    /// to a package, or extended without being defined, are not among them: nobody can use them.
    fn defined_classes(&self) -> Vec<ClassName> {
        Vec::new()
    }

    /// The packages that the registry has, as far as they are at hand: to say what somebody may have
    /// meant, and for nothing else.
    fn known_packages(&self) -> Vec<PackageName> {
        Vec::new()
    }

    /// The artifact with a digest, if the registry hands it out. Its digest was verified.
    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError>;

    /// Brings artifacts that will be asked for nearer, several at once, where that is quicker than
    /// one after the other. Those that the registry does not have are passed over.
    fn fetch_ahead(&self, digests: &[ArtifactDigest]) -> Result<(), RegistryError> {
        let _ = digests;
        Ok(())
    }

    /// The package of a release with all its classes, if the registry can give it.
    fn package(
        &self,
        record: &IndexRecord,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        let Some(digest) = &record.digest else {
            return Ok(None);
        };
        let Some(artifact) = self.artifact(digest)? else {
            return Ok(None);
        };
        let name = format!("{} {}", record.name, record.version);
        match artifact.package(&name, options).into_result() {
            Ok((package, _)) => Ok(Some(Arc::new(package))),
            Err(errors) => match errors.into_iter().next() {
                Some(error) => Err(error.into()),
                None => Ok(None),
            },
        }
    }

    /// What is wrong with the registry though it can be used, such as packages that cannot be
    /// read. What was returned before is not returned again.
    fn take_findings(&self) -> Vec<Diagnostic>;
}
