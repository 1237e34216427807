//! Artifacts by their digests: archives and folders of packages, and releases of other ecosystems.

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_formats::ReleaseExtent;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{Archive, ArtifactDigest, ReadOptions};

use super::DirectoryRegistry;
use super::findings::{changed, shown};
use crate::artifact::Artifact;
use crate::package_folder::PackageFolder;
use crate::registry_error::RegistryError;
use crate::threads::lock;

impl DirectoryRegistry {
    /// The artifact with a digest, if the folder has it. All packages are read for one that no record named before.
    pub(super) fn find_artifact(
        &self,
        digest: &ArtifactDigest,
    ) -> Result<Option<Artifact>, RegistryError> {
        if let Some((path, extent)) = self.releases.path_of(digest) {
            if let Some(warnings) = self.releases.warnings_about(digest) {
                self.replace_warning(&warnings);
            }
            return self.release_artifact(path, extent, digest).map(Some);
        }
        let find = || lock(&self.artifacts).get(digest).cloned();
        let Some(path) = find().or_else(|| {
            self.read_all();
            find()
        }) else {
            return Ok(self.archive_of_tree(digest));
        };
        let changed = || changed(&path);
        let invalid = |errors: Vec<Diagnostic>| match errors.into_iter().next() {
            Some(error) => RegistryError::from(error),
            None => changed(),
        };
        match digest {
            ArtifactDigest::Archive(_) => {
                let archive = open_archive(&path, &self.options).map_err(invalid)?;
                if archive.digest() != *digest {
                    return Err(changed());
                }
                Ok(Some(Artifact::Archive(archive)))
            }
            ArtifactDigest::Tree(_) => {
                let read = PackageFolder::open(&path, &self.options)
                    .and_then(|folder| Ok((folder.digest(&self.options)?, folder)));
                let (found, folder) = read.map_err(|error| invalid(vec![error]))?;
                if found != *digest {
                    return Err(changed());
                }
                Ok(Some(Artifact::Folder(folder)))
            }
        }
    }

    /// The archive with the same files as the folder of a digest.
    fn archive_of_tree(&self, digest: &ArtifactDigest) -> Option<Artifact> {
        if !matches!(digest, ArtifactDigest::Tree(_)) {
            return None;
        }
        let archives = self.packages.values().flatten();
        let mut archives = archives.filter(|entry| entry.is_archive);
        archives.find_map(|entry| {
            let archive = open_archive(&entry.path, &self.options).ok()?;
            let artifact = Artifact::Archive(archive);
            (artifact.tree_digest(&self.options).as_ref() == Some(digest)).then_some(artifact)
        })
    }

    /// The artifact of a release of another ecosystem.
    fn release_artifact(
        &self,
        path: &Path,
        extent: ReleaseExtent,
        digest: &ArtifactDigest,
    ) -> Result<Artifact, RegistryError> {
        match extent {
            ReleaseExtent::File => {
                let bytes = read_file(path, self.options.limits.archive_bytes, Follow::Nothing)
                    .map_err(|error| error.to_diagnostic())?;
                if ArtifactDigest::of_archive(&bytes) != *digest {
                    return Err(changed(path));
                }
                Ok(Artifact::File(bytes.into()))
            }
            ReleaseExtent::Folder => Ok(Artifact::Tree(path.to_owned())),
        }
    }
}

/// Reads a package archive.
pub(super) fn open_archive(path: &Path, options: &ReadOptions) -> Result<Archive, Vec<Diagnostic>> {
    let limit = options.limits.archive_bytes;
    let bytes =
        read_file(path, limit, Follow::Nothing).map_err(|error| vec![error.to_diagnostic()])?;
    Archive::open(&shown(path), bytes, &options.limits).map_err(|error| vec![error])
}
