//! Leaves releases out of reasons that other reasons rule out: if the root requires `B 1`, what `B 3` requires is no
//! part of the conflict. Requirements that are equal over releases are one fact of the proof, which names all of them.
//!
//! Which releases are possible follows from the requirements that lead from the roots to a package, without those of the
//! package itself. The reasons of one package after the other are reduced, so that each reduction relies on what is
//! still reported, and the rest is as contradictory as before.

use rustc_hash::{FxHashMap, FxHashSet};

use super::missing_classes::extending;
use super::requirements::Spellings;
use crate::problem::{Fact, GoalScope, Problem};
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
    for at in 0..facts.len() {
        let (Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) = &facts[at] else {
            continue;
        };
        if stated[at].len() < 2 || problem.is_split(*owner) {
            continue;
        }
        let possible = possible(problem, facts, &stated, *owner);
        let left = stated[at].intersection(&possible);
        if !left.is_empty() {
            reported[at] = reported[at].intersection(&left);
            stated[at] = left;
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

/// The releases of a package that are possible by the facts of other packages. `stated` are the releases that have each
/// fact.
fn possible(
    problem: &Problem<'_>,
    facts: &[Fact],
    stated: &[PositionSet],
    package: PackageId,
) -> PositionSet {
    let catalog = &problem.universe.catalog;
    let mut possible: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
    let mut present: FxHashSet<PackageId> = FxHashSet::default();
    let mut open: Vec<PackageId> = catalog.roots().iter().map(|root| root.package).collect();
    for fact in facts {
        let (package, allowed) = match fact {
            Fact::Wanted { package } => match problem.goals().goal(*package) {
                Some(goal) if !matches!(goal.scope, GoalScope::RequiredBy(_)) => {
                    if goal.is_needed() {
                        open.push(*package);
                    }
                    (*package, &goal.allowed)
                }
                _ => continue,
            },
            Fact::Stays { package } => {
                open.push(*package);
                (*package, &problem.goals().stays[package])
            }
            _ => continue,
        };
        restrict(&mut possible, package, allowed);
    }
    while let Some(owner) = open.pop() {
        if owner == package || problem.is_split(owner) || !present.insert(owner) {
            continue;
        }
        let candidates = catalog.candidate_releases(owner).into_iter();
        let mut candidates: PositionSet = candidates.map(|release| release.index).collect();
        if let Some(possible) = possible.get(&owner) {
            candidates = candidates.intersection(possible);
        }
        let mut required: FxHashMap<PackageId, (PositionSet, PositionSet)> = FxHashMap::default();
        for (fact, stated) in facts.iter().zip(stated) {
            match fact {
                Fact::Requires {
                    owner: of,
                    target,
                    allowed,
                } if *of == owner && !stated.is_disjoint(&candidates) => {
                    let empty = (PositionSet::EMPTY, PositionSet::EMPTY);
                    let (requiring, together) = required.entry(*target).or_insert(empty);
                    *requiring = requiring.union(stated);
                    *together = together.union(allowed);
                }
                _ => {}
            }
        }
        // What every possible release requires is there.
        for (target, (requiring, allowed)) in required {
            if candidates.is_subset_of(&requiring) && !problem.is_split(target) {
                let before = possible.get(&target).cloned();
                restrict(&mut possible, target, &allowed);
                // With fewer releases, more can follow.
                if before.as_ref() != possible.get(&target) {
                    present.remove(&target);
                }
                open.push(target);
            }
        }
    }
    possible.remove(&package).unwrap_or(PositionSet::FULL)
}

fn restrict(
    possible: &mut FxHashMap<PackageId, PositionSet>,
    package: PackageId,
    allowed: &PositionSet,
) {
    let entry = possible.entry(package).or_insert(PositionSet::FULL);
    *entry = entry.intersection(allowed);
}
