//! Solutions: the answers of the reference solver, and the locks of universes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_manifest::{PackageName, Release, Version};

/// A resolution: the release that each requirement of each of its releases is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Solution {
    /// The bound version, by requirer, version of the requirer, and required package.
    pub bindings: BTreeMap<(PackageName, Version, PackageName), Version>,
    /// The packages with more than one release.
    pub side_by_side: BTreeSet<PackageName>,
}

impl Solution {
    /// The solution with these bindings. They determine which packages are side by side.
    pub fn new(bindings: BTreeMap<(PackageName, Version, PackageName), Version>) -> Self {
        let mut versions: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        for ((_, _, package), version) in &bindings {
            versions
                .entry(package.clone())
                .or_default()
                .insert(version.clone());
        }
        let side_by_side = versions
            .into_iter()
            .filter(|(_, versions)| versions.len() > 1)
            .map(|(package, _)| package)
            .collect();
        Self {
            bindings,
            side_by_side,
        }
    }

    /// Every release that a requirement is bound to, except that of the root.
    pub fn releases(&self, root: &PackageName) -> BTreeSet<Release> {
        self.bindings
            .iter()
            .filter(|((_, _, package), _)| package != root)
            .map(|((_, _, package), version)| Release::new(package.clone(), version.clone()))
            .collect()
    }
}

/// One line a binding: `A 1.0.0 requires B: 2.0.0`.
impl fmt::Display for Solution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((requirer, version, required), bound) in &self.bindings {
            writeln!(
                formatter,
                "{requirer} {version} requires {required}: {bound}"
            )?;
        }
        Ok(())
    }
}
