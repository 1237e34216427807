//! The families of random universes. Each has a shape that exercises other rules.

mod inheritance;
mod parts;
mod soup;
mod splits;

use super::draft::Draft;
use crate::random::Random;
use inheritance::{class_cycle, diamond, provider};
use soup::{fill, soup};
use splits::{core_versions, either_split, split};

/// A shape of universes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Packages that require and extend each other at random.
    Soup,
    /// One class inherits from two that share an ancestor.
    Diamond,
    /// Two packages require different releases of the same package.
    Split,
    /// One of two packages has to be split; either is enough.
    EitherSplit,
    /// Two versions of the core library.
    CoreVersions,
    /// Classes of two packages extend each other.
    ClassCycle,
    /// Two packages define one class.
    Provider,
    /// Soup with many prereleases.
    Prereleases,
    /// Soup with many yanked releases.
    Yanks,
    /// Soup with a lock.
    Locks,
}

/// How often each kind of mutation is applied, in percent.
pub(super) struct Rates {
    /// The universe gets a lock.
    pub(super) locked: usize,
    /// A prerelease is added to a package.
    pub(super) prereleases: usize,
    /// A release is yanked.
    pub(super) yanked: usize,
    /// Each of the other mutations.
    pub(super) mutated: usize,
}

impl Family {
    const WEIGHTS: [(Self, usize); 10] = [
        (Self::Soup, 22),
        (Self::Diamond, 18),
        (Self::Split, 23),
        (Self::EitherSplit, 14),
        (Self::CoreVersions, 8),
        (Self::ClassCycle, 16),
        (Self::Provider, 18),
        (Self::Prereleases, 8),
        (Self::Yanks, 6),
        (Self::Locks, 9),
    ];

    pub(super) fn choose(random: &mut Random) -> Self {
        let weights = Self::WEIGHTS.map(|(_, weight)| weight);
        Self::WEIGHTS[random.weighted(&weights)].0
    }

    pub(super) fn rates(self) -> Rates {
        let usual = Rates {
            locked: 18,
            prereleases: 8,
            yanked: 8,
            mutated: 7,
        };
        match self {
            Self::Soup => Rates {
                mutated: 12,
                ..usual
            },
            Self::Prereleases => Rates {
                prereleases: 90,
                ..usual
            },
            Self::Yanks => Rates {
                yanked: 95,
                locked: 25,
                ..usual
            },
            Self::Locks => Rates {
                locked: 100,
                yanked: 20,
                ..usual
            },
            _ => usual,
        }
    }

    pub(super) fn draft(self, random: Random) -> Draft {
        let mut draft = Draft::new(random);
        if self == Self::CoreVersions {
            core_versions(&mut draft);
        } else if draft.random.chance(35) {
            draft.add_quiet_core();
        }
        match self {
            Self::Soup => soup(&mut draft, 62, false),
            Self::Diamond => diamond(&mut draft),
            Self::Split => split(&mut draft),
            Self::EitherSplit => either_split(&mut draft),
            Self::CoreVersions => {}
            Self::ClassCycle => class_cycle(&mut draft),
            Self::Provider => provider(&mut draft),
            Self::Prereleases | Self::Yanks => soup(&mut draft, 25, true),
            Self::Locks if draft.random.chance(25) => split(&mut draft),
            Self::Locks => soup(&mut draft, 30, true),
        }
        fill(&mut draft);
        draft
    }
}
