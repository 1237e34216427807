//! Interning: a number for each distinct name, spec or class.
//!
//! Compiling meets each name many times. [`SortedNumbers`] numbers a known set in ascending order; [`Interner`] numbers
//! items in the order of their first occurrence. Both compare items directly if there are few, and hash them if there
//! are many.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use pkgres_manifest::{ClassName, PackageName, Spec};
use rustc_hash::FxHashMap;

use super::Texts;
use super::column::to_u32;

/// The items without consecutive repetitions: most releases have the requirements and classes of
/// the release before.
pub(super) fn skip_repeats<'records, T: PartialEq + 'records>(
    all: impl Iterator<Item = &'records T>,
) -> impl Iterator<Item = &'records T> {
    let mut before = None;
    all.filter(move |item| before.replace(*item) != Some(*item))
}

/// A value that its clones share, so that the address identifies it.
pub(super) trait Address {
    /// The address: the same for all clones of one value, and for no other value that exists at the
    /// time.
    fn address(&self) -> usize;
}

impl Address for PackageName {
    fn address(&self) -> usize {
        self.as_str().as_ptr().addr()
    }
}

impl Address for ClassName {
    fn address(&self) -> usize {
        self.as_str().as_ptr().addr()
    }
}

impl Address for Spec {
    fn address(&self) -> usize {
        // No spec is empty, so this is an address of its own.
        self.written().as_ptr().addr()
    }
}

/// Items that are numbered in ascending order.
pub(super) struct SortedNumbers<'records, T> {
    pub(super) items: Vec<&'records T>,
    /// The numbers by address, because most equal items are clones of one. Empty if there are so
    /// few that they are found by binary search.
    numbers: FxHashMap<usize, u32>,
}

/// Up to so many items, binary search is as fast as hashing, however often each occurs.
const MAX_SORTED_ITEMS: usize = 256;

impl<'records, T: Ord + Hash + Address> SortedNumbers<'records, T> {
    /// Numbers the distinct items.
    pub(super) fn sorted(mut all: impl Iterator<Item = &'records T>) -> Self {
        let mut first: Vec<&T> = all.by_ref().take(MAX_SORTED_ITEMS).collect();
        let Some(next) = all.next() else {
            first.sort_unstable();
            first.dedup();
            return Self {
                items: first,
                numbers: FxHashMap::default(),
            };
        };
        // Only items with a new address are compared by text.
        let mut distinct: Vec<&T> = Vec::new();
        let mut texts: FxHashMap<&T, u32> = FxHashMap::default();
        let mut numbers: FxHashMap<usize, u32> = FxHashMap::default();
        for item in first.into_iter().chain([next]).chain(all) {
            if let Entry::Vacant(place) = numbers.entry(item.address()) {
                let number = *texts.entry(item).or_insert_with(|| {
                    distinct.push(item);
                    to_u32(distinct.len() - 1)
                });
                place.insert(number);
            }
        }
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        order.sort_unstable_by_key(|at| distinct[*at]);
        let mut ranks = vec![0; distinct.len()];
        for (rank, at) in (0..).zip(&order) {
            ranks[*at] = rank;
        }
        for number in numbers.values_mut() {
            *number = ranks[*number as usize];
        }
        Self {
            items: order.into_iter().map(|at| distinct[at]).collect(),
            numbers,
        }
    }

    /// The number of an item.
    pub(super) fn number(&self, item: &T) -> u32 {
        self.numbers
            .get(&item.address())
            .copied()
            .unwrap_or_else(|| {
                let at = self.items.binary_search(&item);
                to_u32(at.expect("only numbered items are looked up"))
            })
    }

    /// The texts of all items, in their order.
    pub(super) fn texts(&self, text: impl Fn(&T) -> &str) -> Texts {
        let texts: Vec<&str> = self.items.iter().map(|item| text(item)).collect();
        Texts::of(&texts)
    }
}

/// Up to so many items, linear search is as fast as hashing.
const MAX_LINEAR_ITEMS: usize = 16;

/// Distinct items in the order of their first occurrence, with a number each.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    /// The number of each, if there are many.
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// The number of an item, which is the next one if it is new.
    pub(crate) fn number(&mut self, item: T) -> u32 {
        let next = to_u32(self.items.len());
        if self.items.len() < MAX_LINEAR_ITEMS {
            if let Some(known) = self.items.iter().position(|known| *known == item) {
                return to_u32(known);
            }
        } else {
            if self.numbers.is_empty() {
                self.numbers = self.items.iter().copied().zip(0..).collect();
            }
            let known = *self.numbers.entry(item).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.items.push(item);
        next
    }

    /// All items; the position of each is its number.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Removes all items.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_one_number_however_many_there_are() {
        let mut interner = Interner::default();
        for _ in 0..2 {
            for item in 0..100_u32 {
                assert_eq!(interner.number(item * 7), item);
                assert_eq!(interner.number(item * 7), item);
            }
        }
        assert_eq!(interner.items().len(), 100);
        interner.clear();
        assert_eq!(interner.number(7), 0);
    }
}
