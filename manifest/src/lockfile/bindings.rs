//! The versions that the requirements of one release are bound to.

use crate::name::PackageName;
use crate::release::Release;
use crate::version::Version;

/// The versions that the requirements of a release are bound to: one for each required package, sorted by
/// name.
///
/// A lockfile has one of these per release, and most have a handful of packages, so they are lists and not
/// trees.
///
/// ```
/// use pkgres_manifest::{Bindings, PackageName, Version};
///
/// let name = |text| PackageName::parse(text).unwrap();
/// let bindings = Bindings::from_iter([
///     (name("org.acme.Web"), Version::new(1, 0, 0)),
///     (name("org.acme.Db"), Version::new(2, 1, 0)),
/// ]);
/// assert_eq!(bindings.get(&name("org.acme.Db")), Some(&Version::new(2, 1, 0)));
/// assert_eq!(bindings.packages().next(), Some(&name("org.acme.Db")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bindings(Box<[(PackageName, Version)]>);

impl Bindings {
    /// The version that the requirement on a package is bound to.
    pub fn get(&self, package: &PackageName) -> Option<&Version> {
        let found = self.0.binary_search_by(|(bound, _)| bound.cmp(package));
        Some(&self.0[found.ok()?].1)
    }

    /// The number of packages.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bindings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The packages, sorted by name.
    pub fn packages(&self) -> impl Iterator<Item = &PackageName> {
        self.iter().map(|(package, _)| package)
    }

    /// The packages and their versions, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        self.0.iter().map(|(package, version)| (package, version))
    }

    /// Binds the requirement on a package to a version.
    pub fn insert(&mut self, package: PackageName, version: Version) {
        let mut bound = std::mem::take(&mut self.0).into_vec();
        match bound.binary_search_by(|(bound, _)| bound.cmp(&package)) {
            Ok(at) => bound[at].1 = version,
            Err(at) => bound.insert(at, (package, version)),
        }
        self.0 = bound.into_boxed_slice();
    }

    /// Removes the bindings for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&PackageName, &Version) -> bool) {
        let mut bound = std::mem::take(&mut self.0).into_vec();
        bound.retain(|(package, version)| keep(package, version));
        self.0 = bound.into_boxed_slice();
    }
}

impl FromIterator<(PackageName, Version)> for Bindings {
    /// If a package occurs several times, its last version is used.
    fn from_iter<I: IntoIterator<Item = (PackageName, Version)>>(bound: I) -> Self {
        let mut bound: Vec<(PackageName, Version)> = bound.into_iter().collect();
        if !bound.is_sorted_by(|one, two| one.0 < two.0) {
            bound.reverse();
            bound.sort_by(|one, two| one.0.cmp(&two.0));
            bound.dedup_by(|next, kept| next.0 == kept.0);
        }
        Self(bound.into_boxed_slice())
    }
}

impl FromIterator<Release> for Bindings {
    /// Binds each package to the version of its release, as for pairs of both.
    fn from_iter<I: IntoIterator<Item = Release>>(bound: I) -> Self {
        let pairs = bound.into_iter();
        pairs
            .map(|release| (release.name, release.version))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bindings_behave_like_a_map(bound in proptest::collection::vec((0..9_u8, 0..9_u64), 0..12)) {
            let pairs = bound.iter().map(|(name, major)| {
                let name = PackageName::parse(&format!("P{name}")).expect("a name");
                (name, Version::new(*major, 0, 0))
            });
            let map: BTreeMap<PackageName, Version> = pairs.clone().collect();
            let mut inserted = Bindings::default();
            for (name, version) in pairs.clone() {
                inserted.insert(name, version);
            }
            let bindings: Bindings = pairs.collect();
            prop_assert_eq!(&inserted, &bindings);
            prop_assert!(bindings.iter().eq(&map));
            prop_assert!(bindings.packages().eq(map.keys()));
            prop_assert_eq!(bindings.len(), map.len());
            prop_assert_eq!(bindings.is_empty(), map.is_empty());
            let (mut some, mut rest) = (bindings.clone(), map.clone());
            some.retain(|_, version| version.major() > 4);
            rest.retain(|_, version| version.major() > 4);
            prop_assert!(some.iter().eq(&rest));
            for name in 0..10 {
                let name = PackageName::parse(&format!("P{name}")).expect("a name");
                prop_assert_eq!(bindings.get(&name), map.get(&name));
            }
        }
    }
}
