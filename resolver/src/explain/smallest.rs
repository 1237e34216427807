//! The smallest set of facts that contradict each other.
//!
//! # Problem
//!
//! A minimal set, from which no fact can be left out, may be much larger than another minimal set. Which one a
//! reduction by deletion finds depends on the order of the deletions.
//!
//! # Idea
//!
//! Implicit hitting sets (Ignatiev, Previti, Liffiton and Marques-Silva 2015). If there is a solution without some
//! facts, these facts are a *correction set*, and each contradictory set contains at least one of them. So a
//! contradictory set is a hitting set of all correction sets. Take a smallest hitting set of the correction sets found
//! so far. If it is contradictory, it is a smallest contradictory set. If it has a solution, that leads to a
//! correction set that it does not hit, and the search continues.
//!
//! The facts are all requirements, all extended classes, and the nogoods that the search met. A fact is only
//! considered when a solution violates it, so releases that are in no solution are never looked at.
//!
//! # Cost
//!
//! One search for each fact of each correction set. The searches share the limits of the reduction. If a limit is
//! reached, the set found by deletion is kept.

use rustc_hash::{FxHashMap, FxHashSet};

use super::effort::sorted;
use super::effort::{Effort, MAX_STEPS};
use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::search::{Verdict, satisfy};
use crate::set::PositionSet;
use crate::tiers::can_split;
use crate::universe::{ClassRequirements, PackageId, PackageRequirement, ReleaseId};

/// The limit of partial hitting sets that are looked at in one go.
const MAX_PARTIAL_SETS: usize = 20_000;

/// A search for a smallest contradictory set. It can be continued when packages were provided.
#[derive(Debug)]
pub(super) struct SmallestSearch {
    /// The facts that were met, each once.
    facts: Vec<Fact>,
    numbers: FxHashMap<Fact, usize>,
    /// The correction sets, as numbers of facts.
    corrections: Vec<Vec<usize>>,
    /// No hitting set is smaller.
    least: usize,
    /// Whether packages may have several releases.
    may_split: bool,
}

/// The result of the search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Smallest {
    /// A smaller set, which is a smallest one.
    Smaller(Vec<Fact>),
    /// There is no smaller set.
    NoneSmaller,
    /// A limit was reached.
    Unknown,
}

impl SmallestSearch {
    /// A search that knows the facts of a proof.
    pub(super) fn new(proof: &[Fact], may_split: bool) -> Self {
        let mut search = Self {
            facts: Vec::new(),
            numbers: FxHashMap::default(),
            corrections: Vec::new(),
            least: 1,
            may_split,
        };
        for fact in proof {
            search.add(fact.clone());
        }
        search
    }

    /// Returns whether the fact was not met before.
    fn add(&mut self, fact: Fact) -> bool {
        let next = self.facts.len();
        let is_new = !self.numbers.contains_key(&fact);
        if is_new {
            self.numbers.insert(fact.clone(), next);
            self.facts.push(fact);
        }
        is_new
    }

    /// Looks for a set of fewer facts than `count`.
    pub(super) fn smaller_than(
        &mut self,
        problem: &mut Problem<'_>,
        count: usize,
        effort: &mut Effort,
        budget: &Budget,
    ) -> Result<Smallest, Interrupt> {
        while self.least < count {
            let candidate = match hitting_set(&self.corrections, self.least) {
                HittingSet::Found(set) => set,
                HittingSet::None => {
                    self.least += 1;
                    continue;
                }
                HittingSet::TooMany => return Ok(Smallest::Unknown),
            };
            match self.correction(problem, &candidate, effort, budget)? {
                Correction::Set(correction) => self.corrections.push(correction),
                Correction::Contradictory => {
                    let facts = candidate.iter().map(|number| self.facts[*number].clone());
                    return Ok(Smallest::Smaller(facts.collect()));
                }
                Correction::Unknown => return Ok(Smallest::Unknown),
            }
        }
        Ok(Smallest::NoneSmaller)
    }

    /// A correction set that a set of facts does not hit, unless these are contradictory.
    fn correction(
        &mut self,
        problem: &mut Problem<'_>,
        set: &[usize],
        effort: &mut Effort,
        budget: &Budget,
    ) -> Result<Correction, Interrupt> {
        let mut dropped: FxHashSet<usize> = FxHashSet::default();
        loop {
            let kept = (self.facts.iter().enumerate()).filter(|(at, _)| !dropped.contains(at));
            let kept: FxHashSet<Fact> = kept.map(|(_, fact)| fact.clone()).collect();
            let count = kept.len();
            if !effort.allows(count) || budget.cancellation().is_cancelled() {
                return Ok(Correction::Unknown);
            }
            let mut side_budget = budget.for_side_question(MAX_STEPS);
            let verdict = satisfy(problem, kept, &mut side_budget);
            if !matches!(verdict, Err(Interrupt::Missing(_))) {
                effort.add(count, &mut side_budget);
            }
            match verdict {
                Ok(Verdict::Impossible(proof)) => {
                    let used = proof.facts.iter().filter_map(|fact| self.numbers.get(fact));
                    // Those that were met last are furthest from the proof.
                    match used.filter(|number| !set.contains(number)).max() {
                        Some(last) => dropped.insert(*last),
                        // It contradicts itself only while each package has one release.
                        None if self.may_split && can_split(problem.universe, &proof) => {
                            return Ok(Correction::Unknown);
                        }
                        None => return Ok(Correction::Contradictory),
                    };
                }
                Ok(Verdict::Solved(releases)) => {
                    if !self.add_violated(problem, &releases) {
                        let mut correction: Vec<usize> = dropped.into_iter().collect();
                        correction.sort_unstable();
                        return Ok(Correction::Set(correction));
                    }
                }
                Err(Interrupt::Exhausted) => return Ok(Correction::Unknown),
                Err(missing) => return Err(missing),
            }
        }
    }

