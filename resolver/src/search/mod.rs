//! The search: conflict-driven learning over sets of versions.
//!
//! # Problem
//!
//! Find a value for every variable of a [`Problem`] such that all dependencies hold, or prove that there is
//! none. This is NP-complete. Real packages have hundreds of releases that mostly share their requirements,
//! and a SAT encoding with one variable for each release repeats every requirement for every release.
//!
//! # Clauses
//!
//! A *clause* here lists terms that cannot all hold: an incompatibility, the negation of a SAT clause. It is in conflict
//! if all of its terms hold. If all but one hold, that one is excluded. A *literal* is a term of a binary clause. The
//! public [`Derivation`](crate::Derivation) has the usual polarity; [`mod@derive`] turns clauses around.
//!
//! # Idea
//!
//! `PubGrub` (Weizenbaum 2018): a term is a package and a set of versions, and each conflict is resolved into a
//! new clause (an incompatibility) that rules out its cause. The rest is as in CDCL solvers (Silva and Sakallah
//! 1996; `MiniSat`, Eén and Sörensson 2003). The representation is our own:
//!
//! - The domain of a variable is a bit set with one bit for each release and one for "absent"
//!   ([`assignment`]). The trail records each reduction of a domain with its reason and its decision level.
//! - A requirement that many releases share is one binary clause. It is created when the first of these
//!   releases is expanded ([`expand`]).
//! - [`propagate`] visits only clauses in watch lists that a reduction can affect ([`watch_lists`]; two watched
//!   literals, Moskewicz et al. 2001). As soon as a package is needed, it also probes the release that will
//!   probably be decided. If that contradicts earlier decisions, the release is removed without a conflict.
//!   Searches with many conflicts copy the lists, so that a visit need not wait for memory ([`list_copies`]).
//! - [`analyze`] resolves a conflict until one term of its level is left (the first unique implication
//!   point). Every learned clause records its antecedents.
//! - The level of a reduction can be lower than the levels of the decisions before it. So the search does not
//!   jump back further than necessary, and keeps reductions that do not depend on the undone decisions
//!   (chronological backtracking, Nadel and Ryvchin 2018).
//! - [`decide`] takes packages in the order of decisions, each at its best release. The first selection found
//!   in this order is the best one. After [`conflict_limit`](crate::SolveOptions::conflict_limit) conflicts,
//!   the variables with the highest activity come first (like VSIDS, but without decay), and
//!   [`improve`](crate::improve) makes the result locally best.
//!
//! Rules that would need too many clauses (no class inherits two versions of one ancestor, contracts) are
//! checked on complete selections and added as nogoods ([`engine`]).
//!
//! # Cost
//!
//! Most problems are solved with few conflicts or none. Most of the time is spent on expanding each selected
//! release once, and on visiting the clauses of its packages: on memory accesses, not computation. So hot data
//! is packed: 64 bytes for each variable, 16 for each literal of a binary clause.
//!
//! # Proofs
//!
//! When the empty clause is derived, [`proof`] collects the facts from which it follows. In builds with debug
//! assertions, [`check_proof`] verifies each learned clause by propagation alone. It shares no code with
//! [`analyze`].

mod analyze;
mod assignment;
mod check_proof;
mod clauses;
mod decide;
mod derive;
mod engine;
mod expand;
mod expand_classes;
mod list_copies;
mod proof;
mod propagate;
#[cfg(feature = "pubgrub")]
mod pubgrub;
mod watch_lists;

pub(crate) use engine::{SearchEngine, check_satisfiability, satisfy, search};
pub(crate) use proof::{Proof, Quality, Refuted, Solution, Verdict};

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::index::to_u32;
use crate::problem::{Problem, Variable};
use crate::selection::Selection;
use crate::universe::{ClassRequirements, PackageRequirement, ReleaseId};

use crate::budget::{Budget, Interrupt};
use crate::set::bits;
use analyze::{Analysis, LearnedClause};
use assignment::{Assignment, ClauseRef, RemovalEffect, Term, Var};
use clauses::{ClauseDatabase, Origin};
use decide::DecisionOrder;
use decide::VariableQueue;

/// Where the learned clause is asserting more than so many levels below the conflict, the search
/// backtracks by one level only: taking thousands of decisions again costs more than it gains.
const BACKTRACKING_THRESHOLD: u32 = 8;

/// A search in progress.
#[derive(Debug, Default)]
pub(crate) struct Search {
    assignment: Assignment,
    clauses: ClauseDatabase,
    analysis: Analysis,
    order: DecisionOrder,
    variable_queue: VariableQueue,
    /// The variable of each package, counted from 1.
    package_vars: Vec<Var>,
    other_vars: FxHashMap<Variable, Var>,
    requirements: Vec<PackageRequirement>,
    classes: ClassRequirements,
    /// Clauses that were not propagated yet.
    new_clauses: VecDeque<u32>,
    conflicts: u64,
    by_activity: bool,
}

