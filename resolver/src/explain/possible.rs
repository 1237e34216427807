//! Leaves releases out of reasons that other reasons rule out: if the root requires `B 1`, what `B 3` requires is no
//! part of the conflict. Requirements that are equal over releases are one fact of the proof, which names all of them.
//!
//! Which releases are possible follows from the requirements that lead from the roots to a package, without those of the
//! package itself. The reasons of one package after the other are reduced, so that each reduction relies on what is
//! still reported, and the rest is as contradictory as before.

use rustc_hash::{FxHashMap, FxHashSet};

use super::missing_classes::extending;
use super::requirements::Spellings;
use crate::problem::{Fact, Goal, GoalScope, Problem};
use crate::set::PositionSet;
use crate::universe::PackageId;

/// Removes releases that are not possible from those that are `reported` for each fact. All releases of a fact stay if
/// none is possible.
pub(super) fn keep_possible(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    reported: &mut [PositionSet],
    spellings: &mut Spellings,
) {
    let mut stated: Vec<PositionSet> = Vec::with_capacity(facts.len());
    for (fact, reported) in facts.iter().zip(&*reported) {
        stated.push(releases_of(problem, fact, spellings).intersection(reported));
    }
    let mut ways = Ways::new(problem, facts, stated);
    for at in 0..facts.len() {
        let (Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) = &facts[at] else {
            continue;
        };
        if ways.stated[at].len() < 2 || problem.is_split(*owner) {
            continue;
        }
        let left = ways.stated[at].intersection(&ways.possible(*owner));
        if !left.is_empty() {
            reported[at] = reported[at].intersection(&left);
            ways.stated[at] = left;
        }
    }
}

/// The releases that have a fact; empty for facts that are not about releases.
fn releases_of(problem: &mut Problem<'_>, fact: &Fact, spellings: &mut Spellings) -> PositionSet {
    match fact {
        // The model is the only release of its package.
        Fact::Requires { owner, .. } if problem.universe.catalog.is_model(*owner) => {
            PositionSet::single(0)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => {
            let spellings = spellings.of(problem.universe, *owner, *target, allowed);
            let releases = spellings.iter().flat_map(|spelling| &spelling.releases);
            releases.map(|release| release.index).collect()
        }
        Fact::Extends { owner, class } => {
            let releases = extending(problem.universe, *owner, *class);
            releases.into_iter().map(|release| release.index).collect()
        }
        _ => PositionSet::EMPTY,
    }
}

/// The ways from the roots to packages, by the facts.
struct Ways<'ways, 'universe> {
    problem: &'ways Problem<'universe>,
    facts: &'ways [Fact],
    /// The releases that have each fact.
    stated: Vec<PositionSet>,
    /// The numbers of the requirements of each package.
    requirements: FxHashMap<PackageId, Vec<usize>>,
    /// The candidates of these packages.
    candidates: FxHashMap<PackageId, PositionSet>,
}

impl<'ways, 'universe> Ways<'ways, 'universe> {
    fn new(
        problem: &'ways Problem<'universe>,
        facts: &'ways [Fact],
        stated: Vec<PositionSet>,
    ) -> Self {
        let mut requirements: FxHashMap<PackageId, Vec<usize>> = FxHashMap::default();
        for (at, fact) in facts.iter().enumerate() {
            if let Fact::Requires { owner, .. } = fact {
                requirements.entry(*owner).or_default().push(at);
            }
        }
        let catalog = &problem.universe.catalog;
        let candidates = requirements.keys().map(|owner| {
            let releases = catalog.candidate_releases(*owner).into_iter();
            (*owner, releases.map(|release| release.index).collect())
        });
        Self {
            problem,
            facts,
            stated,
            candidates: candidates.collect(),
            requirements,
        }
    }

    /// The releases of a package that are possible by the facts of other packages.
    fn possible(&self, package: PackageId) -> PositionSet {
        let roots = self.problem.universe.catalog.roots().iter();
        let mut open: Vec<PackageId> = roots.map(|root| root.package).collect();
        let mut possible: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
        self.add_goals(&mut open, &mut possible);
        let mut followed: FxHashSet<PackageId> = FxHashSet::default();
        while let Some(owner) = open.pop() {
            if owner == package || self.problem.is_split(owner) || !followed.insert(owner) {
                continue;
            }
            for (target, allowed) in self.required_by(owner, possible.get(&owner)) {
                if self.problem.is_split(target) {
                    continue;
                }
                // With fewer releases, more can follow.
                if restrict(&mut possible, target, &allowed) {
                    followed.remove(&target);
                }
                open.push(target);
            }
        }
        possible.remove(&package).unwrap_or(PositionSet::FULL)
    }

    /// Adds the packages that an update requests, and those that stay locked.
    fn add_goals(
        &self,
        open: &mut Vec<PackageId>,
        possible: &mut FxHashMap<PackageId, PositionSet>,
    ) {
        let goals = self.problem.goals();
        for fact in self.facts {
            match fact {
                Fact::Wanted { package } => {
                    let goal = goals.goal(*package);
                    let is_whole = |goal: &&Goal| !matches!(goal.scope, GoalScope::RequiredBy(_));
                    if let Some(goal) = goal.filter(is_whole) {
                        restrict(possible, *package, &goal.allowed);
                        open.extend(goal.is_needed().then_some(*package));
                    }
                }
                Fact::Stays { package } => {
                    restrict(possible, *package, &goals.stays[package]);
                    open.push(*package);
                }
                _ => {}
            }
        }
    }

    /// The packages that every possible release of a package requires, and what of them is allowed.
    fn required_by(
        &self,
        owner: PackageId,
        possible: Option<&PositionSet>,
    ) -> Vec<(PackageId, PositionSet)> {
        let Some(candidates) = self.candidates.get(&owner) else {
            return Vec::new();
        };
        let candidates = match possible {
            Some(possible) => candidates.intersection(possible),
            None => candidates.clone(),
        };
        let mut required: FxHashMap<PackageId, (PositionSet, PositionSet)> = FxHashMap::default();
        for at in &self.requirements[&owner] {
            if let Fact::Requires {
                target, allowed, ..
            } = &self.facts[*at]
                && !self.stated[*at].is_disjoint(&candidates)
            {
                let empty = (PositionSet::EMPTY, PositionSet::EMPTY);
                let (requiring, together) = required.entry(*target).or_insert(empty);
                *requiring = requiring.union(&self.stated[*at]);
                *together = together.union(allowed);
            }
        }
        let by_all = required
            .into_iter()
            .filter_map(|(target, (requiring, allowed))| {
                candidates
                    .is_subset_of(&requiring)
                    .then_some((target, allowed))
            });
        by_all.collect()
    }
}

/// Leaves only some releases of a package; returns whether there were more.
fn restrict(
    possible: &mut FxHashMap<PackageId, PositionSet>,
    package: PackageId,
    allowed: &PositionSet,
) -> bool {
    let entry = possible.entry(package).or_insert(PositionSet::FULL);
    let left = entry.intersection(allowed);
    let is_less = left != *entry;
    *entry = left;
    is_less
}
