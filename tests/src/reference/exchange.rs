//! Whether a resolution is locally best: no release can be exchanged for a better candidate with
//! all others kept.

use pkgres_manifest::{PackageName, Release, Version};

use super::preference::best_first;
use super::problem::{Problem, ROOT, ReleaseId};
use super::valid::needed;
use super::{Rules, is_valid};
use crate::solution::Solution;
use crate::universe::Universe;

/// A package whose release can be exchanged for a better candidate, and the version of that candidate.
/// The solution must be valid, with one release of each package.
pub fn better_exchange(universe: &Universe, solution: &Solution) -> Option<Release> {
    let rules = Rules::default();
    let problem = Problem::new(universe, &rules);
    let bound = |owner: ReleaseId, need: usize| -> Option<ReleaseId> {
        let owner = &problem.releases[owner];
        let package = owner.needs[need].package;
        let key = (
            problem.packages[owner.package].clone(),
            owner.version.clone(),
            problem.packages[package].clone(),
        );
        let version = solution.bindings.get(&key)?;
        (problem.candidates[package].iter())
            .copied()
            .find(|candidate| problem.releases[*candidate].version == *version)
    };
    let mut decided = vec![ROOT];
    let mut front = 0;
    while let Some(owner) = decided.get(front).copied() {
        front += 1;
        for (number, need) in problem.releases[owner].needs.iter().enumerate() {
            let current = bound(owner, number).expect("a valid solution binds every requirement");
            if decided.contains(&current) {
                continue;
            }
            let package = &problem.packages[need.package];
            let better = best_first(&problem, &decided, need, false)
                .into_iter()
                .take_while(|candidate| *candidate != current)
                .map(|candidate| &problem.releases[candidate].version)
                .find(|version| {
                    let exchanged = exchanged(universe, solution, package, version);
                    is_valid(universe, &exchanged, &rules).is_ok()
                });
            if let Some(version) = better {
                return Some(Release::new(package.clone(), version.clone()));
            }
            decided.push(current);
        }
    }
    None
}

/// The solution with another version of a package. The requirements of that version are bound to the
/// releases of the solution; releases that are no longer reached are removed.
fn exchanged(
    universe: &Universe,
    solution: &Solution,
    package: &PackageName,
    version: &Version,
) -> Solution {
    let mut exchanged = Solution::default();
    for ((owner, its_version, required), bound) in &solution.bindings {
        if owner != package {
            let bound = if required == package { version } else { bound };
            let key = (owner.clone(), its_version.clone(), required.clone());
            exchanged.bindings.insert(key, bound.clone());
        }
    }
    let record = universe
        .records
        .iter()
        .find(|record| record.name == *package && record.version == *version)
        .expect("a candidate has a record");
    for (required, _) in super::candidates::requirements(universe, record) {
        let there = solution
            .bindings
            .iter()
            .find(|((_, _, other), _)| *other == required)
            .map(|(_, bound)| bound.clone());
        let there = if required == universe.root.name {
            Some(universe.root.version.clone())
        } else {
            there
        };
        if let Some(bound) = there {
            let key = (package.clone(), version.clone(), required);
            exchanged.bindings.insert(key, bound);
        }
    }
    needed(universe, &exchanged)
}
