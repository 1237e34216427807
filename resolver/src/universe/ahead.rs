//! Reading ahead.
//!
//! A large index does not fit into the caches of a processor, and what a search looks at next can
//! stand anywhere in it: it would mostly wait for memory. But it is known what comes next.
//! Requirements are decided in the order in which they were seen, and mostly it is the newest release
//! that is taken. So memory is told in time. Nothing but time depends on it.

use prefetch_index::prefetch_index;

use super::{Delivered, PackageId, Universe};

/// How many requirements ahead it is fetched where the requirements of a release are, how many ahead
/// they are fetched themselves, and how many ahead what they are on. Each tells where to find the next.
const RELEASE: usize = 24;
const REQUIREMENTS: usize = 16;
const TARGETS: usize = 8;

impl Universe {
    /// Fetches what will be looked at when requirements are decided that come soon. `upcoming` says
    /// which package the requirement so many places ahead is on, unless it is decided.
    #[inline]
    pub(crate) fn read_ahead(&self, upcoming: impl Fn(usize) -> Option<PackageId>) {
        if !self.is_large {
            return;
        }
        let newest = |places: usize| self.newest_of(upcoming(places)?);
        if let Some((delivered, release)) = newest(RELEASE) {
            let index = &self.shards[delivered.shard as usize].index;
            index.fetch_release(release);
        }
        if let Some((delivered, release)) = newest(REQUIREMENTS) {
            let index = &self.shards[delivered.shard as usize].index;
            index.fetch_requirements(release);
        }
        if let Some((delivered, release)) = newest(TARGETS) {
            let shard = &self.shards[delivered.shard as usize];
            for target in shard.index.fetch_targets(release) {
                prefetch_index(&shard.packages, target as usize);
            }
        }
    }

    /// Where the newest release of a package is, if it is known to have any.
    #[inline]
    fn newest_of(&self, package: PackageId) -> Option<(&Delivered, u32)> {
        let delivered = self.packages[package.position()].delivered.as_ref()?;
        let newest = delivered.count.checked_sub(1)?;
        Some((delivered, delivered.first + newest))
    }
}
