//! A resolution: the answer when there is one.

mod chosen;
mod lock;
mod owners;
mod parts;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::{ArtifactDigest, Lockfile, PackageName, ReleaseSource, Spec, Version};

use crate::owner::Owner;
use crate::request::{Locked, LockedArtifact};
use crate::selection::Selection;
use crate::universe::Universe;
use crate::update::UpdateReport;
pub use lock::ModelNotLockable;
pub use owners::ResolvedOwner;
use parts::Parts;

/// A valid set of releases and what each requirement is bound to.
///
/// Names, versions and specs are put together when they are first asked for; until then a
/// resolution is the numbers that the solver found.
#[derive(Clone)]
pub struct Resolution {
    solved: Arc<Solved>,
}

/// What the solver found.
struct Solved {
    universe: Universe,
    selection: Selection,
    stats: Stats,
    update: Option<UpdateReport>,
    parts: OnceLock<Parts>,
    side_by_side: OnceLock<Vec<SideBySide>>,
    prereleases: OnceLock<Vec<ChosenPrerelease>>,
}

/// A root and what its requirements are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedRoot {
    /// The release that it is, or the object model.
    pub owner: Owner,
    /// Its requirements: the core library first, then in the order of the manifest. Those of a model
    /// are one for each object, in its order.
    pub requires: Vec<BoundRequirement>,
}

/// A release and what its requirements are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPackage {
    /// The package.
    pub name: PackageName,
    /// The version.
    pub version: Version,
    /// Where the release comes from.
    pub source: ReleaseSource,
    /// The digest of its artifact, if the source knows it; none for releases of the host.
    pub digest: Option<ArtifactDigest>,
    /// Whether it was withdrawn; it was chosen because a lock holds it.
    pub yanked: bool,
    /// Its requirements: the core library first, then in the order of the manifest.
    pub requires: Vec<BoundRequirement>,
}

/// A requirement and the version that it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundRequirement {
    /// The package.
    pub package: PackageName,
    /// The versions that are allowed.
    pub spec: Spec,
    /// What the manifest says, if an override stands in its place.
    pub overridden: Option<Spec>,
    /// The version that was chosen.
    pub version: Version,
    /// Whether nobody wrote it: every package requires the core library.
    pub is_implied: bool,
}

/// A release whose artifact is not what was locked: it has another digest or another source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactChange {
    /// The package.
    pub name: PackageName,
    /// The version, which is the one that was locked.
    pub version: Version,
    /// What was locked.
    pub locked: LockedArtifact,
    /// Where the release comes from.
    pub source: ReleaseSource,
    /// The digest of its artifact, if the source knows it.
    pub digest: Option<ArtifactDigest>,
}

impl ArtifactChange {
    /// Whether the release has other content than what was locked, or content that nothing is
    /// known of. What the host supplies has no digest: it answers for that itself. A folder is
    /// still being worked on: that its content changes is no violation.
    pub fn is_violation(&self) -> bool {
        let is_folder = |digest: &ArtifactDigest| matches!(digest, ArtifactDigest::Tree(_));
        self.source != ReleaseSource::Host
            && !self.locked.digests.iter().all(is_folder)
            && self.digest_differs()
    }

    /// Whether the digest is not one that was locked.
    pub fn digest_differs(&self) -> bool {
        match &self.digest {
            Some(digest) => !self.locked.digests.contains(digest),
            None => !self.locked.digests.is_empty(),
        }
    }

    /// Whether the source is known not to be the one that was locked.
    pub fn source_differs(&self) -> bool {
        self.locked
            .source
            .as_ref()
            .is_some_and(|source| *source != self.source)
    }
}

/// A path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementPath {
    /// The root.
    pub root: Owner,
    /// What the root requires, what that requires, and so on.
    pub steps: Vec<PathStep>,
}

/// A step of a path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The package.
    pub package: PackageName,
    /// Its version.
    pub version: Version,
    /// The spec by which the step before, or the root, requires it.
    pub spec: Spec,
}

