//! Things in the order in which they were first seen.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::to_u32;

/// How many things are found by looking as quickly as by hashing.
const FEW: usize = 16;

/// Different things in the order in which they were first seen, and the number of each.
#[derive(Debug)]
pub(crate) struct FirstSeen<T> {
    things: Vec<T>,
    /// The number of each, once there are more than a few.
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for FirstSeen<T> {
    fn default() -> Self {
        Self {
            things: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> FirstSeen<T> {
    /// The number of a thing, which is the next one if it was not seen before.
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        let next = to_u32(self.things.len());
        if self.things.len() < FEW {
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
    pub(crate) fn things(&self) -> &[T] {
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
        let mut seen = FirstSeen::default();
        for _ in 0..2 {
            for thing in 0..100_u32 {
                assert_eq!(seen.number(thing * 7), thing);
                assert_eq!(seen.number(thing * 7), thing);
            }
        }
        assert_eq!(seen.things().len(), 100);
        seen.clear();
        assert_eq!(seen.number(7), 0);
    }
}
