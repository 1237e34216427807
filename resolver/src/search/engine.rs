//! The engines, and the lazy rules.
//!
//! An engine finds values for the variables of a [`Problem`], or proves that there are none. The problem does not
//! contain all rules of a valid selection. These are missing: no class inherits two versions of one ancestor, the roots
//! reach the packages that an update wants, and the contracts of a model hold. Nearly all clauses for them would never
//! be used. Instead, these rules are checked on each selection that an engine finds. A violation becomes a [`Nogood`],
//! and the engine continues until a selection has no violation. SMT solvers call this lazy clause generation ("lemmas
//! on demand", de Moura and Rueß 2002).

use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::class_rules;
use crate::contracts::violated_contracts;
use crate::problem::{Fact, Nogood, Problem};
use crate::request::Engine;
use crate::selection::Selection;
use crate::universe::ReleaseId;

use super::Search;
use super::proof::{Proof, Quality, Solution, Verdict};
#[cfg(feature = "pubgrub")]
use super::pubgrub;

/// How many violations of one selection become nogoods at once. One at a time would need a search
/// for each; with all of them, an explanation would name every class that inherits one diamond.
const VIOLATIONS_AT_ONCE: usize = 16;

/// The looks that the check of a selection counts for each of its releases.
const LOOKS_PER_RELEASE: u64 = 8;

/// A search in progress, by either engine.
#[derive(Debug)]
pub(crate) enum SearchEngine {
    Native(Box<Search>),
    #[cfg(feature = "pubgrub")]
    Pubgrub(pubgrub::Values),
}

impl SearchEngine {
    fn new(problem: &mut Problem<'_>, engine: Engine) -> Self {
        match engine {
            Engine::Native => Self::Native(Search::new(problem)),
            #[cfg(feature = "pubgrub")]
            Engine::Pubgrub => Self::Pubgrub(pubgrub::Values::default()),
        }
    }

    /// Searches until a selection violates nothing, or there is none.
    fn run(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<Verdict<Solution>, Interrupt> {
        loop {
            let quality = match self.solve(problem, budget)? {
                Verdict::Solved(quality) => quality,
                Verdict::Impossible(proof) => return Ok(Verdict::Impossible(proof)),
            };
            let selection = self.selection(problem);
            let is_valid = self.obeys_class_rules(problem, &selection)
                // Contracts come last, so that an explanation names one only if the rest can be
                // solved.
                && self.reaches_goals(problem, &selection, budget)?
                && self.meets_contracts(problem, &selection, budget)?;
            if is_valid {
                return Ok(Verdict::Solved(Solution { selection, quality }));
            }
            // A check looks at every release, and at what each requires.
            budget.take_looks(LOOKS_PER_RELEASE * selection.releases().len() as u64);
            budget.take()?;
        }
    }

    /// Finds values for the variables of a problem.
    fn solve(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<Verdict<Quality>, Interrupt> {
        match self {
            Self::Native(search) => search.solve(problem, budget),
            #[cfg(feature = "pubgrub")]
            Self::Pubgrub(values) => pubgrub::solve(problem, budget, values),
        }
    }

    /// The selected releases that the roots reach.
    #[cfg_attr(not(feature = "pubgrub"), expect(unused_variables))]
    fn selection(&self, problem: &mut Problem<'_>) -> Selection {
        match self {
            Self::Native(search) => search.selection(),
            #[cfg(feature = "pubgrub")]
            Self::Pubgrub(values) => pubgrub::selection(problem, values),
        }
    }

    /// Whether a selection obeys the class rules; if not, adds nogoods.
    fn obeys_class_rules(&mut self, problem: &mut Problem<'_>, selection: &Selection) -> bool {
        // The clauses of the problem guarantee that extended classes are found.
        if class_rules::is_known_valid(problem.universe, selection) {
            return true;
        }
        let violations = class_rules::violations(problem.universe, selection);
        let nogoods = violations
            .take(VIOLATIONS_AT_ONCE)
            .map(|violation| problem.nogood_for_violation(selection, violation))
            .collect();
        self.rule_out(problem, selection, nogoods)
    }

    /// Whether a selection reaches what an update wants; if not, adds a loop nogood.
    fn reaches_goals(
        &mut self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        let Some((package, count)) = problem.rule_out_loop(selection) else {
            return Ok(true);
        };
        // Each loop nogood makes later steps more expensive.
        for _ in 0..count {
            budget.take()?;
        }
        match self {
            Self::Native(search) => search.add_last_loop_nogood(problem, package),
            #[cfg(feature = "pubgrub")]
            Self::Pubgrub(_) => {}
        }
        Ok(false)
    }

    /// Whether a selection meets the contracts of the model; if not, adds nogoods.
    fn meets_contracts(
        &mut self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        let violated = violated_contracts(problem.universe, selection, budget)?;
        let nogoods = violated
            .into_iter()
            .map(|violated| violated.nogood(problem, selection))
            .collect();
        Ok(self.rule_out(problem, selection, nogoods))
    }

    /// Rules a selection out by nogoods, which may repeat each other. Returns whether there are
    /// none.
    fn rule_out(
        &mut self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        nogoods: Vec<Nogood>,
    ) -> bool {
        let is_valid = nogoods.is_empty();
        let mut known = FxHashSet::default();
        for nogood in nogoods {
            if known.insert(nogood.terms.clone()) {
                problem.rule_out(selection, nogood);
                match self {
                    Self::Native(search) => search.add_last_nogood(problem),
                    #[cfg(feature = "pubgrub")]
                    Self::Pubgrub(_) => {}
                }
            }
        }
        is_valid
    }
}

/// Searches for a valid selection.
///
/// It is the best one in the order of decisions or, if finding that takes more conflicts than the
/// budget's limit, any. The search continues from `paused`, and its state is stored there when it
/// returns.
pub(crate) fn search(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Result<Verdict<Solution>, Interrupt> {
    let mut search = match paused.take() {
        Some(search) => search,
        None => SearchEngine::new(problem, budget.engine),
    };
    let verdict = search.run(problem, budget);
    *paused = Some(search);
    verdict
}

/// Whether some facts alone have a solution; if not, the facts that a proof uses.
pub(crate) fn check_satisfiability(
    problem: &mut Problem<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Result<Verdict<(), Proof>, Interrupt> {
    problem.restrict(Some(facts));
    let mut search = SearchEngine::new(problem, budget.engine);
    let verdict = budget.restartable(|budget| search.solve(problem, budget));
    problem.restrict(None);
    Ok(match verdict? {
        Verdict::Solved(_) => Verdict::Solved(()),
        Verdict::Impossible(proof) => Verdict::Impossible(proof),
    })
}

/// Releases that satisfy some facts alone, at most one of a package; if there are none, the facts that a proof uses.
pub(crate) fn satisfy(
    problem: &mut Problem<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Result<Verdict<Vec<ReleaseId>>, Interrupt> {
    problem.restrict(Some(facts));
    let mut search = Search::new(problem);
    let verdict = budget.restartable(|budget| search.solve(problem, budget));
    problem.restrict(None);
    Ok(match verdict? {
        Verdict::Solved(_) => Verdict::Solved(search.present_releases()),
        Verdict::Impossible(proof) => Verdict::Impossible(proof),
    })
}
