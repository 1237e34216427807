//! The artifacts of locked releases as resources, named by their packages.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    ArtifactDigest, Limits, PackageName, Properties, PropertyErrors, Release, ResourceId,
    did_you_mean, most_similar,
};

use super::artifact::{Artifact, ArtifactSource};

/// The kind of artifacts.
pub(crate) const ARTIFACT: &str = "artifact";

/// The artifacts of locked releases, and their source. The resource `artifact:NAME` is the artifact of the locked
/// release of a package. If several of its releases are locked, `artifact:NAME@VERSION` names one.
#[derive(Clone)]
pub struct LockedArtifacts {
    artifacts: BTreeMap<Release, (ArtifactDigest, Vec<Release>)>,
    source: Arc<dyn ArtifactSource>,
    limits: Limits,
}

impl fmt::Debug for LockedArtifacts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_set()
            .entries(self.artifacts.keys())
            .finish()
    }
}

impl LockedArtifacts {
    /// No artifacts, and the source of those that are added.
    pub fn new(source: Arc<dyn ArtifactSource>, limits: Limits) -> Self {
        Self {
            artifacts: BTreeMap::new(),
            source,
            limits,
        }
    }

    /// Adds the artifact of a release, and the releases that it requires, whose artifacts go first.
    pub fn add(&mut self, release: Release, digest: ArtifactDigest, required: Vec<Release>) {
        self.artifacts.insert(release, (digest, required));
    }

    /// The releases that have an artifact, in order.
    pub fn releases(&self) -> impl Iterator<Item = &Release> {
        self.artifacts.keys()
    }

    /// The folder on a machine in which the files of a release are, if it has an artifact.
    pub fn files_path(&self, release: &Release) -> Option<PathBuf> {
        Some(self.artifact(release)?.files_path())
    }

    /// The identity of the resource of a release.
    pub(crate) fn id(&self, release: &Release) -> ResourceId {
        let Release { name, version } = release;
        let several = self.versions(name).count() > 1;
        let text = if several {
            format!("{name}@{version}")
        } else {
            name.to_string()
        };
        ResourceId::new(ARTIFACT, &text).expect("names and versions have no control characters")
    }

    fn versions(&self, name: &PackageName) -> impl Iterator<Item = &Release> {
        let releases = self.artifacts.keys();
        releases.filter(move |Release { name: other, .. }| other == name)
    }

    fn artifact(&self, release: &Release) -> Option<Artifact> {
        let (digest, required) = self.artifacts.get(release)?;
        let source = Arc::clone(&self.source);
        let artifact = Artifact::new(
            release.name.clone(),
            release.version.clone(),
            *digest,
            source,
        );
        let required = required.iter().cloned();
        Some(
            artifact
                .with_required(required)
                .with_limits(self.limits.clone()),
        )
    }

    /// Reads the resource of a name. It has no properties.
    pub(super) fn read(
        &self,
        name: &str,
        properties: &mut Properties,
    ) -> Result<Artifact, PropertyErrors> {
        // An artifact has one name, so that two resources are never the same one.
        let mut releases = self.artifacts.keys();
        let named = releases.find(|release| self.id(release).name() == name);
        if let Some(artifact) = named.and_then(|release| self.artifact(release)) {
            return Ok(artifact);
        }
        let shown = Escaped::shortened(name);
        let message = format!("no locked release with an artifact is `{shown}`");
        let error = properties.invalid(ARTIFACT, message);
        let ids: Vec<String> = self
            .artifacts
            .keys()
            .map(|release| self.id(release).name().to_owned())
            .collect();
        let package = name.split('@').next().unwrap_or(name);
        let of_package: Vec<String> = ids
            .iter()
            .filter(|id| id.split('@').next() == Some(package))
            .map(|id| format!("`{id}`"))
            .collect();
        Err(if of_package.is_empty() {
            match most_similar(name, ids.iter().map(String::as_str)) {
                Some(similar) => error.hint(did_you_mean(similar)),
                None => error,
            }
        } else {
            error.hint(format!("write {}", of_package.join(" or ")))
        }
        .into())
    }
}
