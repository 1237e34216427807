//! Which releases of a package may be chosen, and which of some is the best.

use pkgres_manifest::{IndexRecord, Version};

use crate::PrereleasePolicy;
use crate::word_set::WordSet;

/// The releases of a package that may be chosen, and their order of preference.
#[derive(Debug)]
pub(crate) struct Candidates {
    allowed: WordSet,
    stable: WordSet,
    /// Locked releases, newest first.
    locked: Vec<u32>,
    policy: PrereleasePolicy,
}

impl Candidates {
    /// `records` are ascending by version. Withdrawn releases are candidates only if they are
    /// locked, and so are prereleases where the policy is never to take them.
    pub(super) fn new(
        records: &[IndexRecord],
        locked: &[Version],
        kept: &[Version],
        policy: PrereleasePolicy,
    ) -> Self {
        let mut locked: Vec<u32> = locked
            .iter()
            .filter_map(|version| {
                let at = records
                    .binary_search_by(|record| record.version.cmp(version))
                    .ok()?;
                u32::try_from(at).ok()
            })
            .collect();
        locked.sort_unstable_by(|one, two| two.cmp(one));
        locked.dedup();
        let numbered = || (0_u32..).zip(records);
        let is_stable = |record: &IndexRecord| !record.version.is_prerelease();
        let all_alike = records
            .iter()
            .all(|record| !record.yanked && is_stable(record));
        let end = u32::try_from(records.len()).expect("fewer than 2^32 releases");
        if all_alike {
            let all = WordSet::range(0, end);
            return Self {
                allowed: all.clone(),
                stable: all,
                locked,
                policy,
            };
        }
        let is_allowed = |at: u32, record: &IndexRecord| {
            let by_policy = policy != PrereleasePolicy::Never || is_stable(record);
            let is_kept = locked.contains(&at) || kept.contains(&record.version);
            (!record.yanked && by_policy) || is_kept
        };
        Self {
            allowed: numbered()
                .filter(|(at, record)| is_allowed(*at, record))
                .map(|(at, _)| at)
                .collect(),
            stable: numbered()
                .filter(|(_, record)| is_stable(record))
                .map(|(at, _)| at)
                .collect(),
            locked,
            policy,
        }
    }

    /// The releases that may be chosen.
    pub(crate) fn allowed(&self) -> &WordSet {
        &self.allowed
    }

    pub(crate) fn is_locked(&self, index: u32) -> bool {
        self.locked.contains(&index)
    }

    /// The best of `among`. `prerelease_named` says whether a requirement that is present names a
    /// prerelease, which lifts the preference for stable versions.
    pub(crate) fn best(&self, among: &WordSet, prerelease_named: bool) -> Option<u32> {
        if let Some(locked) = self.locked.iter().find(|locked| among.contains(**locked)) {
            return Some(*locked);
        }
        if self.policy == PrereleasePolicy::IfNecessary && !prerelease_named {
            let stable = among.intersection(&self.stable);
            if let Some(newest) = stable.last() {
                return Some(newest);
            }
        }
        among.last()
    }
}
