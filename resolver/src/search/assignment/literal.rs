//! Terms and literals: a variable with a set of its values, and where the sets are stored.
//!
//! Most of the memory of a search is literals of binary clauses. So if the variable has few values,
//! the literal itself contains the set, and terms can refer to it there.

use std::ops::Range;

use crate::index::{NONE, to_u32};
use crate::set::bits;

use super::Assignment;
use super::variable::Var;

/// The index of a set, among the sets of the search or in a [literal](super::Literal).
pub(crate) type Set = u32;

/// A statement about a variable: its value is in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) var: Var,
    pub(crate) set: Set,
}

impl Assignment {
    /// The words of the set of a term.
    #[inline]
    pub(crate) fn set(&self, term: Term) -> &[u64] {
        match self.inline_set(term.set) {
            Some(set) => set,
            None => &self.sets[self.stored_range(term)],
        }
    }

    /// The range of a term's set, unless it is inline in a literal.
    #[inline]
    pub(super) fn stored_range(&self, term: Term) -> Range<usize> {
        let from = term.set as usize;
        from..from + self.width(term.var)
    }

    /// Stores a set.
    #[inline]
    pub(crate) fn store(&mut self, words: &[u64]) -> Set {
        let set = stored_set(self.sets.len());
        match words {
            [word] => self.sets.push(*word),
            words => self.sets.extend_from_slice(words),
        }
        set
    }

    /// Stores an empty set of values of a variable, to be filled by the caller.
    #[inline]
    fn store_empty(&mut self, var: Var) -> Set {
        let (set, width) = (self.sets.len(), self.width(var));
        self.sets.resize(set + width, 0);
        stored_set(set)
    }

    /// Stores the set of one value.
    pub(crate) fn store_single(&mut self, var: Var, value: u32) -> Set {
        let set = self.store_empty(var);
        bits::insert(&mut self.sets[set as usize..], value);
        set
    }

    pub(crate) fn store_complement(&mut self, var: Var, of: &[u64]) -> Set {
        let last = self.var(var).values;
        if let ([of], 1) = (of, self.width(var)) {
            return self.store(&[bits::up_to(last) & !of]);
        }
        let set = self.store_empty(var);
        let complement = &mut self.sets[set as usize..];
        bits::fill(complement, last);
        bits::remove_all(complement, of);
        set
    }
}

/// A literal of a binary clause. The other one is its neighbor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal {
    /// The set of the term; if the variable has many values, the index of the set.
    pub(crate) word: u64,
    pub(crate) var: Var,
    /// The next literal in the watch list.
    pub(crate) next: u32,
}

const _: () = assert!(size_of::<Literal>() == 16);

impl Literal {
    /// The literal of a variable with few values.
    #[inline]
    pub(crate) fn of_word(var: Var, word: u64) -> Self {
        let next = NONE;
        Self { word, var, next }
    }

    /// The literal of a variable with many values.
    fn of_set(var: Var, set: Set) -> Self {
        Self::of_word(var, u64::from(set))
    }
}

/// Tag bit: the set is stored inline in the literal of this index.
const INLINE: Set = 1 << 31;

impl Assignment {
    #[inline]
    pub(crate) fn literal(&self, at: u32) -> Literal {
        self.literals[at as usize]
    }

    #[inline]
    pub(crate) fn literal_mut(&mut self, at: u32) -> &mut Literal {
        &mut self.literals[at as usize]
    }

    pub(crate) fn literal_count(&self) -> u32 {
        to_u32(self.literals.len())
    }

    #[inline]
    pub(crate) fn add_literals(&mut self, literals: [Literal; 2]) {
        self.literals.extend_from_slice(&literals);
    }

    #[inline]
    pub(crate) fn term_of_literal(&self, at: u32) -> Term {
        let Literal { word, var, .. } = self.literal(at);
        let set = if self.var(var).is_narrow() {
            at | INLINE
        } else {
            Set::try_from(word).expect("it is the index of a set")
        };
        Term { var, set }
    }

    /// The set of a literal, if the index is tagged as that of one.
    #[inline]
    pub(super) fn inline_set(&self, set: Set) -> Option<&[u64]> {
        let at = set & !INLINE;
        (at != set).then(|| std::slice::from_ref(&self.literals[at as usize].word))
    }

    #[inline]
    pub(crate) fn literal_holds(&self, at: u32) -> bool {
        let Literal { word, var, .. } = self.literal(at);
        let state = self.var(var);
        if state.is_narrow() {
            state.domain & !word == 0
        } else {
            self.query_wide(at, Self::holds)
        }
    }

    /// Whether the term of a literal is excluded: none of its values is left.
    #[inline]
    pub(crate) fn is_literal_excluded(&self, at: u32) -> bool {
        let Literal { word, var, .. } = self.literal(at);
        let state = self.var(var);
        if state.is_narrow() {
            state.domain & word == 0
        } else {
            self.query_wide(at, Self::is_excluded)
        }
    }

    /// The level on which a literal began to hold.
    #[inline]
    pub(crate) fn level_of_literal(&self, at: u32) -> u32 {
        let Literal { word, var, .. } = self.literal(at);
        if self.var(var).is_narrow() {
            self.level_of_set(var, &[word])
        } else {
            self.query_wide(at, Self::level_of)
        }
    }

    /// Queries the term of a literal whose variable has many values, as few have.
    #[inline(never)]
    fn query_wide<Seen>(&self, at: u32, look: impl FnOnce(&Self, Term) -> Seen) -> Seen {
        look(self, self.term_of_literal(at))
    }

    /// A new literal: the value of a variable is in a set.
    #[inline]
    pub(crate) fn literal_of_set(&mut self, var: Var, set: &[u64]) -> Literal {
        match set {
            [word] => Literal::of_word(var, *word),
            set => {
                let set = self.store(set);
                Literal::of_set(var, set)
            }
        }
    }

    pub(crate) fn literal_of_term(&self, term: Term) -> Literal {
        match self.set(term) {
            [word] => Literal::of_word(term.var, *word),
            _ => Literal::of_set(term.var, term.set),
        }
    }

    /// A new literal: a variable has a value.
    pub(crate) fn literal_of_value(&mut self, var: Var, value: u32) -> Literal {
        if self.var(var).is_narrow() {
            return Literal::of_word(var, 1 << value);
        }
        let set = self.store_single(var, value);
        Literal::of_set(var, set)
    }

    /// A new literal: the value of a variable is not in a set.
    #[inline]
    pub(crate) fn literal_of_complement(&mut self, var: Var, of: &[u64]) -> Literal {
        if let [of] = of {
            debug_assert!(self.var(var).is_narrow(), "the set is of the variable");
            return Literal::of_word(var, bits::up_to(self.var(var).values) & !of);
        }
        let set = self.store_complement(var, of);
        Literal::of_set(var, set)
    }
}

/// The index of a set that begins at a word.
#[inline]
pub(super) fn stored_set(from: usize) -> Set {
    let set = to_u32(from);
    assert!(set < INLINE, "there are fewer words");
    set
}
