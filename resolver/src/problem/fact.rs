//! What a proof rests on.

use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId};

/// A rule that a proof uses, without regard to which versions of the owner it holds for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    /// Versions of `owner` require `target`, which leaves `allowed`.
    Requires {
        owner: PackageId,
        target: PackageId,
        allowed: PositionSet,
    },
    /// Versions of `owner` extend a class that required packages must define.
    Extends { owner: PackageId, class: ClassId },
    /// Versions of `owner` have classes that extend each other in a cycle.
    OwnCycle { owner: PackageId },
    /// The nogood of this number.
    Nogood(u32),
    /// Certain versions of a package were asked for.
    Wanted { package: PackageId },
    /// A package is to stay at what the lock holds, if it is there at all.
    Stays { package: PackageId },
}

/// Something that is written once and can be changed to allow every version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Relaxation {
    /// What versions of `owner` require of `target`, which leaves `allowed`.
    Requirement {
        owner: PackageId,
        target: PackageId,
        allowed: PositionSet,
    },
    /// What stands in place of every requirement on `target`.
    Override { target: PackageId },
}