    /// Adds the facts that may be violated by these releases. Returns whether some were not met before.
    fn add_violated(&mut self, problem: &mut Problem<'_>, releases: &[ReleaseId]) -> bool {
        let chosen: FxHashMap<PackageId, u32> = (releases.iter())
            .map(|release| (release.package, release.index))
            .collect();
        let is_chosen_from = |target: &PackageId, allowed: &PositionSet| {
            (chosen.get(target)).is_some_and(|index| allowed.contains(*index))
        };
        let mut requirements: Vec<PackageRequirement> = Vec::new();
        let mut classes = ClassRequirements::default();
        let mut violated: FxHashSet<Fact> = FxHashSet::default();
        for release in releases {
            let owner = release.package;
            problem.universe.requirements(*release, &mut requirements);
            for requirement in &requirements {
                let target = requirement.target;
                let allowed = PositionSet::of_words(problem.universe.allowed_words(requirement));
                if !is_chosen_from(&target, &allowed) {
                    violated.insert(Fact::Requires {
                        owner,
                        target,
                        allowed,
                    });
                }
            }
            if problem.universe.catalog.extends_nothing(*release) {
                continue;
            }
            let universe = &mut *problem.universe;
            universe.class_requirements(*release, &requirements, &mut classes);
            if classes.has_cycle {
                violated.insert(Fact::OwnCycle { owner });
            }
            for required in &classes.all {
                let class = required.class;
                let catalog = &problem.universe.catalog;
                let is_found = requirements.iter().any(|requirement| {
                    let defining = catalog.defining_candidates(requirement.target, class);
                    is_chosen_from(&requirement.target, &defining)
                });
                if !is_found {
                    violated.insert(Fact::Extends { owner, class });
                }
            }
        }
        let mut is_new = false;
        for fact in sorted(problem.universe, violated) {
            is_new |= self.add(fact);
        }
        is_new
    }
}

enum Correction {
    Set(Vec<usize>),
    Contradictory,
    Unknown,
}

#[derive(Debug, PartialEq, Eq)]
enum HittingSet {
    Found(Vec<usize>),
    None,
    TooMany,
}

/// A set of at most `size` numbers that has one of each set.
fn hitting_set(sets: &[Vec<usize>], size: usize) -> HittingSet {
    let mut chosen = Vec::new();
    let mut looked_at = 0;
    match extend(sets, size, &mut chosen, &mut looked_at) {
        true => HittingSet::Found(chosen),
        false if looked_at > MAX_PARTIAL_SETS => HittingSet::TooMany,
        false => HittingSet::None,
    }
}

/// Extends a partial hitting set, if that is possible.
fn extend(
    sets: &[Vec<usize>],
    size: usize,
    chosen: &mut Vec<usize>,
    looked_at: &mut usize,
) -> bool {
    *looked_at += 1;
    if *looked_at > MAX_PARTIAL_SETS {
        return false;
    }
    let is_hit = |set: &Vec<usize>| set.iter().any(|number| chosen.contains(number));
    let left: Vec<&Vec<usize>> = sets.iter().filter(|set| !is_hit(set)).collect();
    let Some(branch) = left.iter().min_by_key(|set| set.len()) else {
        return true;
    };
    // Sets that have nothing in common need a number each.
    let mut covered: FxHashSet<usize> = FxHashSet::default();
    let mut needed = 0;
    for set in &left {
        if set.iter().all(|number| !covered.contains(number)) {
            covered.extend(set.iter());
            needed += 1;
        }
    }
    if chosen.len() + needed > size {
        return false;
    }
    for number in *branch {
        chosen.push(*number);
        if extend(sets, size, chosen, looked_at) {
            return true;
        }
        chosen.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hitting_sets_are_found_at_their_least_size() {
        let sets = [vec![1, 2], vec![2, 3], vec![3, 4], vec![4, 5]];
        assert_eq!(hitting_set(&sets, 1), HittingSet::None);
        assert_eq!(hitting_set(&sets, 2), HittingSet::Found(vec![2, 4]));
        assert_eq!(hitting_set(&[], 1), HittingSet::Found(Vec::new()));
    }
}
