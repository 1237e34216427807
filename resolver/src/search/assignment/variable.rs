//! What is kept of a variable.
//!
//! Variables are looked at in no order that the processor could probe: where there are many of them,
//! a search mostly waits for memory. So what it looks at all the time is kept apart from the rest.

use std::ops::Range;

use crate::index::{NONE, width};
use crate::problem::Variable;
use crate::set::bits;

/// The number of a variable, in the order in which the search came across them.
pub(crate) type Var = u32;

/// What is looked at of a variable at nearly every step: no more than a line of the processor's cache.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct VarState {
    /// The domain, if there are few values; otherwise where the [sets](ValueSet) stand, one after the other.
    pub(super) domain: u64,
    /// How many values there are; the number itself stands for "absent".
    pub(crate) values: u32,
    /// The latest entry of the trail.
    pub(super) head: u32,
    /// The highest level of the entries of the trail.
    pub(super) latest_level: u32,
    /// The binary clauses in which a value depends on another variable's. If there are many
    /// values, each has a list of its own; this is where these begin.
    pub(crate) owner_watches: WatchList,
    /// Those in which others depend on it.
    pub(crate) target_watches: WatchList,
    /// Where the lists begin, one a value, of the clauses whose term is that value alone, or that
    /// it is absent; [`NONE`] as long as there are few, which stand among the others.
    pub(crate) single_value_watches: u32,
    /// How many of these there are, as far as that can be counted.
    pub(crate) single_value_count: u8,
    /// The values whose dependencies are known, if there are few values.
    pub(super) expanded: u64,
    pub(crate) queued: bool,
    /// Whether a release that was looked at requires what the variable is of: the universe is told once.
    pub(crate) required: bool,
    /// Whether the variable is among those that the order of decisions will come to.
    pub(crate) listed: bool,
    /// Whether it has its place in the order of decisions.
    pub(crate) ordered: bool,
    /// Whether the greatest value that is left is the best one.
    pub(crate) has_default_order: bool,
    /// Whether any value is gone without a decision; as long as none is, there is no need to look at
    /// which are left.
    pub(super) is_reduced_at_level_zero: bool,
}

const _: () = assert!(size_of::<VarState>() == 64);

/// What else is known of a variable.
#[derive(Debug)]
pub(crate) struct VarDetails {
    pub(crate) variable: Variable,
    /// Those that are left without any decision, if there are few.
    pub(super) level_zero: u64,
    /// The latest reduction that holds without any decision.
    pub(crate) latest_at_level_zero: u32,
    /// How often the variable took part in conflicts.
    pub(crate) conflicts: u32,
}

/// The sets of values that are kept of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValueSet {
    /// The values that are left.
    Domain,
    /// Those whose dependencies are known.
    Expanded,
    /// Those that are left without any decision.
    LevelZero,
    /// If there are many values, those that were not seen to be gone.
    Unpropagated,
    /// If there are many, those that clauses wait for.
    Watched,
}

impl ValueSet {
    pub(super) const COUNT: usize = Self::Watched as usize + 1;
}

impl VarState {
    /// A variable of which nothing is known. `words` is where its sets stand, if it has many values.
    pub(super) fn new(values: u32, words: u32) -> Self {
        Self {
            domain: if width(values) == 1 {
                every(values)
            } else {
                u64::from(words)
            },
            values,
            head: NONE,
            latest_level: 0,
            owner_watches: WatchList::EMPTY,
            target_watches: WatchList::EMPTY,
            single_value_watches: NONE,
            single_value_count: 0,
            expanded: 0,
            queued: false,
            required: false,
            listed: false,
            ordered: false,
            has_default_order: false,
            is_reduced_at_level_zero: false,
        }
    }

    /// How many words a set of values takes.
    #[inline]
    pub(super) fn width(&self) -> usize {
        width(self.values)
    }

    /// Whether there are so few values that a set of them is one word.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.width() == 1
    }

    /// Where a set of a variable with many values stands.
    #[inline]
    pub(super) fn range(&self, set: ValueSet) -> Range<usize> {
        debug_assert!(!self.is_narrow(), "its sets do not stand among the words");
        let width = self.width();
        let words = usize::try_from(self.domain).expect("it is the index of a word");
        let from = words + set as usize * width;
        from..from + width
    }
}

impl VarDetails {
    pub(super) fn new(variable: Variable, values: u32) -> Self {
        Self {
            variable,
            level_zero: every(values),
            latest_at_level_zero: NONE,
            conflicts: 0,
        }
    }
}

/// The word of all values and "absent". Where they do not fit, nobody looks at it.
fn every(values: u32) -> u64 {
    bits::up_to(values.min(u64::BITS - 1))
}

/// Sides of binary clauses. The rest of the list is in the literals.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct WatchList {
    /// The values of all of their terms. As long as any other value is left, none of these holds, and
    /// the list need not be looked through.
    values: u64,
    pub(crate) first: u32,
}

impl WatchList {
    pub(crate) const EMPTY: Self = Self {
        values: 0,
        first: NONE,
    };

    /// Whether a term of the list can hold if these values are left.
    #[inline]
    pub(crate) fn may_hold(self, domain: u64) -> bool {
        domain & !self.values == 0
    }

    /// Puts a literal first, whose term has these values; gives the one that was first.
    #[inline]
    pub(crate) fn push(&mut self, literal: u32, values: u64) -> u32 {
        self.values |= values;
        std::mem::replace(&mut self.first, literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_as_many_values_as_it_has_bits_beside_absent() {
        for (values, is_narrow) in [(0, true), (62, true), (63, true), (64, false), (65, false)] {
            let state = VarState::new(values, 0);
            assert_eq!(state.is_narrow(), is_narrow, "{values}");
            if is_narrow {
                // "Absent" is the greatest number of the set.
                assert_eq!(bits::last(&[state.domain]), Some(values));
                assert_eq!(bits::count(&[state.domain]), values + 1);
            }
        }
    }

    #[test]
    fn a_list_is_passed_over_if_a_value_is_left_that_no_term_has() {
        let mut list = WatchList::EMPTY;
        assert!(!list.may_hold(0b1));
        assert_eq!(list.push(4, 0b011), NONE);
        assert_eq!(list.push(8, 0b110), 4);
        assert_eq!({ list.first }, 8);
        assert!(list.may_hold(0b001));
        assert!(list.may_hold(0b111));
        assert!(!list.may_hold(0b1001));
    }
}
