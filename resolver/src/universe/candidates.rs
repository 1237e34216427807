//! Which releases of a package may be chosen, and which of some is the best.

use pkgres_manifest::Version;

use crate::word_set::WordSet;
use crate::{Preference, PrereleasePolicy};

/// What is known of a release that decides whether it may be chosen.
pub(super) struct Standing<'release> {
    pub(super) version: &'release Version,
    /// Whether it was withdrawn, or published too late.
    pub(super) excluded: bool,
}

/// The releases of a package that may be chosen, and their order of preference.
///
/// Most packages need none: all releases may be chosen, and the newest is the best.
#[derive(Debug)]
pub(crate) struct Candidates {
    allowed: WordSet,
    stable: WordSet,
    /// Locked releases, newest first.
    locked: Vec<u32>,
    policy: PrereleasePolicy,
    prefer: Preference,
}

impl Candidates {
    /// `releases` are ascending by version. Releases that are withdrawn or too new are candidates only if they
    /// are locked, and so are prereleases where the policy is never to take them.
    pub(super) fn new(
        releases: &[Standing<'_>],
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
        let is_stable = |release: &Standing<'_>| !release.version.is_prerelease();
        let is_allowed = |at: u32, release: &Standing<'_>| {
            let by_policy = policy != PrereleasePolicy::Never || is_stable(release);
            let is_kept = locked.contains(&at) || kept.contains(release.version);
            (!release.excluded && by_policy) || is_kept
        };
        let numbered = || (0_u32..).zip(releases);
        Self {
            allowed: numbered()
                .filter(|(at, release)| is_allowed(*at, release))
                .map(|(at, _)| at)
                .collect(),
            stable: numbered()
                .filter(|(_, release)| is_stable(release))
                .map(|(at, _)| at)
                .collect(),
            locked,
            policy,
            prefer,
        }
    }

    /// The releases that may be chosen.
    pub(super) fn allowed(&self) -> &WordSet {
        &self.allowed
    }

    pub(super) fn is_locked(&self, index: u32) -> bool {
        self.locked.contains(&index)
    }

    /// The best of `among`. `prerelease_named` says whether a requirement that is present names a
    /// prerelease, which lifts the preference for stable versions.
    pub(super) fn best(&self, among: &WordSet, prerelease_named: bool) -> Option<u32> {
        if let Some(locked) = self.locked.iter().find(|locked| among.contains(**locked)) {
            return Some(*locked);
        }
        if self.policy == PrereleasePolicy::IfNecessary && !prerelease_named {
            let stable = among.intersection(&self.stable);
            if let Some(best) = self.end(&stable) {
                return Some(best);
            }
        }
        self.end(among)
    }

    /// The release that is preferred where nothing but the version counts.
    fn end(&self, among: &WordSet) -> Option<u32> {
        match self.prefer {
            Preference::Newest => among.last(),
            Preference::Oldest => among.iter().next(),
        }
    }
}
