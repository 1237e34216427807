//! The two tiers: one release of each package, or several releases of as few packages as possible.

use super::candidates::lock;
use super::problem::Problem;
use super::valid::{is_valid, needed};
use super::walk::Walk;
use super::{Answer, Rules};
use crate::solution::Solution;
use crate::universe::Universe;

/// The order in which the second tier forces packages to one release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitOrder {
    /// By name: the order that the rules define.
    Names,
    /// By name in reverse, to measure whether the order matters.
    NamesBackwards,
}

/// The answer to a universe.
pub fn search(universe: &Universe, rules: &Rules) -> Answer {
    search_splitting(universe, rules, SplitOrder::Names)
}

/// The answer to a universe in which resolutions must also satisfy `judge`. Locked versions are only
/// preferred: a lock is not kept as a whole.
pub fn search_where(universe: &Universe, judge: &dyn Fn(&Solution) -> bool) -> Answer {
    search_judged(universe, &Rules::default(), SplitOrder::Names, judge)
}

/// The answer to a universe if packages are forced to one release in a certain order.
pub fn search_splitting(universe: &Universe, rules: &Rules, order: SplitOrder) -> Answer {
    if let Some(lock) = lock(universe, rules) {
        let kept = needed(universe, lock);
        if is_valid(universe, &kept, rules).is_ok() {
            return Answer::Solved(kept);
        }
    }
    search_judged(universe, rules, order, &|_| true)
}

fn search_judged(
    universe: &Universe,
    rules: &Rules,
    order: SplitOrder,
    judge: &dyn Fn(&Solution) -> bool,
) -> Answer {
    let mut problem = Problem::new(universe, rules);
    problem.drop_hopeless();
    let may_split = rules.second_tier && !universe.single_version;
    let best = best_in_tiers(&problem, may_split, order, |single| {
        Walk::new(&problem, single, judge).run()
    });
    best.map_or(Answer::NoSolution, Answer::Solved)
}

/// The answer of the first tier, or else of the second. `best` returns the best resolution in which
/// certain packages have one release.
pub(super) fn best_in_tiers(
    problem: &Problem,
    may_split: bool,
    order: SplitOrder,
    best: impl Fn(&[bool]) -> Option<Solution>,
) -> Option<Solution> {
    let packages = problem.packages.len();
    let first_tier = best(&vec![true; packages]);
    if first_tier.is_some() || !may_split {
        return first_tier;
    }
    // If no resolution exists with all packages free, none exists with some of them forced.
    let mut single = vec![false; packages];
    best(&single)?;
    let mut names: Vec<usize> = (0..packages).collect();
    if order == SplitOrder::NamesBackwards {
        names.reverse();
    }
    for package in names {
        single[package] = true;
        // A package with one candidate has one release anyway.
        if problem.candidates[package].len() > 1 && best(&single).is_none() {
            single[package] = false;
        }
    }
    best(&single)
}