/// A package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideBySide {
    /// The package.
    pub name: PackageName,
    /// Its versions, ascending.
    pub versions: Vec<Version>,
    /// Whether the lock holds all of them: then they may stay side by side where one would do by now.
    pub are_locked: bool,
    /// Who requires which of them: the reason why one would not do.
    pub because: Vec<Demand>,
}

impl SideBySide {
    /// The newest of the versions that every requirement allows. Where there is one, requirements on the
    /// package are not what keeps its releases apart: the lock does, or what they require or define.
    pub fn allowed_by_all(&self) -> Option<&Version> {
        let is_allowed =
            |version: &&Version| (self.because.iter()).all(|demand| demand.spec.matches(version));
        self.versions.iter().rfind(is_allowed)
    }
}

/// A requirement on a package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// Who requires it.
    pub owner: Owner,
    /// The versions that it allows.
    pub spec: Spec,
    /// Whether nobody wrote it: every package requires the core library.
    pub is_implied: bool,
    /// The version that it is bound to.
    pub version: Version,
}

/// A prerelease that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPrerelease {
    /// The package.
    pub name: PackageName,
    /// The prerelease.
    pub version: Version,
    /// Why.
    pub because: PrereleaseReason,
}

/// Why a prerelease was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrereleaseReason {
    /// A lock holds it.
    Locked,
    /// The policy is to take the newest.
    Policy,
    /// A requirement names a prerelease.
    Named {
        /// Whose requirement it is.
        owner: Owner,
        /// The requirement's spec.
        spec: Spec,
    },
    /// No stable version fits.
    NoStable,
}

/// A withdrawn release that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChosenWithdrawn {
    /// The package.
    pub name: PackageName,
    /// The release.
    pub version: Version,
    /// Whether an [update](crate::Update) asked for it. Otherwise a lock held it.
    pub was_asked_for: bool,
}

/// What a resolution took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// The steps that the solver took.
    pub steps: u64,
}

impl Resolution {
    pub(crate) fn new(
        universe: Universe,
        selection: Selection,
        steps: u64,
        update: Option<UpdateReport>,
    ) -> Self {
        Self {
            solved: Arc::new(Solved {
                universe,
                selection,
                stats: Stats { steps },
                update,
                parts: OnceLock::new(),
                side_by_side: OnceLock::new(),
                prereleases: OnceLock::new(),
            }),
        }
    }

    fn parts(&self) -> &Parts {
        let solved = &*self.solved;
        let parts = || Parts::new(&solved.universe, &solved.selection);
        solved.parts.get_or_init(parts)
    }

    /// How many releases there are, without the roots.
    pub fn len(&self) -> usize {
        let roots = self.solved.universe.roots().len();
        self.solved.selection.releases().len() - roots
    }

    /// Whether the roots require nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The roots, in the order of the request.
    pub fn roots(&self) -> &[ResolvedRoot] {
        &self.parts().roots
    }

    /// The releases, without the roots, sorted by name and version.
    pub fn packages(&self) -> &[ResolvedPackage] {
        &self.parts().packages
    }

