//! Artifacts of releases, as registries return them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pkgres_files::FileError;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Parsed};
use pkgres_manifest::{
    Archive, ArtifactDigest, IndexRecord, Package, PackageName, PackagePath, ReadOptions, Version,
    sha256,
};

use crate::package_folder::PackageFolder;
use crate::registry_error::RegistryError;

/// The artifact of a release.
#[derive(Debug)]
#[non_exhaustive]
pub enum Artifact {
    /// An archive.
    Archive(Archive),
    /// The folder of a class package.
    Folder(PackageFolder),
    /// The bytes of a file of another ecosystem, which can have many releases.
    File(Arc<[u8]>),
    /// The path of a folder of another ecosystem. It can have links, which its format follows within the folder.
    Tree(PathBuf),
}

/// An artifact, and whether the next run can have it without the network.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceivedArtifact {
    /// The artifact.
    pub artifact: Artifact,
    /// Why it is not in the cache, if it came from the network and could not be stored.
    pub not_kept: Option<Box<Diagnostic>>,
}

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
pub type TakeArtifact<'take> = &'take mut (
               dyn FnMut(usize, Result<Option<ReceivedArtifact>, RegistryError>) -> ControlFlow<()>
                   + Send
                   + 'take
           );

impl Artifact {
    /// The digest of its files as a folder, which is the same for a folder, for its archives and for what is installed
    /// from them. `None` if they cannot be read, if there is no folder, or if it is one of another ecosystem.
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

/// The package in the artifact of a release.
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
