//! Duplicates in lists.

use std::collections::HashSet;
use std::hash::Hash;

use super::IndexedClass;
use crate::name::ClassName;

/// The most items for which comparing all pairs is faster than hashing.
const FEW: usize = 16;

/// The first key in a list that an item before it has too.
///
/// Real packages require a handful of others, and real classes extend one or two, so nearly no list needs an
/// allocation. A foreign index can have lists of any length, which take linear time.
pub(super) fn first_repeated<'item, Item, Key: Eq + Hash>(
    items: &'item [Item],
    key: impl Fn(&'item Item) -> &'item Key,
) -> Option<&'item Key> {
    if items.len() <= FEW {
        return items.iter().enumerate().find_map(|(at, item)| {
            let found = key(item);
            let is_before = |other: &'item Item| key(other) == found;
            items[..at].iter().any(is_before).then_some(found)
        });
    }
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().map(key).find(|key| !seen.insert(*key))
}

/// The error for two classes with one name.
#[derive(Debug, thiserror::Error)]
#[error("the class `{0}` appears twice")]
pub(super) struct ClassTwice(ClassName);

/// Sorts classes by name. A duplicate is an error.
pub(super) fn sort(classes: &mut [IndexedClass]) -> Result<(), ClassTwice> {
    classes.sort_by(|one, two| one.name.cmp(&two.name));
    let mut pairs = classes.windows(2);
    match pairs.find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(ClassTwice(pair[0].name.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length() {
        for length in [0, 1, 2, FEW, FEW + 1, 10_000] {
            let mut items: Vec<usize> = (0..length).collect();
            assert_eq!(first_repeated(&items, |item| item), None);
            items.extend([0, 1]);
            let first = (length > 0).then_some(&0);
            assert_eq!(first_repeated(&items, |item| item), first);
        }
    }
}
