//! The trees that names form by their only parents, numbered so that whole branches are ranges.
//!
//! A question about a name and one of its ancestors, or about all names below one, then costs no walk: chains of types
//! can be as long as a file allows, and a walk for each type of a chain takes time with the square of its length.

use std::collections::BTreeMap;
use std::ops::Range;

/// Trees of names. Names whose parent is not the only one, or unknown, are roots, and so is one name of each cycle.
pub(crate) struct SingleParents<N> {
    /// The names in preorder.
    order: Vec<N>,
    /// Where each name is in `order`.
    places: BTreeMap<N, usize>,
    /// For each name in `order`: the root of its tree, and the place after the last name below it.
    ranges: Vec<(usize, usize)>,
}

impl<N: Ord + Copy> SingleParents<N> {
    /// The trees of names; `parent` returns the only parent of a name.
    pub(crate) fn new(names: impl Iterator<Item = N>, parent: impl Fn(N) -> Option<N>) -> Self {
        let names: Vec<N> = names.collect();
        let known: BTreeMap<N, Option<N>> = names.iter().map(|name| (*name, None)).collect();
        let parent = |name: N| parent(name).filter(|parent| known.contains_key(parent));
        let mut children: BTreeMap<N, Vec<N>> = BTreeMap::new();
        for name in &names {
            if let Some(parent) = parent(*name) {
                children.entry(parent).or_default().push(*name);
            }
        }
        let mut trees = Self {
            order: Vec::with_capacity(names.len()),
            places: BTreeMap::new(),
            ranges: Vec::with_capacity(names.len()),
        };
        let roots = names.iter().filter(|name| parent(**name).is_none());
        // What no root reaches is in a cycle, or below one. Cutting a cycle anywhere makes a tree of it.
        for root in roots.chain(&names) {
            trees.add_tree(*root, &children);
        }
        trees
    }

    fn add_tree(&mut self, root: N, children: &BTreeMap<N, Vec<N>>) {
        let start = self.order.len();
        let mut holders: Vec<Option<usize>> = Vec::new();
        let mut open = vec![(root, None)];
        while let Some((name, holder)) = open.pop() {
            if self.places.contains_key(&name) {
                continue;
            }
            let place = self.order.len();
            self.places.insert(name, place);
            self.order.push(name);
            self.ranges.push((start, place + 1));
            holders.push(holder);
            let below = children.get(&name).into_iter().flatten();
            open.extend(below.map(|child| (*child, Some(place))));
        }
        for place in (start..self.order.len()).rev() {
            if let Some(holder) = holders[place - start] {
                self.ranges[holder].1 = self.ranges[holder].1.max(self.ranges[place].1);
            }
        }
    }

    /// The names in preorder, each with its place and the place after the last name below it, and whether it is a root.
    pub(crate) fn preorder(&self) -> impl Iterator<Item = (N, usize, usize, bool)> {
        let numbered = self.order.iter().enumerate().zip(&self.ranges);
        numbered.map(|((place, name), (root, end))| (*name, place, *end, *root == place))
    }

    /// The root of the tree of a name.
    pub(crate) fn root(&self, name: N) -> Option<N> {
        let place = self.places.get(&name)?;
        Some(self.order[self.ranges[*place].0])
    }

    /// The place of a name in preorder.
    pub(crate) fn place(&self, name: &N) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The places of a name and of those below it in its tree.
    pub(crate) fn range(&self, name: &N) -> Option<Range<usize>> {
        let place = self.place(name)?;
        Some(place..self.ranges[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_ranges() {
        // 1 has no parent; 5 and 6 are a cycle; 7 has an unknown parent.
        let parents = BTreeMap::from([(2, 1), (3, 2), (4, 1), (5, 6), (6, 5), (7, 9), (8, 6)]);
        let trees = SingleParents::new(1..=8, |name| parents.get(&name).copied());
        let below = |name| {
            (1..=8)
                .filter(|other| {
                    let place = trees.place(other).expect("it is one of them");
                    trees.range(&name).expect("as well").contains(&place)
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(below(1), [1, 2, 3, 4]);
        assert_eq!(below(2), [2, 3]);
        assert_eq!(below(4), [4]);
        assert_eq!(below(5), [5, 6, 8]);
        assert_eq!(below(6), [6, 8]);
        assert_eq!(below(7), [7]);
        let roots: Vec<_> = (1..=9).map(|name| trees.root(name)).collect();
        let expected = [1, 1, 1, 1, 5, 5, 7, 5].map(Some);
        assert_eq!(roots[..8], expected);
        assert_eq!(roots[8], None);
        let preorder: Vec<_> = trees.preorder().filter(|(.., is_root)| *is_root).collect();
        assert_eq!(preorder.len(), 3);
    }
}
