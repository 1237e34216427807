//! Putting into words what was chosen.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, Version};
use rustc_hash::FxHashMap;

use super::chosen::{Versions, digest, sorted};
use super::{
    BoundRequirement, ChosenPrerelease, ChosenYanked, PrereleaseReason, Requirer, ResolvedOwner,
    ResolvedPackage, ResolvedRoot, SideBySide,
};
use crate::request::PrereleasePolicy;
use crate::selection::Selection;
use crate::universe::{EffectiveRequirement, ReleaseId, Universe};

/// A resolution in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) roots: Vec<ResolvedRoot>,
    pub(super) packages: Vec<ResolvedPackage>,
}

impl Parts {
    pub(super) fn new(universe: &Universe, selection: &Selection) -> Self {
        let versions = Versions::of(universe, selection);
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
                    overridden: required.overridden,
                    version: versions.of_release(*target).clone(),
                    is_implied: required.is_implied,
                });
            });
            requires
        };
        let name = |at: usize| universe.catalog.name(releases[at].package).clone();
        let roots = 0..universe.catalog.roots().len();
        let roots = roots.map(|at| ResolvedRoot {
            owner: universe.catalog.owner(releases[at]),
            requires: requires(at),
        });
        let roots = roots.collect();
        let packages = sorted(universe, selection, &versions).into_iter();
        let packages = packages.filter_map(|at| {
            let release = releases[at];
            let source = universe.catalog.source(release.package)?.clone();
            Some(ResolvedPackage {
                name: name(at),
                version: versions.all[at].clone(),
                digest: digest(universe, release, &source),
                source,
                yanked: universe.catalog.is_yanked(release),
                requires: requires(at),
            })
        });
        let packages = packages.collect();
        Self { roots, packages }
    }

    /// Everything that has requirements: the roots, then the releases.
    pub(super) fn owners(&self) -> impl Iterator<Item = ResolvedOwner<'_>> + Clone {
        let roots = self.roots.iter().map(ResolvedOwner::Root);
        roots.chain(self.packages.iter().map(ResolvedOwner::Package))
    }

    /// The packages that have several releases, and why.
    /// `is_locked` says whether the lock holds a release.
    pub(super) fn side_by_side(
        &self,
        packages: &BTreeSet<&PackageName>,
        is_locked: impl Fn(&PackageName, &Version) -> bool,
    ) -> Vec<SideBySide> {
        let mut versions: BTreeMap<&PackageName, BTreeSet<&Version>> = BTreeMap::new();
        let mut because: BTreeMap<&PackageName, Vec<Requirer>> = BTreeMap::new();
        for owner in self.owners() {
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
}

/// The yanked releases of a selection; an update may have asked for some.
pub(super) fn yanked(
    universe: &Universe,
    selection: &Selection,
    is_update: bool,
) -> Vec<ChosenYanked> {
    let locked = universe.catalog.policy().locked();
    let chosen = selection.releases().iter();
    let yanked = chosen.filter(|release| universe.catalog.is_yanked(**release));
    let mut yanked: Vec<ChosenYanked> = yanked
        .map(|release| {
            let name = universe.catalog.name(release.package).clone();
            let version = universe.catalog.read_version(*release);
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
        .filter(|release| universe.catalog.is_prerelease(**release))
        .filter(|release| !universe.catalog.is_root(release.package))
        .map(|release| ChosenPrerelease {
            name: universe.catalog.name(release.package).clone(),
            version: universe.catalog.read_version(*release),
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
    if universe.catalog.is_locked(prerelease) {
        return PrereleaseReason::Locked;
    }
    if universe.catalog.policy().prerelease() == PrereleasePolicy::Allow {
        return PrereleaseReason::Policy;
    }
    let mut specs = FxHashMap::default();
    for (at, owner) in selection.releases().iter().enumerate() {
        let mut bound = selection.bound_at(at).iter();
        if !bound.clone().any(|target| *target == prerelease) {
            continue;
        }
        let mut naming = None;
        universe.visit_requirements(
            *owner,
            &mut specs,
            |EffectiveRequirement { spec, .. }| {
                let is_on_it = bound.next() == Some(&prerelease);
                if is_on_it && naming.is_none() && spec.names_prerelease() {
                    naming = Some(spec);
                }
            },
        );
        if let Some(spec) = naming {
            return PrereleaseReason::Named {
                owner: universe.catalog.owner(*owner),
                spec,
            };
        }
    }
    PrereleaseReason::NoStable
}
