//! The contents of a resolution: roots and releases with their requirements, and the paths from a root to a package.

use std::collections::{HashMap, VecDeque};

use pkgres_manifest::{ArtifactDigest, PackageName, Release, ReleaseSource, Spec, Version};
use rustc_hash::FxHashMap;

use super::Resolution;
use crate::request::Owner;
use crate::selection::Selection;
use crate::universe::{ReleaseId, Universe};

/// A root with its bound requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedRoot {
    /// The release, or the object model.
    pub owner: Owner,
    /// Its requirements: the core library first, then in the order of the manifest. A model has one requirement for
    /// each object, in its order.
    pub requires: Vec<BoundRequirement>,
}

/// A release with its bound requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedPackage {
    /// The package.
    pub name: PackageName,
    /// The version.
    pub version: Version,
    /// The source of the release.
    pub source: ReleaseSource,
    /// The digest of its artifact, if the source knows it; none for releases of the host.
    pub digest: Option<ArtifactDigest>,
    /// Whether it is yanked. A yanked release is chosen only if it is locked or requested.
    pub yanked: bool,
    /// Its requirements: the core library first, then in the order of the manifest.
    pub requires: Vec<BoundRequirement>,
}

/// A requirement with its chosen version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundRequirement {
    /// The package.
    pub package: PackageName,
    /// The allowed versions.
    pub spec: Spec,
    /// The spec in the manifest, if an override replaces it.
    pub overridden: Option<Spec>,
    /// The version that was chosen.
    pub version: Version,
    /// Whether it is implied: every package requires the core library.
    pub is_implied: bool,
}

impl ResolvedPackage {
    /// The release.
    pub fn release(&self) -> Release {
        Release::new(self.name.clone(), self.version.clone())
    }
}

impl BoundRequirement {
    /// The release that the requirement is bound to.
    pub fn release(&self) -> Release {
        Release::new(self.package.clone(), self.version.clone())
    }
}

/// A root or a release of a resolution, either of which has requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolvedOwner<'resolution> {
    /// A root.
    Root(&'resolution ResolvedRoot),
    /// A release that is no root.
    Package(&'resolution ResolvedPackage),
}

impl<'resolution> ResolvedOwner<'resolution> {
    /// Its bound requirements.
    pub fn requires(self) -> &'resolution [BoundRequirement] {
        match self {
            Self::Root(root) => &root.requires,
            Self::Package(package) => &package.requires,
        }
    }

    /// The name and the version, unless it is the object model.
    pub fn release(self) -> Option<(&'resolution PackageName, &'resolution Version)> {
        match self {
            Self::Root(root) => root.owner.release(),
            Self::Package(package) => Some((&package.name, &package.version)),
        }
    }

    /// The owner as a value of its own.
    pub fn owner(self) -> Owner {
        match self {
            Self::Root(root) => root.owner.clone(),
            Self::Package(package) => Owner::Release {
                name: package.name.clone(),
                version: package.version.clone(),
            },
        }
    }
}

/// The contents of a resolution.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) roots: Vec<ResolvedRoot>,
    pub(super) packages: Vec<ResolvedPackage>,
}

impl Contents {
    pub(super) fn new(universe: &Universe, selection: &Selection) -> Self {
        let releases = selection.releases();
        let mut specs = FxHashMap::default();
        let mut requires = |at: usize| {
            let mut bound = selection.bound_at(at).iter();
            let mut requires = Vec::with_capacity(bound.len());
            universe.visit_requirements(releases[at], &mut specs, |required| {
                let target = bound.next().expect("each requirement is bound");
                requires.push(BoundRequirement {
                    package: universe.catalog.name(required.package).clone(),
                    spec: required.spec,
                    overridden: required.manifest_spec,
                    version: universe.catalog.read_version(*target),
                    is_implied: required.is_implied,
                });
            });
            requires
        };
        let root_count = universe.catalog.roots().len();
        let roots = (0..root_count).map(|at| ResolvedRoot {
            owner: universe.catalog.owner(releases[at]),
            requires: requires(at),
        });
        let roots = roots.collect();
        let packages = (root_count..releases.len()).filter_map(|at| {
            let release = releases[at];
            let source = universe.catalog.source(release.package)?.clone();
            Some(ResolvedPackage {
                name: universe.catalog.name(release.package).clone(),
                version: universe.catalog.read_version(release),
                digest: digest(universe, release, &source),
                source,
                yanked: universe.catalog.is_yanked(release),
                requires: requires(at),
            })
        });
        let mut packages: Vec<ResolvedPackage> = packages.collect();
        packages.sort_unstable_by(|one, other| {
            (&one.name, &one.version).cmp(&(&other.name, &other.version))
        });
        Self { roots, packages }
    }

