//! Interning: a number for each distinct name, spec or class.
//!
//! [`SortedNumbers`] numbers a known set in ascending order; [`Interner`] numbers items in the order of their first
//! occurrence.

use std::hash::Hash;

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

/// Items that are numbered in ascending order.
pub(super) struct SortedNumbers<'records, T> {
    pub(super) items: Vec<&'records T>,
    numbers: FxHashMap<&'records T, u32>,
}

impl<'records, T: Ord + Hash> SortedNumbers<'records, T> {
    /// Numbers the distinct items.
    pub(super) fn sorted(all: impl Iterator<Item = &'records T>) -> Self {
        let mut numbers: FxHashMap<&T, u32> = all.map(|item| (item, 0)).collect();
        let mut items: Vec<&T> = numbers.keys().copied().collect();
        items.sort_unstable();
        for (item, number) in items.iter().zip(0..) {
            numbers.insert(item, number);
        }
        Self { items, numbers }
    }

    pub(super) fn number(&self, item: &T) -> u32 {
        self.numbers[item]
    }

    /// The texts of all items, in their order.
    pub(super) fn texts(&self, text: impl Fn(&T) -> &str) -> Texts {
        let texts: Vec<&str> = self.items.iter().map(|item| text(item)).collect();
        Texts::of(&texts)
    }
}

/// Distinct items in the order of their first occurrence, with a number each.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
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
        let known = *self.numbers.entry(item).or_insert(next);
        if known == next {
            self.items.push(item);
        }
        known
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
