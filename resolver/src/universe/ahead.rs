//! Reading ahead.
//!
//! A large index does not fit into the caches of a processor, and what a search looks at next can
//! stand anywhere in it: it would mostly wait for memory. But it is known what comes next.
//! Requirements are decided in the order in which they were seen, and mostly it is the newest release
//! that is taken. So memory is told in time. Nothing but time depends on it.

use std::collections::VecDeque;

use prefetch_index::prefetch_index;

use super::{Demand, PackageId, ReleaseId, Universe};

/// How many decisions ahead it is fetched where the requirements of a release are, how many ahead
/// they are fetched themselves, and so on. Each tells where to find the next.
const RELEASE: usize = 32;
const REQUIREMENTS: usize = 24;
const TARGETS: usize = 16;
const PACKAGES: usize = 8;

/// A release that will probably be decided on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coming {
    shard: u32,
    release: u32,
}

/// What was fetched.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Each with the place of a requirement on it among all that were seen.
    coming: VecDeque<(usize, Coming)>,
    /// Up to which requirement it was looked for what is coming.
    looked_at: usize,
    /// Of how many of those that are coming the requirements were fetched, and so on.
    requirements: usize,
    targets: usize,
    packages: usize,
}

impl Ahead {
    /// Fetches what will be looked at when requirements are decided that come soon. So many of them
    /// were `seen`; the one that comes `next` is decided now. `upcoming` says which release one of
    /// them will probably lead to, unless it is decided, and `fetch_package` fetches what the search
    /// itself keeps of a package.
    #[inline]
    pub(crate) fn read(
        &mut self,
        universe: &Universe,
        (next, seen): (usize, usize),
        upcoming: impl Fn(usize) -> Option<ReleaseId>,
        fetch_package: impl Fn(PackageId),
    ) {
        if !universe.is_large() {
            return;
        }
        self.leave_behind(next);
        while self.coming.len() < RELEASE && self.looked_at < seen {
            let place = self.looked_at;
            self.looked_at += 1;
            let coming = upcoming(place).and_then(|release| universe.coming(release));
            if let Some(coming) = coming {
                universe.fetch_release(coming);
                self.coming.push_back((place, coming));
            }
        }
        for coming in unfetched(&self.coming, &mut self.requirements, REQUIREMENTS) {
            universe.fetch_requirements(coming);
        }
        for coming in unfetched(&self.coming, &mut self.targets, TARGETS) {
            universe.fetch_targets(coming);
        }
        for coming in unfetched(&self.coming, &mut self.packages, PACKAGES) {
            universe.seen_targets(coming).for_each(&fetch_package);
        }
    }

    /// Forgets what came.
    #[inline]
    fn leave_behind(&mut self, next: usize) {
        while self
            .coming
            .pop_front_if(|(place, _)| *place <= next)
            .is_some()
        {
            for fetched in [
                &mut self.requirements,
                &mut self.targets,
                &mut self.packages,
            ] {
                *fetched = fetched.saturating_sub(1);
            }
        }
        self.looked_at = self.looked_at.max(next);
    }
}

/// Those of the next `count` that are coming of which something was not `fetched`.
#[inline]
fn unfetched(
    coming: &VecDeque<(usize, Coming)>,
    fetched: &mut usize,
    count: usize,
) -> impl Iterator<Item = Coming> {
    let until = count.min(coming.len());
    let from = (*fetched).min(until);
    *fetched = until.max(*fetched);
    coming.range(from..until).map(|(_, coming)| *coming)
}

impl Universe {
    /// Whether it is worth while to read ahead.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.is_large
    }

    /// A release that will probably be decided on.
    #[inline]
    pub(crate) fn coming(&self, release: ReleaseId) -> Option<Coming> {
        let entry = &self.packages[release.package.position()];
        let delivered = entry.delivered.as_ref()?;
        (release.index < delivered.count).then_some(Coming {
            shard: delivered.shard,
            release: delivered.first + release.index,
        })
    }

    /// Fetches where the requirements of a release are. That is the first of four things that are to
    /// be fetched one after the other, for each tells where to find the next.
    #[inline]
    pub(crate) fn fetch_release(&self, coming: Coming) {
        let index = &self.shards[coming.shard as usize].index;
        index.fetch_release(coming.release);
    }

    /// Fetches the requirements of a release.
    #[inline]
    pub(crate) fn fetch_requirements(&self, coming: Coming) {
        let index = &self.shards[coming.shard as usize].index;
        index.fetch_requirements(coming.release);
    }

    /// Fetches what these allow and what packages they are on.
    #[inline]
    pub(crate) fn fetch_targets(&self, coming: Coming) {
        let shard = &self.shards[coming.shard as usize];
        for target in shard.index.fetch_targets(coming.release) {
            prefetch_index(&shard.packages, target as usize);
        }
    }

    /// Fetches what a requirement allows.
    #[inline]
    pub(crate) fn fetch_allowed(&self, demand: &Demand) {
        self.fetch_set(demand.allowed);
    }

    /// These packages, as far as they were seen: what is kept of them is to be fetched last.
    #[inline]
    pub(crate) fn seen_targets(&self, coming: Coming) -> impl Iterator<Item = PackageId> {
        let shard = &self.shards[coming.shard as usize];
        let targets = shard.index.targets(coming.release);
        targets.filter_map(|target| shard.packages[target as usize].package())
    }
}
