//! The lists of constraints of a variable that most of them stand in.

use crate::index::NONE;
use crate::set::bits::{self, Below};

use super::{Assignment, Literal, VarState};

/// How many constraints about single values a variable with few values has before these stand in
/// lists of their own.
pub(crate) const MANY_SINGLES: u8 = 16;

/// Sides of constraints of two terms. The rest of the list is in the sides.
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

    /// Puts a side first, whose term has these values; gives the one that was first.
    #[inline]
    pub(crate) fn put(&mut self, side: u32, values: u64) -> u32 {
        self.values |= values;
        std::mem::replace(&mut self.first, side)
    }
}

impl Assignment {
    /// Puts a side that comes to stand at a place into a list of its variable, if it has few values and
    /// needs no other list, as nearly all do; says whether it did.
    #[inline]
    pub(crate) fn list_among_others(
        &mut self,
        side: &mut Literal,
        at: u32,
        list: impl FnOnce(&mut VarState) -> &mut WatchList,
    ) -> bool {
        let var = self.var_mut(side.var);
        if !var.is_narrow() {
            return false;
        }
        if bits::below(&[side.word], var.values) != Below::Several {
            if var.singles != NONE || var.single_count == MANY_SINGLES {
                return false;
            }
            var.single_count += 1;
        }
        side.next = list(var).put(at, side.word);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_passed_over_if_a_value_is_left_that_no_term_has() {
        let mut list = WatchList::EMPTY;
        assert!(!list.may_hold(0b1));
        assert_eq!(list.put(4, 0b011), NONE);
        assert_eq!(list.put(8, 0b110), 4);
        assert_eq!({ list.first }, 8);
        assert!(list.may_hold(0b001));
        assert!(list.may_hold(0b111));
        assert!(!list.may_hold(0b1001));
    }
}
