//! Artifacts: which registry serves one, which list it, and which digests are of the same content.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use pkgres_manifest::{ArtifactDigest, PackageName, ReadOptions, RegistryName};
use pkgres_resolver::{ArtifactChange, Resolution};

use super::RegistrySet;
use crate::artifact::{Artifact, TakeArtifact, WantedArtifact};
use crate::registry::records_of;
use crate::registry_error::RegistryError;

impl RegistrySet {
    /// The artifact with a digest, from the first registry that has it.
    pub fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        for registry in &self.registries {
            if let Some(artifact) = registry.artifact(digest)? {
                return Ok(Some(artifact));
            }
        }
        Ok(None)
    }

    /// Several artifacts, each from the registry of its name; if there is no such registry, from the first that has it.
    ///
    /// Each goes to `take` as [`Registry::artifacts`](crate::Registry::artifacts) describes.
    pub fn artifacts(
        &self,
        wanted: &[(&RegistryName, WantedArtifact<'_>)],
        take: TakeArtifact<'_>,
    ) {
        let mut open: Vec<usize> = (0..wanted.len()).collect();
        let mut is_done = false;
        for registry in &self.registries {
            let is_known =
                |name: &RegistryName| self.registries.iter().any(|one| one.name() == name);
            let (here, elsewhere): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|at| {
                let source = wanted[*at].0;
                source == registry.name() || !is_known(source)
            });
            open = elsewhere;
            let releases: Vec<WantedArtifact<'_>> = here.iter().map(|at| wanted[*at].1).collect();
            if releases.is_empty() {
                continue;
            }
            registry.artifacts(&releases, &mut |position, found| {
                let at = here[position];
                if matches!(found, Ok(None)) && wanted[at].0 != registry.name() {
                    // Another registry may have it.
                    open.push(at);
                    return ControlFlow::Continue(());
                }
                let flow = take(at, found);
                is_done = flow.is_break();
                flow
            });
            if is_done {
                return;
            }
        }
        for at in open {
            if take(at, Ok(None)).is_break() {
                return;
            }
        }
    }

    /// For each release, the first registry that may have it and lists it with this digest, whether it has the artifact
    /// or not. A registry that cannot be read lists nothing.
    pub fn listing(&self, wanted: &[WantedArtifact<'_>]) -> Vec<Option<&RegistryName>> {
        let mut found = vec![None; wanted.len()];
        for registry in &self.registries {
            let open: Vec<usize> = (0..wanted.len())
                .filter(|at| found[*at].is_none())
                .filter(|at| self.may_have(registry.as_ref(), wanted[*at].package))
                .collect();
            let names: BTreeSet<&PackageName> = open.iter().map(|at| wanted[*at].package).collect();
            let names: Vec<PackageName> = names.into_iter().cloned().collect();
            if names.is_empty() {
                continue;
            }
            let Ok(answers) = records_of(registry.as_ref(), &names) else {
                continue;
            };
            for at in open {
                let artifact = &wanted[at];
                let records = names
                    .binary_search(artifact.package)
                    .ok()
                    .and_then(|position| answers[position].as_ref());
                let is_listed = records.into_iter().flatten().any(|record| {
                    record.version == *artifact.version && record.digest == Some(artifact.digest)
                });
                if is_listed {
                    found[at] = Some(registry.name());
                }
            }
        }
        found
    }

    /// Whether two digests are of the same content: an archive, another archive with the same files, or their folder.
    /// It is not known of archives that no registry has.
    pub fn have_equal_content(
        &self,
        one: &ArtifactDigest,
        other: &ArtifactDigest,
        options: &ReadOptions,
    ) -> bool {
        let folder_digest = |digest: &ArtifactDigest| match digest {
            ArtifactDigest::Tree(_) => Some(*digest),
            ArtifactDigest::Archive(_) => {
                let mut registries = self.registries();
                let artifact =
                    registries.find_map(|registry| registry.artifact(digest).ok().flatten());
                artifact?.tree_digest(options)
            }
        };
        one == other
            || folder_digest(one).is_some_and(|folder| folder_digest(other) == Some(folder))
    }

    /// The [violations](ArtifactChange::is_violation) among the changes of a resolution, except for releases whose
    /// content is in another form than the locked one.
    pub fn changed_contents(
        &self,
        resolution: &Resolution,
        options: &ReadOptions,
    ) -> Vec<ArtifactChange> {
        let mut changes = resolution.artifact_changes();
        changes.retain(|change| {
            let is_same = |digest: &ArtifactDigest| {
                let mut locked = change.locked.digests.iter();
                locked.any(|locked| self.have_equal_content(locked, digest, options))
            };
            change.is_violation() && !change.digest.as_ref().is_some_and(is_same)
        });
        changes
    }
}
