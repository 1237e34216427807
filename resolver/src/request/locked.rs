//! What an earlier resolution held.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    ArtifactDigest, Bindings, Lockfile, ObjectId, ObjectModel, PackageName, ReleaseSource, Version,
};

/// What an earlier resolution held. Its versions are preferred, and if it is complete and still
/// valid it is the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Locked {
    /// What the requirements of each root were bound to.
    pub roots: BTreeMap<PackageName, Bindings>,
    /// What each object of a model was bound to. Lockfiles do not hold it; a resolution
    /// [does](crate::Resolution::to_locked).
    pub model: BTreeMap<LockedObject, (PackageName, Version)>,
    /// What the requirements of each release were bound to.
    pub packages: BTreeMap<(PackageName, Version), Bindings>,
    /// The releases that are preferred without being part of a whole resolution.
    pub preferred: BTreeSet<(PackageName, Version)>,
    /// Releases that are candidates whatever became of them, but not preferred: if they were
    /// yanked since, they are chosen only where nothing else will do.
    pub kept: BTreeSet<(PackageName, Version)>,
    /// What was known of the artifacts of releases. This decides nothing, but a resolution says
    /// where it [differs](crate::Resolution::artifact_changes).
    pub artifacts: BTreeMap<(PackageName, Version), LockedArtifact>,
}

/// An object of a model, by what it is known again when the model has changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockedObject {
    /// Its id.
    Id(String),
    /// Its number, if it has no id.
    Number(ObjectId),
}

impl LockedObject {
    /// What an object is known by.
    pub(crate) fn of(model: &ObjectModel, object: ObjectId) -> Self {
        match &model.object(object).id {
            Some(id) => Self::Id(id.clone()),
            None => Self::Number(object),
        }
    }
}

/// What was known of the artifact of a release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockedArtifact {
    /// Where the release came from, if that is known.
    pub source: Option<ReleaseSource>,
    /// Its digest. An unresolved merge may leave two, of which either will do.
    pub digests: BTreeSet<ArtifactDigest>,
}

impl Locked {
    /// Nothing, as by default.
    pub(crate) const NOTHING: Self = Self {
        roots: BTreeMap::new(),
        model: BTreeMap::new(),
        packages: BTreeMap::new(),
        preferred: BTreeSet::new(),
        kept: BTreeSet::new(),
        artifacts: BTreeMap::new(),
    };

    /// The resolution that a lockfile holds.
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

    /// The releases of a lockfile to prefer, and what it says of their artifacts, but not what
    /// its requirements were bound to.
    pub fn preferring_releases_of(lock: &Lockfile) -> Self {
        Self {
            preferred: lock.packages.keys().cloned().collect(),
            artifacts: artifacts(lock),
            ..Self::default()
        }
    }

    /// The releases of a lockfile as candidates that are not preferred, and what it says of their
    /// artifacts: everything may move, but nothing has to because it was yanked.
    pub fn keeping_releases_of(lock: &Lockfile) -> Self {
        Self {
            kept: lock.packages.keys().cloned().collect(),
            artifacts: artifacts(lock),
            ..Self::default()
        }
    }

    /// What was [saved](Lockfile::salvage) of a lockfile: the releases are preferred.
    pub fn salvaged(found: BTreeMap<(PackageName, Version), BTreeSet<ArtifactDigest>>) -> Self {
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

    /// Releases to prefer, for example those of both sides of a merge conflict.
    pub fn preferring(releases: BTreeSet<(PackageName, Version)>) -> Self {
        Self {
            preferred: releases,
            ..Self::default()
        }
    }

    /// Every version that a requirement was bound to or that is preferred otherwise.
    pub fn releases(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        let preferred = self.preferred.iter().map(|(name, version)| (name, version));
        self.bound().chain(preferred)
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        !self.binds_roots() && self.packages.is_empty() && self.preferred.is_empty()
    }

    /// Whether it says nothing at all.
    pub(crate) fn is_nothing(&self) -> bool {
        let Self {
            roots,
            model,
            packages,
            preferred,
            kept,
            artifacts,
        } = self;
        roots.is_empty()
            && model.is_empty()
            && packages.is_empty()
            && preferred.is_empty()
            && kept.is_empty()
            && artifacts.is_empty()
    }

    /// Whether it says what requirements of roots were bound to.
    pub(crate) fn binds_roots(&self) -> bool {
        !self.roots.is_empty() || !self.model.is_empty()
    }

    /// Every version that a requirement was bound to.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        let bindings = self.roots.values().chain(self.packages.values());
        let model = self.model.values().map(|(name, version)| (name, version));
        bindings.flat_map(Bindings::iter).chain(model)
    }
}

fn artifacts(lock: &Lockfile) -> BTreeMap<(PackageName, Version), LockedArtifact> {
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
