//! Sets of positions of versions.
//!
//! The versions of a package are numbered in ascending order, and every set of versions in the
//! solver is a set of these positions. A [`PositionSet`] is a separate value; [`bits`] works on
//! sets that are parts of a longer list of words. Set operations on intervals of versions would
//! allocate and compare; on positions, they take one instruction for nearly every package.

pub(crate) mod bits;

use std::fmt;
use std::sync::Arc;

/// A set of positions in the ascending list of a package's versions.
///
/// A set is a word of 64 bits whose highest bit represents itself and everything above. Only
/// packages with more than 63 versions need several words. Each set has one representation, so
/// equal sets compare equal. The order of sets has no meaning, but it is deterministic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PositionSet(Form);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    One(u64),
    /// Several words, lowest first; all numbers above them are in the set, or none are.
    Many {
        words: Arc<[u64]>,
        above: bool,
    },
}

const BITS: u32 = u64::BITS;

fn fill(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

fn top(word: u64) -> bool {
    word >> (BITS - 1) == 1
}

impl PositionSet {
    pub(crate) const EMPTY: Self = Self(Form::One(0));
    pub(crate) const FULL: Self = Self(Form::One(u64::MAX));

    /// The numbers from `from` to `until`, exclusive.
    pub(crate) fn range(from: u32, until: u32) -> Self {
        if from >= until {
            return Self::EMPTY;
        }
        if until < BITS {
            return Self(Form::One((u64::MAX << from) & !(u64::MAX << until)));
        }
        let mut words = vec![0_u64; until.div_ceil(BITS) as usize];
        for (at, word) in words.iter_mut().enumerate() {
            let base = u32::try_from(at).expect("there are few words") * BITS;
            let low = from.saturating_sub(base).min(BITS);
            let high = until.saturating_sub(base).min(BITS);
            *word = below(high) & !below(low);
        }
        Self::from_words(words, false)
    }

    pub(crate) fn single(number: u32) -> Self {
        Self::range(number, number + 1)
    }

    fn from_words(mut words: Vec<u64>, above: bool) -> Self {
        while words.len() > 1 && words.last() == Some(&fill(above)) {
            words.pop();
        }
        match words.as_slice() {
            [] => Self(Form::One(fill(above))),
            [word] if top(*word) == above => Self(Form::One(*word)),
            _ => Self(Form::Many {
                words: words.into(),
                above,
            }),
        }
    }

    /// The set of words with one bit for each number.
    pub(crate) fn of_words(words: &[u64]) -> Self {
        match words {
            [word] if !top(*word) => Self(Form::One(*word)),
            _ => Self::from_words(words.to_vec(), false),
        }
    }

    /// Writes a bounded set as words with one bit for each number.
    pub(crate) fn copy_to(&self, to: &mut [u64]) {
        let (words, above) = self.words();
        debug_assert!(!above, "an unbounded set has no end");
        to[..words.len()].copy_from_slice(words);
    }

    fn words(&self) -> (&[u64], bool) {
        match &self.0 {
            Form::One(word) => (std::slice::from_ref(word), top(*word)),
            Form::Many { words, above } => (words, *above),
        }
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        let (words, above) = self.words();
        match words.get((number / BITS) as usize) {
            Some(word) => word >> (number % BITS) & 1 == 1,
            None => above,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == Form::One(0)
    }

    pub(crate) fn complement(&self) -> Self {
        match &self.0 {
            Form::One(word) => Self(Form::One(!word)),
            Form::Many { words, above } => Self(Form::Many {
                words: words.iter().map(|word| !word).collect(),
                above: !above,
            }),
        }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        if let (Form::One(one), Form::One(two)) = (&self.0, &other.0) {
            return Self(Form::One(one & two));
        }
        let ((one, above_one), (two, above_two)) = (self.words(), other.words());
        let words = (0..one.len().max(two.len()))
            .map(|at| {
                one.get(at).copied().unwrap_or(fill(above_one))
                    & two.get(at).copied().unwrap_or(fill(above_two))
            })
            .collect();
        Self::from_words(words, above_one && above_two)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        self.complement()
            .intersection(&other.complement())
            .complement()
    }

    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::One(one), Form::One(two)) => one & two == 0,
            _ => self.intersection(other).is_empty(),
        }
    }

    pub(crate) fn is_subset_of(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::One(one), Form::One(two)) => one & !two == 0,
            _ => self.intersection(other) == *self,
        }
    }

    /// The greatest number of a bounded set.
    pub(crate) fn last(&self) -> Option<u32> {
        let (words, above) = self.words();
        debug_assert!(!above, "an unbounded set has no greatest number");
        bits::last(words)
    }

    /// The numbers of a bounded set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (words, above) = self.words();
        debug_assert!(!above, "an unbounded set cannot be listed");
        bits::numbers(words)
    }

    /// How many numbers a bounded set has.
    pub(crate) fn len(&self) -> u32 {
        let (words, above) = self.words();
        debug_assert!(!above, "an unbounded set cannot be counted");
        bits::count(words)
    }
}

