//! SearchEngine engines: they find values for the variables of an problem, or prove that there are
//! none.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::budget::Budget;
use crate::contracts::violated_contracts;
use crate::hierarchy;
use crate::improve::{Stopped, improve};
use crate::problem::{Fact, Goals, Nogood, Problem, Variable};
use crate::request::Engine;
use crate::selection::Selection;
use crate::universe::{Missing, PackageId};

use super::{Search, pubgrub};

/// So many violations of one selection are ruled out at once: enough not to search anew for each, and not
/// so many that all classes that inherit one diamond are told of.
const MANY_VIOLATIONS: usize = 16;

/// How a search ended.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    /// With a result.
    Solved(T),
    /// There is none.
    Impossible(Proof),
    /// Releases are needed that were not delivered.
    Missing(Missing),
    /// The budget is used up, or the solver is to end.
    GaveUp,
}

/// What a search without result rests on.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Facts that leave no valid selection. Some may be there several times.
    pub(crate) facts: Vec<Fact>,
    /// Packages of which the proof uses that they have one release, each once.
    pub(crate) single: Vec<PackageId>,
}

/// What is said of values that fulfil an problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Whether there are none better in the order of decisions.
    pub(super) is_best: bool,
}

/// A search in progress.
#[derive(Debug)]
pub(crate) enum SearchEngine {
    Native(Box<Search>),
    Pubgrub(pubgrub::Values),
}

impl SearchEngine {
    /// Finds values, and others as long as they break rule 3, do not have what was asked for, or break a
    /// contract.
    fn run(&mut self, problem: &mut Problem<'_>, budget: &mut Budget) -> Outcome<Selection> {
        loop {
            let Found { is_best } = match self.solve(problem, budget) {
                Outcome::Solved(found) => found,
                Outcome::Impossible(proof) => return Outcome::Impossible(proof),
                Outcome::Missing(missing) => return Outcome::Missing(missing),
                Outcome::GaveUp => return Outcome::GaveUp,
            };
            let selection = self.selection(problem);
            // Classes that are extended are found, or the values would not fulfil the problem.
            if !hierarchy::is_harmless(problem.universe, &selection) {
                let violations = hierarchy::violations(problem.universe, &selection);
                let violations = violations.take(MANY_VIOLATIONS);
                let nogoods: Vec<Nogood> = violations
                    .map(|violation| problem.nogood_against(&selection, violation))
                    .collect();
                if !nogoods.is_empty() {
                    self.rule_out(problem, &selection, nogoods);
                    continue;
                }
            }
            // By now it could be had, but for contracts: what is told of it should be true.
            if let Some((package, count)) = problem.rule_out_loop(&selection) {
                // Each makes every step dearer that is taken from here on.
                if (0..count).any(|_| budget.take().is_err()) {
                    return Outcome::GaveUp;
                }
                self.add_last_loop_nogood(problem, package);
                continue;
            }
            match violated_contracts(problem.universe, &selection) {
                Ok(unmet) if !unmet.is_empty() => {
                    let nogoods = unmet.into_iter();
                    let nogoods: Vec<Nogood> = nogoods
                        .map(|unmet| unmet.nogood(problem, &selection))
                        .collect();
                    self.rule_out(problem, &selection, nogoods);
                }
                // What is better elsewhere may not have what was asked for of single requirements.
                Ok(_) if is_best || problem.goals().asks_in_part() => {
                    return Outcome::Solved(selection);
                }
                Ok(_) => {
                    let split = problem.split().clone();
                    let wanted = problem.goals().wanted.iter().map(|goal| goal.package);
                    let fixed: Vec<PackageId> = wanted.collect();
                    let taken = budget.taken();
                    return match improve(problem.universe, selection, &split, &fixed, budget) {
                        Ok(selection) => Outcome::Solved(selection),
                        Err(Stopped::Missing(missing)) => {
                            // All exchanges are tried again.
                            budget.rewind(taken);
                            Outcome::Missing(missing)
                        }
                        Err(Stopped::Exhausted) => Outcome::GaveUp,
                    };
                }
                Err(missing) => return Outcome::Missing(missing),
            }
        }
    }

    fn new(problem: &mut Problem<'_>, engine: Engine) -> Self {
        match engine {
            Engine::Native => Self::Native(Search::new(problem)),
            Engine::Pubgrub => Self::Pubgrub(pubgrub::Values::default()),
        }
    }

