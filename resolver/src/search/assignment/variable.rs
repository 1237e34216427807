//! Variables: their state, and their watch lists.
//!
//! Variables are accessed in an order that the processor cannot predict: in large problems, a
//! search mostly waits for memory. So the data that each propagation reads is in one cache line,
//! separate from the rest.

use std::ops::Range;

use crate::index::{NONE, width};
use crate::problem::Variable;
use crate::set::bits;

/// The number of a variable (`Var`, as in `MiniSat`), in the order of their creation.
pub(crate) type Var = u32;

/// What nearly every step reads of a variable: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct VarState {
    /// The domain, if there are few values; otherwise the index of the [sets](ValueSet), one after
    /// the other.
    pub(super) domain: u64,
    /// How many values there are; this number itself is "absent".
    pub(crate) values: u32,
    /// The latest entry of the trail.
    pub(super) head: u32,
    /// The highest level of the entries of the trail.
    pub(super) latest_level: u32,
    /// Watches of binary clauses that the variable is the owner of. If there are many values, each
    /// has a list of its own; this is the index of their heads.
    pub(crate) owner_watches: WatchList,
    /// Watches of binary clauses that the variable is the target of.
    pub(crate) target_watches: WatchList,
    /// The index of the list heads, one for each value, of the clauses whose term is that value
    /// alone, or that the variable is absent; [`NONE`] while there are few, which are in the shared
    /// lists.
    pub(crate) single_value_watches: u32,
    /// How many of these there are in the shared lists.
    pub(crate) single_value_count: u8,
    /// The expanded values, if there are few values.
    pub(super) expanded: u64,
    pub(crate) queued: bool,
    /// Whether an expanded release requires the package of the variable: the universe records it
    /// once.
    pub(crate) required: bool,
    /// Whether the variable is listed in the order of decisions.
    pub(crate) listed: bool,
    /// Whether its value has its place in the order of decisions.
    pub(crate) ordered: bool,
    /// Whether the greatest value in the domain is the best one.
    pub(crate) has_default_order: bool,
    /// Whether any value was removed at level zero; if not, the domain there need not be read.
    pub(super) is_reduced_at_level_zero: bool,
}

const _: () = assert!(size_of::<VarState>() == 64);

/// The rest of the state of a variable.
#[derive(Debug)]
pub(crate) struct VarDetails {
    pub(crate) variable: Variable,
    /// The domain at level zero, if there are few values.
    pub(super) level_zero: u64,
    pub(crate) latest_at_level_zero: u32,
    /// The activity: how often the variable took part in conflicts.
    pub(crate) conflicts: u32,
}

/// The sets of values of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValueSet {
    /// The values that are left.
    Domain,
    /// The values whose dependencies are clauses.
    Expanded,
    /// The values that are left at level zero.
    LevelZero,
    /// If there are many values, those whose removal was not propagated.
    Unpropagated,
    /// If there are many values, those that clauses watch.
    Watched,
}

impl ValueSet {
    pub(super) const COUNT: usize = Self::Watched as usize + 1;
}

impl VarState {
    /// A new variable. `words` is the index of its sets, if it has many values.
    pub(super) fn new(values: u32, words: u32) -> Self {
        Self {
            domain: if width(values) == 1 {
                full_word(values)
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

    /// How many words a set of values has.
    #[inline]
    pub(super) fn width(&self) -> usize {
        width(self.values)
    }

    /// Whether a set of values is one word.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.width() == 1
    }

    /// The range of a set of a variable with many values.
    #[inline]
    pub(super) fn range(&self, set: ValueSet) -> Range<usize> {
        debug_assert!(
            !self.is_narrow(),
            "the set of a narrow variable is not among the words"
        );
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
            level_zero: full_word(values),
            latest_at_level_zero: NONE,
            conflicts: 0,
        }
    }
}

/// The word of all values and "absent", which is not read if they do not fit.
fn full_word(values: u32) -> u64 {
    bits::up_to(values.min(u64::BITS - 1))
}

/// The head of a list of literals of binary clauses, which are linked with each other.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct WatchList {
    /// The union of their sets. As long as another value is left, none of the terms holds.
    values: u64,
    pub(crate) first: u32,
}

impl WatchList {
    pub(crate) const EMPTY: Self = Self {
        values: 0,
        first: NONE,
    };

    /// Whether a term of the list can hold with this domain.
    #[inline]
    pub(crate) fn may_hold(self, domain: u64) -> bool {
        domain & !self.values == 0
    }

    /// Puts a literal with this set first; returns the one that was first.
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
    fn a_list_is_skipped_while_a_value_outside_its_terms_is_left() {
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
