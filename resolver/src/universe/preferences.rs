//! What decides which releases may be chosen and which are preferred.

use jiff::Timestamp;
use pkgres_manifest::{IndexRecord, PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::CompiledIndex;
use crate::request::{Locked, Preference, PrereleasePolicy};

use super::candidates::{Candidates, Eligibility};
use super::{ReleaseId, Universe};

/// What is locked where nothing is.
static NOTHING: Locked = Locked::NOTHING;

/// What decides which releases may be chosen and which are preferred.
#[derive(Debug, Default)]
pub(super) struct Preferences {
    prerelease: PrereleasePolicy,
    prefer: Preference,
    exclude_newer: Option<Timestamp>,
    /// What was published too late, of the packages that were delivered.
    too_new: FxHashMap<PackageName, FxHashSet<Version>>,
    /// What is locked, if anything is.
    locked: Option<Box<Locked>>,
    locked_versions: FxHashMap<PackageName, Vec<Version>>,
    kept_versions: FxHashMap<PackageName, Vec<Version>>,
}

impl Preferences {
    pub(super) fn new(prerelease: PrereleasePolicy, locked: Locked) -> Self {
        let mut preferences = Self {
            prerelease,
            ..Self::default()
        };
        if !locked.is_nothing() {
            let kept = locked.kept.iter().map(|(name, version)| (name, version));
            preferences.locked_versions = by_package(locked.releases());
            preferences.kept_versions = by_package(kept);
            preferences.locked = Some(Box::new(locked));
        }
        preferences
    }

    pub(super) fn locked(&self) -> &Locked {
        self.locked.as_deref().unwrap_or(&NOTHING)
    }

    /// The versions of a package that are locked, in any order.
    pub(super) fn locked_versions(&self, package: &PackageName) -> &[Version] {
        let versions = self.locked_versions.get(package);
        versions.map_or(&[], Vec::as_slice)
    }

    /// Keeps in mind which releases were published too late.
    pub(super) fn note_too_new(&mut self, name: &PackageName, records: &[IndexRecord]) {
        let Some(cutoff) = self.exclude_newer else {
            return;
        };
        let too_new: FxHashSet<Version> = records
            .iter()
            .filter(|record| !record.is_published_before(cutoff))
            .map(|record| record.version.clone())
            .collect();
        if !too_new.is_empty() {
            self.too_new.insert(name.clone(), too_new);
        }
    }

    /// Whether no release of any package is preferred but for being the newest.
    #[inline]
    pub(super) fn keep_default_order(&self) -> bool {
        self.locked_versions.is_empty()
            && self.kept_versions.is_empty()
            && self.too_new.is_empty()
            && self.prefer == Preference::Newest
    }

    /// What decides among the releases of a package of an index; nothing if every one may be
    /// chosen and the newest is the best.
    #[inline]
    pub(super) fn candidates(
        &self,
        index: &CompiledIndex,
        number: u32,
        name: impl FnOnce() -> PackageName,
    ) -> Option<Box<Candidates>> {
        if index.has_default_order(number) && self.keep_default_order() {
            return None;
        }
        self.candidates_among(index, number, &name())
    }

    fn candidates_among(
        &self,
        index: &CompiledIndex,
        number: u32,
        name: &PackageName,
    ) -> Option<Box<Candidates>> {
        let locked = self.locked_versions(name);
        let too_new = self.too_new.get(name);
        let newest_is_best = self.prefer == Preference::Newest && too_new.is_none();
        if index.has_default_order(number) && locked.is_empty() && newest_is_best {
            return None;
        }
        let kept = self.kept_versions.get(name);
        let is_too_new = |version| too_new.is_some_and(|versions| versions.contains(version));
        let releases = index.releases(number);
        let versions: Vec<Version> = releases
            .clone()
            .map(|release| index.version(release))
            .collect();
        let eligibilities: Vec<Eligibility<'_>> = releases
            .zip(&versions)
            .map(|(release, version)| Eligibility {
                version,
                excluded: index.is_yanked(release) || is_too_new(version),
            })
            .collect();
        Some(Box::new(Candidates::new(
            &eligibilities,
            locked,
            kept.map_or(&[], Vec::as_slice),
            self.prerelease,
            self.prefer,
        )))
    }
}

/// Versions by the package that they are of.
fn by_package<'lock>(
    releases: impl Iterator<Item = (&'lock PackageName, &'lock Version)>,
) -> FxHashMap<PackageName, Vec<Version>> {
    let mut versions: FxHashMap<PackageName, Vec<Version>> = FxHashMap::default();
    for (name, version) in releases {
        let of_package = versions.entry(name.clone()).or_default();
        of_package.push(version.clone());
    }
    versions
}

impl Universe {
    /// Says which releases are better and which are out of the question. Nothing may have been
    /// delivered before.
    pub(crate) fn prefer(&mut self, prefer: Preference, exclude_newer: Option<Timestamp>) {
        self.preferences.prefer = prefer;
        self.preferences.exclude_newer = exclude_newer;
    }

    /// Whether a release was published too late to be chosen.
    pub(crate) fn is_too_new(&self, release: ReleaseId) -> bool {
        let too_new = self.preferences.too_new.get(self.name(release.package));
        too_new.is_some_and(|versions| versions.contains(self.version(release)))
    }

    /// Whether dates of publication have to be known, which compiled indexes do not hold.
    pub(crate) fn needs_dates(&self) -> bool {
        self.preferences.exclude_newer.is_some()
    }

    pub(crate) fn prerelease_policy(&self) -> PrereleasePolicy {
        self.preferences.prerelease
    }
}
