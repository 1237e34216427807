//! Definers: which releases define which classes for others.
//!
//! The definers of a class are stored as a set of the releases of their package, one bit for each.
//! If a package has many releases that each define different classes, the sets together would be
//! quadratic in the size of the index. In this case, the positions of the releases are stored
//! instead. Releases with unknown classes count as definers of every class; their set is stored
//! once per package.

use super::super::column::ListsBuilder;
use super::super::{CompiledIndex, INTERNAL, NONE, is_worth_a_set, to_u32, width};
use super::Inheritance;
use crate::set::{PositionSet, bits};

/// Flag of the index of definers: their number and positions are there, and not a set.
const POSITIONS: u32 = 1 << 31;

/// The releases of a package that define a class for others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClassDefiners<'index> {
    /// A set of releases.
    Set {
        /// The index of the set.
        at: u32,
        words: &'index [u64],
    },
    /// A few releases of a package with many.
    Few {
        /// Their positions.
        positions: &'index [u64],
        /// The set of those with unknown classes.
        unknown: Option<&'index [u64]>,
    },
}

impl ClassDefiners<'_> {
    /// Whether the release at a position is one.
    pub(crate) fn contain(&self, position: u32) -> bool {
        match self {
            Self::Set { words, .. } => bits::contains(words, position),
            Self::Few { positions, unknown } => {
                positions.binary_search(&u64::from(position)).is_ok()
                    || unknown.is_some_and(|unknown| bits::contains(unknown, position))
            }
        }
    }

    /// Whether the releases of a set are definers, all of them.
    pub(crate) fn contain_all(&self, set: &[u64]) -> bool {
        match self {
            Self::Set { words, .. } => bits::is_subset(set, words),
            Self::Few { .. } => bits::is_subset(set, &self.collect(set.len())),
        }
    }

    /// The definers as a set.
    pub(crate) fn to_set(self, width: usize) -> PositionSet {
        match self {
            Self::Set { words, .. } => PositionSet::of_words(words),
            Self::Few { .. } => PositionSet::of_words(&self.collect(width)),
        }
    }

    /// The words of the set of definers.
    fn collect(&self, width: usize) -> Vec<u64> {
        match self {
            Self::Set { words, .. } => words.to_vec(),
            Self::Few { positions, unknown } => {
                let mut words = unknown.map_or_else(|| vec![0; width], <[u64]>::to_vec);
                for position in *positions {
                    bits::insert(&mut words, position_of(*position));
                }
                words
            }
        }
    }
}

/// A position that was stored as a word.
fn position_of(word: u64) -> u32 {
    u32::try_from(word).expect("positions are less than 2^32")
}

impl Inheritance {
    /// The releases of a package that define a class, if there are any.
    pub(crate) fn definers_of(
        &self,
        index: &CompiledIndex,
        name: u32,
        class: u32,
    ) -> Option<ClassDefiners<'_>> {
        let releases = index.releases(name);
        let width = width(releases.end - releases.start);
        let range = self.defined_by(name);
        let at = match self.defined.items[range.clone()].binary_search(&class) {
            Ok(at) => self.defining[range.start + at],
            Err(_) => return self.unknown_definers(name, width),
        };
        if at & POSITIONS == 0 {
            let words = self.words_at(at as usize, width);
            return Some(ClassDefiners::Set { at, words });
        }
        let at = (at & !POSITIONS) as usize;
        let count = position_of(self.words[at]) as usize;
        let unknown = self.unknown_of(name);
        Some(ClassDefiners::Few {
            positions: &self.words[at + 1..at + 1 + count],
            unknown: unknown.map(|at| self.words_at(at as usize, width)),
        })
    }

    /// The releases of a package that may define any class, because theirs are unknown.
    pub(crate) fn unknown_definers(&self, name: u32, width: usize) -> Option<ClassDefiners<'_>> {
        let at = self.unknown_of(name)?;
        let words = self.words_at(at as usize, width);
        Some(ClassDefiners::Set { at, words })
    }

    pub(super) fn find_definers(&mut self, index: &CompiledIndex) {
        let mut defined = ListsBuilder::new();
        let mut own: Vec<(u32, u32)> = Vec::new();
        for name in 0..index.name_count() {
            let releases = index.releases(name);
            let width = width(releases.end - releases.start);
            let tables = index.tables_of(name);
            let unknown = self.find_unknown(tables.clone(), width);
            self.unknown.push(unknown);
            own.clear();
            for (position, table) in (0_u32..).zip(tables) {
                let Some(table) = table else {
                    continue;
                };
                let range = index.table_classes.range(table);
                let flags = &index.class_flags[range.clone()];
                let classes = &index.table_classes.items[range];
                for (class, flags) in classes.iter().zip(flags) {
                    if flags & INTERNAL == 0 {
                        own.push((*class, position));
                    }
                }
            }
            own.sort_unstable();
            for same in own.chunk_by(|one, two| one.0 == two.0) {
                defined.items.push(same[0].0);
                let positions = same.iter().map(|(_, position)| *position);
                let defining = self.store_definers(name, width, positions);
                self.defining.push(defining);
            }
            defined.end();
        }
        self.defined = defined.finish();
    }

    /// Stores the definers of a class, and returns their index.
    fn store_definers(
        &mut self,
        name: u32,
        width: usize,
        positions: impl ExactSizeIterator<Item = u32>,
    ) -> u32 {
        if !is_worth_a_set(width, positions.len()) {
            let at = to_u32(self.words.len());
            self.words.push(positions.len() as u64);
            self.words.extend(positions.map(u64::from));
            return at | POSITIONS;
        }
        let set = new_set(&mut self.words, width);
        for position in positions {
            insert(&mut self.words, set, position);
        }
        if let Some(unknown) = self.unknown_of(name) {
            for word in 0..width {
                self.words[set as usize + word] |= self.words[unknown as usize + word];
            }
        }
        set
    }

    /// Stores the set of a package's releases with unknown classes, if there are any; `tables` has
    /// the table of each release.
    fn find_unknown(&mut self, tables: impl Iterator<Item = Option<u32>>, width: usize) -> u32 {
        let mut unknown = (0..).zip(tables).filter(|(_, table)| table.is_none());
        let Some(first) = unknown.next() else {
            return NONE;
        };
        self.any_unknown = true;
        let set = new_set(&mut self.words, width);
        for (position, _) in std::iter::once(first).chain(unknown) {
            insert(&mut self.words, set, position);
        }
        set
    }
}

/// Adds an empty set, and returns its index.
pub(super) fn new_set(words: &mut Vec<u64>, width: usize) -> u32 {
    let set = to_u32(words.len());
    words.resize(words.len() + width, 0);
    set
}

/// Inserts a number into the set at an index.
pub(super) fn insert(words: &mut [u64], set: u32, number: u32) {
    bits::insert(&mut words[set as usize..], number);
}
