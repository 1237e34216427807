//! Sets of positions of versions.
//!
//! The versions of a package are numbered in ascending order, and every set of versions in the
//! solver is a set of these positions. A [`PositionSet`] is a separate value; [`bits`] works on
//! sets that are parts of a longer list of words. Set operations on intervals of versions would
//! allocate and compare; on positions, they take one instruction for nearly every package.

pub(crate) mod bits;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A set of positions in the ascending list of a package's versions.
///
/// A set is a word of 64 bits whose highest bit represents itself and everything above. Only
/// packages with more than 63 versions need more: the few ends of ranges, or several words. Each set has one
/// representation, so equal sets compare equal. The order of sets has no meaning, but it is deterministic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PositionSet(Form);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    One(u64),
    /// The numbers at which the set begins, ends, begins again and so on, ascending. Nearly all sets are ranges. As
    /// words, those of two packages with 60,000 versions each, whose requirements all differ, would take 900 MB.
    Ends(Arc<[u32]>),
    /// Several words, lowest first; all numbers above them are in the set, or none are. They take less memory than ends.
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

/// The numbers at which words begin and end to have bits, ascending.
fn ends_of(words: &[u64], above: bool) -> impl Iterator<Item = u32> + '_ {
    let mut before = false;
    let changes = words.iter().zip(0..).flat_map(move |(word, at)| {
        let changed = word ^ (word << 1 | u64::from(before));
        before = top(*word);
        bits::numbers_of_word(changed).map(move |number| at * BITS + number)
    });
    let is_open = words.last().is_some_and(|word| top(*word));
    let length = u32::try_from(words.len()).expect("there are few words");
    changes.chain((is_open != above).then_some(length * BITS))
}

impl PositionSet {
    pub(crate) const EMPTY: Self = Self(Form::One(0));
    pub(crate) const FULL: Self = Self(Form::One(u64::MAX));

    /// The numbers from `from` to `until`, exclusive.
    pub(crate) fn range(from: u32, until: u32) -> Self {
        if from >= until {
            Self::EMPTY
        } else {
            Self::from_ends(&[from, until])
        }
    }

    pub(crate) fn single(number: u32) -> Self {
        Self::range(number, number + 1)
    }

    fn from_ends(ends: &[u32]) -> Self {
        match ends {
            [] => Self::EMPTY,
            // The highest bit of a word represents everything above.
            [.., last] if *last < BITS => {
                let mut word = 0;
                for end in ends {
                    word ^= u64::MAX << end;
                }
                Self(Form::One(word))
            }
            [.., last] if ends.len() <= last.div_ceil(BITS) as usize => {
                Self(Form::Ends(ends.into()))
            }
            _ => {
                let (words, above) = words_of(ends);
                Self(Form::Many {
                    words: words.into(),
                    above,
                })
            }
        }
    }

    fn from_words(mut words: Vec<u64>, above: bool) -> Self {
        while words.len() > 1 && words.last() == Some(&fill(above)) {
            words.pop();
        }
        match words.as_slice() {
            [] => return Self(Form::One(fill(above))),
            [word] if top(*word) == above => return Self(Form::One(*word)),
            _ => {}
        }
        if ends_of(&words, above).count() <= words.len() {
            let ends: Vec<u32> = ends_of(&words, above).collect();
            Self(Form::Ends(ends.into()))
        } else {
            Self(Form::Many {
                words: words.into(),
                above,
            })
        }
    }

    /// The set of words with one bit for each number.
    pub(crate) fn of_words(words: &[u64]) -> Self {
        match words {
            [word] if !top(*word) => Self(Form::One(*word)),
            _ => Self::from_words(words.to_vec(), false),
        }
    }

    /// A bounded set as so many words with one bit for each number.
    pub(crate) fn to_words(&self, width: usize) -> Vec<u64> {
        let (words, above) = self.words();
        debug_assert!(!above, "an unbounded set has no end");
        let mut all = vec![0; width];
        all[..words.len()].copy_from_slice(&words);
        all
    }

    pub(crate) fn without(&self, number: u32) -> Self {
        self.intersection(&Self::single(number).complement())
    }

    fn words(&self) -> (Cow<'_, [u64]>, bool) {
        match &self.0 {
            Form::One(word) => (Cow::Borrowed(std::slice::from_ref(word)), top(*word)),
            Form::Ends(ends) => {
                let (words, above) = words_of(ends);
                (Cow::Owned(words), above)
            }
            Form::Many { words, above } => (Cow::Borrowed(words), *above),
        }
    }

