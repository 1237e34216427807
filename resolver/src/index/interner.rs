//! Names with a number.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use pkgres_manifest::{ClassName, PackageName, Spec};
use rustc_hash::FxHashMap;

use super::Texts;
use super::column::to_u32;

/// Leaves out what is the same as the one before: most releases require what the release before
/// requires, and have its classes.
pub(super) fn skip_repeats<'records, T: PartialEq + 'records>(
    all: impl Iterator<Item = &'records T>,
) -> impl Iterator<Item = &'records T> {
    let mut before = None;
    all.filter(move |item| before.replace(*item) != Some(*item))
}

/// What can be shown apart by where it stands in memory, without looking at it.
pub(super) trait Address {
    /// The same for all clones of one thing, and for nothing else that there is at the time.
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
        // No spec is written as nothing, so that this is memory of its own.
        self.written().as_ptr().addr()
    }
}

/// Things that are numbered in their order.
pub(super) struct SortedNumbers<'records, T> {
    pub(super) items: Vec<&'records T>,
    /// The numbers by place, because most things that are equal are clones of one. Empty if there are
    /// so few that they are found by looking.
    numbers: FxHashMap<usize, u32>,
}

/// How many things are found by looking as quickly as by hashing, however often each occurs.
const MAX_SORTED_ITEMS: usize = 256;

impl<'records, T: Ord + Hash + Address> SortedNumbers<'records, T> {
    /// Numbers things, each once.
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
        // By text only what was not seen in the same place.
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

    /// The number of a thing that was numbered.
    pub(super) fn number(&self, item: &T) -> u32 {
        self.numbers
            .get(&item.address())
            .copied()
            .unwrap_or_else(|| {
                let at = self.items.binary_search(&item);
                to_u32(at.expect("everything that is asked for was numbered"))
            })
    }

    /// The texts of all, in their order.
    pub(super) fn texts(&self, text: impl Fn(&T) -> &str) -> Texts {
        let texts: Vec<&str> = self.items.iter().map(|item| text(item)).collect();
        Texts::of(&texts)
    }
}

/// How many things are found by looking as quickly as by hashing.
const MAX_LINEAR_ITEMS: usize = 16;

/// Different things in the order in which they were first seen, and the number of each.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    things: Vec<T>,
    /// The number of each, once there are more than a few.
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self {
            things: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// The number of a thing, which is the next one if it was not seen before.
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        let next = to_u32(self.things.len());
        if self.things.len() < MAX_LINEAR_ITEMS {
            if let Some(known) = self.things.iter().position(|known| *known == thing) {
                return to_u32(known);
            }
        } else {
            if self.numbers.is_empty() {
                self.numbers = self.things.iter().copied().zip(0..).collect();
            }
            let known = *self.numbers.entry(thing).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.things.push(thing);
        next
    }

    /// All things; the place of each is its number.
    pub(crate) fn items(&self) -> &[T] {
        &self.things
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.things.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_one_number_however_many_there_are() {
        let mut seen = Interner::default();
        for _ in 0..2 {
            for thing in 0..100_u32 {
                assert_eq!(seen.number(thing * 7), thing);
                assert_eq!(seen.number(thing * 7), thing);
            }
        }
        assert_eq!(seen.items().len(), 100);
        seen.clear();
        assert_eq!(seen.number(7), 0);
    }
}
