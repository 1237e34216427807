//! Ids: the dense numbers of packages, releases and other interned things.

/// A package, by the order in which it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PackageId(pub(super) u32);

impl PackageId {
    /// The first package, for tests that need any.
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);

    #[inline]
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

/// A class name, by the order in which it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(pub(super) u32);

/// A release: a package and the position of its version in the ascending list of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReleaseId {
    pub(crate) package: PackageId,
    pub(crate) index: u32,
}
