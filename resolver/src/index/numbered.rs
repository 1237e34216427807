//! Things that are met many times, each with a number.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::Texts;
use super::column::{ListsBuilder, to_u32};

/// Leaves out what is the same as the one before: most releases require what the release before
/// requires, and have its classes.
pub(super) fn other_than_before<'records, T: PartialEq + 'records>(
    all: impl Iterator<Item = &'records T>,
) -> impl Iterator<Item = &'records T> {
    let mut before = None;
    all.filter(move |item| before.replace(*item) != Some(*item))
}

/// Things that are numbered in their order.
pub(super) struct Numbered<'records, T> {
    pub(super) items: Vec<&'records T>,
    /// Empty if there are so few that they are found by looking.
    numbers: FxHashMap<&'records T, u32>,
}

/// How many things are found by looking as quickly as by hashing.
const FEW: usize = 64;

impl<'records, T: Ord + Hash> Numbered<'records, T> {
    /// Numbers things, each once.
    pub(super) fn sorted(all: impl Iterator<Item = &'records T>) -> Self {
        let mut items: Vec<&T> = Vec::new();
        let mut numbers: FxHashMap<&T, u32> = FxHashMap::default();
        for item in all {
            if items.len() == 4 * FEW && numbers.is_empty() {
                numbers.extend(items.drain(..).map(|item| (item, 0)));
            }
            if numbers.is_empty() {
                items.push(item);
            } else {
                numbers.insert(item, 0);
            }
        }
        items.extend(numbers.drain().map(|(item, _)| item));
        items.sort_unstable();
        items.dedup();
        if items.len() > FEW {
            numbers.extend(items.iter().copied().zip(0..));
        }
        Self { items, numbers }
    }

    /// The number of a thing that was numbered.
    pub(super) fn number(&self, item: &T) -> u32 {
        if self.items.len() > FEW {
            self.numbers[item]
        } else {
            let at = self.items.binary_search(&item);
            to_u32(at.expect("everything that is asked for was numbered"))
        }
    }

    /// The texts of all, in their order.
    pub(super) fn texts(&self, text: impl Fn(&T) -> &str) -> Texts {
        let mut texts = ListsBuilder::new();
        for item in &self.items {
            texts.text(text(item));
        }
        Texts(texts.finish())
    }
}
