//! Which package a name of an index is, and which class.

use super::{ClassId, PackageId};
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

/// What the names of an index are.
#[derive(Debug, Default)]
pub(super) struct SeenNames {
    /// By name of a package.
    pub(super) packages: Vec<Seen>,
    /// For each class name the class, counted from 1; 0 if it was not seen, as it is beyond the end.
    pub(super) classes: Vec<u32>,
}

impl SeenNames {
    /// Makes places for so many names of packages, of which none was seen.
    pub(super) fn begin(&mut self, packages: usize) {
        self.packages.resize(packages, Seen::default());
    }

    /// The class of a class name, if it was seen.
    pub(super) fn class(&self, number: u32) -> Option<ClassId> {
        let seen = self.classes.get(number as usize)?;
        seen.checked_sub(1).map(ClassId)
    }

    /// Keeps which class a class name is.
    pub(super) fn know_class(&mut self, number: u32, class: ClassId) {
        let known = number as usize + 1;
        if self.classes.len() < known {
            self.classes.resize(known, 0);
        }
        self.classes[number as usize] = class.0 + 1;
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
