//! The packages that an update wants to move or keep: looks up their releases, sets the goals for exact versions, and
//! finds the best possible version of the others while all packages may move. A locked package has to stay present.

use pkgres_manifest::{PackageName, Release, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{HeldBack, Progress, Stage, StayingPackage, UpdateSearch};
use crate::budget::{Budget, Interrupt};
use crate::explain::Explanation;
use crate::problem::{Fact, Goal, GoalScope, Goals, LoopNogood, Problem};
use crate::request::{Locked, PackageUpdate, Update, UpdateTarget};
use crate::search::{Verdict, check_satisfiability};
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

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
    let packages =
        packages.map(|(Release { name, version }, bindings)| (name, Some(version), bindings));
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
        let names: Vec<PackageName> = (self.locked_versions.keys())
            .chain(targets)
            .cloned()
            .collect();
        let packages = names.iter().map(|name| universe.catalog.package_id(name));
        let packages: Vec<PackageId> = packages.collect();
        universe.catalog.ensure_delivered(packages)?;
        for (name, versions) in &self.locked_versions {
            let package = universe.catalog.package_id(name);
            if self.targets.iter().all(|(target, _)| target != name) {
                let releases = versions.iter();
                let releases =
                    releases.filter_map(|version| universe.catalog.index_of(package, version));
                self.locked.push(StayingPackage {
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
        if self.locked_versions.contains_key(name) {
            GoalScope::Present
        } else {
            GoalScope::IfPresent
        }
    }

    /// Whether a package has several locked releases, some of which are not to move.
    fn stays_partly(&self, name: &PackageName, package_update: &PackageUpdate) -> bool {
        let mut versions = self.locked_versions.get(name).into_iter().flatten();
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

/// The search for the best version of a package.
#[derive(Debug)]
pub(super) struct BestVersion {
    package: PackageId,
    /// The candidates, best first.
    candidates: Vec<u32>,
    next: usize,
    /// The unfinished explanation why the next one is impossible.
    explanation: Option<Box<Explanation>>,
    /// The impossible ones before it, best first, each with the facts that rule it out.
    held_back: Vec<(HeldBack, FxHashSet<Fact>)>,
    /// Loop nogoods about the package. They hold for every version.
    loop_nogoods: Vec<LoopNogood>,
}

/// Whether the version of a package is known after an attempt.
enum Attempt {
    Settled,
    Open,
}

impl UpdateSearch {
    /// Continues to look for the best version of the named package at a position.
    pub(super) fn find_best(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        target: usize,
        search: &mut Option<BestVersion>,
    ) -> Result<Progress, Interrupt> {
        let Some((name, package_update)) = self.targets.get(target).cloned() else {
            return Ok(Progress::Next(Stage::Unlock));
        };
        let next_target = Progress::Next(Stage::BestVersion {
            target: target + 1,
            search: None,
        });
        let package = universe.catalog.package_id(&name);
        // Packages that may have several releases get the best for each requirement anyway.
        if package_update.to != UpdateTarget::Best || self.split.contains(&package) {
            return Ok(next_target);
        }
        let best = match search {
            Some(best) => best,
            None => search.insert(BestVersion {
                package,
                candidates: self.best_first(universe, package),
                next: 0,
                explanation: None,
                held_back: Vec::new(),
                loop_nogoods: Vec::new(),
            }),
        };
        Ok(match self.try_next(universe, budget, &name, best)? {
            Attempt::Settled => next_target,
            Attempt::Open => Progress::Continue,
        })
    }

    /// Tries the next candidate.
    fn try_next(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        name: &PackageName,
        best: &mut BestVersion,
    ) -> Result<Attempt, Interrupt> {
        let Some(index) = best.candidates.get(best.next).copied() else {
            // No version is possible: the package will not be in the resolution.
            return Ok(Attempt::Settled);
        };
        let release = ReleaseId {
            package: best.package,
            index,
        };
        let version = universe.catalog.version(release).clone();
        if let Some(explanation) = &mut best.explanation {
            let because = explanation.finish(universe, budget)?;
            let facts = explanation.facts().cloned().collect();
            best.explanation = None;
            let held_back = HeldBack {
                package: name.clone(),
                version,
                alike: Vec::new(),
                because,
            };
            best.held_back.push((held_back, facts));
            best.next += 1;
            return Ok(Attempt::Open);
        }
        let goal = Goal {
            package: best.package,
            allowed: PositionSet::single(index),
            versions: vec![version],
            scope: self.scope(name),
            loop_nogoods: best.loop_nogoods.clone(),
        };
        if self.search.is_none() && self.has_known_reason(universe, budget, best, &goal)? {
            best.next += 1;
            return Ok(Attempt::Open);
        }
        self.wanted.push(goal);
        let found = self.search(universe, budget, None);
        let goal = self.wanted.pop().expect("it was added above");
        best.loop_nogoods.clone_from(&goal.loop_nogoods);
        match found? {
            Verdict::Solved(_) => {
                self.settle(universe, best, release, goal);
                Ok(Attempt::Settled)
            }
            Verdict::Impossible(refuted) => {
                let explanation = Explanation::without_suggestions(universe, *refuted, false);
                best.explanation = Some(Box::new(explanation));
                Ok(Attempt::Open)
            }
        }
    }

    /// Whether the facts that rule out a better version also rule out the goal, which is then noted there: the same
    /// facts often rule out many versions.
    fn has_known_reason(
        &self,
        universe: &mut Universe,
        budget: &mut Budget,
        best: &mut BestVersion,
        goal: &Goal,
    ) -> Result<bool, Interrupt> {
        budget.restartable(|budget| {
            for (held_back, facts) in &mut best.held_back {
                let nogoods = self.nogoods.clone();
                let mut problem = Problem::with_nogoods(universe, self.split.clone(), nogoods);
                let mut goals = Goals {
                    wanted: self.wanted.clone(),
                    ..Goals::default()
                };
                goals.wanted.push(goal.clone());
                problem.set_goals(goals);
                let verdict = check_satisfiability(&mut problem, facts.clone(), budget)?;
                if let Verdict::Impossible(_) = verdict {
                    held_back.alike.extend_from_slice(&goal.versions);
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Keeps the goal that was found to be possible, and reports the better versions.
    fn settle(
        &mut self,
        universe: &mut Universe,
        best: &mut BestVersion,
        found: ReleaseId,
        goal: Goal,
    ) {
        let held_back = std::mem::take(&mut best.held_back).into_iter();
        let mut held_back: Vec<HeldBack> = held_back.map(|(held_back, _)| held_back).collect();
        if universe.catalog.is_last_resort(found) {
            // A package that stays at a yanked release is not held back from older ones.
            let is_named = self.names_prerelease(universe, found.package);
            let is_better = |version: &Version| {
                let other = universe.catalog.index_of(found.package, version);
                other.is_some_and(|other| {
                    (universe.catalog).is_better_version(
                        found.package,
                        other,
                        found.index,
                        is_named,
                    )
                })
            };
            held_back.retain_mut(|held_back| {
                held_back.alike.retain(|version| is_better(version));
                is_better(&held_back.version)
            });
        }
        self.findings.held_back.extend(held_back);
        self.wanted.push(goal);
        let name = |goal: &Goal| universe.catalog.name(goal.package).clone();
        self.wanted.sort_by_cached_key(name);
    }

    /// The candidates of a package, best first, regardless of the lock.
    fn best_first(&self, universe: &mut Universe, package: PackageId) -> Vec<u32> {
        let is_named = self.names_prerelease(universe, package);
        let candidates = universe.catalog.candidates_of(package);
        let candidates = (universe.catalog).best_first(package, candidates, is_named);
        candidates.collect()
    }

    /// Whether a root or a locked release names a prerelease of a package.
    fn names_prerelease(&self, universe: &mut Universe, package: PackageId) -> bool {
        let mut releases: Vec<ReleaseId> = universe.catalog.roots().to_vec();
        for locked in &self.locked {
            let package = locked.package;
            releases.extend((locked.releases.iter()).map(|index| ReleaseId { package, index }));
        }
        let mut requirements = Vec::new();
        releases.into_iter().any(|release| {
            universe.requirements(release, &mut requirements);
            let mut requirements = requirements.iter();
            requirements
                .any(|requirement| requirement.target == package && requirement.names_prerelease)
        })
    }
}
