//! Things that are met many times, each with a number.

use pkgres_manifest::{ClassName, PackageName, Spec};
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

/// What can be told apart by where it stands in memory, without looking at it.
pub(super) trait Placed {
    /// The same for all clones of one thing, and for nothing else that there is at the time.
    fn place(&self) -> usize;
}

impl Placed for PackageName {
    fn place(&self) -> usize {
        self.as_str().as_ptr().addr()
    }
}

impl Placed for ClassName {
    fn place(&self) -> usize {
        self.as_str().as_ptr().addr()
    }
}

impl Placed for Spec {
    fn place(&self) -> usize {
        // No spec is written as nothing, so that this is memory of its own.
        self.written().as_ptr().addr()
    }
}

/// Things that are numbered in their order.
pub(super) struct Numbered<'records, T> {
    pub(super) items: Vec<&'records T>,
    /// The numbers by place, because most things that are equal are clones of one. Empty if there are
    /// so few that they are found by looking.
    numbers: FxHashMap<usize, u32>,
}

/// How many things are found by looking as quickly as by hashing.
const FEW: usize = 64;

impl<'records, T: Ord + Placed> Numbered<'records, T> {
    /// Numbers things, each once.
    pub(super) fn sorted(all: impl Iterator<Item = &'records T>) -> Self {
        let mut items: Vec<&T> = Vec::new();
        let mut numbers: FxHashMap<usize, u32> = FxHashMap::default();
        for item in all {
            if items.len() == 4 * FEW && numbers.is_empty() {
                items.retain(|item| numbers.insert(item.place(), 0).is_none());
            }
            if numbers.is_empty() || numbers.insert(item.place(), 0).is_none() {
                items.push(item);
            }
        }
        items.sort_unstable();
        let mut number = 0;
        for (at, item) in items.iter().enumerate() {
            number += u32::from(at > 0 && items[at - 1] != *item);
            numbers.insert(item.place(), number);
        }
        items.dedup();
        if items.len() <= FEW {
            numbers.clear();
        }
        Self { items, numbers }
    }

    /// The number of a thing that was numbered.
    pub(super) fn number(&self, item: &T) -> u32 {
        self.numbers.get(&item.place()).copied().unwrap_or_else(|| {
            let at = self.items.binary_search(&item);
            to_u32(at.expect("everything that is asked for was numbered"))
        })
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
