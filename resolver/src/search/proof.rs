//! The results of a search: a solution, or a proof of the facts from which the empty clause follows.
//!
//! The derivation is walked backwards from the empty clause through the antecedents of learned
//! clauses, each once, so the cost is linear in its size. A term holds at level zero because all other
//! values of its variable were removed. A variable with hundreds of values can be reduced hundreds of
//! times, with a query for each of these reductions; so [`Removals`] records for each value the first
//! reduction that removed it, and a query looks up the values outside of the term.
//!
//! A proof also lists the packages for which it relies on the rule that they have only one release.
//! This is the case if two packages require the package, so that both have to agree. If only one
//! other package in the proof requires it, it could have any number of releases: each release of
//! the other package would be bound to one of them, and the proof would hold for that one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, ClauseDatabase, Origin};
use crate::derivation::Derivation;
use crate::index::NONE;
use crate::problem::{Fact, Goals, Nogood, NogoodCause, Problem, Variable};
use crate::selection::Selection;
use crate::set::{PositionSet, bits};
use crate::universe::{PackageId, Universe};

/// The facts that a clause follows from, and the packages for which this uses that they have one
/// release.
pub(super) fn proof(
    assignment: &Assignment,
    clauses: &ClauseDatabase,
    problem: &Problem<'_>,
    origin: Origin,
) -> Proof {
    let mut facts = Vec::new();
    let mut single = SingleReleasePackages::new(problem.universe.catalog.package_count());
    let mut derivation = ProofWalk::new(assignment, clauses);
    derivation.add_antecedents(origin);
    while let Some((origin, terms)) = derivation.next_leaf() {
        let fact = fact(assignment, clauses, origin, terms);
        let variables = terms
            .iter()
            .map(|term| assignment.details(term.var).variable);
        single.add(problem, fact.as_ref(), variables);
        facts.extend(fact);
    }
    Proof {
        facts,
        single: single.into_packages(),
        derivation: None,
    }
}

/// The derivation of a clause, down to clauses that were not learned.
struct ProofWalk<'search> {
    assignment: &'search Assignment,
    clauses: &'search ClauseDatabase,
    /// Antecedents that were not visited.
    rest: Vec<Antecedent>,
    /// The visited binary clauses, then the visited long ones.
    seen: Vec<u64>,
    /// Scratch: the terms of a clause.
    terms: Vec<Term>,
    removals: Removals,
}

impl<'search> ProofWalk<'search> {
    fn new(assignment: &'search Assignment, clauses: &'search ClauseDatabase) -> Self {
        let binaries = assignment.literal_count() as usize / 2;
        let set = |count: usize| vec![0; count / 64 + 1];
        Self {
            assignment,
            clauses,
            rest: Vec::new(),
            seen: set(binaries + clauses.long_count()),
            terms: Vec::new(),
            removals: Removals::default(),
        }
    }

    fn add_antecedents(&mut self, origin: Origin) {
        if let Origin::Learned { from, until } = origin {
            let antecedents = &self.clauses.antecedents[from as usize..until as usize];
            self.rest.extend_from_slice(antecedents);
        }
    }

    /// The next clause that was not learned: its origin and its terms.
    fn next_leaf(&mut self) -> Option<(Origin, &[Term])> {
        while let Some(antecedent) = self.rest.pop() {
            let reason = match antecedent {
                Antecedent::Clause(reason) => reason,
                Antecedent::LevelZero(term, until) => {
                    self.add_level_zero_reasons(term, until);
                    continue;
                }
            };
            let number = match reason {
                ClauseRef::Root | ClauseRef::Decision => continue,
                ClauseRef::Binary(number) => number,
                ClauseRef::Long(number) => self.assignment.literal_count() / 2 + number,
            };
            if !bits::insert_new(&mut self.seen, number) {
                continue;
            }
            let origin = self.clauses.origin(reason);
            if !matches!(origin, Origin::Learned { .. }) {
                self.clauses.terms(self.assignment, reason, &mut self.terms);
                return Some((origin, &self.terms));
            }
            self.add_antecedents(origin);
        }
        None
    }

    /// Adds the reasons for which a term holds at level zero, by the first so many reductions.
    fn add_level_zero_reasons(&mut self, term: Term, until: u32) {
        let assignment = self.assignment;
        for at in self.removals.take_until_holds(assignment, term) {
            debug_assert!(*at < until, "it held by then");
            let reason = assignment.level_zero[*at as usize].reason;
            self.rest.push(Antecedent::Clause(reason));
            self.clauses.terms(assignment, reason, &mut self.terms);
            let others = self.terms.iter().filter(|other| other.var != term.var);
            let others = others.map(|other| Antecedent::LevelZero(*other, *at));
            self.rest.extend(others);
        }
    }
}

