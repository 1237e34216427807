//! A resolution: the answer when there is one.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    ArtifactDigest, LockedPackage, LockedRequirement, Lockfile, PackageName, ReleaseSource, Spec,
    Version,
};

use crate::PrereleasePolicy;
use crate::selection::Selection;
use crate::universe::{Edge, ReleaseId, Universe};

/// A valid set of releases and what each requirement is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The roots, in the order of the request.
    pub roots: Vec<ResolvedRoot>,
    /// The releases, without the roots, sorted by name and version.
    pub packages: Vec<ResolvedPackage>,
    /// The packages that have several releases, and why.
    pub side_by_side: Vec<SideBySide>,
    /// The prereleases among the releases, and why they were chosen.
    pub prereleases: Vec<ChosenPrerelease>,
    /// What it took.
    pub stats: Stats,
}

/// A root and what its requirements are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedRoot {
    /// The root's name.
    pub name: PackageName,
    /// The root's version.
    pub version: Version,
    /// Its requirements: the core library first, then in the order of the manifest.
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
    /// The digest of its artifact, if the source knows it.
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
    /// The version that was chosen.
    pub version: Version,
}

/// A step of a path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The package.
    pub package: PackageName,
    /// Its version.
    pub version: Version,
    /// The spec by which the step before requires it; `None` for the root.
    pub spec: Option<Spec>,
}

/// A package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideBySide {
    /// The package.
    pub name: PackageName,
    /// Its versions, ascending.
    pub versions: Vec<Version>,
    /// Who requires which of them: the reason why one would not do.
    pub because: Vec<Demand>,
}

/// A requirement on a package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// The release that requires it.
    pub owner: PackageName,
    /// That release's version.
    pub owner_version: Version,
    /// The versions that it allows.
    pub spec: Spec,
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
        /// The release whose requirement it is.
        owner: PackageName,
        /// That release's version.
        owner_version: Version,
        /// The requirement's spec.
        spec: Spec,
    },
    /// No stable version fits.
    NoStable,
}

/// What a resolution took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// The steps that the solver took.
    pub steps: u64,
}

impl Resolution {
    pub(crate) fn new(universe: &mut Universe, selection: &Selection, steps: u64) -> Self {
        for release in selection.releases() {
            universe.details(*release);
        }
        let universe = &*universe;
        let bound = |release: ReleaseId| -> Vec<BoundRequirement> {
            edges(universe, selection, release)
                .map(|(edge, target)| BoundRequirement {
                    package: edge.requirement.package.clone(),
                    spec: edge.requirement.spec.clone(),
                    version: universe.version(target).clone(),
                })
                .collect()
        };
        let roots = universe
            .roots()
            .iter()
            .map(|root| ResolvedRoot {
                name: universe.name(root.package).clone(),
                version: universe.version(*root).clone(),
                requires: bound(*root),
            })
            .collect();
        let mut packages: Vec<ResolvedPackage> = selection
            .releases()
            .iter()
            .filter_map(|release| {
                let source = universe.source(release.package).cloned()?;
                Some(ResolvedPackage {
                    name: universe.name(release.package).clone(),
                    version: universe.version(*release).clone(),
                    source,
                    digest: universe.digest(*release),
                    yanked: universe.is_yanked(*release),
                    requires: bound(*release),
                })
            })
            .collect();
        packages.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
        Self {
            roots,
            side_by_side: side_by_side(universe, selection, &packages),
            prereleases: prereleases(universe, selection),
            packages,
            stats: Stats { steps },
        }
    }

    /// The release of a package; the newest if there are several.
    pub fn package(&self, name: &PackageName) -> Option<&ResolvedPackage> {
        self.packages
            .iter()
            .rev()
            .find(|package| package.name == *name)
    }

    /// How a package comes in: for each requirement on it, the shortest path from a root. The
    /// shortest path comes first. Empty if the package is not part of the resolution.
    pub fn paths_to(&self, name: &PackageName) -> Vec<Vec<PathStep>> {
        paths::paths_to(self, name)
    }

