//! The candidates of a package, and their order of preference.
//!
//! Decides whether yanked releases, prereleases and locked releases may be chosen, and in which order candidates are
//! preferred.

use pkgres_manifest::Version;

use crate::set::PositionSet;
use crate::{Preference, PrereleasePolicy};

/// What decides whether a release is a candidate.
pub(super) struct Eligibility<'release> {
    pub(super) version: &'release Version,
    /// Whether it was yanked, or published too late.
    pub(super) excluded: bool,
    /// Whether it is no candidate, even if it is locked.
    pub(super) is_left_out: bool,
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
    /// `releases` are ascending by version. A release that is yanked or too new is a candidate only if it is
    /// locked; so is a prerelease if the policy is to take none. If such a release is only `kept`, it is a
    /// last resort.
    pub(super) fn new(
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
        let is_locked = |at: u32| locked.contains(&at);
        let is_last_resort = |at: u32, release: &Eligibility<'_>| {
            !is_open(release) && !is_locked(at) && kept.contains(release.version)
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
