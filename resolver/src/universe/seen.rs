//! Which package a name of an index is.

use super::PackageId;
use crate::index::to_u32;

/// The package that a name of an index is, once it was seen.
///
/// This is looked at for each requirement that a search comes across, so it is one number, and tells
/// of nearly all packages what else there is to know of them then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen(u32);

/// The bit that says that a package is [simple](Seen::is_simple).
const SIMPLE: u32 = 1 << 31;

impl Seen {
    /// A package that was seen.
    pub(super) fn new(package: PackageId, is_simple: bool) -> Self {
        let from_one = to_u32(package.position() + 1);
        assert!(from_one < SIMPLE, "there are fewer packages");
        Self(from_one | if is_simple { SIMPLE } else { 0 })
    }

    /// The package, if it was seen.
    #[inline]
    pub(super) fn package(self) -> Option<PackageId> {
        (self.0 & !SIMPLE).checked_sub(1).map(PackageId)
    }

    /// Whether all that the index says of requirements on the package holds, and sets of its
    /// releases take one word. It stays so: a package is delivered once, and what is said in place of
    /// requirements is known before.
    #[inline]
    pub(super) fn is_simple(self) -> bool {
        self.0 & SIMPLE != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_told() {
        assert_eq!(Seen::default().package(), None);
        for is_simple in [false, true] {
            let seen = Seen::new(PackageId(0), is_simple);
            assert_eq!(seen.package(), Some(PackageId(0)));
            assert_eq!(seen.is_simple(), is_simple);
            assert_ne!(seen, Seen::default());
        }
    }
}
