//! The packages that an update wants to move or keep: looks up their releases, and sets the goals for exact versions.
//! A locked package has to stay present.

use pkgres_manifest::{PackageName, Version};
use rustc_hash::FxHashMap;

use super::{LockedPackage, UpdateSearch};
use crate::budget::Interrupt;
use crate::problem::{Goal, GoalScope};
use crate::request::{Locked, PackageUpdate, Update, UpdateTarget};
use crate::set::PositionSet;
use crate::universe::{Missing, PackageId, ReleaseId, Universe};

/// The owner of a locked requirement: a release, or a root.
#[derive(Debug)]
pub(super) struct BoundOwner {
    name: PackageName,
    /// `None` for a root, which has its current version.
    version: Option<Version>,
}

/// For each named package, the owners that are bound to a release that is to move.
pub(super) fn bound_owners(
    update: &Update,
    locked: &Locked,
) -> FxHashMap<PackageName, Vec<BoundOwner>> {
    let mut owners: FxHashMap<PackageName, Vec<BoundOwner>> = FxHashMap::default();
    let roots = locked.roots.iter();
    let roots = roots.map(|(name, bindings)| (name, None, bindings));
    let packages = locked.packages.iter();
    let packages = packages.map(|((name, version), bindings)| (name, Some(version), bindings));
    for (name, version, bindings) in roots.chain(packages) {
        let moving = bindings.iter().filter(|(to, at)| update.moves(to, at));
        for (target, _) in moving {
            owners.entry(target.clone()).or_default().push(BoundOwner {
                name: name.clone(),
                version: version.cloned(),
            });
        }
    }
    owners
}

impl UpdateSearch {
    /// Requests the named and locked packages, and looks up their releases.
    pub(super) fn begin(&mut self, universe: &mut Universe) -> Result<(), Interrupt> {
        let targets = self.targets.iter().map(|(name, _)| name);
        let names: Vec<PackageName> = (self.locked_versions.iter().map(|(name, _)| name))
            .chain(targets)
            .cloned()
            .collect();
        let mut missing: Vec<PackageId> = (names.iter())
            .map(|name| universe.catalog.package_id(name))
            .collect();
        missing.retain(|package| !universe.catalog.is_delivered(*package));
        if !missing.is_empty() {
            return Err(Missing::Packages(missing).into());
        }
        for (name, versions) in &self.locked_versions {
            let package = universe.catalog.package_id(name);
            if self.targets.iter().all(|(target, _)| target != name) {
                let releases = versions.iter();
                let releases =
                    releases.filter_map(|version| universe.catalog.index_of(package, version));
                self.locked.push(LockedPackage {
                    package,
                    releases: releases.collect(),
                });
            }
        }
        if self.may_split {
            let several = self
                .locked_versions
                .iter()
                .filter(|(_, versions)| versions.len() > 1);
            let several = several.map(|(name, _)| universe.catalog.package_id(name));
            self.split.extend(several);
        }
        for (name, package_update) in &self.targets {
            if let UpdateTarget::Exactly(version) = &package_update.to {
                let package = universe.catalog.package_id(name);
                let index = universe.catalog.index_named(package, version);
                let allowed = index.map_or(PositionSet::EMPTY, PositionSet::single);
                let scope = if self.stays_partly(name, package_update) && !allowed.is_empty() {
                    GoalScope::RequiredBy(self.owners_of(universe, name))
                } else if allowed.is_empty() {
                    GoalScope::Present
                } else {
                    self.scope(name)
                };
                self.wanted.push(Goal {
                    package,
                    scope,
                    allowed,
                    versions: vec![version.clone()],
                    loop_nogoods: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// The scope of a goal for a whole package: a locked package has to stay present.
    pub(super) fn scope(&self, name: &PackageName) -> GoalScope {
        if self.is_locked(name) {
            GoalScope::Present
        } else {
            GoalScope::IfPresent
        }
    }

    /// Whether a package has several locked releases, some of which are not to move.
    fn stays_partly(&self, name: &PackageName, package_update: &PackageUpdate) -> bool {
        let locked_versions = self
            .locked_versions
            .iter()
            .find(|(locked_versions, _)| locked_versions == name);
        let mut versions = locked_versions
            .into_iter()
            .flat_map(|(_, versions)| versions);
        self.may_split && versions.any(|version| !package_update.moves(version))
    }

    /// The releases whose requirement on a package is bound to a release that is to move, as far as
    /// they exist.
    fn owners_of(&self, universe: &mut Universe, name: &PackageName) -> Vec<ReleaseId> {
        let owners = self.bound.get(name).into_iter().flatten();
        owners
            .filter_map(|owner| {
                let package = universe.catalog.package_id(&owner.name);
                let index = match &owner.version {
                    // A root is the only release of its package.
                    None => Some(0),
                    Some(version) => universe.catalog.index_of(package, version),
                };
                index.map(|index| ReleaseId { package, index })
            })
            .collect()
    }
}
