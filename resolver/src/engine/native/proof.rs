//! What a search without result rests on.

use rustc_hash::FxHashSet;

use crate::encoding::{Encoding, Fact, Variable};
use crate::index::NONE;
use crate::word_set::WordSet;
use crate::words;

use super::super::Proof;
use super::super::single::Single;
use super::constraints::{Antecedent, Cause, Constraints};
use super::state::{Reason, State, Term};

/// The facts from which a constraint follows, and the packages of which that uses that they have
/// one release.
pub(super) fn proof(
    state: &State,
    constraints: &Constraints,
    encoding: &Encoding<'_>,
    cause: Cause,
) -> Proof {
    let mut proof = Proof::default();
    let mut single = Single::default();
    let mut seen: FxHashSet<Reason> = FxHashSet::default();
    let mut certain: FxHashSet<usize> = FxHashSet::default();
    let mut rest: Vec<Antecedent> = Vec::new();
    let mut terms = Vec::new();
    let antecedents = |cause: Cause| match cause {
        Cause::Learned { from, until } => &constraints.antecedents[from as usize..until as usize],
        _ => &[],
    };
    rest.extend_from_slice(antecedents(cause));
    while let Some(antecedent) = rest.pop() {
        match antecedent {
            Antecedent::Constraint(reason) => {
                if !seen.insert(reason) {
                    continue;
                }
                let cause = constraints.cause(reason);
                rest.extend_from_slice(antecedents(cause));
                if matches!(cause, Cause::Learned { .. }) {
                    continue;
                }
                constraints.terms(state, reason, &mut terms);
                let fact = fact(state, constraints, cause, &terms);
                let variables = terms.iter().map(|term| state.details(term.var).variable);
                single.add(encoding, fact.as_ref(), variables);
                proof.facts.extend(fact);
            }
            Antecedent::Certain(term, until) => {
                for at in certainties(state, term, until as usize) {
                    if !certain.insert(at) {
                        continue;
                    }
                    let reduction = state.certain[at];
                    rest.push(Antecedent::Constraint(reduction.reason));
                    constraints.terms(state, reduction.reason, &mut terms);
                    let until = u32::try_from(at).expect("it was below a u32");
                    for other in terms.iter().filter(|other| other.var != term.var) {
                        rest.push(Antecedent::Certain(*other, until));
                    }
                }
            }
        }
    }
    proof.single = single.into_packages();
    proof
}

/// The reductions that make a term hold without any decision.
fn certainties(state: &State, term: Term, until: usize) -> Vec<usize> {
    let width = state.width(term.var);
    let mut domain = vec![0; width];
    words::fill(&mut domain, state.var(term.var).values);
    let mut of_var = Vec::new();
    let mut at = state.details(term.var).latest_certain;
    while at != NONE {
        if (at as usize) < until {
            of_var.push(at as usize);
        }
        at = state.certain[at as usize].previous;
    }
    let mut found = Vec::new();
    for at in of_var.into_iter().rev() {
        if words::is_subset(&domain, state.set(term)) {
            break;
        }
        found.push(at);
        let reduction = state.certain[at];
        let removed = state.set(Term {
            var: reduction.var,
            set: reduction.removed,
        });
        words::take_away(&mut domain, removed);
    }
    found
}

/// The fact that a constraint which was not learned stands for, if it is not only part of the encoding.
fn fact(state: &State, constraints: &Constraints, cause: Cause, terms: &[Term]) -> Option<Fact> {
    match cause {
        Cause::Fact(number) => Some(constraints.facts[number as usize].clone()),
        Cause::Requirement => requirement(state, terms),
        Cause::Extends(class) => {
            let owner = match state.details(terms.first()?.var).variable {
                Variable::Package(package) => package,
                Variable::Release(release) => release.package,
                _ => return None,
            };
            Some(Fact::Extends { owner, class })
        }
        Cause::Encoding | Cause::Learned { .. } => None,
    }
}

/// The fact that a constraint of a package on another one is.
fn requirement(state: &State, terms: &[Term]) -> Option<Fact> {
    let [owner, target] = terms else {
        return None;
    };
    let (Variable::Package(owner), Variable::Package(package)) = (
        state.details(owner.var).variable,
        state.details(target.var).variable,
    ) else {
        return None;
    };
    let mut allowed = vec![0; state.width(target.var)];
    if let Some(last) = state.var(target.var).values.checked_sub(1) {
        words::fill(&mut allowed, last);
    }
    words::take_away(&mut allowed, state.set(*target));
    Some(Fact::Requires {
        owner,
        target: package,
        allowed: WordSet::of_words(&allowed),
    })
}
