//! What has to be decided.

use crate::universe::{PackageId, ReleaseId};

/// Something that has to be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    /// A package that has one release; the value is its position.
    Package(PackageId),
    /// A release of a split package; the value is 0 if it is there.
    Release(ReleaseId),
    /// What a requirement on a split package is bound to, by the number of the edge.
    Binding(ReleaseId, u32),
}

impl Variable {
    /// The release that a value of the variable stands for.
    pub(crate) fn release(self, value: u32) -> Option<ReleaseId> {
        match self {
            Self::Package(package) => Some(ReleaseId {
                package,
                index: value,
            }),
            Self::Release(release) => Some(release),
            Self::Binding(..) => None,
        }
    }
}
