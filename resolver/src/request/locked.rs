//! Locks: earlier resolutions, or parts of them.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    ArtifactDigest, Bindings, Lockfile, ObjectId, ObjectModel, PackageName, Release, ReleaseSource,
    Version,
};

/// A lock: the versions of an earlier resolution. They are preferred, and a complete lock that is
/// still valid is the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Locked {
    /// The bindings of the requirements of each root.
    pub roots: BTreeMap<PackageName, Bindings>,
    /// The binding of each object of a model. Lockfiles do not have it; a resolution
    /// [does](crate::Resolution::to_locked).
    pub model: BTreeMap<LockedObject, Release>,
    /// The bindings of the requirements of each release.
    pub packages: BTreeMap<Release, Bindings>,
    /// Releases that are preferred, without bindings.
    pub preferred: BTreeSet<Release>,
    /// Releases that are not preferred, but may be chosen even if the policy excludes them by now (yanked, too new, or
    /// a prerelease). An excluded one is chosen only if nothing else is possible.
    pub kept: BTreeSet<Release>,
    /// The artifacts of releases. They do not influence the resolution, which lists the
    /// [changes](crate::Resolution::artifact_changes).
    pub artifacts: LockedArtifacts,
}

/// The identity of an object that survives changes of the model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockedObject {
    /// Its id.
    Id(String),
    /// Its number, if it has no id.
    Number(ObjectId),
}

impl LockedObject {
    /// The identity of an object.
    pub(crate) fn of(model: &ObjectModel, object: ObjectId) -> Self {
        match &model.object(object).id {
            Some(id) => Self::Id(id.clone()),
            None => Self::Number(object),
        }
    }
}

/// The locked artifacts of releases.
pub type LockedArtifacts = BTreeMap<Release, LockedArtifact>;

/// The locked artifact of a release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockedArtifact {
    /// The source of the release, if known.
    pub source: Option<ReleaseSource>,
    /// Its digest. An unresolved merge may leave two, and either one is accepted.
    pub digests: BTreeSet<ArtifactDigest>,
}

impl Locked {
    /// The lock with these artifacts.
    #[must_use]
    pub fn with_artifacts(self, artifacts: LockedArtifacts) -> Self {
        Self { artifacts, ..self }
    }

    /// The lock of a lockfile.
    pub fn from_lockfile(lock: &Lockfile) -> Self {
        let versions =
            |requirements: &BTreeMap<PackageName, pkgres_manifest::LockedRequirement>| {
                requirements
                    .iter()
                    .map(|(package, bound)| (package.clone(), bound.version.clone()))
                    .collect()
            };
        Self {
            roots: lock
                .roots
                .iter()
                .map(|(root, requirements)| (root.clone(), versions(requirements)))
                .collect(),
            packages: lock
                .packages
                .iter()
                .map(|(release, package)| (release.clone(), package.requires.clone()))
                .collect(),
            artifacts: artifacts(lock),
            ..Self::default()
        }
    }

    /// The releases of a lockfile as preferred ones, with their artifacts but without bindings.
    pub fn preferring_releases_of(lock: &Lockfile) -> Self {
        Self {
            preferred: lock.packages.keys().cloned().collect(),
            artifacts: artifacts(lock),
            ..Self::default()
        }
    }

    /// The releases of a lockfile as candidates that are not preferred, with their artifacts:
    /// everything may move, but nothing has to because it was yanked.
    pub fn keeping_releases_of(lock: &Lockfile) -> Self {
        Self {
            kept: lock.packages.keys().cloned().collect(),
            artifacts: artifacts(lock),
            ..Self::default()
        }
    }

    /// The releases [salvaged](Lockfile::salvage) from a lockfile, as preferred ones.
    pub fn salvaged(found: BTreeMap<Release, BTreeSet<ArtifactDigest>>) -> Self {
        Self {
            preferred: found.keys().cloned().collect(),
            artifacts: found
                .into_iter()
                .map(|(release, digests)| {
                    let source = None;
                    (release, LockedArtifact { source, digests })
                })
                .collect(),
            ..Self::default()
        }
    }

    /// A lock that only prefers releases, for example those of both sides of a merge conflict.
    pub fn preferring(releases: BTreeSet<Release>) -> Self {
        Self {
            preferred: releases,
            ..Self::default()
        }
    }

    /// All releases that are bound or preferred.
    pub fn releases(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        let preferred = self
            .preferred
            .iter()
            .map(|Release { name, version }| (name, version));
        self.bound().chain(preferred)
    }

    /// Whether no release is bound or preferred. Releases that are only kept, and artifacts, do not count.
    pub fn is_empty(&self) -> bool {
        !self.binds_roots() && self.packages.is_empty() && self.preferred.is_empty()
    }

    /// Whether it has bindings of roots.
    pub(crate) fn binds_roots(&self) -> bool {
        !self.roots.is_empty() || !self.model.is_empty()
    }

    /// All bound releases.
    pub fn bound(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        let bindings = self.roots.values().chain(self.packages.values());
        let model = self
            .model
            .values()
            .map(|Release { name, version }| (name, version));
        bindings.flat_map(Bindings::iter).chain(model)
    }
}

/// The artifacts of the releases of a lockfile.
pub(crate) fn artifacts(lock: &Lockfile) -> LockedArtifacts {
    lock.packages
        .iter()
        .map(|(release, package)| {
            let artifact = LockedArtifact {
                source: Some(package.source.clone()),
                digests: package.digest.into_iter().collect(),
            };
            (release.clone(), artifact)
        })
        .collect()
}
