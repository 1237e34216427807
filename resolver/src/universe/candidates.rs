//! Which releases of a package may be chosen, and which of some is the best.

use pkgres_manifest::Version;

use crate::set::PositionSet;
use crate::{Preference, PrereleasePolicy};

/// What is known of a release that decides whether it may be chosen.
pub(super) struct Eligibility<'release> {
    pub(super) version: &'release Version,
    /// Whether it was yanked, or published too late.
    pub(super) excluded: bool,
}

/// The releases of a package that may be chosen, and their order of preference.
///
/// Most packages need none: all releases may be chosen, and the newest is the best.
#[derive(Debug)]
pub(crate) struct Candidates {
    allowed: PositionSet,
    stable: PositionSet,
    /// Locked releases, newest first.
    locked: Vec<u32>,
    /// Releases that are candidates only because they are kept: a last resort.
    last_resort: PositionSet,
    policy: PrereleasePolicy,
    prefer: Preference,
}

impl Candidates {
    /// `releases` are ascending by version. Releases that are yanked or too new are candidates only if they
    /// are locked, and so are prereleases where the policy is never to take them; if they are only `kept`,
    /// they are chosen where nothing else will do.
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
        let those = |are_meant: &dyn Fn(u32, &Eligibility<'_>) -> bool| -> PositionSet {
            let numbered = (0_u32..).zip(releases);
            let meant = numbered.filter(|(at, release)| are_meant(*at, release));
            meant.map(|(at, _)| at).collect()
        };
        Self {
            allowed: those(&|at, release| {
                is_open(release) || is_locked(at) || is_last_resort(at, release)
            }),
            stable: those(&|_, release| is_stable(release)),
            last_resort: those(&is_last_resort),
            locked,
            policy,
            prefer,
        }
    }

    /// The releases that may be chosen.
    pub(super) fn allowed(&self) -> &PositionSet {
        &self.allowed
    }

    pub(super) fn is_last_resort(&self, index: u32) -> bool {
        self.last_resort.contains(index)
    }

    pub(super) fn is_locked(&self, index: u32) -> bool {
        self.locked.contains(&index)
    }

    /// The best of `among`. `prerelease_named` says whether a requirement that is present names a
    /// prerelease, which lifts the preference for stable versions.
    pub(super) fn best(&self, among: &PositionSet, prerelease_named: bool) -> Option<u32> {
        if let Some(locked) = self.locked.iter().find(|locked| among.contains(**locked)) {
            return Some(*locked);
        }
        if !self.last_resort.is_empty() {
            let others = among.intersection(&self.last_resort.complement());
            if let Some(best) = self.best_of_all(&others, prerelease_named) {
                return Some(best);
            }
        }
        self.best_of_all(among, prerelease_named)
    }

    /// Whether one release is better than another one as a version, whatever became of either.
    pub(super) fn is_better_version(&self, one: u32, other: u32, prerelease_named: bool) -> bool {
        let both = PositionSet::single(one).union(&PositionSet::single(other));
        one != other && self.best_of_all(&both, prerelease_named) == Some(one)
    }

    /// The best of `among` if none of them is locked.
    fn best_of_all(&self, among: &PositionSet, prerelease_named: bool) -> Option<u32> {
        if self.policy == PrereleasePolicy::IfNecessary && !prerelease_named {
            let stable = among.intersection(&self.stable);
            if let Some(best) = self.end(&stable) {
                return Some(best);
            }
        }
        self.end(among)
    }

    /// The release that is preferred where nothing but the version counts.
    fn end(&self, among: &PositionSet) -> Option<u32> {
        match self.prefer {
            Preference::Newest => among.last(),
            Preference::Oldest => among.iter().next(),
        }
    }
}
