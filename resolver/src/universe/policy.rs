//! The policy of a request: the cut-off date, the lock, preferences and overrides.
//!
//! [`Candidates`] are the result of the policy for the releases of one package: whether yanked releases, prereleases and
//! locked releases may be chosen, and in which order candidates are preferred.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pkgres_manifest::{IndexRecord, PackageName, Release, ReleaseSource, Spec, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::PackageId;
use crate::index::CompiledIndex;
use crate::request::{ClassRules, Locked, Preference, PrereleasePolicy, SolveOptions};
use crate::set::PositionSet;

/// The rules of a request that decide which releases are candidates and which are preferred.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    prerelease: PrereleasePolicy,
    classes: ClassRules,
    prefer: Preference,
    exclude_newer: Option<Timestamp>,
    /// The package on which requirements are left out.
    host_package_of_unknown_version: Option<PackageName>,
    /// Packages of which only these versions are candidates.
    allowed_versions: FxHashMap<PackageName, BTreeSet<Version>>,
    /// Delivered releases that were published at the cut-off date or later.
    too_new: FxHashMap<PackageName, FxHashSet<Version>>,
    locked: Locked,
    locked_versions: FxHashMap<PackageName, Vec<Version>>,
    kept_versions: FxHashMap<PackageName, Vec<Version>>,
    /// Specs that replace those of every requirement on a package.
    overrides: FxHashMap<PackageId, Spec>,
}

impl Policy {
    pub(crate) fn new(options: &SolveOptions, locked: Locked) -> Self {
        let kept = locked
            .kept
            .iter()
            .map(|Release { name, version }| (name, version));
        Self {
            prerelease: options.prerelease,
            classes: options.classes,
            prefer: options.prefer,
            exclude_newer: options.exclude_newer,
            allowed_versions: (options.allowed_versions.iter())
                .map(|(name, versions)| (name.clone(), versions.clone()))
                .collect(),
            host_package_of_unknown_version: options.host_package_of_unknown_version.clone(),
            locked_versions: by_package(locked.releases()),
            kept_versions: by_package(kept),
            locked,
            ..Self::default()
        }
    }

    pub(crate) fn prerelease(&self) -> PrereleasePolicy {
        self.prerelease
    }

    pub(crate) fn class_rules(&self) -> ClassRules {
        self.classes
    }

    /// The package of the host whose version is not known.
    pub(super) fn host_package_of_unknown_version(&self) -> Option<&PackageName> {
        self.host_package_of_unknown_version.as_ref()
    }

    /// Whether publication dates are needed, which compiled indexes do not hold.
    pub(crate) fn needs_dates(&self) -> bool {
        self.exclude_newer.is_some()
    }

    /// Replaces the spec of every requirement on a package. No release may have been delivered before.
    pub(super) fn override_spec(&mut self, package: PackageId, spec: Spec) {
        self.overrides.insert(package, spec);
    }

    /// The overrides, in no particular order.
    pub(super) fn overrides(&self) -> impl Iterator<Item = (PackageId, &Spec)> {
        let overrides = self.overrides.iter();
        overrides.map(|(package, spec)| (*package, spec))
    }

    /// The spec that replaces those of all requirements on a package.
    pub(crate) fn overriding(&self, package: PackageId) -> Option<&Spec> {
        if self.overrides.is_empty() {
            return None;
        }
        self.overrides.get(&package)
    }

    /// What a requirement means, and its stated spec if an override replaces it.
    pub(super) fn effective_spec(&self, package: PackageId, stated: Spec) -> (Spec, Option<Spec>) {
        match self.overriding(package) {
            Some(spec) => (spec.clone(), Some(stated)),
            None => (stated, None),
        }
    }

    pub(crate) fn locked(&self) -> &Locked {
        &self.locked
    }

    /// The locked versions of a package, in no particular order.
    pub(super) fn locked_versions(&self, package: &PackageName) -> &[Version] {
        let versions = self.locked_versions.get(package);
        versions.map_or(&[], Vec::as_slice)
    }

    /// Records which releases of a source were published at the cut-off date or later. Roots, which have no source, and
    /// what the host provides may be newer: they are there already.
    pub(super) fn record_too_new(
        &mut self,
        name: &PackageName,
        source: Option<&ReleaseSource>,
        records: &[IndexRecord],
    ) {
        let Some(cutoff) = self.exclude_newer else {
            return;
        };
        if matches!(source, None | Some(ReleaseSource::Host)) {
            return;
        }
        let too_new: FxHashSet<Version> = records
            .iter()
            .filter(|record| !record.is_published_before(cutoff))
            .map(|record| record.version.clone())
            .collect();
        if !too_new.is_empty() {
            self.too_new.insert(name.clone(), too_new);
        }
    }

    /// The versions of a package that were published at the cut-off date or later, if there are any.
    pub(super) fn too_new(&self, package: &PackageName) -> Option<&FxHashSet<Version>> {
        self.too_new.get(package)
    }

    /// Whether nothing in the request changes the candidates or their order.
    #[inline]
    fn prefers_newest(&self) -> bool {
        self.locked_versions.is_empty()
            && self.kept_versions.is_empty()
            && self.too_new.is_empty()
            && self.allowed_versions.is_empty()
            && self.prefer == Preference::Newest
    }

