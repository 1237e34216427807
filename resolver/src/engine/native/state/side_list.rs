//! Where a list of constraints of a variable begins.

use crate::index::NONE;

/// Sides of constraints of two terms. The rest of the list is in the sides.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct SideList {
    /// The values of all of their terms. As long as any other value is left, none of these holds, and
    /// the list need not be looked through.
    values: u64,
    pub(crate) first: u32,
}

impl SideList {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_passed_over_if_a_value_is_left_that_no_term_has() {
        let mut list = SideList::EMPTY;
        assert!(!list.may_hold(0b1));
        assert_eq!(list.put(4, 0b011), NONE);
        assert_eq!(list.put(8, 0b110), 4);
        assert_eq!({ list.first }, 8);
        assert!(list.may_hold(0b001));
        assert!(list.may_hold(0b111));
        assert!(!list.may_hold(0b1001));
    }
}
