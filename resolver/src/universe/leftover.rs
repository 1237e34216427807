//! What is left of a universe for the next one with the same index.

use crate::index::CompiledIndex;
use crate::room::Room as _;
use crate::spare::Leftover;

use super::about::About;
use super::seen::Seen;
use super::{Entry, Universe};

/// The longest lists of a universe, empty: those of its packages, and of the names of the first index that
/// was attached.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) packages: Vec<Entry>,
    pub(super) about: Vec<About>,
    pub(super) seen: Vec<Seen>,
    pub(super) classes: Vec<u32>,
}

impl Leftover for Lists {
    fn room(&self) -> usize {
        self.packages.bytes() + self.about.bytes() + self.seen.bytes() + self.classes.bytes()
    }
}

impl Universe {
    /// Takes the lists over that were left with an index, if it is the first one to be attached; gives those of
    /// its names.
    pub(super) fn take_over(&mut self, index: &CompiledIndex) -> (Vec<Seen>, Vec<u32>) {
        let left = self.attached.is_empty().then(|| index.take_spare());
        let Some(left) = left.flatten() else {
            return (Vec::new(), Vec::new());
        };
        let Lists {
            mut packages,
            mut about,
            seen,
            classes,
        } = *left;
        packages.append(&mut self.packages);
        about.append(&mut self.about);
        (self.packages, self.about) = (packages, about);
        (seen, classes)
    }

    /// Something that a solver left which used the same index, if one is attached.
    pub(crate) fn take_spare<T: Leftover>(&self) -> Option<Box<T>> {
        let first = *self.attached.first()?;
        self.shards[first as usize].index().take_spare()
    }

    /// Leaves something for the next solver that uses the same index. It has to be empty.
    pub(crate) fn leave<T: Leftover>(&self, thing: Box<T>) {
        if let Some(first) = self.attached.first() {
            self.shards[*first as usize].index().leave(thing);
        }
    }
}

impl Drop for Universe {
    fn drop(&mut self) {
        let Some(first) = self.attached.first() else {
            return;
        };
        let shard = &mut self.shards[*first as usize];
        let mut lists = Box::new(Lists {
            packages: std::mem::take(&mut self.packages),
            about: std::mem::take(&mut self.about),
            seen: std::mem::take(&mut shard.packages),
            classes: std::mem::take(&mut shard.classes),
        });
        let Lists {
            packages,
            about,
            seen,
            classes,
        } = &mut *lists;
        packages.clear();
        about.clear();
        seen.clear();
        classes.clear();
        self.leave(lists);
    }
}
