//! Sets of values that terms refer to. They stay as they are.

use std::ops::Range;

use crate::set::bits;

use super::literals::place;
use super::{Assignment, Var};

/// Where a set stands: among the sets of the search, or in a [side](super::Literal).
pub(crate) type Set = u32;

/// A statement about a variable: its value is in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) var: Var,
    pub(crate) set: Set,
}

impl Assignment {
    /// The words of the set of a term.
    #[inline]
    pub(crate) fn set(&self, term: Term) -> &[u64] {
        match self.set_in_side(term.set) {
            Some(set) => set,
            None => &self.sets[self.range_of(term)],
        }
    }

    /// Where the set of a term stands, unless it is that of a side.
    #[inline]
    pub(super) fn range_of(&self, term: Term) -> Range<usize> {
        let from = term.set as usize;
        from..from + self.width(term.var)
    }

    /// Keeps a set.
    #[inline]
    pub(crate) fn keep(&mut self, words: &[u64]) -> Set {
        let set = place(self.sets.len());
        match words {
            [word] => self.sets.push(*word),
            words => self.sets.extend_from_slice(words),
        }
        set
    }

    /// Keeps an empty set of values of a variable, into which some are to be put.
    #[inline]
    fn keep_empty(&mut self, var: Var) -> Set {
        let (set, width) = (self.sets.len(), self.width(var));
        self.sets.resize(set + width, 0);
        place(set)
    }

    /// Keeps the set of one value.
    pub(crate) fn keep_single(&mut self, var: Var, value: u32) -> Set {
        let set = self.keep_empty(var);
        bits::insert(&mut self.sets[set as usize..], value);
        set
    }

    /// Keeps the set of everything that is not in another one.
    pub(crate) fn keep_complement(&mut self, var: Var, of: &[u64]) -> Set {
        let last = self.var(var).values;
        if let ([of], 1) = (of, self.width(var)) {
            return self.keep(&[bits::up_to(last) & !of]);
        }
        let set = self.keep_empty(var);
        let complement = &mut self.sets[set as usize..];
        bits::fill(complement, last);
        bits::take_away(complement, of);
        set
    }

    /// Keeps the set of all values that are not in another one; "absent" is not among them.
    pub(crate) fn keep_present_complement(&mut self, var: Var, of: &[u64]) -> Set {
        let set = self.keep_complement(var, of);
        let absent = self.var(var).values;
        bits::remove(&mut self.sets[set as usize..], absent);
        set
    }
}
