//! Choices of a resolution that people should know of: packages with several releases, prereleases, releases that the
//! policy excludes, artifacts that differ from the locked ones, and the first package without its best candidate.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ArtifactDigest, PackageName, Release, ReleaseSource, Spec, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::{BoundRequirement, Contents, ResolvedOwner};
use crate::request::{LockedArtifact, Owner, PrereleasePolicy};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, PolicyExclusion, ReleaseId, ReleaseRequirement, Universe};

/// A package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideBySide {
    /// The package.
    pub name: PackageName,
    /// Its versions, ascending.
    pub versions: Vec<Version>,
    /// Whether all of them are locked. Then they may stay even if one would be enough by now.
    pub are_locked: bool,
    /// The requirements on them, which are the reason for several releases.
    pub because: Vec<Requirer>,
}

impl SideBySide {
    /// The newest version that all requirements allow. If there is one, the requirements are not
    /// the reason for several releases: the lock is, or what the releases require or define.
    pub fn allowed_by_all(&self) -> Option<&Version> {
        let is_allowed = |version: &&Version| {
            (self.because.iter()).all(|requirement| requirement.spec.matches(version))
        };
        self.versions.iter().rfind(is_allowed)
    }
}

/// A requirement on a package that has several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirer {
    /// The owner of the requirement.
    pub owner: Owner,
    /// The allowed versions.
    pub spec: Spec,
    /// Whether it is implied: every package requires the core library.
    pub is_implied: bool,
    /// The chosen version.
    pub version: Version,
}

impl Requirer {
    /// A requirement of an owner.
    pub(super) fn new(owner: ResolvedOwner<'_>, bound: &BoundRequirement) -> Self {
        Self {
            owner: owner.owner(),
            spec: bound.spec.clone(),
            is_implied: bound.is_implied,
            version: bound.version.clone(),
        }
    }
}

/// A prerelease that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenPrerelease {
    /// The package.
    pub name: PackageName,
    /// The prerelease.
    pub version: Version,
    /// The reason.
    pub because: PrereleaseReason,
}

/// Why a prerelease was chosen.
///
/// Not `#[non_exhaustive]`: whoever presents a resolution has to handle every reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrereleaseReason {
    /// The host provides it.
    FromHost,
    /// It is locked.
    Locked,
    /// An [update](crate::Update) requested it.
    Requested,
    /// The policy allows the newest version.
    Policy,
    /// A requirement names a prerelease.
    Named {
        /// The owner of the requirement.
        owner: Owner,
        /// The requirement's spec.
        spec: Spec,
    },
    /// The policy excludes the stable versions that fit.
    StableExcluded {
        /// The newest of them.
        version: Version,
        /// Why it is excluded.
        exclusion: PolicyExclusion,
    },
    /// No stable version is allowed.
    NoStable,
}

/// A release that was chosen although the policy excludes it. One that is excluded for two reasons occurs twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ChosenExcluded {
    /// The package.
    pub name: PackageName,
    /// The release.
    pub version: Version,
    /// Why the policy excludes it.
    pub exclusion: PolicyExclusion,
    /// Whether an [update](crate::Update) requested it. Otherwise it was locked.
    pub was_asked_for: bool,
}

/// The packages with several releases, and the requirements on them. `is_locked` tells whether a
/// release is locked.
pub(super) fn side_by_side(
    contents: &Contents,
    packages: &BTreeSet<&PackageName>,
    is_locked: impl Fn(&PackageName, &Version) -> bool,
) -> Vec<SideBySide> {
    let mut versions: BTreeMap<&PackageName, BTreeSet<&Version>> = BTreeMap::new();
    let mut because: BTreeMap<&PackageName, Vec<Requirer>> = BTreeMap::new();
    for owner in contents.owners() {
        if let Some((name, version)) = owner.release()
            && packages.contains(name)
        {
            versions.entry(name).or_default().insert(version);
        }
        for required in owner.requires() {
            if packages.contains(&required.package) {
                let requirements = because.entry(&required.package).or_default();
                requirements.push(Requirer::new(owner, required));
            }
        }
    }
    let entry = |(name, versions): (&PackageName, BTreeSet<&Version>)| {
        let mut because = because.remove(name).unwrap_or_default();
        because.sort_by(|one, two| (&one.version, &one.owner).cmp(&(&two.version, &two.owner)));
        SideBySide {
            name: name.clone(),
            are_locked: versions.iter().all(|version| is_locked(name, version)),
            versions: versions.into_iter().cloned().collect(),
            because,
        }
    };
    versions.into_iter().map(entry).collect()
}

