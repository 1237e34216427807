//! A resolution as what another one is to keep: as a lockfile, or as a value.
//!
//! A lock says less than a resolution in words: of most requirements only what they are bound to.
//! It is made of what the solver found, so that nothing else is put into words for it.

use std::collections::BTreeMap;

use pkgres_manifest::{
    LockedPackage, LockedRequirement, Lockfile, ObjectId, PackageName, Spec, Version,
};
use rustc_hash::FxHashMap;

use super::contents::{ChosenVersions, digest, sorted_positions};
use crate::request::{Locked, LockedArtifact, LockedObject};
use crate::selection::Selection;
use crate::universe::{ReleaseId, Required, Universe};

/// A lockfile was to be made of a resolution for an object model. A lockfile has no place for what
/// the objects of a model are bound to: it is the pinned model that keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a lockfile cannot keep the versions of an object model; they are written into the model")]
pub struct ModelNotLockable;

/// The lockfile that keeps a selection.
pub(super) fn lockfile(
    universe: &Universe,
    selection: &Selection,
) -> Result<Lockfile, ModelNotLockable> {
    let chosen = LockBuilder::new(universe, selection);
    let mut roots = BTreeMap::new();
    for (at, root) in universe.roots().iter().enumerate() {
        let name = universe.package_name(root.package);
        let name = name.ok_or(ModelNotLockable)?.clone();
        let requirements = chosen.requirements(at).into_iter();
        let requirements = requirements
            .map(|(package, spec, version)| (package, LockedRequirement { spec, version }));
        roots.insert(name, requirements.collect());
    }
    Ok(Lockfile {
        roots,
        overrides: universe.overrides(),
        side_by_side: (selection.packages_side_by_side())
            .map(|package| universe.name(package).clone())
            .collect(),
        packages: chosen.packages().collect(),
    })
}

/// A selection as what is locked.
pub(super) fn locked(universe: &Universe, selection: &Selection) -> Locked {
    let chosen = LockBuilder::new(universe, selection);
    let mut locked = Locked::default();
    for (at, root) in universe.roots().iter().enumerate() {
        let bound = chosen.bound(at);
        if let Some(name) = universe.package_name(root.package) {
            locked.roots.insert(name.clone(), bound.collect());
        } else if let Some(model) = universe.model() {
            let objects = (0..).map(|number| LockedObject::of(model, ObjectId(number)));
            locked.model = objects.zip(bound).collect();
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

/// What was chosen, with its versions.
struct LockBuilder<'solved> {
    universe: &'solved Universe,
    selection: &'solved Selection,
    versions: ChosenVersions<'solved>,
}

impl<'solved> LockBuilder<'solved> {
    fn new(universe: &'solved Universe, selection: &'solved Selection) -> Self {
        Self {
            universe,
            selection,
            versions: ChosenVersions::of(universe, selection),
        }
    }

    fn name(&self, release: ReleaseId) -> PackageName {
        self.universe.name(release.package).clone()
    }

    /// What the requirements of the release at a position are bound to.
    fn bound(&self, at: usize) -> impl Iterator<Item = (PackageName, Version)> {
        let bound = self.selection.bound_at(at).iter();
        bound.map(|target| {
            let version = self.versions.of_release(*target).clone();
            (self.name(*target), version)
        })
    }

    /// The requirements of the release at a position, and what they are bound to.
    fn requirements(&self, at: usize) -> Vec<(PackageName, Spec, Version)> {
        let release = self.selection.releases()[at];
        let mut specs = FxHashMap::default();
        let mut bound = self.selection.bound_at(at).iter();
        let mut requirements = Vec::with_capacity(bound.len());
        self.universe.each_requirement(
            release,
            &mut specs,
            |Required { package, spec, .. }| {
                let target = bound.next().expect("each requirement is bound");
                let version = self.versions.of_release(*target).clone();
                requirements.push((self.universe.name(package).clone(), spec, version));
            },
        );
        requirements
    }

    /// The releases that are not roots, by name and version.
    fn packages(&self) -> impl Iterator<Item = ((PackageName, Version), LockedPackage)> {
        let positions = sorted_positions(self.universe, self.selection, &self.versions);
        positions.into_iter().filter_map(|at| {
            let release = self.selection.releases()[at];
            let source = self.universe.source(release.package)?.clone();
            let locked = LockedPackage {
                digest: digest(self.universe, release, &source),
                source,
                requires: self.bound(at).collect(),
            };
            let version = self.versions.all[at].clone();
            Some(((self.name(release), version), locked))
        })
    }
}
