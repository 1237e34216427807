//! Why the policy excludes a release.

use std::fmt;

use super::{ReleaseId, Universe};

/// The reason for which a release is chosen only if it is locked or requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Exclusion {
    /// It was yanked.
    Yanked,
    /// It was published after the cut-off date.
    TooNew,
}

impl Exclusion {
    /// Why the policy excludes a release, if it does.
    pub(crate) fn of(universe: &Universe, release: ReleaseId) -> Option<Self> {
        let catalog = &universe.catalog;
        if catalog.is_yanked(release) {
            Some(Self::Yanked)
        } else if catalog.is_too_new(release) {
            Some(Self::TooNew)
        } else {
            None
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Yanked => "was yanked",
            Self::TooNew => "was published too late",
        })
    }
}
