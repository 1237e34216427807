//! Constraints: terms that cannot all hold.
//!
//! Nearly all constraints have two terms, "these releases require one of those", and stand in lists of
//! their variables (`lists.rs`). Longer ones are watched: as long as two of its terms do not hold, a
//! clause cannot say anything, so only two terms have to be looked at.

use crate::index::{NONE, to_u32};
use crate::problem::Fact;
use crate::set::bits;
use crate::universe::ClassId;

use super::assignment::{Assignment, ClauseRef, Literal, Term, Var};

/// What a constraint rests on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// It is part of the problem.
    Problem,
    /// The first term is about a package that requires the second.
    Requirement,
    /// The first term is about releases that extend this class, the second about those that do not have it.
    Extends(ClassId),
    /// The fact of this number.
    Fact(u32),
    /// It was learned from a conflict: which of the antecedents it follows from.
    Learned { from: u32, until: u32 },
}

/// What a learned constraint follows from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Antecedent {
    Constraint(ClauseRef),
    /// That a term holds without any decision, by so many certainties.
    Certain(Term, u32),
}

/// A clause that watches a term of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    pub(super) clause: u32,
    /// The first word of the term's set. Mostly it tells that the term does not hold.
    pub(super) word: u64,
}

#[derive(Debug, Clone, Copy)]
struct Clause {
    /// Where its terms stand. The first two are watched.
    from: u32,
    until: u32,
    cause: Origin,
}

#[derive(Debug, Default)]
pub(super) struct Constraints {
    /// What those constraints of two terms rest on that are no requirements, as most are. Their numbers
    /// ascend.
    causes: Vec<(u32, Origin)>,
    clauses: Vec<Clause>,
    terms: Vec<Term>,
    watches: Vec<Vec<Watch>>,
    /// The variables that a clause watches or watched, which are few.
    is_watched: Vec<u64>,
    /// For each value of variables with many values the first side that waits for it to go; and for
    /// each value of variables with many constraints about single values the first one of these.
    pub(super) heads: Vec<u32>,
    pub(super) antecedents: Vec<Antecedent>,
    pub(super) facts: Vec<Fact>,
}

