//! What an update begins with: which releases are named and locked, and what is asked for.

use pkgres_manifest::{PackageName, Version};
use rustc_hash::FxHashMap;

use super::Updating;
use crate::budget::Interrupt;
use crate::problem::{Goal, GoalScope};
use crate::request::{Locked, Moving, Target, Update};
use crate::set::PositionSet;
use crate::universe::{Missing, PackageId, ReleaseId, Universe};

/// A locked release that requires something, or a root.
#[derive(Debug)]
pub(super) struct BoundOwner {
    name: PackageName,
    /// `None` for a root, whatever its version is now.
    version: Option<Version>,
}

/// For each package that is named those who are bound to a release of it that is to move.
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

impl Updating {
    /// Asks for everything that is named or locked, and looks up which releases these are.
    pub(super) fn begin(&mut self, universe: &mut Universe) -> Result<(), Interrupt> {
        let targets = self.targets.iter().map(|(name, _)| name);
        let names: Vec<PackageName> = (self.held.iter().map(|(name, _)| name))
            .chain(targets)
            .cloned()
            .collect();
        let mut missing: Vec<PackageId> = (names.iter())
            .map(|name| universe.package_id(name))
            .collect();
        missing.retain(|package| !universe.is_delivered(*package));
        if !missing.is_empty() {
            return Err(Missing::Packages(missing).into());
        }
        for (name, versions) in &self.held {
            let package = universe.package_id(name);
            if self.targets.iter().all(|(target, _)| target != name) {
                let releases = versions.iter();
                let releases = releases.filter_map(|version| universe.index_of(package, version));
                self.locked.push((package, releases.collect()));
            }
        }
        if self.may_split {
            let several = self.held.iter().filter(|(_, versions)| versions.len() > 1);
            let several = several.map(|(name, _)| universe.package_id(name));
            self.split.extend(several);
        }
        for (name, moving) in &self.targets {
            if let Target::Exactly(version) = &moving.to {
                let package = universe.package_id(name);
                let index = universe.index_of(package, version);
                let allowed = index.map_or(PositionSet::EMPTY, PositionSet::single);
                let scope = if self.stays_in_part(name, moving) && !allowed.is_empty() {
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

    /// What is asked of a package as a whole: what was there is to stay there.
    pub(super) fn scope(&self, name: &PackageName) -> GoalScope {
        if self.is_held(name) {
            GoalScope::Present
        } else {
            GoalScope::IfPresent
        }
    }

    /// Whether a package has several releases of which some are not to move.
    fn stays_in_part(&self, name: &PackageName, moving: &Moving) -> bool {
        let held = self.held.iter().find(|(held, _)| held == name);
        let mut versions = held.into_iter().flat_map(|(_, versions)| versions);
        self.may_split && versions.any(|version| !moving.moves(version))
    }

    /// The releases, as far as there are such, whose requirement on a package is bound to what is to
    /// move.
    fn owners_of(&self, universe: &mut Universe, name: &PackageName) -> Vec<ReleaseId> {
        let owners = self.bound.get(name).into_iter().flatten();
        owners
            .filter_map(|owner| {
                let package = universe.package_id(&owner.name);
                let index = match &owner.version {
                    // A root is all that there is of its package.
                    None => Some(0),
                    Some(version) => universe.index_of(package, version),
                };
                index.map(|index| ReleaseId { package, index })
            })
            .collect()
    }
}
