//! One release of each package; failing that, as few packages as possible with several.

use super::candidates::lock;
use super::problem::Problem;
use super::valid::{is_valid, needed};
use super::walk::Walk;
use super::{Answer, Rules, Solution};
use crate::universe::Universe;

/// In which order packages are forced to one release in the second tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitOrder {
    /// By name, as the design says.
    Names,
    /// By name, backwards: only to see whether the order matters.
    NamesBackwards,
}

/// The answer to a universe.
pub fn search(universe: &Universe, rules: &Rules) -> Answer {
    search_splitting(universe, rules, SplitOrder::Names)
}

/// The answer to a universe in which a resolution has to be something else as well as valid.
/// A lock only says what is preferred: it is not kept as it is.
pub fn search_where(universe: &Universe, judge: &dyn Fn(&Solution) -> bool) -> Answer {
    search_judged(universe, &Rules::default(), SplitOrder::Names, judge)
}

/// The answer to a universe, with a say in which of several minimal splits is taken.
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

/// Goes through the tiers. `best` is the best resolution with one release of some packages.
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
    // If there is nothing without any force, there is nothing with some.
    let mut single = vec![false; packages];
    best(&single)?;
    let mut names: Vec<usize> = (0..packages).collect();
    if order == SplitOrder::NamesBackwards {
        names.reverse();
    }
    for package in names {
        single[package] = true;
        // With one candidate there is nothing to force.
        if problem.candidates[package].len() > 1 && best(&single).is_none() {
            single[package] = false;
        }
    }
    best(&single)
}
