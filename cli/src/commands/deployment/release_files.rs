//! The files of the deployed releases: those of the project and of members of its workspace from their folders, all
//! others from registries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_checks::BoundPackages;
use pkgres_engine::{ArtifactSource, LockedArtifacts, PackageFiles};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ArtifactDigest, PackagePath, ReadOptions, Release};
use pkgres_registry_client::{Artifact, PackageFolder, RegistrySet};

use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// The files of releases, which are opened when they are needed.
pub(super) struct ReleaseFiles {
    /// The folders of the project and of members of its workspace.
    folders: BTreeMap<Release, PathBuf>,
    registries: RegistrySet,
    /// The digests of artifacts, as far as they are known.
    digests: BTreeMap<Release, ArtifactDigest>,
    pub(super) options: ReadOptions,
    /// What was opened so far.
    opened: Mutex<BTreeMap<Release, Arc<Artifact>>>,
}

impl ReleaseFiles {
    pub(super) fn new(
        folders: BTreeMap<Release, PathBuf>,
        registries: RegistrySet,
        digests: BTreeMap<Release, ArtifactDigest>,
        options: ReadOptions,
    ) -> Self {
        Self {
            folders,
            registries,
            digests,
            options,
            opened: Mutex::default(),
        }
    }

    /// Adds the digests of what comes from folders, which are in no lockfile.
    pub(super) fn add_digests_of_folders(&mut self) -> Result<()> {
        for (release, folder) in &self.folders {
            let folder = PackageFolder::open(folder, &self.options)?;
            let digest = folder.digest(&self.options)?;
            self.digests.insert(release.clone(), digest);
        }
        Ok(())
    }

    /// The artifacts of all releases with a digest, as resources.
    pub(super) fn locked_artifacts(self: &Arc<Self>, packages: &BoundPackages) -> LockedArtifacts {
        let source: Arc<dyn ArtifactSource> = Arc::<Self>::clone(self);
        let mut artifacts = LockedArtifacts::new(source, self.options.limits.clone());
        for (release, digest) in &self.digests {
            if let Some(bound) = packages.releases.get(release) {
                artifacts.add(release.clone(), *digest, bound.requires.clone());
            }
        }
        artifacts
    }

    /// The artifact of a release, whose digest was compared, or its folder.
    pub(super) fn artifact(&self, release: &Release) -> Result<Arc<Artifact>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(artifact) = opened().get(release) {
            return Ok(Arc::clone(artifact));
        }
        let artifact = Arc::new(self.open(release)?);
        opened().insert(release.clone(), Arc::clone(&artifact));
        Ok(artifact)
    }

    /// Fails if a release has no files: without them, nobody knows what it wants on a machine, or what its classes do.
    /// Releases that are `provided` have none.
    pub(super) fn require_all(
        &self,
        packages: &BoundPackages,
        provided: &BTreeSet<Release>,
    ) -> Result<()> {
        for (release, bound) in &packages.releases {
            if bound.package.is_none() && !provided.contains(release) {
                self.artifact(release)?;
            }
        }
        Ok(())
    }

    fn open(&self, release: &Release) -> Result<Artifact> {
        if let Some(folder) = self.folders.get(release) {
            let folder = PackageFolder::open(folder, &self.options)?;
            return Ok(Artifact::Folder(folder));
        }
        let digest = self.digests.get(release);
        let found = digest.map(|digest| self.registries.artifact(digest));
        let found = found.transpose().map_err(|error| {
            match error.to_diagnostic().code {
                // Nobody knows a release by its digest.
                Code::Offline => {
                    let named = format!("{} {}", release.name, release.version);
                    Failure::from(error).about(&named)
                }
                _ => error.into(),
            }
        });
        found?.flatten().ok_or_else(|| {
            let Release { name, version } = release;
            let message = format!("no registry has the files of {name} {version}");
            let finding = Diagnostic::error(Code::Digest, message)
                .hint("index files have no artifacts: if it was locked from one, add the registry that has the artifacts");
            Failure {
                findings: vec![finding],
                exit: Exit::of_registry_error(Code::Digest),
            }
        })
    }
}

impl PackageFiles for ReleaseFiles {
    fn read(
        &self,
        release: &Release,
        path: &PackagePath,
    ) -> std::result::Result<Option<Vec<u8>>, String> {
        let artifact = self.artifact(release).map_err(first_message)?;
        let read = artifact.read(path, self.options.limits.unpacked_bytes);
        read.map_err(|error| error.to_string())
    }
}

impl ArtifactSource for ReleaseFiles {
    fn fetch(&self, digest: &ArtifactDigest) -> std::result::Result<Vec<u8>, String> {
        let mut known = self.digests.iter();
        let Some((release, _)) = known.find(|(_, known)| *known == digest) else {
            return Err("it is not locked".to_owned());
        };
        match &*self.artifact(release).map_err(first_message)? {
            Artifact::Archive(archive) => Ok(archive.bytes().to_vec()),
            Artifact::Folder(folder) => {
                let archive = folder.archive(&self.options);
                archive.map_err(|error| error.message)
            }
            _ => Err("it is not an archive of a package".to_owned()),
        }
    }
}

/// The message of the first finding of a failure.
fn first_message(failure: Failure) -> String {
    let first = failure.findings.into_iter().next();
    first.map_or_else(String::new, |finding| finding.message)
}
