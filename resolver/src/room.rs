//! Room for what a search keeps.
//!
//! A search keeps millions of small things until it ends, in a few long lists. Lists that double when
//! they are full can be half empty, and here that is memory that the program would do without.

/// For how many elements there is room at first. To make room again and again costs small problems more
/// than these few bytes.
const SHORT: usize = 16;

/// From how many elements on lists grow by half of what they have, not by as much.
const LONG: usize = 1 << 8;

/// A list that makes room for more without taking much more than that.
pub(crate) trait Room {
    /// Makes room for so many more elements.
    fn make_room(&mut self, more: usize);
}

impl<T> Room for Vec<T> {
    #[inline]
    fn make_room(&mut self, more: usize) {
        if self.capacity() - self.len() < more {
            grow(self, more);
        }
    }
}

#[cold]
fn grow<T>(list: &mut Vec<T>, more: usize) {
    let length = list.len();
    let step = if length < LONG { length } else { length / 2 };
    list.reserve_exact(step.max(more).max(SHORT));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_nearly_full() {
        let mut list = Vec::new();
        let mut grown = 0;
        for number in 0..1_000_000 {
            let before = list.capacity();
            list.make_room(1);
            list.push(number);
            grown += usize::from(list.capacity() != before);
            assert!(list.capacity() <= (2 * list.len()).max(SHORT));
            if number > 2000 {
                assert!(list.capacity() <= list.len() + list.len() / 2 + 1);
            }
        }
        assert!(grown < 40, "{grown}");
        let room = list.capacity();
        list.make_room(room - list.len());
        assert_eq!(list.capacity(), room);
        list.make_room(2 * room);
        assert!(list.capacity() >= list.len() + 2 * room);
    }
}