    /// Everything that has requirements: the roots, then the releases.
    pub(super) fn owners(&self) -> impl Iterator<Item = ResolvedOwner<'_>> + Clone {
        let roots = self.roots.iter().map(ResolvedOwner::Root);
        roots.chain(self.packages.iter().map(ResolvedOwner::Package))
    }
}

/// The digest of a release. Releases of the host have none, see `LockedPackage::digest`.
pub(super) fn digest(
    universe: &Universe,
    release: ReleaseId,
    source: &ReleaseSource,
) -> Option<ArtifactDigest> {
    let is_hosted = *source == ReleaseSource::Host;
    universe.catalog.digest(release).filter(|_| !is_hosted)
}

/// A path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequirementPath {
    /// The root.
    pub root: Owner,
    /// The requirements along the path.
    pub steps: Vec<PathStep>,
}

/// A step of a path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStep {
    /// The package.
    pub package: PackageName,
    /// Its version.
    pub version: Version,
    /// The spec of the requirement on it.
    pub spec: Spec,
    /// Whether this is the spec of an override.
    pub is_override: bool,
}

/// An owner by its name and version; the object model has none.
type OwnerKey<'a> = Option<(&'a PackageName, &'a Version)>;

/// The requirement that reaches each release first, with its owner; `None` for roots.
type Predecessors<'a> = HashMap<OwnerKey<'a>, Option<(OwnerKey<'a>, &'a BoundRequirement)>>;

pub(super) fn paths_to(resolution: &Resolution, name: &PackageName) -> Vec<RequirementPath> {
    let owners: HashMap<OwnerKey<'_>, ResolvedOwner<'_>> = resolution
        .owners()
        .map(|owner| (owner.release(), owner))
        .collect();
    let mut predecessors = Predecessors::new();
    let mut queue = VecDeque::new();
    for root in resolution.roots() {
        let root = root.owner.release();
        predecessors.insert(root, None);
        queue.push_back(root);
    }
    let mut paths = Vec::new();
    while let Some(at) = queue.pop_front() {
        let Some(owner) = owners.get(&at) else {
            continue;
        };
        for bound in owner.requires() {
            if bound.package == *name {
                paths.push(path(&owners, &predecessors, at, bound));
            }
            let target = Some((&bound.package, &bound.version));
            predecessors.entry(target).or_insert_with(|| {
                queue.push_back(target);
                Some((at, bound))
            });
        }
    }
    paths
}

fn path<'a>(
    owners: &HashMap<OwnerKey<'a>, ResolvedOwner<'a>>,
    predecessors: &Predecessors<'a>,
    owner: OwnerKey<'a>,
    last: &BoundRequirement,
) -> RequirementPath {
    let step = |bound: &BoundRequirement| PathStep {
        package: bound.package.clone(),
        version: bound.version.clone(),
        spec: bound.spec.clone(),
        is_override: bound.overridden.is_some(),
    };
    let mut steps = vec![step(last)];
    let mut at = owner;
    while let Some(Some((before, bound))) = predecessors.get(&at) {
        steps.push(step(bound));
        at = *before;
    }
    steps.reverse();
    let root = owners[&at].owner();
    RequirementPath { root, steps }
}
