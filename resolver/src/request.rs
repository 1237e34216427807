//! What is asked of the solver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::{
    ArtifactDigest, Bindings, IndexRecord, Lockfile, ObjectModel, PackageName, ReleaseSource, Spec,
    Version,
};

use crate::engine::Engine;
use crate::update::Update;

/// How prereleases compare with stable versions. Matching is not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrereleasePolicy {
    /// Stable versions come first, then prereleases; but simply the newest first as soon as a
    /// requirement that is present names a prerelease.
    #[default]
    IfNecessary,
    /// The newest comes first, prerelease or not.
    Allow,
    /// Prereleases are no candidates unless a lockfile holds them.
    Never,
}

/// Which version is the better one of two stable versions, or of two prereleases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preference {
    /// The newer one.
    #[default]
    Newest,
    /// The older one: what a package says that it works with is put to the test.
    Oldest,
}

/// What the solver may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolveOptions {
    /// How prereleases compare.
    pub prerelease: PrereleasePolicy,
    /// Whether newer versions are better, or older ones.
    pub prefer: Preference,
    /// Releases that were published at this time or later are no candidates unless they are locked.
    /// A release without a date of publication is taken for old, and one whose date cannot be read
    /// for new ([`IndexRecord::is_published_before`]).
    pub exclude_newer: Option<Timestamp>,
    /// Whether several releases of a package are out of the question.
    pub single_version: bool,
    /// After how many steps the solver gives up. A step is a decision or a conflict.
    pub max_steps: u64,
    /// After how many conflicts a search settles for a locally best resolution: one in which no
    /// release can be exchanged for a better one with all others kept. The best resolution in the
    /// order of decisions can be out of reach where some resolution is not.
    pub patience: u64,
    /// Which engine searches. [Updates](Request::update) and the search for
    /// [repairs](crate::Conflict::repairs) are always the native engine's.
    pub engine: Engine,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            prerelease: PrereleasePolicy::default(),
            prefer: Preference::default(),
            exclude_newer: None,
            single_version: false,
            max_steps: 10_000_000,
            patience: 200,
            engine: Engine::default(),
        }
    }
}

/// What an earlier resolution held. Its versions are preferred, and if it is complete and still
/// valid it is the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Locked {
    /// What the requirements of each root were bound to.
    pub roots: BTreeMap<PackageName, Bindings>,
    /// What the requirements of each release were bound to.
    pub packages: BTreeMap<(PackageName, Version), Bindings>,
    /// The releases that are preferred without being part of a whole resolution.
    pub preferred: BTreeSet<(PackageName, Version)>,
    /// Releases that are candidates whatever became of them, but not preferred: if they were
    /// withdrawn since, they are chosen only where nothing else will do.
    pub kept: BTreeSet<(PackageName, Version)>,
    /// What was known of the artifacts of releases. This decides nothing, but a resolution says
    /// where it [differs](crate::Resolution::artifact_changes).
    pub artifacts: BTreeMap<(PackageName, Version), LockedArtifact>,
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
    /// artifacts: everything may move, but nothing has to because it was withdrawn.
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
        let bound = self.roots.values().chain(self.packages.values());
        let bound = bound.flat_map(Bindings::iter);
        let preferred = self.preferred.iter().map(|(name, version)| (name, version));
        bound.chain(preferred)
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.packages.is_empty() && self.preferred.is_empty()
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

/// What a resolution is wanted for.
#[derive(Debug, Clone)]
pub enum Root {
    /// A release given by its manifest and class files: the only candidate of its name.
    Package(Box<IndexRecord>),
    /// The objects of a model.
    Model(ModelRoot),
}

impl Root {
    /// The name of which it is the only candidate.
    pub(crate) fn name(&self) -> PackageName {
        match self {
            Self::Package(record) => record.name.clone(),
            Self::Model(_) => PackageName::object_model(),
        }
    }
}

/// The objects of a model, each with the package that its class is taken from.
#[derive(Debug, Clone)]
pub struct ModelRoot {
    /// The model, whose contracts have to be met.
    pub model: Arc<ObjectModel>,
    /// One entry an object, in the order of the model.
    pub objects: Vec<ObjectDemand>,
}

/// What an object demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectDemand {
    /// The package that the object's class is taken from.
    pub package: PackageName,
    /// The versions that will do.
    pub spec: Spec,
}

/// Releases that the host supplies by their names, each name with its releases in the order that
/// they were given.
pub(crate) fn by_name(provided: Vec<IndexRecord>) -> BTreeMap<PackageName, Vec<IndexRecord>> {
    let mut by_name: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for record in provided {
        by_name.entry(record.name.clone()).or_default().push(record);
    }
    by_name
}

/// A problem to solve.
///
/// Registries are not part of it: the solver asks for the releases of a package when it needs
/// them, see [`Resolver`](crate::Resolver).
#[derive(Debug, Clone)]
pub struct Request {
    /// What a resolution is wanted for. Each root is the only candidate of its name: where several
    /// have one name, be they the same release or the models that a request can have one of, there
    /// is no resolution, and the solver says so.
    pub roots: Vec<Root>,
    /// The core library, which every other package requires; `None` if there is none.
    pub core: Option<PackageName>,
    /// Releases that the host supplies. For their names no registry is asked.
    pub provided: Vec<IndexRecord>,
    /// What an earlier resolution held.
    pub locked: Locked,
    /// What every requirement on a package is taken to say, whatever is written: the way past a
    /// wrong bound in the manifest of somebody else. Whatever is said about a requirement says
    /// where this is so.
    pub overrides: BTreeMap<PackageName, Spec>,
    /// What the solver may do.
    pub options: SolveOptions,
    /// Which packages are to move away from what is locked, with as few others as possible; `None`
    /// to keep what is locked as far as it is still valid.
    pub update: Option<Update>,
}

impl Request {
    /// A request with the usual core library, nothing provided and nothing locked.
    pub fn new(root: IndexRecord) -> Self {
        Self {
            roots: vec![Root::Package(Box::new(root))],
            core: Some(PackageName::default_core_library()),
            provided: Vec::new(),
            locked: Locked::default(),
            overrides: BTreeMap::new(),
            options: SolveOptions::default(),
            update: None,
        }
    }
}
