//! A resolution as a lockfile.
//!
//! A lock says less than a resolution in words: of most requirements only what they are bound to.
//! It is made of what the solver found, so that nothing else is put into words for it.

use pkgres_manifest::{LockedPackage, LockedRequirement, Lockfile};
use rustc_hash::FxHashMap;

use super::chosen::{Versions, digest, sorted};
use crate::selection::Selection;
use crate::universe::{ReleaseId, Universe};

/// The lockfile that keeps a selection.
pub(super) fn lockfile(universe: &Universe, selection: &Selection) -> Lockfile {
    let versions = Versions::of(universe, selection);
    let name = |release: &ReleaseId| universe.name(release.package).clone();
    let roots = universe.roots().iter().enumerate().map(|(at, root)| {
        let mut specs = FxHashMap::default();
        let mut bound = selection.bound_at(at).iter();
        let mut requirements = Vec::with_capacity(bound.len());
        universe.each_requirement(*root, &mut specs, |package, spec, _| {
            let target = bound.next().expect("each requirement is bound");
            let version = versions.of_release(*target).clone();
            let package = universe.name(package).clone();
            requirements.push((package, LockedRequirement { spec, version }));
        });
        (name(root), requirements.into_iter().collect())
    });
    let packages = sorted(universe, selection, &versions);
    let packages = packages.into_iter().filter_map(|at| {
        let release = selection.releases()[at];
        let source = universe.source(release.package)?.clone();
        let bound = selection.bound_at(at).iter();
        let bound = bound.map(|target| (name(target), versions.of_release(*target).clone()));
        let locked = LockedPackage {
            digest: digest(universe, release, &source),
            source,
            requires: bound.collect(),
        };
        Some(((name(&release), versions.all[at].clone()), locked))
    });
    Lockfile {
        roots: roots.collect(),
        overrides: universe.overrides(),
        side_by_side: (selection.packages_side_by_side())
            .map(|package| universe.name(package).clone())
            .collect(),
        packages: packages.collect(),
    }
}
