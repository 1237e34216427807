//! The files of the releases that are deployed: those of the project from its folder, all others from registries.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ArtifactDigest, PackageName, ReadOptions, Version};
use pkgres_registry_client::{Artifact, PackageFolder, RegistrySet};

use crate::failure::{Failure, Result};

/// A release by name and version.
pub(super) type Release = (PackageName, Version);

/// The files of releases, which are opened when they are needed.
pub(super) struct ReleaseFiles {
    /// The release of the project, and its folder.
    pub(super) project: (Release, PathBuf),
    pub(super) registries: RegistrySet,
    pub(super) digests: BTreeMap<Release, ArtifactDigest>,
    pub(super) options: ReadOptions,
    /// What was opened so far.
    opened: Mutex<BTreeMap<Release, Arc<Artifact>>>,
}

impl ReleaseFiles {
    pub(super) fn new(
        project: (Release, PathBuf),
        registries: RegistrySet,
        digests: BTreeMap<Release, ArtifactDigest>,
        options: ReadOptions,
    ) -> Self {
        Self {
            project,
            registries,
            digests,
            options,
            opened: Mutex::default(),
        }
    }

    /// The artifact of a release, whose digest was compared; for the project, its folder.
    pub(super) fn artifact(&self, release: &Release) -> Result<Arc<Artifact>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(artifact) = opened().get(release) {
            return Ok(Arc::clone(artifact));
        }
        let artifact = Arc::new(self.open(release)?);
        opened().insert(release.clone(), Arc::clone(&artifact));
        Ok(artifact)
    }

    fn open(&self, release: &Release) -> Result<Artifact> {
        let (project, folder) = &self.project;
        if release == project {
            let folder = PackageFolder::open(folder, &self.options)?;
            return Ok(Artifact::Folder(folder));
        }
        let digest = self.digests.get(release);
        let found = digest.map(|digest| self.registries.artifact(digest));
        found.transpose()?.flatten().ok_or_else(|| {
            let (name, version) = release;
            let message = format!("no registry has the files of {name} {version}");
            let finding = Diagnostic::error(Code::Digest, message)
                .hint("an index file has no artifacts: name the registry that has them");
            Failure::from(finding)
        })
    }
}
