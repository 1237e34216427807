//! Putting into words what was chosen.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, ReleaseSource, Version};
use rustc_hash::FxHashMap;

use super::{
    BoundRequirement, ChosenPrerelease, Demand, PrereleaseReason, ResolvedPackage, ResolvedRoot,
    SideBySide,
};
use crate::request::PrereleasePolicy;
use crate::selection::Selection;
use crate::universe::{ReleaseId, Universe};

/// A resolution in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) roots: Vec<ResolvedRoot>,
    pub(super) packages: Vec<ResolvedPackage>,
    pub(super) side_by_side: Vec<SideBySide>,
    pub(super) prereleases: Vec<ChosenPrerelease>,
}

impl Parts {
    pub(super) fn new(universe: &Universe, selection: &Selection) -> Self {
        let chosen = selection.releases().iter();
        let versions: Vec<Version> = chosen.map(|at| universe.read_version(*at)).collect();
        let version = |release: ReleaseId| {
            let at = selection.position(release);
            versions[at.expect("what is bound is chosen")].clone()
        };
        let mut specs = FxHashMap::default();
        let mut bound: Vec<Vec<BoundRequirement>> = Vec::with_capacity(versions.len());
        for (at, release) in selection.releases().iter().enumerate() {
            let targets = selection.bound_at(at);
            let mut requires = Vec::with_capacity(targets.len());
            universe.each_requirement(*release, &mut specs, |package, spec, overridden| {
                requires.push(BoundRequirement {
                    package: universe.name(package).clone(),
                    spec,
                    overridden,
                    version: version(targets[requires.len()]),
                });
            });
            bound.push(requires);
        }
        let side_by_side = side_by_side(universe, selection, &bound);
        let prereleases = prereleases(universe, selection, &bound);
        let (mut roots, mut packages) = (Vec::new(), Vec::new());
        let count = universe.roots().len();
        for (at, (release, requires)) in selection.releases().iter().zip(bound).enumerate() {
            let name = universe.name(release.package).clone();
            let version = versions[at].clone();
            if at < count {
                roots.push(ResolvedRoot {
                    name,
                    version,
                    requires,
                });
            } else if let Some(source) = universe.source(release.package) {
                // The host answers for what it supplies; see `LockedPackage::digest`.
                let is_hosted = *source == ReleaseSource::Host;
                packages.push(ResolvedPackage {
                    name,
                    version,
                    source: source.clone(),
                    digest: universe.digest(*release).filter(|_| !is_hosted),
                    yanked: universe.is_yanked(*release),
                    requires,
                });
            }
        }
        packages.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
        Self {
            roots,
            packages,
            side_by_side,
            prereleases,
        }
    }
}

fn side_by_side(
    universe: &Universe,
    selection: &Selection,
    bound: &[Vec<BoundRequirement>],
) -> Vec<SideBySide> {
    let mut versions: BTreeMap<&PackageName, BTreeSet<&Version>> = BTreeMap::new();
    for package in selection.packages_side_by_side() {
        versions.insert(universe.name(package), BTreeSet::new());
    }
    if versions.is_empty() {
        return Vec::new();
    }
    let mut because: BTreeMap<&PackageName, Vec<Demand>> = BTreeMap::new();
    for (release, requires) in selection.releases().iter().zip(bound) {
        let name = universe.name(release.package);
        if let Some(versions) = versions.get_mut(name) {
            versions.insert(universe.version(*release));
        }
        for required in requires {
            if versions.contains_key(&required.package) {
                because.entry(&required.package).or_default().push(Demand {
                    owner: name.clone(),
                    owner_version: universe.version(*release).clone(),
                    spec: required.spec.clone(),
                    version: required.version.clone(),
                });
            }
        }
    }
    let entry = |(name, versions): (&PackageName, BTreeSet<&Version>)| {
        let mut because = because.remove(name).unwrap_or_default();
        because.sort_by(|one, two| {
            (&one.version, &one.owner, &one.owner_version).cmp(&(
                &two.version,
                &two.owner,
                &two.owner_version,
            ))
        });
        SideBySide {
            name: name.clone(),
            versions: versions.into_iter().cloned().collect(),
            because,
        }
    };
    versions.into_iter().map(entry).collect()
}

fn prereleases(
    universe: &Universe,
    selection: &Selection,
    bound: &[Vec<BoundRequirement>],
) -> Vec<ChosenPrerelease> {
    let mut chosen: Vec<ChosenPrerelease> = selection
        .releases()
        .iter()
        .filter(|release| universe.is_prerelease(**release))
        .filter(|release| !universe.is_root(release.package))
        .map(|release| ChosenPrerelease {
            name: universe.name(release.package).clone(),
            version: universe.version(*release).clone(),
            because: prerelease_reason(universe, selection, bound, *release),
        })
        .collect();
    chosen.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
    chosen
}

fn prerelease_reason(
    universe: &Universe,
    selection: &Selection,
    bound: &[Vec<BoundRequirement>],
    prerelease: ReleaseId,
) -> PrereleaseReason {
    if universe.is_locked(prerelease) {
        return PrereleaseReason::Locked;
    }
    if universe.prerelease_policy() == PrereleasePolicy::Allow {
        return PrereleaseReason::Policy;
    }
    for (at, release) in selection.releases().iter().enumerate() {
        for (target, required) in selection.bound_at(at).iter().zip(&bound[at]) {
            if *target == prerelease && required.spec.names_prerelease() {
                return PrereleaseReason::Named {
                    owner: universe.name(release.package).clone(),
                    owner_version: universe.version(*release).clone(),
                    spec: required.spec.clone(),
                };
            }
        }
    }
    PrereleaseReason::NoStable
}
