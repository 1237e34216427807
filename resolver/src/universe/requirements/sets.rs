//! Sets of releases, by reference: most are in an index, and the others are computed once.

use super::super::catalog::Catalog;
use crate::index::{NONE, to_u32};
use crate::set::PositionSet;

/// A set of releases of one package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SetId {
    pub(super) place: SetPlace,
    pub(super) at: u32,
}

/// Where the words of a set are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SetPlace {
    /// Among the sets of a loaded index that belong to its requirements.
    Index(u32),
    /// Among the sets of a loaded index that belong to its classes.
    Inheritance(u32),
    /// In the [`SetStore`].
    Store,
}

impl SetId {
    /// What a requirement allows of a package that was not delivered.
    pub(super) const UNKNOWN: Self = Self {
        place: SetPlace::Store,
        at: NONE,
    };

    /// A set that belongs to the requirements of a loaded index.
    #[inline]
    pub(super) fn indexed(loaded: u32, at: u32) -> Self {
        let place = SetPlace::Index(loaded);
        Self { place, at }
    }

    /// A set that belongs to the classes of a loaded index.
    pub(in crate::universe) fn inherited(loaded: u32, at: u32) -> Self {
        let place = SetPlace::Inheritance(loaded);
        Self { place, at }
    }
}

/// The sets that are in no index.
#[derive(Debug, Default)]
pub(super) struct SetStore {
    words: Vec<u64>,
}

impl SetStore {
    /// Adds a set, which takes `width` words.
    pub(super) fn add(&mut self, set: &PositionSet, width: usize) -> SetId {
        let at = self.words.len();
        self.words.resize(at + width, 0);
        set.copy_to(&mut self.words[at..]);
        SetId {
            place: SetPlace::Store,
            at: to_u32(at),
        }
    }

    /// The words of a set, of which there are `width`.
    #[inline]
    pub(super) fn words<'set>(
        &'set self,
        catalog: &'set Catalog,
        set: SetId,
        width: usize,
    ) -> &'set [u64] {
        match set.place {
            // Nearly all sets.
            SetPlace::Index(loaded) => catalog.index(loaded).words_at(set.at as usize, width),
            _ => self.words_elsewhere(catalog, set, width),
        }
    }

    #[inline(never)]
    fn words_elsewhere<'set>(
        &'set self,
        catalog: &'set Catalog,
        set: SetId,
        width: usize,
    ) -> &'set [u64] {
        let at = set.at as usize;
        match set.place {
            SetPlace::Index(loaded) => catalog.index(loaded).words_at(at, width),
            SetPlace::Inheritance(loaded) => {
                let inheritance = catalog.index(loaded).inheritance();
                inheritance.words_at(at, width)
            }
            SetPlace::Store => &self.words[at..at + width],
        }
    }
}
