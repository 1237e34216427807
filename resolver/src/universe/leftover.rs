//! What is left of a universe for the next one with the same index.

use crate::index::CompiledIndex;
use crate::spare::Leftover;

use super::about::About;
use super::seen::SeenNames;
use super::{Entry, Universe};

/// The longest lists of a universe: those of its packages, and of the names of the first index that was
/// attached.
#[derive(Debug, Default)]
struct Lists {
    packages: Vec<Entry>,
    about: Vec<About>,
    names: SeenNames,
}

impl Leftover for Lists {
    fn empty(&mut self) -> usize {
        let Self {
            packages,
            about,
            names,
        } = self;
        packages.empty() + about.empty() + names.empty()
    }
}

impl Leftover for SeenNames {
    fn empty(&mut self) -> usize {
        let Self { packages, classes } = self;
        packages.empty() + classes.empty()
    }
}

impl Universe {
    /// Takes the lists over that were left with an index, if it is the first one to be attached; gives those of
    /// its names.
    pub(super) fn take_over(&mut self, index: &CompiledIndex) -> SeenNames {
        let left = self.attached.is_empty().then(|| index.take_spare());
        let Some(left) = left.flatten() else {
            return SeenNames::default();
        };
        let Lists {
            mut packages,
            mut about,
            names,
        } = *left;
        packages.append(&mut self.packages);
        about.append(&mut self.about);
        (self.packages, self.about) = (packages, about);
        names
    }

    /// Something that a solver left which used the same index, if one is attached.
    pub(crate) fn take_spare<T: Leftover>(&self) -> Option<Box<T>> {
        let first = *self.attached.first()?;
        self.shards[first as usize].index().take_spare()
    }

    /// Leaves something for the next solver that uses the same index.
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
        let lists = Box::new(Lists {
            packages: std::mem::take(&mut self.packages),
            about: std::mem::take(&mut self.about),
            names: std::mem::take(&mut shard.seen),
        });
        self.leave(lists);
    }
}
