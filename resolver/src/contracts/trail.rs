//! What a search through classes went along, and so depends on.

use crate::universe::{ClassId, ReleaseId};

/// What a search through classes went along.
pub(crate) type Trail = Vec<Lookup>;

/// What a requirement is bound to had a say in what was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup {
    pub(crate) release: ReleaseId,
    pub(crate) edge: usize,
    pub(crate) say: Say,
}

/// How a bound release had a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    /// It was asked for a class, and the search went on in it.
    Entered(ClassId),
    /// It was asked for a class and does not define it.
    Passed(ClassId),
    /// It was asked for a class and defines it; that is all that matters.
    Defines(ClassId),
}

/// The lookups by which a class was found in a required package.
pub(super) fn lookups(release: ReleaseId, provider: usize, class: ClassId, found: Say) -> Trail {
    (0..=provider)
        .map(|edge| Lookup {
            release,
            edge,
            say: if edge == provider {
                found
            } else {
                Say::Passed(class)
            },
        })
        .collect()
}
