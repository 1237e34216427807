//! The clause database: terms that cannot all hold (incompatibilities, in the words of `PubGrub`).
//!
//! Nearly all clauses are binary, "these releases require one of those", and wait in lists of their
//! variables (`watch_lists.rs`). Long clauses watch two of their terms (Moskewicz et al. 2001): as
//! long as two terms do not hold, a clause implies nothing.

use crate::index::{NONE, to_u32};
use crate::problem::Fact;
use crate::set::bits;
use crate::universe::ClassId;

use super::assignment::{Assignment, ClauseRef, Literal, Term, Var};
use super::list_copies::ListCopies;

/// Where a clause comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// It is part of the problem.
    Problem,
    /// A requirement: the first term is of the package that requires the second.
    Requirement,
    /// The releases of the first term extend this class; those of the second do not define it.
    Extends(ClassId),
    /// The fact of this number.
    Fact(u32),
    /// Learned from a conflict. The range of its antecedents.
    Learned { from: u32, until: u32 },
}

/// A premise of a learned clause.
#[derive(Debug, Clone, Copy)]
pub(super) enum Antecedent {
    Clause(ClauseRef),
    /// A term holds at level zero, by the first so many reductions there.
    LevelZero(Term, u32),
}

/// A long clause that watches a term of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    pub(super) clause: u32,
    /// The first word of the term's set, which mostly shows that the term does not hold.
    pub(super) word: u64,
}

#[derive(Debug, Clone, Copy)]
struct Clause {
    /// The range of its terms. The first two are watched.
    from: u32,
    until: u32,
    origin: Origin,
}

#[derive(Debug, Default)]
pub(super) struct ClauseDatabase {
    /// The origins of the binary clauses that are no requirements, which are few; ascending.
    origins: Vec<(u32, Origin)>,
    long: Vec<Clause>,
    terms: Vec<Term>,
    watches: Vec<Vec<Watch>>,
    /// The variables that a long clause watches or watched, which are few.
    is_watched: Vec<u64>,
    /// The heads of watch lists: for each value of a variable with many values, the first literal
    /// that watches it; for each value of a variable with many clauses about single values, the
    /// first of these.
    pub(super) heads: Vec<u32>,
    pub(super) antecedents: Vec<Antecedent>,
    /// The looks at clauses and variables since they were [counted](crate::budget::Budget::take_looks).
    pub(super) looks: u64,
    pub(super) facts: Vec<Fact>,
    pub(super) copies: ListCopies,
}

impl ClauseDatabase {
    /// Adds a binary clause. Its first literal is that of the owner.
    #[inline]
    pub(super) fn add_binary(
        &mut self,
        assignment: &mut Assignment,
        mut literals: [Literal; 2],
        origin: Origin,
    ) -> u32 {
        let at = assignment.literal_count();
        let [owner, target] = &mut literals;
        let is_owner_listed = assignment.push_shared_watch(owner, at, |var| &mut var.owner_watches);
        let is_target_listed =
            assignment.push_shared_watch(target, at + 1, |var| &mut var.target_watches);
        assignment.add_literals(literals);
        if !is_owner_listed {
            self.watch_literal(assignment, at);
        }
        if !is_target_listed {
            self.watch_literal(assignment, at + 1);
        }
        let number = at / 2;
        if !matches!(origin, Origin::Requirement) {
            debug_assert!(self.origins.last().is_none_or(|(last, _)| *last < number));
            self.origins.push((number, origin));
        }
        number
    }

    /// Adds a long clause, or one of a single term, without watches.
    pub(super) fn add_clause(&mut self, terms: &[Term], origin: Origin) -> u32 {
        let number = to_u32(self.long.len());
        let from = to_u32(self.terms.len());
        self.terms.extend_from_slice(terms);
        self.long.push(Clause {
            from,
            until: to_u32(self.terms.len()),
            origin,
        });
        number
    }

    pub(super) fn long_count(&self) -> usize {
        self.long.len()
    }

    /// Watches the two terms of a clause that do not hold or began to hold last, and returns them.
    pub(super) fn initialize_watches(
        &mut self,
        assignment: &Assignment,
        clause: u32,
    ) -> (Term, Option<Term>) {
        let Clause { from, until, .. } = self.long[clause as usize];
        let terms = &mut self.terms[from as usize..until as usize];
        let since = |term: &Term| {
            if assignment.holds(*term) {
                assignment.satisfier(*term).map_or(0, |at| at + 1)
            } else {
                NONE
            }
        };
        terms.sort_by_key(|term| std::cmp::Reverse(since(term)));
        let (first, second) = (terms[0], terms.get(1).copied());
        self.watch(assignment, first, clause);
        if let Some(second) = second {
            self.watch(assignment, second, clause);
        }
        (first, second)
    }

    fn watch(&mut self, assignment: &Assignment, term: Term, clause: u32) {
        let var = term.var as usize;
        if self.watches.len() <= var {
            self.watches.resize_with(var + 1, Vec::new);
            self.is_watched.resize(self.watches.len() / 64 + 1, 0);
        }
        bits::insert(&mut self.is_watched, term.var);
        let word = assignment.set(term)[0];
        self.watches[var].push(Watch { clause, word });
    }

    /// Takes the watches of a variable which [is watched](Self::is_watched), until
    /// [`restore_watches`](Self::restore_watches).
    pub(super) fn take_watches(&mut self, var: Var) -> Vec<Watch> {
        std::mem::take(&mut self.watches[var as usize])
    }