    /// Everything that has requirements: the roots, then the releases.
    pub fn owners(&self) -> impl Iterator<Item = ResolvedOwner<'_>> + Clone {
        self.parts().owners()
    }

    /// The packages that have several releases, and why.
    pub fn side_by_side(&self) -> &[SideBySide] {
        let solved = &*self.solved;
        let find = || {
            let packages = solved.selection.packages_side_by_side();
            let universe = &solved.universe;
            let packages: BTreeSet<&PackageName> =
                packages.map(|package| universe.name(package)).collect();
            if packages.is_empty() {
                return Vec::new();
            }
            let locked = universe.locked();
            self.parts().side_by_side(&packages, |name, version| {
                let key = (name.clone(), version.clone());
                locked.packages.contains_key(&key) || locked.preferred.contains(&key)
            })
        };
        solved.side_by_side.get_or_init(find)
    }

    /// The prereleases among the releases, and why they were chosen.
    pub fn prereleases(&self) -> &[ChosenPrerelease] {
        let solved = &*self.solved;
        let find = || parts::prereleases(&solved.universe, &solved.selection);
        solved.prereleases.get_or_init(find)
    }

    /// The withdrawn releases among the releases, sorted by name and version.
    pub fn withdrawn(&self) -> Vec<ChosenWithdrawn> {
        let Solved {
            universe,
            selection,
            update,
            ..
        } = &*self.solved;
        parts::withdrawn(universe, selection, update.is_some())
    }

    /// The overrides of packages that nothing here requires, sorted: they changed nothing.
    pub fn unused_overrides(&self) -> Vec<(PackageName, Spec)> {
        let Solved {
            universe,
            selection,
            ..
        } = &*self.solved;
        let mut overrides = universe.overrides();
        for release in selection.releases() {
            for bound in selection.bound(*release) {
                overrides.remove(universe.name(bound.package));
            }
        }
        overrides.into_iter().collect()
    }

    /// What it took.
    pub fn stats(&self) -> Stats {
        self.solved.stats
    }

    /// What moved and why, if an update was asked for.
    pub fn update(&self) -> Option<&UpdateReport> {
        self.solved.update.as_ref()
    }

    /// The release of a package; the newest if there are several.
    pub fn package(&self, name: &PackageName) -> Option<&ResolvedPackage> {
        let packages = self.packages();
        let end = packages.partition_point(|package| package.name <= *name);
        let last = packages[..end].last()?;
        (last.name == *name).then_some(last)
    }

    /// Who requires a package, and in which versions: roots first, then by name and version.
    pub fn requirers(&self, name: &PackageName) -> Vec<Demand> {
        self.owners()
            .flat_map(|owner| {
                let requires = owner.requires().iter();
                let bound = requires.filter(|bound| bound.package == *name);
                bound.map(move |bound| Demand::new(owner, bound))
            })
            .collect()
    }

    /// How a package comes in: for each requirement on it, the shortest path from a root. The
    /// shortest path comes first. Empty if the package is not part of the resolution.
    pub fn paths_to(&self, name: &PackageName) -> Vec<RequirementPath> {
        paths::paths_to(self, name)
    }

    /// The releases whose artifacts are not those that the request had
    /// [locked](crate::Locked::artifacts), sorted. A program that goes on to use a release for
    /// which this is a [violation](ArtifactChange::is_violation) uses something that nobody
    /// agreed to.
    pub fn artifact_changes(&self) -> Vec<ArtifactChange> {
        let artifacts = self.locked_artifacts();
        if artifacts.is_empty() {
            return Vec::new();
        }
        self.packages()
            .iter()
            .filter_map(|package| {
                let key = (package.name.clone(), package.version.clone());
                let change = ArtifactChange {
                    name: package.name.clone(),
                    version: package.version.clone(),
                    locked: artifacts.get(&key)?.clone(),
                    source: package.source.clone(),
                    digest: package.digest,
                };
                (change.digest_differs() || change.source_differs()).then_some(change)
            })
            .collect()
    }

    /// What the request said was known of artifacts.
    pub fn locked_artifacts(&self) -> &BTreeMap<(PackageName, Version), LockedArtifact> {
        &self.solved.universe.locked().artifacts
    }

    /// The lockfile that keeps this resolution.
    ///
    /// # Errors
    ///
    /// A root is an object model, whose versions are written into the model.
    pub fn to_lockfile(&self) -> Result<Lockfile, ModelNotLockable> {
        lock::lockfile(&self.solved.universe, &self.solved.selection)
    }

    /// This resolution as what another one is to keep.
    pub fn to_locked(&self) -> Locked {
        lock::locked(&self.solved.universe, &self.solved.selection)
    }
}

impl fmt::Debug for Resolution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Resolution")
            .field("roots", &self.roots())
            .field("packages", &self.packages())
            .field("side_by_side", &self.side_by_side())
            .field("prereleases", &self.prereleases())
            .field("stats", &self.stats())
            .field("update", &self.update())
            .finish()
    }
}

impl PartialEq for Resolution {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
            && self.prereleases() == other.prereleases()
            && self.stats() == other.stats()
            && self.update() == other.update()
    }
}

impl Eq for Resolution {}