/// The fact of a clause that was not learned; `None` if the clause only defines the problem.
fn fact(
    assignment: &Assignment,
    clauses: &ClauseDatabase,
    origin: Origin,
    terms: &[Term],
) -> Option<Fact> {
    match origin {
        Origin::Fact(number) => Some(clauses.facts[number as usize].clone()),
        Origin::Requirement => requirement(assignment, terms),
        Origin::Extends(class) => {
            let owner = match assignment.details(terms.first()?.var).variable {
                Variable::Package(package) => package,
                Variable::Release(release) => release.package,
                Variable::Binding(..) => return None,
            };
            Some(Fact::Extends { owner, class })
        }
        Origin::Problem | Origin::Learned { .. } => None,
    }
}

/// The fact of a requirement of one package on another.
fn requirement(assignment: &Assignment, terms: &[Term]) -> Option<Fact> {
    let [owner, target] = terms else {
        return None;
    };
    let (Variable::Package(owner), Variable::Package(package)) = (
        assignment.details(owner.var).variable,
        assignment.details(target.var).variable,
    ) else {
        return None;
    };
    let every = PositionSet::range(0, assignment.var(target.var).values);
    let refused = PositionSet::of_words(assignment.set(*target));
    Some(Fact::Requires {
        owner,
        target: package,
        allowed: every.intersection(&refused.complement()),
    })
}

/// The packages that need one release for the visited part of a proof.
#[derive(Debug)]
pub(super) struct SingleReleasePackages {
    packages: Vec<PackageId>,
    /// For each package the first one that was found to require it.
    requirers: Vec<Option<PackageId>>,
    /// Scratch: the packages of a clause that are not split.
    unsplit: Vec<PackageId>,
}

impl SingleReleasePackages {
    /// No packages yet, out of so many: every package of a proof was known when it ended.
    pub(super) fn new(packages: usize) -> Self {
        Self {
            packages: Vec::new(),
            requirers: vec![None; packages],
            unsplit: Vec::new(),
        }
    }

    /// Adds a clause of a proof, given its variables and its fact.
    pub(super) fn add(
        &mut self,
        problem: &Problem<'_>,
        fact: Option<&Fact>,
        variables: impl Iterator<Item = Variable>,
    ) {
        match fact {
            Some(Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) => {
                self.find_unsplit(variables);
                for at in 0..self.unsplit.len() {
                    let target = self.unsplit[at];
                    if target != *owner {
                        // Each object of a model has requirements of its own.
                        if problem.universe.catalog.is_model(*owner) {
                            self.packages.push(target);
                        }
                        self.require(*owner, target);
                    }
                }
            }
            // This excludes releases whatever else is selected.
            Some(Fact::OwnCycle { .. }) => {}
            Some(Fact::Nogood(number)) => self.add_nogood(&problem.nogoods()[*number as usize]),
            Some(Fact::Wanted { .. } | Fact::Stays { .. }) | None => {
                self.find_unsplit(variables);
                self.packages.extend_from_slice(&self.unsplit);
            }
        }
    }

    fn add_nogood(&mut self, nogood: &Nogood) {
        self.find_unsplit(nogood.terms.iter().map(|(variable, _)| *variable));
        if matches!(nogood.cause, NogoodCause::Contract(_)) {
            self.packages.extend_from_slice(&self.unsplit);
            return;
        }
        for (owner, target) in &nogood.bindings {
            if self.unsplit.contains(target) {
                self.require(*owner, *target);
            }
        }
    }

    /// Adds a requirement of one package on another. Several releases of the owner have to agree.
    fn require(&mut self, owner: PackageId, target: PackageId) {
        let first = *self.requirers[target.position()].get_or_insert(owner);
        if first != owner || !self.unsplit.contains(&owner) {
            self.packages.push(target);
        }
    }

    fn find_unsplit(&mut self, variables: impl Iterator<Item = Variable>) {
        let packages = variables.filter_map(|variable| match variable {
            Variable::Package(package) => Some(package),
            _ => None,
        });
        self.unsplit.clear();
        self.unsplit.extend(packages);
    }

    pub(super) fn into_packages(mut self) -> Vec<PackageId> {
        self.packages.sort_unstable();
        self.packages.dedup();
        self.packages
    }
}

/// A solution, or a proof that there is none.
#[derive(Debug)]
pub(crate) enum Verdict<T = Selection, P = Proof> {
    Solved(T),
    Impossible(P),
}