impl Constraints {
    /// No constraints, with room for those of a small problem.
    pub(super) fn new() -> Self {
        Self {
            antecedents: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    /// Adds a constraint of two terms. The first one is the owner's.
    pub(super) fn add_binary(
        &mut self,
        state: &mut Assignment,
        sides: [Literal; 2],
        cause: Origin,
    ) -> u32 {
        self.put_binary(state, sides, cause)
    }

    /// Adds one for whose sides there is room.
    #[inline]
    pub(super) fn put_binary(
        &mut self,
        state: &mut Assignment,
        mut sides: [Literal; 2],
        cause: Origin,
    ) -> u32 {
        let at = state.side_count();
        let [owner, target] = &mut sides;
        let is_owner_listed = state.list_among_others(owner, at, |var| &mut var.owned);
        let is_target_listed = state.list_among_others(target, at + 1, |var| &mut var.targeted);
        state.add_sides(sides);
        if !is_owner_listed {
            self.enlist(state, at);
        }
        if !is_target_listed {
            self.enlist(state, at + 1);
        }
        let number = at / 2;
        if !matches!(cause, Origin::Requirement) {
            debug_assert!(self.causes.last().is_none_or(|(last, _)| *last < number));
            self.causes.push((number, cause));
        }
        number
    }

    /// Adds a constraint of any other number of terms, which nothing watches yet.
    pub(super) fn add_clause(&mut self, terms: &[Term], cause: Origin) -> u32 {
        let number = to_u32(self.clauses.len());
        let from = to_u32(self.terms.len());
        self.terms.extend_from_slice(terms);
        self.clauses.push(Clause {
            from,
            until: to_u32(self.terms.len()),
            cause,
        });
        number
    }

    pub(super) fn clause_count(&self) -> usize {
        self.clauses.len()
    }

    /// Watches the two terms of a clause that do not hold or began to do so last, and says which
    /// they are.
    pub(super) fn watch_first(&mut self, state: &Assignment, clause: u32) -> (Term, Option<Term>) {
        let Clause { from, until, .. } = self.clauses[clause as usize];
        let terms = &mut self.terms[from as usize..until as usize];
        let since = |term: &Term| {
            if state.holds(*term) {
                state.satisfier(*term).map_or(0, |at| at + 1)
            } else {
                NONE
            }
        };
        terms.sort_by_key(|term| std::cmp::Reverse(since(term)));
        let (first, second) = (terms[0], terms.get(1).copied());
        self.watch(state, first, clause);
        if let Some(second) = second {
            self.watch(state, second, clause);
        }
        (first, second)
    }

    fn watch(&mut self, state: &Assignment, term: Term, clause: u32) {
        let var = term.var as usize;
        if self.watches.len() <= var {
            self.watches.resize_with(var + 1, Vec::new);
            self.is_watched.resize(self.watches.len() / 64 + 1, 0);
        }
        bits::insert(&mut self.is_watched, term.var);
        let word = state.set(term)[0];
        self.watches[var].push(Watch { clause, word });
    }

    /// The clauses that watch a variable which [is watched](Self::is_watched), to be given back with
    /// [`put_watchers`](Self::put_watchers).
    pub(super) fn take_watchers(&mut self, var: Var) -> Vec<Watch> {
        std::mem::take(&mut self.watches[var as usize])
    }

    /// Whether a clause watches a variable, or watched it.
    #[inline]
    pub(super) fn is_watched(&self, var: Var) -> bool {
        (var as usize) < self.watches.len() && bits::contains(&self.is_watched, var)
    }

    pub(super) fn put_watchers(&mut self, var: Var, watchers: Vec<Watch>) {
        let place = &mut self.watches[var as usize];
        if place.is_empty() {
            *place = watchers;
        } else {
            place.extend(watchers);
        }
    }

    /// Looks at a clause after the domain of `var` was reduced. Says which other term cannot hold
    /// any more, or that the clause now watches another variable.
    pub(super) fn visit(&mut self, state: &Assignment, clause: u32, var: Var) -> Visit {
        let Clause { from, until, .. } = self.clauses[clause as usize];
        let terms = &mut self.terms[from as usize..until as usize];
        if terms.len() == 1 {
            return Visit::Unit(terms[0]);
        }
        if terms[0].var == var {
            terms.swap(0, 1);
        }
        if !state.holds(terms[1]) || state.is_excluded(terms[0]) {
            return Visit::Nothing;
        }
        let free = (2..terms.len()).find(|at| !state.holds(terms[*at]));
        let Some(free) = free else {
            return Visit::Unit(terms[0]);
        };
        terms.swap(1, free);
        let watched = terms[1];
        self.watch(state, watched, clause);
        Visit::Moved
    }

    /// The terms of a constraint.
    pub(super) fn terms(&self, state: &Assignment, reason: ClauseRef, terms: &mut Vec<Term>) {
        terms.clear();
        match reason {
            ClauseRef::Given | ClauseRef::Decision => {}
            ClauseRef::Binary(number) => {
                terms.extend([2 * number, 2 * number + 1].map(|at| state.side_term(at)));
            }
            ClauseRef::Clause(number) => {
                let Clause { from, until, .. } = self.clauses[number as usize];
                terms.extend_from_slice(&self.terms[from as usize..until as usize]);
            }
        }
    }

    /// What a constraint rests on. One of two terms is taken to be there.
    pub(super) fn cause(&self, reason: ClauseRef) -> Origin {
        match reason {
            ClauseRef::Given | ClauseRef::Decision => Origin::Problem,
            ClauseRef::Binary(number) => {
                let found = self.causes.binary_search_by_key(&number, |(of, _)| *of);
                found.map_or(Origin::Requirement, |at| self.causes[at].1)
            }
            ClauseRef::Clause(number) => self.clauses[number as usize].cause,
        }
    }

    /// The highest level of the terms of a constraint other than those about `except`.
    #[inline]
    pub(super) fn level(&self, state: &Assignment, reason: ClauseRef, except: Var) -> u32 {
        match reason {
            ClauseRef::Given | ClauseRef::Decision => 0,
            ClauseRef::Binary(number) => {
                let [one, two] = [2 * number, 2 * number + 1];
                let is_one = state.side(two).var == except;
                state.level_of_side(if is_one { one } else { two })
            }
            ClauseRef::Clause(number) => {
                let Clause { from, until, .. } = self.clauses[number as usize];
                self.terms[from as usize..until as usize]
                    .iter()
                    .filter(|term| term.var != except)
                    .map(|term| state.level_of(*term))
                    .max()
                    .unwrap_or(0)
            }
        }
    }

    pub(super) fn add_fact(&mut self, fact: Fact) -> Origin {
        self.facts.push(fact);
        Origin::Fact(to_u32(self.facts.len() - 1))
    }

    /// Goes through the constraints of two terms that a value of an owner can have, unless there are
    /// many values.
    pub(super) fn each_owned(
        &self,
        state: &Assignment,
        owner: Var,
        value: u32,
        mut see: impl FnMut(Term, Term),
    ) {
        if !state.var(owner).is_narrow() {
            return;
        }
        for list in [
            state.var(owner).owned.first,
            self.singles(state, owner, value),
        ] {
            let mut at = list;
            while at != NONE {
                see(state.side_term(at), state.side_term(at ^ 1));
                at = state.side(at).next;
            }
        }
    }
}

/// What a look at a clause says.
pub(super) enum Visit {
    Nothing,
    /// All other terms hold.
    Unit(Term),
    /// The clause watches another variable.
    Moved,
}
