//! Whether a resolution exists with a certain release, best or not.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, PackageName, Release, Version};

use super::{Rule, Rules, is_valid};
use crate::solution::Solution;
use crate::universe::Universe;

/// The most steps before the search gives up on a universe.
const MAX_LOOKED_AT: usize = 20_000;

/// A search through all resolutions that consist of allowed releases, for one with a certain release.
struct Enumeration<'universe> {
    universe: &'universe Universe,
    allows: &'universe dyn Fn(&PackageName, &Version) -> bool,
    wanted: Option<&'universe Release>,
    looked_at: usize,
}

impl Enumeration<'_> {
    /// `None` if the search gives up.
    fn finds(&mut self) -> Option<bool> {
        let mut chosen = BTreeMap::new();
        let root = &self.universe.root;
        chosen.insert(root.name.clone(), root.version.clone());
        self.walk(&mut chosen)
    }

    fn record(&self, name: &PackageName, version: &Version) -> &IndexRecord {
        if *name == self.universe.root.name {
            return &self.universe.root;
        }
        let mut records = self.universe.records.iter();
        records
            .find(|record| record.name == *name && record.version == *version)
            .expect("only what there is is chosen")
    }

    fn walk(&mut self, chosen: &mut BTreeMap<PackageName, Version>) -> Option<bool> {
        self.looked_at += 1;
        if self.looked_at > MAX_LOOKED_AT {
            return None;
        }
        let mut bindings = BTreeMap::new();
        let mut open: Option<PackageName> = None;
        for (name, version) in &*chosen {
            let record = self.record(name, version);
            let mut required: Vec<&PackageName> = Vec::new();
            for requirement in &record.requirements {
                if let Some(bound) = chosen.get(&requirement.package)
                    && !requirement.spec.matches(bound)
                {
                    return Some(false);
                }
                required.push(&requirement.package);
            }
            required.extend(self.universe.core.as_ref().filter(|core| *core != name));
            for package in required {
                match chosen.get(package) {
                    Some(bound) => {
                        let key = (name.clone(), version.clone(), package.clone());
                        bindings.insert(key, bound.clone());
                    }
                    None => open = Some(package.clone()),
                }
            }
        }
        let Some(open) = open else {
            let is_there = self
                .wanted
                .is_none_or(|Release { name, version }| chosen.get(name) == Some(version));
            let rules = Rules::without(Rule::SecondTier);
            let found = Solution::new(bindings);
            return Some(is_there && is_valid(self.universe, &found, &rules).is_ok());
        };
        let records = self.universe.records.iter();
        let versions: Vec<Version> = records
            .filter(|record| record.name == open && (self.allows)(&open, &record.version))
            .map(|record| record.version.clone())
            .collect();
        for version in versions {
            chosen.insert(open.clone(), version);
            if self.walk(chosen)? {
                return Some(true);
            }
            chosen.remove(&open);
        }
        Some(false)
    }
}

/// Whether a resolution with one release of each package exists that consists of allowed releases and
/// contains a certain one. `None` if the search gives up.
pub fn exists(
    universe: &Universe,
    allows: &dyn Fn(&PackageName, &Version) -> bool,
    wanted: Option<&Release>,
) -> Option<bool> {
    let mut walk = Enumeration {
        universe,
        allows,
        wanted,
        looked_at: 0,
    };
    walk.finds()
}