/// The premises of a proof that there is no selection.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Facts that no valid selection satisfies. Some may appear several times.
    pub(crate) facts: Vec<Fact>,
    /// The packages for which the proof uses that they have one release, each once.
    pub(crate) single: Vec<PackageId>,
    /// How the search proved it, if that was asked for.
    pub(crate) derivation: Option<Box<Derivation>>,
}

/// A proof, with the problem that it refutes.
#[derive(Debug, Default)]
pub(crate) struct Refuted {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The nogoods that the facts of the proof refer to.
    pub(crate) nogoods: Vec<Nogood>,
    /// The goals that the facts refer to.
    pub(crate) goals: Goals,
}

impl Refuted {
    /// A problem that a search has refuted.
    pub(crate) fn new(mut problem: Problem<'_>, proof: Proof) -> Self {
        Self {
            proof,
            split: problem.split().clone(),
            goals: problem.take_goals(),
            nogoods: problem.into_nogoods(),
        }
    }

    pub(crate) fn problem<'universe>(
        &self,
        universe: &'universe mut Universe,
    ) -> Problem<'universe> {
        let mut problem = Problem::with_nogoods(universe, self.split.clone(), self.nogoods.clone());
        problem.set_goals(self.goals.clone());
        problem
    }
}

/// The quality of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    /// No selection is better in the order of decisions.
    Best,
    /// It is valid; no more is known.
    Any,
}

/// A valid selection.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) selection: Selection,
    pub(crate) quality: Quality,
}

/// The reductions at level zero by variable. Variables are added when they are first asked about.
#[derive(Debug, Default)]
pub(super) struct Removals {
    of_var: FxHashMap<Var, VarRemovals>,
}

/// The reductions of a variable at level zero.
#[derive(Debug)]
struct VarRemovals {
    /// The reductions, the earliest first.
    reductions: Vec<u32>,
    /// For each value the position of the first reduction that removed it, or `NONE`.
    removed_by: Vec<u32>,
    /// How many reductions were taken.
    taken: usize,
}

impl Removals {
    /// The reductions of the variable of a term until the term held, the earliest first, without those that were taken
    /// before. Not all of them matter.
    fn take_until_holds(&mut self, assignment: &Assignment, term: Term) -> &[u32] {
        let of_var = self.of_var(assignment, term.var);
        let last = outside(assignment, term).map(|value| of_var.removed_by[value as usize]);
        let last = last.filter(|position| *position != NONE).max();
        let taken = of_var.taken;
        of_var.taken = taken.max(last.map_or(0, |position| position as usize + 1));
        &of_var.reductions[taken..of_var.taken]
    }

    /// Adds the reductions that removed the values outside of a term, the earliest first.
    pub(super) fn add_needed(
        &mut self,
        assignment: &Assignment,
        term: Term,
        reductions: &mut Vec<u32>,
    ) {
        let of_var = self.of_var(assignment, term.var);
        let from = reductions.len();
        let needed = outside(assignment, term).filter_map(|value| {
            let position = of_var.removed_by[value as usize];
            of_var.reductions.get(position as usize).copied()
        });
        reductions.extend(needed);
        reductions[from..].sort_unstable();
        reductions.dedup();
    }

    fn of_var(&mut self, assignment: &Assignment, var: Var) -> &mut VarRemovals {
        (self.of_var.entry(var)).or_insert_with(|| VarRemovals::new(assignment, var))
    }
}

impl VarRemovals {
    fn new(assignment: &Assignment, var: Var) -> Self {
        let mut reductions = Vec::new();
        let mut at = assignment.details(var).latest_at_level_zero;
        while at != NONE {
            reductions.push(at);
            at = assignment.level_zero[at as usize].previous;
        }
        reductions.reverse();
        let mut removed_by = vec![NONE; assignment.var(var).values as usize + 1];
        for (position, at) in (0..).zip(&reductions) {
            let removed = Term {
                var,
                set: assignment.level_zero[*at as usize].removed,
            };
            for value in bits::numbers(assignment.set(removed)) {
                let by = &mut removed_by[value as usize];
                if *by == NONE {
                    *by = position;
                }
            }
        }
        Self {
            reductions,
            removed_by,
            taken: 0,
        }
    }
}

fn outside(assignment: &Assignment, term: Term) -> impl Iterator<Item = u32> {
    let mut values = vec![0; assignment.width(term.var)];
    bits::fill(&mut values, assignment.var(term.var).values);
    bits::remove_all(&mut values, assignment.set(term));
    let words = (0_u32..).step_by(64).zip(values);
    words.flat_map(|(base, word)| bits::numbers_of_word(word).map(move |number| base + number))
}
