//! What a search without result rests on.

use crate::index::NONE;
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::set::PositionSet;
use crate::set::bits;
use crate::universe::PackageId;

use super::assignment::{Assignment, ClauseRef, Term};
use super::clauses::{Antecedent, Constraints, Origin};
use super::verdict::Proof;

/// The facts from which a constraint follows, and the packages of which that uses that they have
/// one release.
pub(super) fn proof(
    state: &Assignment,
    constraints: &Constraints,
    problem: &Problem<'_>,
    cause: Origin,
) -> Proof {
    let mut facts = Vec::new();
    let mut single = Single::new(problem.universe.package_count());
    let mut derivation = Derivation::new(state, constraints);
    derivation.add_antecedents(cause);
    while let Some((cause, terms)) = derivation.next_leaf() {
        let fact = fact(state, constraints, cause, terms);
        let variables = terms.iter().map(|term| state.details(term.var).variable);
        single.add(problem, fact.as_ref(), variables);
        facts.extend(fact);
    }
    Proof {
        facts,
        single: single.into_packages(),
    }
}

/// What a constraint follows from, down to constraints that were not learned.
struct Derivation<'core> {
    state: &'core Assignment,
    constraints: &'core Constraints,
    /// What was not followed yet.
    rest: Vec<Antecedent>,
    /// The constraints of two terms that were come across, then the clauses.
    seen: Vec<u64>,
    /// The certainties that were come across.
    certain: Vec<u64>,
    /// The terms of the constraint at hand.
    terms: Vec<Term>,
    /// The certainties of the variable at hand, the latest first, and its values that are left.
    of_var: Vec<u32>,
    domain: Vec<u64>,
}

impl<'core> Derivation<'core> {
    fn new(state: &'core Assignment, constraints: &'core Constraints) -> Self {
        let binaries = state.side_count() as usize / 2;
        let set = |count: usize| vec![0; count / 64 + 1];
        Self {
            state,
            constraints,
            rest: Vec::new(),
            seen: set(binaries + constraints.clause_count()),
            certain: set(state.certain.len()),
            terms: Vec::new(),
            of_var: Vec::new(),
            domain: Vec::new(),
        }
    }

    fn add_antecedents(&mut self, cause: Origin) {
        if let Origin::Learned { from, until } = cause {
            let antecedents = &self.constraints.antecedents[from as usize..until as usize];
            self.rest.extend_from_slice(antecedents);
        }
    }

    /// The next constraint that was not learned: what it rests on, and its terms.
    fn next_leaf(&mut self) -> Option<(Origin, &[Term])> {
        while let Some(antecedent) = self.rest.pop() {
            let reason = match antecedent {
                Antecedent::Constraint(reason) => reason,
                Antecedent::Certain(term, until) => {
                    self.add_certainties(term, until);
                    continue;
                }
            };
            let number = match reason {
                ClauseRef::Given | ClauseRef::Decision => continue,
                ClauseRef::Binary(number) => number,
                ClauseRef::Clause(number) => self.state.side_count() / 2 + number,
            };
            if !bits::add(&mut self.seen, number) {
                continue;
            }
            let cause = self.constraints.cause(reason);
            if !matches!(cause, Origin::Learned { .. }) {
                self.constraints.terms(self.state, reason, &mut self.terms);
                return Some((cause, &self.terms));
            }
            self.add_antecedents(cause);
        }
        None
    }

    /// Adds the first reductions, of so many certainties, that make a term hold without any decision.
    fn add_certainties(&mut self, term: Term, until: u32) {
        let state = self.state;
        let mut at = state.details(term.var).latest_certain;
        self.of_var.clear();
        while at != NONE {
            if at < until {
                self.of_var.push(at);
            }
            at = state.certain[at as usize].previous;
        }
        self.domain.clear();
        self.domain.resize(state.width(term.var), 0);
        bits::fill(&mut self.domain, state.var(term.var).values);
        while let Some(at) = self.of_var.pop() {
            if bits::is_subset(&self.domain, state.set(term)) {
                break;
            }
            let reduction = state.certain[at as usize];
            let removed = Term {
                var: reduction.var,
                set: reduction.removed,
            };
            bits::take_away(&mut self.domain, state.set(removed));
            if bits::add(&mut self.certain, at) {
                let reason = reduction.reason;
                self.rest.push(Antecedent::Constraint(reason));
                self.constraints.terms(state, reason, &mut self.terms);
                let others = self.terms.iter().filter(|other| other.var != term.var);
                let others = others.map(|other| Antecedent::Certain(*other, at));
                self.rest.extend(others);
            }
        }
    }
}

/// The fact that a constraint which was not learned stands for, if it is not only part of the problem.
fn fact(
    state: &Assignment,
    constraints: &Constraints,
    cause: Origin,
    terms: &[Term],
) -> Option<Fact> {
    match cause {
        Origin::Fact(number) => Some(constraints.facts[number as usize].clone()),
        Origin::Requirement => requirement(state, terms),
        Origin::Extends(class) => {
            let owner = match state.details(terms.first()?.var).variable {
                Variable::Package(package) => package,
                Variable::Release(release) => release.package,
                Variable::Binding(..) => return None,
            };
            Some(Fact::Extends { owner, class })
        }
        Origin::Problem | Origin::Learned { .. } => None,
    }
}

/// The fact that a constraint of a package on another one is.
fn requirement(state: &Assignment, terms: &[Term]) -> Option<Fact> {
    let [owner, target] = terms else {
        return None;
    };
    let (Variable::Package(owner), Variable::Package(package)) = (
        state.details(owner.var).variable,
        state.details(target.var).variable,
    ) else {
        return None;
    };
    let every = PositionSet::range(0, state.var(target.var).values);
    let refused = PositionSet::of_words(state.set(*target));
    Some(Fact::Requires {
        owner,
        target: package,
        allowed: every.intersection(&refused.complement()),
    })
}

/// The packages that have to have one release for what was taken in of a proof.
#[derive(Debug)]
pub(super) struct Single {
    packages: Vec<PackageId>,
    /// For each package the first one that was seen to require it.
    requirers: Vec<Option<PackageId>>,
    /// The packages of the constraint at hand that have one variable, for they are not split.
    unsplit: Vec<PackageId>,
}

impl Single {
    /// Nothing of a proof yet. There are so many packages: those that a proof is about were met before it ended.
    pub(super) fn new(packages: usize) -> Self {
        Self {
            packages: Vec::new(),
            requirers: vec![None; packages],
            unsplit: Vec::new(),
        }
    }

    /// Takes in a constraint between variables that a proof rests on, and the fact that it stands for.
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
                        // Each object of a model requires on its own.
                        if problem.universe.is_model(*owner) {
                            self.packages.push(target);
                        }
                        self.require(*owner, target);
                    }
                }
            }
            // Whatever releases a package has, none of them is one of these.
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
        if !matches!(nogood.breach, NogoodCause::Rule(_)) {
            self.packages.extend_from_slice(&self.unsplit);
            return;
        }
        for (owner, target) in &nogood.bindings {
            if self.unsplit.contains(target) {
                self.require(*owner, *target);
            }
        }
    }

    /// Takes in that a package requires another one. Where it has several releases itself, these have to
    /// agree.
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