/// The releases of a selection that the policy excludes, with each reason.
pub(super) fn excluded(
    universe: &Universe,
    selection: &Selection,
    is_update: bool,
) -> Vec<ChosenExcluded> {
    let catalog = &universe.catalog;
    let chosen = selection.releases().iter();
    let mut excluded: Vec<ChosenExcluded> = chosen
        .filter(|release| !catalog.is_root(release.package))
        .flat_map(|release| {
            let exclusions = PolicyExclusion::all_of(universe, *release);
            // Prereleases are reported on their own.
            let exclusions =
                exclusions.filter(|exclusion| *exclusion != PolicyExclusion::Prerelease);
            exclusions.map(|exclusion| {
                let Release { name, version } = catalog.named_version(*release);
                ChosenExcluded {
                    name,
                    version,
                    exclusion,
                    was_asked_for: is_update && was_asked_for(universe, *release),
                }
            })
        })
        .collect();
    excluded.sort_unstable();
    excluded
}

/// Whether an update requested a release.
fn was_asked_for(universe: &Universe, release: ReleaseId) -> bool {
    let locked = universe.catalog.policy().locked();
    let key = universe.catalog.named_version(release);
    // Releases that an update unlocked are in `kept`.
    locked.preferred.contains(&key) && !locked.kept.contains(&key)
}

/// The prereleases of a selection, and why they were chosen.
pub(super) fn prereleases(
    universe: &Universe,
    selection: &Selection,
    is_update: bool,
) -> Vec<ChosenPrerelease> {
    let mut chosen: Vec<ChosenPrerelease> = selection
        .releases()
        .iter()
        .filter(|release| universe.catalog.is_prerelease(**release))
        .filter(|release| !universe.catalog.is_root(release.package))
        .map(|release| ChosenPrerelease {
            name: universe.catalog.name(release.package).clone(),
            version: universe.catalog.read_version(*release),
            because: if is_update && was_asked_for(universe, *release) {
                PrereleaseReason::Requested
            } else {
                prerelease_reason(universe, selection, *release)
            },
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
    if universe.catalog.source(prerelease.package) == Some(&ReleaseSource::Host) {
        return PrereleaseReason::FromHost;
    }
    if universe.catalog.is_locked(prerelease) {
        return PrereleaseReason::Locked;
    }
    if universe.catalog.policy().prerelease() == PrereleasePolicy::Allow {
        return PrereleaseReason::Policy;
    }
    // Without being locked itself, it is there only because the lock keeps it.
    if PolicyExclusion::until_requested(universe, prerelease).is_some() {
        return PrereleaseReason::Locked;
    }
    let mut specs = FxHashMap::default();
    let mut required: Vec<Spec> = Vec::new();
    for (at, owner) in selection.releases().iter().enumerate() {
        let mut bound = selection.bound_at(at).iter();
        if !bound.clone().any(|target| *target == prerelease) {
            continue;
        }
        let mut naming = None;
        universe.visit_requirements(*owner, &mut specs, |ReleaseRequirement { spec, .. }| {
            let is_on_it = bound.next() == Some(&prerelease);
            if !is_on_it {
                return;
            }
            if naming.is_none() && spec.names_prerelease() {
                naming = Some(spec);
            } else {
                required.push(spec);
            }
        });
        if let Some(spec) = naming {
            return PrereleaseReason::Named {
                owner: universe.catalog.owner(*owner),
                spec,
            };
        }
    }
    match newest_excluded_stable(universe, prerelease, &required) {
        Some((version, exclusion)) => PrereleaseReason::StableExcluded { version, exclusion },
        None => PrereleaseReason::NoStable,
    }
}

/// The newest stable version that the requirements on a prerelease allow and the policy excludes.
fn newest_excluded_stable(
    universe: &Universe,
    prerelease: ReleaseId,
    required: &[Spec],
) -> Option<(Version, PolicyExclusion)> {
    let catalog = &universe.catalog;
    let package = prerelease.package;
    let releases = (0..catalog.release_count(package)).map(|index| ReleaseId { package, index });
    let excluded = releases.filter_map(|release| {
        let exclusion = PolicyExclusion::until_requested(universe, release)?;
        let version = catalog.read_version(release);
        let fits = required.iter().all(|spec| spec.matches(&version));
        (fits && !catalog.is_prerelease(release)).then_some((version, exclusion))
    });
    excluded.max_by(|(one, _), (other, _)| one.cmp(other))
}

/// A release whose digest or source differs from what was locked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArtifactChange {
    /// The package.
    pub name: PackageName,
    /// The version that was locked.
    pub version: Version,
    /// The locked artifact.
    pub locked: LockedArtifact,
    /// The current source.
    pub source: ReleaseSource,
    /// The current digest, if the source has it.
    pub digest: Option<ArtifactDigest>,
}

impl ArtifactChange {
    /// Whether the content of the release differs from what was locked, or is unknown, although it must
    /// [not change](ArtifactDigest::is_final). The host is responsible for its releases, which have no digest.
    pub fn is_violation(&self) -> bool {
        self.source != ReleaseSource::Host
            && self.locked.digests.iter().any(ArtifactDigest::is_final)
            && self.digest_differs()
    }

    /// Whether the digest is not one of the locked ones.
    pub(super) fn digest_differs(&self) -> bool {
        match &self.digest {
            Some(digest) => !self.locked.digests.contains(digest),
            None => !self.locked.digests.is_empty(),
        }
    }

    /// Whether the source is known to differ from the locked one.
    pub(super) fn source_differs(&self) -> bool {
        self.locked
            .source
            .as_ref()
            .is_some_and(|source| *source != self.source)
    }
}

/// A package that did not get its best candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compromise {
    /// The package.
    pub package: PackageName,
    /// The version that it has.
    pub version: Version,
    /// The candidates that are better, best first. Locked versions are better than others, stable ones usually than
    /// prereleases, and newer ones than older ones unless older ones are preferred.
    pub better: Vec<Version>,
    /// The packages that were decided before, without roots, in the order of decisions. Each of them has its best
    /// candidate.
    pub decided: Vec<Release>,
}

