//! Search engines: they find values for the variables of an encoding, or prove that there are
//! none.

mod native;
mod pubgrub;
mod single;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::budget::Budget;
use crate::contracts::unmet_contracts;
use crate::encoding::{Clause, Encoding, Fact, Limits, Variable};
use crate::hierarchy;
use crate::improve::{Stopped, improve};
use crate::request::Engine;
use crate::selection::Selection;
use crate::universe::{Missing, PackageId};

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

/// What is said of values that fulfil an encoding.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Whether there are none better in the order of decisions.
    is_best: bool,
}

/// A search in progress.
#[derive(Debug)]
pub(crate) enum Search {
    Native(Box<native::Core>),
    Pubgrub(pubgrub::Values),
}

impl Search {
    /// Finds values, and others as long as they break rule 3, do not have what was asked for, or break a
    /// contract.
    fn run(&mut self, encoding: &mut Encoding<'_>, budget: &mut Budget) -> Outcome<Selection> {
        loop {
            let Found { is_best } = match self.solve(encoding, budget) {
                Outcome::Solved(found) => found,
                Outcome::Impossible(proof) => return Outcome::Impossible(proof),
                Outcome::Missing(missing) => return Outcome::Missing(missing),
                Outcome::GaveUp => return Outcome::GaveUp,
            };
            let selection = self.selection(encoding);
            // Classes that are extended are found, or the values would not fulfil the encoding.
            if !hierarchy::is_harmless(encoding.universe, &selection) {
                let violations = hierarchy::violations(encoding.universe, &selection);
                let violations = violations.take(MANY_VIOLATIONS);
                let clauses: Vec<Clause> = violations
                    .map(|violation| encoding.clause_against(&selection, violation))
                    .collect();
                if !clauses.is_empty() {
                    self.rule_out(encoding, &selection, clauses);
                    continue;
                }
            }
            // By now it could be had, but for contracts: what is told of it should be true.
            if let Some((package, count)) = encoding.rule_out_detour(&selection) {
                // Each makes every step dearer that is taken from here on.
                if (0..count).any(|_| budget.take().is_err()) {
                    return Outcome::GaveUp;
                }
                self.add_last_detour(encoding, package);
                continue;
            }
            match unmet_contracts(encoding.universe, &selection) {
                Ok(unmet) if !unmet.is_empty() => {
                    let clauses = unmet.into_iter();
                    let clauses: Vec<Clause> = clauses
                        .map(|unmet| unmet.clause(encoding, &selection))
                        .collect();
                    self.rule_out(encoding, &selection, clauses);
                }
                // What is better elsewhere may not have what was asked for of single requirements.
                Ok(_) if is_best || encoding.limits().asks_in_part() => {
                    return Outcome::Solved(selection);
                }
                Ok(_) => {
                    let split = encoding.split().clone();
                    let wanted = encoding.limits().wanted.iter().map(|wish| wish.package);
                    let fixed: Vec<PackageId> = wanted.collect();
                    let taken = budget.taken();
                    return match improve(encoding.universe, selection, &split, &fixed, budget) {
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

    fn new(encoding: &mut Encoding<'_>, engine: Engine) -> Self {
        match engine {
            Engine::Native => Self::Native(native::Core::new(encoding)),
            Engine::Pubgrub => Self::Pubgrub(pubgrub::Values::default()),
        }
    }

    /// Ends a search; its memory is there for the next one.
    fn leave(self, encoding: &Encoding<'_>) {
        if let Self::Native(core) = self {
            core.leave(encoding);
        }
    }

    fn solve(&mut self, encoding: &mut Encoding<'_>, budget: &mut Budget) -> Outcome<Found> {
        match self {
            Self::Native(core) => core.solve(encoding, budget),
            Self::Pubgrub(values) => pubgrub::solve(encoding, budget, values),
        }
    }

    /// What the requirements are bound to by the values that were found. Variables that no release
    /// asks for are left out.
    fn selection(&self, encoding: &mut Encoding<'_>) -> Selection {
        let values = match self {
            Self::Native(core) => return core.selection(),
            Self::Pubgrub(values) => values,
        };
        let split = encoding.split().clone();
        Selection::collect(encoding.universe, |_, release, edge, demand| {
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
    fn add_last_detour(&mut self, encoding: &mut Encoding<'_>, package: PackageId) {
        if let Self::Native(core) = self {
            core.add_last_detour(encoding, package);
        }
    }

    /// Rules out a selection by all of these clauses; of those with the same terms the first will do.
    fn rule_out(
        &mut self,
        encoding: &mut Encoding<'_>,
        selection: &Selection,
        clauses: Vec<Clause>,
    ) {
        let mut known = FxHashSet::default();
        for clause in clauses {
            if known.insert(clause.terms.clone()) {
                encoding.rule_out(selection, clause);
                self.add_last_clause(encoding);
            }
        }
    }

    /// Takes in the clause that was last added to the encoding.
    fn add_last_clause(&mut self, encoding: &mut Encoding<'_>) {
        if let Self::Native(core) = self {
            core.add_last_clause(encoding);
        }
    }
}

/// Searches for a valid selection, see [`search_from`].
pub(crate) fn search(encoding: &mut Encoding<'_>, budget: &mut Budget) -> Outcome<Selection> {
    search_from(&mut None, encoding, budget)
}

/// Searches for a valid selection: first one that fulfils the encoding, then, as long as that
/// breaks rule 3 or a contract of the model, another one. What it finds is the best selection in
/// the order of decisions or, if that takes more conflicts than there is patience for, a locally
/// best one.
///
/// If something is missing, what was found out so far is left in `paused`, if the engine can go on
/// from there; otherwise it has to begin again.
pub(crate) fn search_from(
    paused: &mut Option<Search>,
    encoding: &mut Encoding<'_>,
    budget: &mut Budget,
) -> Outcome<Selection> {
    let mut search = match paused.take() {
        Some(search) => search,
        None => Search::new(encoding, budget.engine()),
    };
    let outcome = search.run(encoding, budget);
    if matches!(
        (&outcome, &search),
        (Outcome::Missing(_), Search::Native(_))
    ) {
        *paused = Some(search);
    } else {
        search.leave(encoding);
    }
    outcome
}

/// Why a search was in vain, and what it was about.
#[derive(Debug, Default)]
pub(crate) struct Impossible {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The clauses that the facts of the proof refer to.
    pub(crate) clauses: Vec<Clause>,
    /// The wishes and locks that they refer to.
    pub(crate) limits: Limits,
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
    encoding: &mut Encoding<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Result<Refutation, Missing> {
    let taken = budget.taken();
    encoding.restrict(Some(facts));
    let mut search = Search::new(encoding, budget.engine());
    let outcome = search.solve(encoding, budget);
    search.leave(encoding);
    encoding.restrict(None);
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
