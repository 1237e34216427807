//! The first decision for which the best candidate is impossible.

use pkgres_manifest::{PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{EffectiveRequirement, PackageId, ReleaseId, Universe};

/// A package that did not get its best candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub decided: Vec<(PackageName, Version)>,
}

/// The first compromise of a selection with one release of each package.
pub(super) fn first(universe: &Universe, selection: &Selection) -> Option<Compromise> {
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
            |EffectiveRequirement { spec, .. }| {
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
            let mut remaining = catalog.candidates_of(package);
            if catalog.is_locked(*bound) {
                // A lock can have several releases of a package, and which one is best depends on who requires it.
                remaining = PositionSet::single(bound.index);
            }
            let mut better = Vec::new();
            while let Some(best) = catalog.best(package, &remaining, is_named)
                && best != bound.index
            {
                better.push(best);
                remaining = remaining.intersection(&PositionSet::single(best).complement());
            }
            if !better.is_empty() {
                let version = |index| catalog.version(ReleaseId { package, index }).clone();
                let named = |release: &ReleaseId| {
                    let name = catalog.name(release.package).clone();
                    (name, catalog.version(*release).clone())
                };
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