    fn solve(&mut self, problem: &mut Problem<'_>, budget: &mut Budget) -> Outcome<Found> {
        match self {
            Self::Native(core) => core.solve(problem, budget),
            Self::Pubgrub(values) => pubgrub::solve(problem, budget, values),
        }
    }

    /// What the requirements are bound to by the values that were found. Variables that no release
    /// asks for are left out.
    fn selection(&self, problem: &mut Problem<'_>) -> Selection {
        let values = match self {
            Self::Native(core) => return core.selection(),
            Self::Pubgrub(values) => values,
        };
        let split = problem.split().clone();
        Selection::collect(problem.universe, |_, release, edge, demand| {
            let variable = if split.contains(&demand.target) {
                Variable::Binding(release, u32::try_from(edge).ok()?)
            } else {
                Variable::Package(demand.target)
            };
            values.get(&variable).copied()
        })
        .expect("a solution binds every requirement")
    }

    /// Takes in the last way in which a package would not be there.
    fn add_last_loop_nogood(&mut self, problem: &mut Problem<'_>, package: PackageId) {
        if let Self::Native(core) = self {
            core.add_last_loop_nogood(problem, package);
        }
    }

    /// Rules out a selection by all of these nogoods; of those with the same terms the first will do.
    fn rule_out(&mut self, problem: &mut Problem<'_>, selection: &Selection, nogoods: Vec<Nogood>) {
        let mut known = FxHashSet::default();
        for nogood in nogoods {
            if known.insert(nogood.terms.clone()) {
                problem.rule_out(selection, nogood);
                self.add_last_nogood(problem);
            }
        }
    }

    /// Takes in the nogood that was last added to the problem.
    fn add_last_nogood(&mut self, problem: &mut Problem<'_>) {
        if let Self::Native(core) = self {
            core.add_last_nogood(problem);
        }
    }
}

/// Searches for a valid selection, see [`search_from`].
pub(crate) fn search(problem: &mut Problem<'_>, budget: &mut Budget) -> Outcome<Selection> {
    search_from(&mut None, problem, budget)
}

/// Searches for a valid selection: first one that fulfils the problem, then, as long as that
/// breaks rule 3 or a contract of the model, another one. What it finds is the best selection in
/// the order of decisions or, if that takes more conflicts than there is conflict_limit for, a locally
/// best one.
///
/// If something is missing, what was found out so far is left in `paused`, if the engine can go on
/// from there; otherwise it has to begin again.
pub(crate) fn search_from(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Outcome<Selection> {
    let mut search = match paused.take() {
        Some(search) => search,
        None => SearchEngine::new(problem, budget.engine()),
    };
    let outcome = search.run(problem, budget);
    if matches!(
        (&outcome, &search),
        (Outcome::Missing(_), SearchEngine::Native(_))
    ) {
        *paused = Some(search);
    } else {
    }
    outcome
}

/// Why a search was in vain, and what it was about.
#[derive(Debug, Default)]
pub(crate) struct Impossible {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The nogoods that the facts of the proof refer to.
    pub(crate) nogoods: Vec<Nogood>,
    /// The goals and locks that they refer to.
    pub(crate) goals: Goals,
}

/// What is found out of facts.
#[derive(Debug)]
pub(crate) enum Refutation {
    /// They leave no selection; this is what a proof uses of them.
    Refuted(Proof),
    /// They leave a selection.
    Solvable,
    /// Nothing, in the steps that there were.
    Unknown,
}

/// Whether these facts alone leave no selection.
pub(crate) fn refute(
    problem: &mut Problem<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Result<Refutation, Missing> {
    let taken = budget.taken();
    problem.restrict(Some(facts));
    let mut search = SearchEngine::new(problem, budget.engine());
    let outcome = search.solve(problem, budget);
    problem.restrict(None);
    match outcome {
        Outcome::Impossible(proof) => Ok(Refutation::Refuted(proof)),
        Outcome::Solved(_) => Ok(Refutation::Solvable),
        Outcome::GaveUp => Ok(Refutation::Unknown),
        Outcome::Missing(missing) => {
            budget.rewind(taken);
            Err(missing)
        }
    }
}