    /// The lockfile that keeps this resolution.
    pub fn to_lockfile(&self) -> Lockfile {
        Lockfile {
            roots: self
                .roots
                .iter()
                .map(|root| {
                    let requirements = root.requires.iter().map(|bound| {
                        let locked = LockedRequirement {
                            spec: bound.spec.clone(),
                            version: bound.version.clone(),
                        };
                        (bound.package.clone(), locked)
                    });
                    (root.name.clone(), requirements.collect())
                })
                .collect(),
            side_by_side: self
                .side_by_side
                .iter()
                .map(|entry| entry.name.clone())
                .collect(),
            packages: self
                .packages
                .iter()
                .map(|package| {
                    let requires: BTreeMap<PackageName, Version> = package
                        .requires
                        .iter()
                        .map(|bound| (bound.package.clone(), bound.version.clone()))
                        .collect();
                    let locked = LockedPackage {
                        source: package.source.clone(),
                        digest: package.digest,
                        requires,
                    };
                    ((package.name.clone(), package.version.clone()), locked)
                })
                .collect(),
        }
    }
}

fn edges<'a>(
    universe: &'a Universe,
    selection: &'a Selection,
    release: ReleaseId,
) -> impl Iterator<Item = (&'a Edge, ReleaseId)> {
    let details = universe.known_details(release);
    details
        .edges
        .iter()
        .zip(selection.bound(release).iter().copied())
}

fn side_by_side(
    universe: &Universe,
    selection: &Selection,
    packages: &[ResolvedPackage],
) -> Vec<SideBySide> {
    let several: BTreeSet<&PackageName> = packages
        .windows(2)
        .filter(|pair| pair[0].name == pair[1].name)
        .map(|pair| &pair[0].name)
        .collect();
    several
        .into_iter()
        .map(|name| {
            let mut because: Vec<Demand> = selection
                .releases()
                .iter()
                .flat_map(|release| {
                    edges(universe, selection, *release)
                        .map(move |(edge, target)| (release, edge, target))
                })
                .filter(|(_, edge, _)| edge.requirement.package == *name)
                .map(|(release, edge, target)| Demand {
                    owner: universe.name(release.package).clone(),
                    owner_version: universe.version(*release).clone(),
                    spec: edge.requirement.spec.clone(),
                    version: universe.version(target).clone(),
                })
                .collect();
            because.sort_by(|one, two| {
                (&one.version, &one.owner, &one.owner_version).cmp(&(
                    &two.version,
                    &two.owner,
                    &two.owner_version,
                ))
            });
            SideBySide {
                name: name.clone(),
                versions: packages
                    .iter()
                    .filter(|package| package.name == *name)
                    .map(|package| package.version.clone())
                    .collect(),
                because,
            }
        })
        .collect()
}

fn prereleases(universe: &Universe, selection: &Selection) -> Vec<ChosenPrerelease> {
    let mut chosen: Vec<ChosenPrerelease> = selection
        .releases()
        .iter()
        .filter(|release| !universe.is_root(release.package))
        .filter(|release| universe.version(**release).is_prerelease())
        .map(|release| ChosenPrerelease {
            name: universe.name(release.package).clone(),
            version: universe.version(*release).clone(),
            because: prerelease_reason(universe, selection, *release),
        })
        .collect();
    chosen.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
    chosen
}

fn prerelease_reason(
    universe: &Universe,
    selection: &Selection,
    prerelease: ReleaseId,
) -> PrereleaseReason {
    if universe.is_locked(prerelease) {
        return PrereleaseReason::Locked;
    }
    if universe.prerelease_policy() == PrereleasePolicy::Allow {
        return PrereleaseReason::Policy;
    }
    for release in selection.releases() {
        for (edge, target) in edges(universe, selection, *release) {
            if target == prerelease && edge.requirement.spec.names_prerelease() {
                return PrereleaseReason::Named {
                    owner: universe.name(release.package).clone(),
                    owner_version: universe.version(*release).clone(),
                    spec: edge.requirement.spec.clone(),
                };
            }
        }
    }
    PrereleaseReason::NoStable
}
