//! Finds the reductions at level zero from which a term follows.
//!
//! *Problem.* A term holds at level zero because all other values of its variable were removed. A variable with
//! hundreds of values can be reduced hundreds of times, and there is a query for each of these reductions.
//!
//! *Idea.* For each value, record the first reduction that removed it. For a term, it is then enough to look up the
//! values outside of it, instead of replaying the reductions of its variable.

use rustc_hash::FxHashMap;

use crate::index::NONE;
use crate::set::bits;

use super::assignment::{Assignment, Term, Var};

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
    pub(super) fn take_until_holds(&mut self, assignment: &Assignment, term: Term) -> &[u32] {
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

/// The values outside of a term.
fn outside(assignment: &Assignment, term: Term) -> impl Iterator<Item = u32> {
    let mut values = vec![0; assignment.width(term.var)];
    bits::fill(&mut values, assignment.var(term.var).values);
    bits::remove_all(&mut values, assignment.set(term));
    let words = (0_u32..).step_by(64).zip(values);
    words.flat_map(|(base, word)| bits::numbers_of_word(word).map(move |number| base + number))
}