/// A word with the lowest `bits` bits set.
fn below(bits: u32) -> u64 {
    if bits >= BITS {
        u64::MAX
    } else {
        !(u64::MAX << bits)
    }
}

impl FromIterator<u32> for PositionSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut words = vec![0_u64; 1];
        for number in numbers {
            let at = (number / BITS) as usize;
            if at >= words.len() {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (number % BITS);
        }
        Self::from_words(words, false)
    }
}

impl fmt::Debug for PositionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for PositionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, above) = self.words();
        if above {
            formatter.write_str("all but ")?;
            return fmt::Display::fmt(&self.complement(), formatter);
        }
        formatter.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(feature = "pubgrub")]
impl pubgrub::VersionSet for PositionSet {
    type V = u32;

    fn empty() -> Self {
        Self::EMPTY
    }

    fn singleton(version: u32) -> Self {
        Self::single(version)
    }

    fn complement(&self) -> Self {
        self.complement()
    }

    fn intersection(&self, other: &Self) -> Self {
        self.intersection(other)
    }

    fn contains(&self, version: &u32) -> bool {
        self.contains(*version)
    }

    fn full() -> Self {
        Self::FULL
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        self.is_disjoint(other)
    }

    fn subset_of(&self, other: &Self) -> bool {
        self.is_subset_of(other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const UNIVERSE: u32 = 300;

    fn numbers() -> impl Strategy<Value = BTreeSet<u32>> {
        prop_oneof![
            proptest::collection::btree_set(0..70_u32, 0..20),
            proptest::collection::btree_set(0..UNIVERSE, 0..40),
        ]
    }

    proptest! {
        #[test]
        fn sets_behave_like_sets(one in numbers(), two in numbers(), flip: bool) {
            let set = |numbers: &BTreeSet<u32>| -> PositionSet { numbers.iter().copied().collect() };
            let (a, mut b) = (set(&one), set(&two));
            prop_assert_eq!(a.iter().collect::<BTreeSet<_>>(), one.clone());
            prop_assert_eq!(a.len() as usize, one.len());
            prop_assert_eq!(a.last(), one.last().copied());
            if flip {
                b = b.complement();
            }
            let (both, either) = (a.intersection(&b), a.union(&b));
            for number in 0..UNIVERSE + 100 {
                let (in_a, in_b) = (one.contains(&number), two.contains(&number) != flip);
                prop_assert_eq!(both.contains(number), in_a && in_b);
                prop_assert_eq!(either.contains(number), in_a || in_b);
                prop_assert_eq!(a.complement().contains(number), !in_a);
            }
            prop_assert_eq!(a.is_disjoint(&b), both.is_empty());
            prop_assert_eq!(a.is_subset_of(&b), both == a);
            prop_assert_eq!(a.complement().complement(), a.clone());
            prop_assert_eq!(a.intersection(&PositionSet::FULL), a);
        }

        #[test]
        fn ranges_hold_their_numbers(from in 0..200_u32, until in 0..200_u32) {
            let expected: PositionSet = (from..until).collect();
            prop_assert_eq!(PositionSet::range(from, until), expected);
        }
    }
}
