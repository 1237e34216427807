//! The order in which collections are decided, and the best picks by it.
//!
//! pkgres decides requirements in their order: the first one gets the newest version with which there is a solution,
//! then the next one, then what they require. ansible-core decides in another order, which also differs between its
//! versions. So where both have picks, the first package in that order whose picks differ is newer in ours.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use pkgres_formats::ansible::{ANSIBLE_CORE, ansible_core_version};
use pkgres_manifest::{IndexRecord, PackageName, Version};

use super::resolve::Picks;

/// Releases in which picks are looked up.
pub(crate) struct Releases<'records> {
    by_name: BTreeMap<&'records str, Vec<&'records IndexRecord>>,
    core: Option<Version>,
    allows_prereleases: bool,
}

impl<'records> Releases<'records> {
    /// `core` is the version of ansible-core, if it is known.
    pub(crate) fn new(
        records: impl IntoIterator<Item = &'records IndexRecord>,
        core: Option<&str>,
        allows_prereleases: bool,
    ) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&IndexRecord>> = BTreeMap::new();
        for record in records {
            by_name
                .entry(record.name.as_str())
                .or_default()
                .push(record);
        }
        let mut releases = Self {
            by_name: BTreeMap::new(),
            core: core.and_then(ansible_core_version),
            allows_prereleases,
        };
        for (name, mut of_name) in by_name {
            of_name.sort_by(|one, other| releases.compare(&other.version, &one.version));
            releases.by_name.insert(name, of_name);
        }
        releases
    }

    /// Which of two versions is preferred: the greater one.
    fn compare(&self, one: &Version, other: &Version) -> Ordering {
        let rank = |version: &Version| self.allows_prereleases || !version.is_prerelease();
        (rank(one), one).cmp(&(rank(other), other))
    }

    /// The releases of a package, the preferred one first.
    fn of(&self, name: &str) -> &[&'records IndexRecord] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn release(&self, name: &str, version: &str) -> Option<&'records IndexRecord> {
        let mut releases = self.of(name).iter().copied();
        releases.find(|record| record.version.to_string() == version)
    }

    /// Whether the version of ansible-core is one that a release works with.
    fn fits_core(&self, record: &IndexRecord) -> bool {
        let required = record.requirements.iter();
        let mut required = required.filter(|one| one.package.as_str() == ANSIBLE_CORE);
        required.all(|one| (self.core.as_ref()).is_none_or(|core| one.spec.matches(core)))
    }

    /// The first package, in the order of decisions, in which two right picks differ, and how the first of the two
    /// compares with the second.
    pub(crate) fn first_difference(
        &self,
        root: &IndexRecord,
        one: &BTreeMap<String, String>,
        other: &BTreeMap<String, String>,
    ) -> Option<(PackageName, Ordering)> {
        let mut decided: Vec<&PackageName> = Vec::new();
        let mut requiring = vec![root];
        let mut next = 0;
        while let Some(record) = requiring.get(next).copied() {
            next += 1;
            for package in packages_of(record) {
                if decided.contains(&package) {
                    continue;
                }
                decided.push(package);
                let picked = |picks: &BTreeMap<String, String>| {
                    self.release(package.as_str(), picks.get(package.as_str())?)
                };
                let (picked, other) = (picked(one)?, picked(other)?);
                if picked.version != other.version {
                    let order = self.compare(&picked.version, &other.version);
                    return Some((package.clone(), order));
                }
                requiring.push(picked);
            }
        }
        None
    }

    /// Whether picks have what the root and all picks require, nothing else, and no prerelease that they may not have.
    pub(crate) fn are_right(&self, root: &IndexRecord, picks: &BTreeMap<String, String>) -> bool {
        let releases = picks
            .iter()
            .map(|(name, version)| self.release(name, version));
        let releases: Option<Vec<&IndexRecord>> = releases.collect();
        releases.is_some_and(|releases| self.is_solution(root, &releases))
    }

    fn is_solution(&self, root: &IndexRecord, picks: &[&IndexRecord]) -> bool {
        let requiring = || std::iter::once(root).chain(picks.iter().copied());
        let is_required = |pick: &IndexRecord| {
            requiring().any(|record| packages_of(record).any(|package| *package == pick.name))
        };
        requiring().all(|record| fits(record, picks, true))
            && picks.iter().all(|pick| {
                is_required(pick) && self.fits_core(pick) && self.may_be_picked(pick, requiring())
            })
    }

    /// Whether a release is stable, or prereleases are allowed, or are all that there is, or a requirement names it.
    fn may_be_picked<'one>(
        &self,
        pick: &IndexRecord,
        mut requiring: impl Iterator<Item = &'one IndexRecord>,
    ) -> bool {
        let version = pick.version.to_string();
        let mut others = self.of(pick.name.as_str()).iter();
        self.allows_prereleases
            || !pick.version.is_prerelease()
            || others.all(|other| other.version.is_prerelease())
            || requiring.any(|record| {
                let mut of_package = record.requirements.iter();
                of_package.any(|requirement| {
                    requirement.package == pick.name
                        && requirement.spec.written().trim_start_matches('=') == version
                })
            })
    }

    /// The best picks in the order of decisions, found by trying all.
    pub(crate) fn best(&self, root: &IndexRecord) -> Picks {
        let mut picks = Vec::new();
        self.decide(root, &mut picks).then(|| {
            let texts = picks
                .iter()
                .map(|pick| (pick.name.to_string(), pick.version.to_string()));
            texts.collect()
        })
    }

    fn decide(&self, root: &IndexRecord, picks: &mut Vec<&'records IndexRecord>) -> bool {
        let requiring = std::iter::once(root).chain(picks.iter().copied());
        let is_open = |package: &&PackageName| picks.iter().all(|pick| pick.name != **package);
        let open = requiring.flat_map(packages_of).find(is_open);
        let Some(package) = open.cloned() else {
            return self.is_solution(root, picks);
        };
        for candidate in self.of(package.as_str()) {
            picks.push(candidate);
            let requiring = std::iter::once(root).chain(picks.iter().copied());
            let fits = requiring
                .into_iter()
                .all(|record| fits(record, picks, false));
            if fits && self.fits_core(candidate) && self.decide(root, picks) {
                return true;
            }
            picks.pop();
        }
        false
    }
}

/// The collections that a release requires, in order.
fn packages_of(record: &IndexRecord) -> impl Iterator<Item = &PackageName> {
    let required = record.requirements.iter().map(|one| &one.package);
    required.filter(|package| package.as_str() != ANSIBLE_CORE)
}

/// Whether the picks are what a release requires. Those that are not picked yet may be missing.
fn fits(record: &IndexRecord, picks: &[&IndexRecord], is_complete: bool) -> bool {
    record.requirements.iter().all(|requirement| {
        let pick = picks.iter().find(|pick| pick.name == requirement.package);
        match pick {
            Some(pick) => requirement.spec.matches(&pick.version),
            None => !is_complete || requirement.package.as_str() == ANSIBLE_CORE,
        }
    })
}