/// The first compromise of a selection with one release of each package.
pub(super) fn first_compromise(universe: &Universe, selection: &Selection) -> Option<Compromise> {
    let catalog = &universe.catalog;
    let mut seen: FxHashSet<PackageId> = FxHashSet::default();
    let mut prerelease_named: FxHashSet<PackageId> = FxHashSet::default();
    let mut decided: Vec<ReleaseId> = Vec::new();
    let mut specs = FxHashMap::default();
    let mut decide = |release: ReleaseId, named: &mut FxHashSet<PackageId>| {
        let mut bound = selection.bound(release).iter();
        universe.visit_requirements(
            release,
            &mut specs,
            |ReleaseRequirement { spec, .. }| {
                let target = bound.next().filter(|_| spec.names_prerelease());
                named.extend(target.map(|target| target.package));
            },
        );
    };
    for root in catalog.roots() {
        seen.insert(root.package);
        decide(*root, &mut prerelease_named);
    }
    for at in 0..selection.releases().len() {
        for bound in selection.bound_at(at) {
            let package = bound.package;
            if !seen.insert(package) {
                continue;
            }
            let is_named = prerelease_named.contains(&package);
            let mut candidates = catalog.candidates_of(package);
            if catalog.is_locked(*bound) {
                // A lock can have several releases of a package, and which one is best depends on who requires it.
                candidates = PositionSet::single(bound.index);
            }
            let best_first = catalog.best_first(package, candidates, is_named);
            let better: Vec<u32> = best_first
                .take_while(|index| *index != bound.index)
                .collect();
            if !better.is_empty() {
                let version = |index| catalog.version(ReleaseId { package, index }).clone();
                let named = |release: &ReleaseId| catalog.named_version(*release);
                return Some(Compromise {
                    package: catalog.name(package).clone(),
                    version: version(bound.index),
                    better: better.into_iter().map(version).collect(),
                    decided: decided.iter().map(named).collect(),
                });
            }
            decided.push(*bound);
            decide(*bound, &mut prerelease_named);
        }
    }
    None
}
