//! What would make it solvable: one requirement, or one override, allows more. Each is tried by
//! solving.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{PackageName, Spec, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Interrupt};
use crate::improve::search_and_improve;
use crate::problem::{Fact, Goals, Problem, Relaxation};
use crate::search::Verdict;
use crate::set::PositionSet;
use crate::tiers::split_more;
use crate::universe::{PackageId, ReleaseId, Universe};

/// How many requirements are tried. Reasons are many where no single change is worth much.
const MAX_TRIES: usize = 24;

/// How many steps each try may take.
const MAX_STEPS: u64 = 20_000;

/// A change that makes a conflict solvable: a requirement that also allows another version, or an
/// override that does, and with it every requirement on the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The package whose requirement it is. Where the requirement is overridden, one of those that
    /// have such a requirement: the override is what has to change.
    pub owner: PackageName,
    /// The package's versions that have the requirement, ascending.
    pub versions: Vec<Version>,
    /// The package that is required.
    pub package: PackageName,
    /// The spec, as it is written now; that of the override where there is one.
    pub spec: String,
    /// Whether it is the override that has to change.
    pub is_override: bool,
    /// The version that would have to be allowed.
    pub allow: Version,
    /// Where the requirement is written, if it comes from a file.
    pub location: Option<Location>,
    /// The change in words.
    pub text: String,
}

/// Repairs that are being looked for. What was found out stays when more has to be delivered.
#[derive(Debug)]
pub(super) struct Repairs {
    tries: Vec<Requirement>,
    next: usize,
    found: Vec<Repair>,
    /// Whether packages may have several releases, as what is solvable otherwise may need it.
    may_split: bool,
}

/// A requirement that takes part in a conflict.
#[derive(Debug, Clone)]
struct Requirement {
    owner: PackageId,
    target: PackageId,
    allowed: PositionSet,
}

impl Repairs {
    /// Tries the requirements among the facts, those of the roots first, and each override once.
    pub(super) fn new(universe: &Universe, facts: &[Fact], may_split: bool) -> Self {
        let mut tries: Vec<Requirement> = facts
            .iter()
            .filter_map(|fact| match fact {
                // What objects require is pinned in a model, and mended by other means.
                Fact::Requires { owner, .. } if universe.is_model(*owner) => None,
                Fact::Requires {
                    owner,
                    target,
                    allowed,
                } => Some(Requirement {
                    owner: *owner,
                    target: *target,
                    allowed: allowed.clone(),
                }),
                _ => None,
            })
            .collect();
        tries.sort_by_key(|requirement| !universe.is_root(requirement.owner));
        let mut overridden = FxHashSet::default();
        tries.retain(|Requirement { target, .. }| {
            universe.overriding(*target).is_none() || overridden.insert(*target)
        });
        if tries.len() > MAX_TRIES {
            // Of a long chain it is the end that clashes.
            let mut left: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
            for Requirement {
                target, allowed, ..
            } in &tries
            {
                let left = left.entry(*target).or_insert(PositionSet::FULL);
                *left = left.intersection(allowed);
            }
            tries.sort_by_key(|Requirement { owner, target, .. }| {
                (!universe.is_root(*owner), !left[target].is_empty())
            });
            tries.truncate(MAX_TRIES);
        }
        Self {
            tries,
            next: 0,
            found: Vec::new(),
            may_split,
        }
    }

    /// Tries nothing.
    pub(super) fn none() -> Self {
        Self {
            tries: Vec::new(),
            next: 0,
            found: Vec::new(),
            may_split: false,
        }
    }

    /// Goes on until all were tried.
    pub(super) fn finish(
        &mut self,
        universe: &mut Universe,
        goals: &Goals,
        budget: &Budget,
    ) -> Result<&[Repair], Interrupt> {
        while let Some(requirement) = self.tries.get(self.next) {
            let found = repair(universe, goals, requirement, self.may_split, budget)?;
            self.found.extend(found);
            self.next += 1;
        }
        Ok(&self.found)
    }
}

/// What a requirement, or what stands in its place, would have to allow.
fn repair(
    universe: &mut Universe,
    goals: &Goals,
    requirement: &Requirement,
    may_split: bool,
    budget: &Budget,
) -> Result<Option<Repair>, Interrupt> {
    let Requirement {
        owner,
        target,
        allowed,
    } = requirement;
    let is_overridden = universe.overriding(*target).is_some();
    let relaxation = if is_overridden {
        Relaxation::Override { target: *target }
    } else {
        Relaxation::Requirement {
            owner: *owner,
            target: *target,
            allowed: allowed.clone(),
        }
    };
    // That a search without conflict_limit finds is locally best, by the requirements as they are.
    let mut budget = budget.for_side_question(MAX_STEPS).without_conflict_limit();
    let mut split = BTreeSet::new();
    // Which packages may have several releases is not what it was.
    let mut asked = goals.clone();
    asked.clear_loop_nogoods();
    let selection = loop {
        let mut problem = Problem::new(universe, split.clone());
        problem.relax(relaxation.clone());
        problem.set_goals(asked.clone());
        let proof = match search_and_improve(&mut None, &mut problem, &mut budget) {
            Ok(Verdict::Solved(selection)) => break selection,
            Ok(Verdict::Impossible(proof)) => proof,
            Err(Interrupt::Exhausted) => return Ok(None),
            Err(missing) => return Err(missing),
        };
        // One version is to be allowed, and not some of several.
        let target = universe.name(*target);
        let is_other = |package: &PackageName| package != target;
        // What an update asks for is looked for as the update does.
        let may_split = may_split && goals.is_empty();
        if !may_split || !split_more(universe, &mut split, &proof, is_other) {
            return Ok(None);
        }
    };
    // Where the package is not chosen at all, nothing is to be allowed.
    let Some(release) = selection.only(*target) else {
        return Ok(None);
    };
    if allowed.contains(release.index) {
        return Ok(None);
    }
    let mut written: Option<(Spec, Option<Location>)> = None;
    let mut versions = Vec::new();
    for index in universe.candidates_of(*owner).iter() {
        let owning = ReleaseId {
            package: *owner,
            index,
        };
        let details = universe.details(owning);
        let edge = details.edges.iter().find(|edge| edge.package == *target);
        if let Some(edge) = edge.filter(|edge| universe.allowed(edge) == *allowed) {
            let requirement = &edge.requirement;
            written.get_or_insert_with(|| (requirement.spec.clone(), requirement.location.clone()));
            versions.push(universe.version(owning).clone());
        }
    }
    let Some((spec, location)) = written else {
        return Ok(None);
    };
    let (name, package) = (universe.name(*owner), universe.name(*target));
    let allow = universe.version(release);
    let text = if is_overridden {
        format!("it can be solved if the override of {package} allows {package} {allow}")
    } else if universe.is_root(*owner) {
        let place = location.as_ref().map(|location| format!(" ({location})"));
        let place = place.unwrap_or_default();
        format!("it can be solved if {name} allows {package} {allow}{place}")
    } else {
        format!("it can be solved with a release of {name} that allows {package} {allow}")
    };
    Ok(Some(Repair {
        owner: name.clone(),
        versions,
        package: package.clone(),
        spec: spec.written().to_owned(),
        is_override: is_overridden,
        allow: allow.clone(),
        location,
        text,
    }))
}
