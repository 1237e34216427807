//! A resolution as a lock: a lockfile, or a value for another request.
//!
//! A lock has less data than a rendered resolution: for most requirements, only the chosen version.
//! It is made directly from the ids of the solver, so the rest is not rendered.

use std::collections::BTreeMap;

use pkgres_manifest::{
    LockedPackage, LockedRequirement, Lockfile, ObjectId, PackageName, Release, Spec, Version,
};

use super::contents::digest;
use crate::request::{Locked, LockedArtifact, LockedObject};
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId, Universe};

/// The error for a lockfile with an object model. The versions of the objects are written into the
/// model by pinning it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a lockfile cannot keep the versions of an object model; they are written into the model")]
pub struct ModelNotLockable;

pub(super) fn lockfile(
    universe: &Universe,
    selection: &Selection,
) -> Result<Lockfile, ModelNotLockable> {
    let chosen = LockBuilder {
        universe,
        selection,
    };
    let mut roots = BTreeMap::new();
    for (at, root) in universe.catalog.roots().iter().enumerate() {
        let name = universe.catalog.package_name(root.package);
        let name = name.ok_or(ModelNotLockable)?.clone();
        let specs = root_specs(universe, root.package);
        let requirements = chosen.bound(at).map(|(package, version)| {
            let spec = specs.get(&package).cloned();
            let spec = spec.unwrap_or_else(Spec::unspecified);
            (package, LockedRequirement { spec, version })
        });
        roots.insert(name, requirements.collect());
    }
    Ok(Lockfile {
        ecosystem: universe.catalog.ecosystem(),
        roots,
        overrides: universe.catalog.overrides(),
        side_by_side: (selection.packages_side_by_side())
            .map(|package| universe.catalog.name(package).clone())
            .collect(),
        packages: chosen.packages().collect(),
        capabilities: BTreeMap::new(),
    })
}

/// The specs of a root's requirements, with overrides applied. A root need not state that it requires the core
/// library.
fn root_specs(universe: &Universe, root: PackageId) -> BTreeMap<PackageName, Spec> {
    let stated = universe.catalog.stated_by_root(root).iter();
    let mut specs: BTreeMap<PackageName, Spec> = stated
        .map(|requirement| (requirement.package.clone(), requirement.spec.clone()))
        .collect();
    specs.extend(universe.catalog.overrides());
    specs
}

/// A selection as a lock.
pub(super) fn locked(universe: &Universe, selection: &Selection) -> Locked {
    let chosen = LockBuilder {
        universe,
        selection,
    };
    let mut locked = Locked::default();
    for (at, root) in universe.catalog.roots().iter().enumerate() {
        let bound = chosen.bound(at);
        if let Some(name) = universe.catalog.package_name(root.package) {
            locked.roots.insert(name.clone(), bound.collect());
        } else if let Some(model) = universe.catalog.model() {
            let objects = (0..).map(|number| LockedObject::of(model, ObjectId(number)));
            let releases = bound.map(|(name, version)| Release::new(name, version));
            locked.model = objects.zip(releases).collect();
        }
    }
    for (release, package) in chosen.packages() {
        let artifact = LockedArtifact {
            source: Some(package.source),
            digests: package.digest.into_iter().collect(),
        };
        locked.artifacts.insert(release.clone(), artifact);
        locked.packages.insert(release, package.requires);
    }
    locked
}

/// Builds a lock from the chosen releases.
struct LockBuilder<'solved> {
    universe: &'solved Universe,
    selection: &'solved Selection,
}

impl LockBuilder<'_> {
    fn name_and_version(&self, release: ReleaseId) -> (PackageName, Version) {
        let catalog = &self.universe.catalog;
        (
            catalog.name(release.package).clone(),
            catalog.read_version(release),
        )
    }

    /// The bindings of the requirements of the release at a position.
    fn bound(&self, at: usize) -> impl Iterator<Item = (PackageName, Version)> {
        let bound = self.selection.bound_at(at).iter();
        bound.map(|target| self.name_and_version(*target))
    }

    /// The releases that are not roots.
    fn packages(&self) -> impl Iterator<Item = (Release, LockedPackage)> {
        let catalog = &self.universe.catalog;
        let positions = catalog.roots().len()..self.selection.releases().len();
        let locks_named_registry = catalog.locks_named_registry();
        positions.filter_map(move |at| {
            let release = self.selection.releases()[at];
            let source = if locks_named_registry {
                catalog.source_for_lock(release)?.clone()
            } else {
                catalog.source(release.package)?.clone()
            };
            let locked = LockedPackage {
                digest: digest(self.universe, release, &source),
                source,
                requires: self.bound(at).collect(),
            };
            let (name, version) = self.name_and_version(release);
            Some((Release::new(name, version), locked))
        })
    }
}
