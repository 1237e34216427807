//! Bit sets: slices of words of one length, for sets that are parts of longer lists of words.

#[inline]
pub(crate) fn is_subset(one: &[u64], of: &[u64]) -> bool {
    one.iter().zip(of).all(|(one, of)| one & !of == 0)
}

#[inline]
pub(crate) fn is_disjoint(one: &[u64], two: &[u64]) -> bool {
    one.iter().zip(two).all(|(one, two)| one & two == 0)
}

#[inline]
pub(crate) fn contains(set: &[u64], number: u32) -> bool {
    set[(number / 64) as usize] >> (number % 64) & 1 == 1
}

#[inline]
pub(crate) fn insert(set: &mut [u64], number: u32) {
    set[(number / 64) as usize] |= 1 << (number % 64);
}

/// Inserts a number; returns whether it is new.
#[inline]
pub(crate) fn insert_new(set: &mut [u64], number: u32) -> bool {
    let is_new = !contains(set, number);
    insert(set, number);
    is_new
}

#[inline]
pub(crate) fn remove(set: &mut [u64], number: u32) {
    set[(number / 64) as usize] &= !(1 << (number % 64));
}

/// Removes the numbers of another set.
#[inline]
pub(crate) fn remove_all(set: &mut [u64], others: &[u64]) {
    for (word, others) in set.iter_mut().zip(others) {
        *word &= !others;
    }
}

/// The least number of a set that is not in another one.
#[inline]
pub(crate) fn first_outside(set: &[u64], other: &[u64]) -> Option<u32> {
    first(set.iter().zip(other).map(|(word, other)| word & !other))
}

/// The least number of a set.
#[inline]
pub(crate) fn first(words: impl Iterator<Item = u64>) -> Option<u32> {
    let mut numbered = (0_u32..).step_by(64).zip(words);
    let (base, word) = numbered.find(|(_, word)| *word != 0)?;
    Some(base + word.trailing_zeros())
}

/// The numbers of a set, ascending.
pub(crate) fn numbers(set: &[u64]) -> impl Iterator<Item = u32> {
    let words = (0_u32..).step_by(64).zip(set);
    words.flat_map(|(base, word)| numbers_of_word(*word).map(move |number| base + number))
}

/// The numbers of a word, ascending.
pub(crate) fn numbers_of_word(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = word.trailing_zeros();
        word = word.checked_sub(1).map(|less| word & less)?;
        Some(number)
    })
}

/// The greatest number of a set.
#[inline]
pub(crate) fn last(set: &[u64]) -> Option<u32> {
    let mut numbered = set.iter().enumerate().rev();
    let (at, word) = numbered.find(|(_, word)| **word != 0)?;
    let base = u32::try_from(at).expect("few words") * u64::BITS;
    Some(base + word.ilog2())
}

#[inline]
pub(crate) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// The only number of a set that has one.
#[inline]
pub(crate) fn single(set: &[u64]) -> Option<u32> {
    if let [word] = set {
        return word.is_power_of_two().then(|| word.trailing_zeros());
    }
    let mut found = None;
    for (base, word) in (0_u32..).step_by(64).zip(set) {
        if *word != 0 {
            if found.is_some() || !word.is_power_of_two() {
                return None;
            }
            found = Some(base + word.trailing_zeros());
        }
    }
    found
}

/// How many numbers of a set are below its greatest possible one, which represents absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    Nothing,
    One(u32),
    Several,
}

/// How many numbers of a set are below `absent`, its greatest possible number.
#[inline]
pub(crate) fn below(set: &[u64], absent: u32) -> Below {
    // Nearly all sets are so small.
    if let [word] = set {
        return match word & !(1 << absent) {
            0 => Below::Nothing,
            below if below.is_power_of_two() => Below::One(below.trailing_zeros()),
            _ => Below::Several,
        };
    }
    let mut found = Below::Nothing;
    for (base, word) in (0_u32..).step_by(64).zip(set) {
        let word = match absent.checked_sub(base) {
            Some(bit @ 0..64) => word & !(1 << bit),
            _ => *word,
        };
        if word != 0 {
            if found != Below::Nothing || !word.is_power_of_two() {
                return Below::Several;
            }
            found = Below::One(base + word.trailing_zeros());
        }
    }
    found
}

/// The greatest number below `end`.
#[inline]
pub(crate) fn last_below(set: &[u64], end: u32) -> Option<u32> {
    // Nearly all sets are so small.
    if let [word] = set {
        return (word & ((1 << end) - 1)).checked_ilog2();
    }
    let last = (end / 64) as usize;
    let mask = (1_u64 << (end % 64)) - 1;
    (0..=last).rev().find_map(|at| {
        let word = if at == last { set[at] & mask } else { set[at] };
        let base = u32::try_from(at).expect("few words") * u64::BITS;
        (word != 0).then(|| base + word.ilog2())
    })
}

/// The word of the numbers from 0 to `last`, which is less than 64.
#[inline]
pub(crate) fn up_to(last: u32) -> u64 {
    u64::MAX >> (63 - last)
}

/// Makes a set that of the numbers from 0 to `last`.
#[inline]
pub(crate) fn fill(set: &mut [u64], last: u32) {
    for (base, word) in (0_u32..).step_by(64).zip(set) {
        *word = match last.checked_sub(base) {
            None => 0,
            Some(bits @ 0..64) => up_to(bits),
            Some(_) => u64::MAX,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_filled_with_all_numbers_up_to_one() {
        for last in [0, 1, 62, 63, 64, 126, 127, 128, 191] {
            let mut set = [0; 3];
            fill(&mut set, last);
            let filled = (0..192).filter(|number| contains(&set, *number));
            assert!(filled.eq(0..=last), "{last}");
            if last < 64 {
                assert_eq!(up_to(last), set[0]);
            }
        }
    }

    #[test]
    fn a_number_is_new_once() {
        let mut set = [0; 2];
        for number in [0, 63, 64, 127] {
            assert!(insert_new(&mut set, number));
            assert!(!insert_new(&mut set, number));
            assert!(contains(&set, number));
        }
        assert_eq!(count(&set), 4);
    }
}
