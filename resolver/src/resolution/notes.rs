//! What is worth a note: packages with several releases, prereleases, yanked releases, changed artifacts.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource, Spec, Version};
use rustc_hash::FxHashMap;

use super::contents::{BoundRequirement, Contents, ResolvedOwner};
use crate::request::{LockedArtifact, Owner, PrereleasePolicy};
use crate::selection::Selection;
use crate::universe::{ReleaseId, Required, Universe};

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
    pub because: Vec<Requirer>,
}

impl SideBySide {
    /// The newest of the versions that every requirement allows. Where there is one, requirements on the
    /// package are not what keeps its releases apart: the lock does, or what they require or define.
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
    /// Who requires it.
    pub owner: Owner,
    /// The versions that it allows.
    pub spec: Spec,
    /// Whether nobody wrote it: every package requires the core library.
    pub is_implied: bool,
    /// The version that it is bound to.
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

/// A yanked release that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChosenYanked {
    /// The package.
    pub name: PackageName,
    /// The release.
    pub version: Version,
    /// Whether an [update](crate::Update) asked for it. Otherwise a lock held it.
    pub was_asked_for: bool,
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

/// The packages that have several releases, and why.
/// `is_locked` says whether the lock holds a release.
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

/// The yanked releases of a selection; an update may have asked for some.
pub(super) fn yanked(
    universe: &Universe,
    selection: &Selection,
    is_update: bool,
) -> Vec<ChosenYanked> {
    let locked = universe.locked();
    let chosen = selection.releases().iter();
    let yanked = chosen.filter(|release| universe.is_yanked(**release));
    let mut yanked: Vec<ChosenYanked> = yanked
        .map(|release| {
            let name = universe.name(release.package).clone();
            let version = universe.read_version(*release);
            let key = (name, version);
            // What was locked and let go by the update is kept.
            let was_asked_for =
                is_update && locked.preferred.contains(&key) && !locked.kept.contains(&key);
            let (name, version) = key;
            ChosenYanked {
                name,
                version,
                was_asked_for,
            }
        })
        .collect();
    yanked.sort_unstable();
    yanked
}

/// The prereleases of a selection, and why they were chosen.
pub(super) fn prereleases(universe: &Universe, selection: &Selection) -> Vec<ChosenPrerelease> {
    let mut chosen: Vec<ChosenPrerelease> = selection
        .releases()
        .iter()
        .filter(|release| universe.is_prerelease(**release))
        .filter(|release| !universe.is_root(release.package))
        .map(|release| ChosenPrerelease {
            name: universe.name(release.package).clone(),
            version: universe.read_version(*release),
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
    let mut specs = FxHashMap::default();
    for (at, owner) in selection.releases().iter().enumerate() {
        let mut bound = selection.bound_at(at).iter();
        if !bound.clone().any(|target| *target == prerelease) {
            continue;
        }
        let mut naming = None;
        universe.each_requirement(*owner, &mut specs, |Required { spec, .. }| {
            let is_on_it = bound.next() == Some(&prerelease);
            if is_on_it && naming.is_none() && spec.names_prerelease() {
                naming = Some(spec);
            }
        });
        if let Some(spec) = naming {
            return PrereleaseReason::Named {
                owner: universe.owner(*owner),
                spec,
            };
        }
    }
    PrereleaseReason::NoStable
}