    fn ends(&self) -> Cow<'_, [u32]> {
        match &self.0 {
            Form::One(word) => {
                Cow::Owned(ends_of(std::slice::from_ref(word), top(*word)).collect())
            }
            Form::Ends(ends) => Cow::Borrowed(ends),
            Form::Many { words, above } => Cow::Owned(ends_of(words, *above).collect()),
        }
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        let (words, above) = match &self.0 {
            Form::One(word) => (std::slice::from_ref(word), top(*word)),
            Form::Many { words, above } => (&**words, *above),
            Form::Ends(ends) => return ends.partition_point(|end| *end <= number) % 2 == 1,
        };
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
            Form::Ends(ends) => match ends.strip_prefix(&[0]) {
                Some(rest) => Self::from_ends(rest),
                None => Self::from_ends(&[&[0], &**ends].concat()),
            },
            Form::Many { words, above } => {
                Self::from_words(words.iter().map(|word| !word).collect(), !above)
            }
        }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Form::One(one), Form::One(two)) => Self(Form::One(one & two)),
            (Form::Many { .. }, _) | (_, Form::Many { .. }) => {
                let ((one, above_one), (two, above_two)) = (self.words(), other.words());
                let words = (0..one.len().max(two.len()))
                    .map(|at| {
                        one.get(at).copied().unwrap_or(fill(above_one))
                            & two.get(at).copied().unwrap_or(fill(above_two))
                    })
                    .collect();
                Self::from_words(words, above_one && above_two)
            }
            _ => Self::from_ends(&common_ends(&self.ends(), &other.ends())),
        }
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
        let (words, ends) = self.bounded();
        ends.last().map(|end| end - 1).or_else(|| bits::last(words))
    }

    /// The numbers of a bounded set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (words, ends) = self.bounded();
        let ranges = ends.chunks_exact(2);
        bits::numbers(words).chain(ranges.flat_map(|range| range[0]..range[1]))
    }

    /// How many numbers a bounded set has.
    pub(crate) fn len(&self) -> u32 {
        let (words, ends) = self.bounded();
        let ranges = ends.chunks_exact(2);
        bits::count(words) + ranges.map(|range| range[1] - range[0]).sum::<u32>()
    }

    /// The words or the ends of a bounded set; the other is empty.
    fn bounded(&self) -> (&[u64], &[u32]) {
        match &self.0 {
            Form::One(word) => {
                debug_assert!(!top(*word), "an unbounded set has no end");
                (std::slice::from_ref(word), &[])
            }
            Form::Ends(ends) => {
                debug_assert!(ends.len().is_multiple_of(2), "an unbounded set has no end");
                (&[], ends)
            }
            Form::Many { words, above } => {
                debug_assert!(!above, "an unbounded set has no end");
                (words, &[])
            }
        }
    }
}

/// The words of a set with these ends, and whether it has everything above them.
fn words_of(ends: &[u32]) -> (Vec<u64>, bool) {
    let length = ends.last().map_or(0, |last| last.div_ceil(BITS));
    let mut words = vec![0_u64; length as usize];
    for range in ends.chunks(2) {
        let from = range[0];
        let until = range.get(1).copied().unwrap_or(length * BITS);
        let within = (from / BITS) as usize..until.div_ceil(BITS) as usize;
        for (word, base) in words[within]
            .iter_mut()
            .zip((from / BITS * BITS..).step_by(64))
        {
            let low = from.saturating_sub(base).min(BITS);
            let high = (until - base).min(BITS);
            *word |= below(high) & !below(low);
        }
    }
    (words, !ends.len().is_multiple_of(2))
}

/// The ends of what two sets have in common, by their ends.
fn common_ends(one: &[u32], two: &[u32]) -> Vec<u32> {
    let (mut at_one, mut at_two) = (0, 0);
    let mut common = Vec::new();
    while let Some(end) = one.get(at_one).into_iter().chain(two.get(at_two)).min() {
        at_one += usize::from(one.get(at_one) == Some(end));
        at_two += usize::from(two.get(at_two) == Some(end));
        // After an odd number of ends, one is in the set.
        let is_common = at_one % 2 == 1 && at_two % 2 == 1;
        if is_common != (common.len() % 2 == 1) {
            common.push(*end);
        }
    }
    common
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
        let is_unbounded = self.contains(u32::MAX);
        if is_unbounded {
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
            proptest::collection::vec((0..UNIVERSE, 0..UNIVERSE), 0..4).prop_map(|ranges| {
                ranges
                    .into_iter()
                    .flat_map(|(from, until)| from..until)
                    .collect()
            }),
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