    /// The candidates of a package of an index; `None` if all releases are candidates and the newest is
    /// the best.
    #[inline]
    pub(super) fn candidates(
        &self,
        index: &CompiledIndex,
        number: u32,
        name: impl FnOnce() -> PackageName,
    ) -> Option<Box<Candidates>> {
        let has_default_order = index.has_default_order(number);
        if has_default_order && self.prefers_newest() {
            return None;
        }
        let name = &name();
        let locked = self.locked_versions(name);
        let too_new = self.too_new.get(name);
        let only = self.allowed_versions.get(name);
        let newest_is_best =
            self.prefer == Preference::Newest && too_new.is_none() && only.is_none();
        if has_default_order && locked.is_empty() && newest_is_best {
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
                is_left_out: only.is_some_and(|versions| !versions.contains(version)),
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

/// Versions by package.
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

/// The facts that decide whether a release is a candidate.
struct Eligibility<'release> {
    version: &'release Version,
    /// Whether it was yanked, or published too late.
    excluded: bool,
    /// Whether it is no candidate, even if it is locked.
    is_left_out: bool,
}

/// The candidates of a package, and their order of preference.
///
/// Most packages need none: all releases are candidates, and the newest is the best.
#[derive(Debug)]
pub(crate) struct Candidates {
    all: PositionSet,
    stable: PositionSet,
    /// Locked releases, newest first.
    locked: Vec<u32>,
    /// Releases that are candidates only because the lock keeps them.
    last_resort: PositionSet,
    policy: PrereleasePolicy,
    prefer: Preference,
}

impl Candidates {
    /// `releases` are ascending by version. The policy excludes yanked and too new releases, and prereleases if it is
    /// `Never`. An excluded release is a candidate if it is locked, and a last resort if it is only `kept`.
    fn new(
        releases: &[Eligibility<'_>],
        locked: &[Version],
        kept: &[Version],
        policy: PrereleasePolicy,
        prefer: Preference,
    ) -> Self {
        let mut locked: Vec<u32> = locked
            .iter()
            .filter_map(|version| {
                let at = releases
                    .binary_search_by(|release| release.version.cmp(version))
                    .ok()?;
                u32::try_from(at).ok()
            })
            .collect();
        locked.sort_unstable_by(|one, two| two.cmp(one));
        locked.dedup();
        let is_stable = |release: &Eligibility<'_>| !release.version.is_prerelease();
        let is_open = |release: &Eligibility<'_>| {
            let by_policy = policy != PrereleasePolicy::Never || is_stable(release);
            !release.excluded && by_policy
        };
        let has_stable = (releases.iter())
            .any(|release| is_stable(release) && is_open(release) && !release.is_left_out);
        let has_to_be_named = |release: &Eligibility<'_>| {
            policy == PrereleasePolicy::IfNamed && has_stable && !is_stable(release)
        };
        let is_locked = |at: u32| locked.contains(&at);
        let is_last_resort = |at: u32, release: &Eligibility<'_>| {
            let is_excluded = !is_open(release) || has_to_be_named(release);
            is_excluded && !is_locked(at) && kept.contains(release.version)
        };
        let select = |matches: &dyn Fn(u32, &Eligibility<'_>) -> bool| -> PositionSet {
            let numbered = (0_u32..).zip(releases);
            let numbered = numbered.filter(|(_, release)| !release.is_left_out);
            let matching = numbered.filter(|(at, release)| matches(*at, release));
            matching.map(|(at, _)| at).collect()
        };
        Self {
            all: select(&|at, release| {
                is_open(release) || is_locked(at) || is_last_resort(at, release)
            }),
            stable: select(&|_, release| is_stable(release)),
            last_resort: select(&is_last_resort),
            locked,
            policy,
            prefer,
        }
    }

    /// The releases that are candidates.
    pub(super) fn all(&self) -> &PositionSet {
        &self.all
    }

    pub(super) fn is_last_resort(&self, index: u32) -> bool {
        self.last_resort.contains(index)
    }

    pub(super) fn is_locked(&self, index: u32) -> bool {
        self.locked.contains(&index)
    }

    /// The best of `among`. If a requirement that is present names a prerelease (`prerelease_named`), stable
    /// versions are not preferred.
    pub(super) fn best(&self, among: &PositionSet, prerelease_named: bool) -> Option<u32> {
        if let Some(locked) = self.locked.iter().find(|locked| among.contains(**locked)) {
            return Some(*locked);
        }
        if !self.last_resort.is_empty() {
            let others = among.intersection(&self.last_resort.complement());
            if let Some(best) = self.best_by_version(&others, prerelease_named) {
                return Some(best);
            }
        }
        self.best_by_version(among, prerelease_named)
    }

    /// Whether one release is better than another by version alone.
    pub(super) fn is_better_version(&self, one: u32, other: u32, prerelease_named: bool) -> bool {
        let both = PositionSet::single(one).union(&PositionSet::single(other));
        one != other && self.best_by_version(&both, prerelease_named) == Some(one)
    }

    /// The best of `among` by version alone.
    fn best_by_version(&self, among: &PositionSet, prerelease_named: bool) -> Option<u32> {
        let prefers_stable = match self.policy {
            PrereleasePolicy::IfNecessary => !prerelease_named,
            PrereleasePolicy::IfNamed => true,
            PrereleasePolicy::Allow | PrereleasePolicy::Never => false,
        };
        if prefers_stable {
            let stable = among.intersection(&self.stable);
            if let Some(best) = self.first_preferred(&stable) {
                return Some(best);
            }
        }
        self.first_preferred(among)
    }

    /// The newest or the oldest of `among`, as preferred.
    fn first_preferred(&self, among: &PositionSet) -> Option<u32> {
        match self.prefer {
            Preference::Newest => among.last(),
            Preference::Oldest => among.iter().next(),
        }
    }
}