impl Search {
    /// A search for a selection that solves a problem.
    pub(super) fn new(problem: &mut Problem<'_>) -> Box<Self> {
        let mut search = Box::<Self>::default();
        for root in problem.universe.catalog.roots() {
            let var = search.package_var(problem, root.package);
            let mut chosen = vec![0; search.assignment.width(var)];
            bits::insert(&mut chosen, root.index);
            let set = search.assignment.store_complement(var, &chosen);
            search
                .assignment
                .remove(Term { var, set }, ClauseRef::Root, 0);
        }
        for goal in problem.goals().wanted.clone() {
            if goal.is_needed() && !problem.is_split(goal.package) {
                search.package_var(problem, goal.package);
            }
            for loop_nogood in &goal.loop_nogoods {
                search.add_loop_nogood(problem, goal.package, loop_nogood);
            }
        }
        for number in 0..to_u32(problem.nogoods().len()) {
            search.add_nogood(problem, number);
        }
        search
    }

    pub(super) fn add_last_nogood(&mut self, problem: &mut Problem<'_>) {
        if let Some(last) = problem.nogoods().len().checked_sub(1) {
            self.add_nogood(problem, to_u32(last));
        }
    }

    /// Continues until there is a selection, or a proof that there is none.
    pub(super) fn solve(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<Verdict<Quality>, Interrupt> {
        let origin = self.run(problem, budget)?;
        // What came after the last conflict is a large part of each search in a series.
        if !problem.is_ordinary() {
            budget.take_looks(std::mem::take(&mut self.clauses.looks));
        }
        let Some(origin) = origin else {
            let quality = if self.by_activity {
                Quality::Any
            } else {
                Quality::Best
            };
            return Ok(Verdict::Solved(quality));
        };
        debug_assert!(
            check_proof::is_valid(&self.assignment, &self.clauses, origin),
            "learned clauses follow from their antecedents"
        );
        let mut proof = proof::proof(&self.assignment, &self.clauses, problem, origin);
        if budget.records_derivation {
            let derivation = derive::derivation(&self.assignment, &self.clauses, problem, origin);
            proof.derivation = derivation.map(Box::new);
        }
        Ok(Verdict::Impossible(proof))
    }

    /// The CDCL loop: propagate, then learn from a conflict or decide. Returns the origin of the
    /// empty clause, if that was learned.
    fn run(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Origin>, Interrupt> {
        loop {
            if let Some(conflict) = self.propagate(problem, budget)? {
                if let Some(origin) = self.learn(conflict, budget)? {
                    return Ok(Some(origin));
                }
                if self.conflicts >= budget.conflict_limit && !self.by_activity {
                    self.search_by_activity();
                }
                continue;
            }
            if self.by_activity && !self.decide_by_activity(problem, budget)? {
                continue;
            }
            // Variables that are decided already only get their places.
            if self.decide_in_order(problem, budget)? {
                if !problem.is_restricted() {
                    return Ok(None);
                }
                // Without all requirements, a package can be needed after its place in the order was
                // passed, and then the order decides it no more.
                if !self.by_activity {
                    self.search_by_activity();
                    continue;
                }
                // In a restricted problem, a class that several packages may define needs one of them, though nothing
                // requires any.
                let Some(var) = self.clauses.variable_in_need(&self.assignment) else {
                    return Ok(None);
                };
                budget.take_looks(std::mem::take(&mut self.clauses.looks));
                self.decide_best(problem, budget, var)?;
            }
        }
    }

    /// Propagates all reductions. Returns a clause in conflict, if there is one.
    fn propagate(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<Option<ClauseRef>, Interrupt> {
        loop {
            while let Some(clause) = self.new_clauses.pop_front() {
                if let Err(conflict) = self.propagate_new_clause(clause) {
                    return Ok(Some(conflict));
                }
            }
            let Some(var) = self.assignment.next_in_queue() else {
                return Ok(None);
            };
            if let Some(value) = self.assignment.value(var)
                && !self.assignment.is_expanded(var, value)
            {
                self.expand(problem, var, value)?;
            } else if let Some(value) = self.value_to_probe(problem, var) {
                if let Some(conflict) = self.probe(problem, budget, var, value)? {
                    return Ok(Some(conflict));
                }
                // New clauses come first. Otherwise the order would depend on where a search was
                // interrupted.
                continue;
            }
            self.assignment.dequeue();
            self.clauses.looks += self.assignment.width(var) as u64;
            if self.by_activity {
                self.variable_queue.add(&self.assignment, var);
            }
            let propagated = self
                .propagate_binary_clauses(var)
                .and_then(|()| self.propagate_long_clauses(var));
            if let Err(conflict) = propagated {
                return Ok(Some(conflict));
            }
        }
    }

    /// Watches a new clause, and propagates it.
    fn propagate_new_clause(&mut self, clause: u32) -> Result<(), ClauseRef> {
        let (first, second) = self.clauses.initialize_watches(&self.assignment, clause);
        let reason = ClauseRef::Long(clause);
        if self.assignment.holds(first) {
            return Err(reason);
        }
        match second {
            Some(second) if !self.assignment.holds(second) => Ok(()),
            _ => self.exclude(first, reason),
        }
    }

    /// Excludes a term because all other terms of a clause hold.
    fn exclude(&mut self, term: Term, reason: ClauseRef) -> Result<(), ClauseRef> {
        match self.assignment.effect_of_removal(term) {
            RemovalEffect::None => Ok(()),
            RemovalEffect::Empties => Err(reason),
            RemovalEffect::Reduces => {
                let level = self.clauses.level(&self.assignment, reason, term.var);
                self.assignment.remove(term, reason, level);
                Ok(())
            }
        }
    }

    /// Excludes a literal because the other literal of its clause holds.
    #[inline]
    fn exclude_literal(&mut self, at: u32) -> Result<(), ClauseRef> {
        if self.assignment.is_literal_excluded(at) {
            return Ok(());
        }
        self.exclude_open_literal(at)
    }

    /// Likewise, if some of its values are left.
    #[inline(never)]
    fn exclude_open_literal(&mut self, at: u32) -> Result<(), ClauseRef> {
        let reason = ClauseRef::Binary(at / 2);
        if self.assignment.literal_holds(at) {
            return Err(reason);
        }
        let level = self.assignment.level_of_literal(at ^ 1);
        self.assignment.remove_literal(at, reason, level);
        Ok(())
    }

    /// Learns from a conflict, and backtracks.
    fn learn(
        &mut self,
        conflict: ClauseRef,
        budget: &mut Budget,
    ) -> Result<Option<Origin>, Interrupt> {
        budget.take_looks(std::mem::take(&mut self.clauses.looks));
        budget.take()?;
        let clauses = &mut self.clauses;
        clauses.copies.update(&self.assignment, &clauses.heads);
        self.conflicts += 1;
        let mut undone = Vec::new();
        let by_activity = self.by_activity;
        let mut undo = |var| {
            if by_activity {
                undone.push(var);
            }
        };
        let mut conflict = conflict;
        loop {
            let learned =
                self.analysis
                    .learn(&mut self.assignment, &mut self.clauses, conflict, &mut undo);
            let (terms, origin, level, assertion_level) = match learned {
                LearnedClause::Empty(origin) => return Ok(Some(origin)),
                LearnedClause::Asserting {
                    terms,
                    origin,
                    level,
                    assertion_level,
                } => (terms, origin, level, assertion_level),
            };
            let backtrack_level = if level - assertion_level > BACKTRACKING_THRESHOLD {
                level - 1
            } else {
                assertion_level
            };
            self.assignment.backtrack_to(backtrack_level, &mut undo);
            let reason = if let [one, two] = terms.as_slice() {
                let literals = [*one, *two].map(|term| self.assignment.literal_of_term(term));
                ClauseRef::Binary(
                    self.clauses
                        .add_binary(&mut self.assignment, literals, origin),
                )
            } else {
                let number = self.clauses.add_clause(&terms, origin);
                self.clauses.initialize_watches(&self.assignment, number);
                ClauseRef::Long(number)
            };
            match self.assignment.effect_of_removal(terms[0]) {
                RemovalEffect::Empties => conflict = reason,
                RemovalEffect::Reduces => {
                    self.assignment.remove(terms[0], reason, assertion_level);
                    break;
                }
                RemovalEffect::None => break,
            }
        }
        let level = self.assignment.level();
        self.order.backtrack_to(&mut self.assignment, level);
        for var in undone {
            self.variable_queue.add(&self.assignment, var);
        }
        Ok(None)
    }

    /// From now on decides variables by activity: finding any selection matters more than finding
    /// the best.
    fn search_by_activity(&mut self) {
        self.by_activity = true;
        self.variable_queue.clear();
        for var in 0..self.assignment.vars.len() {
            let var = to_u32(var);
            self.variable_queue.add(&self.assignment, var);
        }
    }

    /// The selection that was found.
    pub(super) fn selection(&self) -> Selection {
        let (order, ends) = self.order.releases();
        let mut bound = Vec::with_capacity(ends.last().map_or(0, |end| *end as usize));
        for targets in self.order.targets() {
            bound.extend(targets.iter().map(|target| {
                ReleaseId {
                    package: target.package,
                    index: (self.assignment.value(target.var))
                        .expect("the variables of a selection have values"),
                }
            }));
        }
        Selection::new(&order, bound, &ends)
    }

    /// The releases that were chosen for packages, also those that the roots do not reach.
    pub(super) fn present_releases(&self) -> Vec<ReleaseId> {
        let vars = self
            .package_vars
            .iter()
            .filter_map(|var| var.checked_sub(1));
        let chosen = vars.filter_map(|var| {
            let index = self.assignment.value(var)?;
            self.assignment.details(var).variable.release(index)
        });
        chosen.collect()
    }
}