    /// Whether a long clause watches a variable, or watched it.
    #[inline]
    pub(super) fn is_watched(&self, var: Var) -> bool {
        (var as usize) < self.watches.len() && bits::contains(&self.is_watched, var)
    }

    pub(super) fn restore_watches(&mut self, var: Var, watches: Vec<Watch>) {
        let watching = &mut self.watches[var as usize];
        if watching.is_empty() {
            *watching = watches;
        } else {
            watching.extend(watches);
        }
    }

    /// Visits a clause that watches `var`, whose domain was reduced.
    pub(super) fn visit(&mut self, assignment: &Assignment, clause: u32, var: Var) -> ClauseStatus {
        let Clause { from, until, .. } = self.long[clause as usize];
        let terms = &mut self.terms[from as usize..until as usize];
        if terms.len() == 1 {
            return ClauseStatus::Unit(terms[0]);
        }
        if terms[0].var == var {
            terms.swap(0, 1);
        }
        if !assignment.holds(terms[1]) || assignment.is_excluded(terms[0]) {
            return ClauseStatus::Open;
        }
        let free = (2..terms.len()).find(|at| !assignment.holds(terms[*at]));
        self.looks += free.unwrap_or(terms.len()) as u64 - 2;
        let Some(free) = free else {
            return ClauseStatus::Unit(terms[0]);
        };
        terms.swap(1, free);
        let watched = terms[1];
        self.watch(assignment, watched, clause);
        ClauseStatus::Moved
    }

    pub(super) fn terms(&self, assignment: &Assignment, reason: ClauseRef, terms: &mut Vec<Term>) {
        terms.clear();
        match reason {
            ClauseRef::Root | ClauseRef::Decision => {}
            ClauseRef::Binary(number) => {
                terms.extend([2 * number, 2 * number + 1].map(|at| assignment.term_of_literal(at)));
            }
            ClauseRef::Long(number) => {
                let Clause { from, until, .. } = self.long[number as usize];
                terms.extend_from_slice(&self.terms[from as usize..until as usize]);
            }
        }
    }

    /// A variable that must get a value: with all variables without one absent, a clause about it would be violated. Only
    /// restricted problems have such variables.
    pub(super) fn variable_in_need(&mut self, assignment: &Assignment) -> Option<Var> {
        let is_absent_in = |term: &Term| {
            let values = assignment.var(term.var).values;
            let may_be_absent = bits::contains(assignment.domain(term.var), values);
            may_be_absent && bits::contains(assignment.set(*term), values)
        };
        let mut looks = 0;
        let found = self.long.iter().find_map(|clause| {
            let terms = &self.terms[clause.from as usize..clause.until as usize];
            looks += terms.len() as u64;
            let mut undecided = terms.iter().filter(|term| !assignment.holds(**term));
            let first = undecided.clone().next()?;
            undecided.all(is_absent_in).then_some(first.var)
        });
        self.looks += looks;
        found
    }

    /// The origin of a clause. A binary clause without a recorded one is a requirement.
    pub(super) fn origin(&self, reason: ClauseRef) -> Origin {
        match reason {
            ClauseRef::Root | ClauseRef::Decision => Origin::Problem,
            ClauseRef::Binary(number) => {
                let found = self.origins.binary_search_by_key(&number, |(of, _)| *of);
                found.map_or(Origin::Requirement, |at| self.origins[at].1)
            }
            ClauseRef::Long(number) => self.long[number as usize].origin,
        }
    }

    /// The highest level of the terms of a clause, without those of the variable `except`.
    #[inline]
    pub(super) fn level(&mut self, assignment: &Assignment, reason: ClauseRef, except: Var) -> u32 {
        match reason {
            ClauseRef::Root | ClauseRef::Decision => 0,
            ClauseRef::Binary(number) => {
                let [one, two] = [2 * number, 2 * number + 1];
                let is_one = assignment.literal(two).var == except;
                assignment.level_of_literal(if is_one { one } else { two })
            }
            ClauseRef::Long(number) => {
                let Clause { from, until, .. } = self.long[number as usize];
                self.looks += u64::from(until - from);
                self.terms[from as usize..until as usize]
                    .iter()
                    .filter(|term| term.var != except)
                    .map(|term| assignment.level_of(*term))
                    .max()
                    .unwrap_or(0)
            }
        }
    }

    pub(super) fn add_fact(&mut self, fact: Fact) -> Origin {
        self.facts.push(fact);
        Origin::Fact(to_u32(self.facts.len() - 1))
    }

    /// Visits the binary clauses that apply to a value of an owner, unless it has many values.
    pub(super) fn for_each_owned(
        &self,
        assignment: &Assignment,
        owner: Var,
        value: u32,
        mut visit_pair: impl FnMut(Term, Term),
    ) {
        if !assignment.var(owner).is_narrow() {
            return;
        }
        for list in [
            assignment.var(owner).owner_watches.first,
            self.single_value_watches(assignment, owner, value),
        ] {
            let mut at = list;
            while at != NONE {
                visit_pair(
                    assignment.term_of_literal(at),
                    assignment.term_of_literal(at ^ 1),
                );
                at = assignment.literal(at).next;
            }
        }
    }
}

/// The result of visiting a clause.
pub(super) enum ClauseStatus {
    Open,
    /// All terms but this one hold.
    Unit(Term),
    /// The clause watches another variable.
    Moved,
}
