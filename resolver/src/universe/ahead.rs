//! Reading ahead.
//!
//! A large index does not fit into the caches of a processor, and what a search looks at next can
//! stand anywhere in it: it would mostly wait for memory. But it is known what comes next.
//! Requirements are decided in the order in which they were seen, and mostly it is the newest release that
//! is taken of those that are left. So memory is told in time. Nothing but time depends on it.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use prefetch_index::prefetch_index;

use super::shards::Shard;
use super::{PackageId, ReleaseId, Universe};
use crate::spare::Leftover;

/// How many releases ahead it is fetched where the requirements of a release are, how many ahead
/// they are fetched themselves, and so on. Each tells where to find the next.
const RELEASE: usize = 32;
const REQUIREMENTS: usize = 24;
const TARGETS: usize = 16;
const PACKAGES: usize = 8;

/// A release of the large index that will probably be looked at: the number that it has there, counted
/// from one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coming(NonZeroU32);

// A search keeps one for every requirement.
const _: () = assert!(size_of::<Option<Coming>>() == size_of::<u32>());

impl Coming {
    fn release(self) -> u32 {
        self.0.get() - 1
    }
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

impl Leftover for Ahead {
    fn empty(&mut self) -> usize {
        let Self {
            coming,
            looked_at,
            requirements,
            targets,
            packages,
        } = self;
        for count in [looked_at, requirements, targets, packages] {
            *count = 0;
        }
        coming.empty()
    }
}

impl Ahead {
    /// Fetches what will be looked at of the large index when requirements are decided that come soon. So
    /// many of them were `seen`; the one that comes `next` is decided now. `upcoming` says which releases
    /// will probably be looked at when one of them is, `fetch_upcoming` fetches what that depends on of one
    /// for which it will be asked later, and `fetch_package` what the search itself keeps of a package.
    #[inline]
    pub(crate) fn read<Releases: IntoIterator<Item = Coming>>(
        &mut self,
        universe: &Universe,
        (next, seen): (usize, usize),
        fetch_upcoming: impl Fn(usize),
        upcoming: impl Fn(usize) -> Releases,
        fetch_package: impl Fn(PackageId),
    ) {
        let large = universe.large.expect("otherwise it only takes time");
        let shard = &universe.shards[large as usize];
        self.leave_behind(next);
        while self.coming.len() < RELEASE && self.looked_at < seen {
            let place = self.looked_at;
            self.looked_at += 1;
            fetch_upcoming(place);
            for coming in upcoming(place) {
                shard.index().fetch_release(coming.release());
                self.coming.push_back((place, coming));
            }
        }
        for coming in unfetched(&self.coming, &mut self.requirements, REQUIREMENTS) {
            shard.index().fetch_requirements(coming.release());
        }
        for coming in unfetched(&self.coming, &mut self.targets, TARGETS) {
            shard.fetch_targets(coming);
        }
        for coming in unfetched(&self.coming, &mut self.packages, PACKAGES) {
            shard.seen_targets(coming).for_each(&fetch_package);
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
        self.looked_at = self.looked_at.max(next + 1);
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
        self.large.is_some()
    }

    /// Fetches where the releases of a package are.
    #[inline]
    pub(crate) fn fetch_package(&self, package: PackageId) {
        prefetch_index(&self.packages, package.position());
    }

    /// A release that will probably be looked at, if it is one of the large index.
    #[inline]
    pub(crate) fn coming(&self, release: ReleaseId) -> Option<Coming> {
        let large = self.large?;
        let (shard, number) = self.place(release);
        let counted = NonZeroU32::new(number + 1);
        counted.filter(|_| shard == large).map(Coming)
    }
}

impl Shard {
    /// Fetches what the requirements of a release allow and what packages they are on.
    #[inline]
    fn fetch_targets(&self, coming: Coming) {
        for target in self.index().fetch_targets(coming.release()) {
            prefetch_index(&self.seen.packages, target as usize);
        }
    }

    /// These packages, as far as they were seen: what is kept of them is to be fetched last.
    #[inline]
    fn seen_targets(&self, coming: Coming) -> impl Iterator<Item = PackageId> {
        let targets = self.index().targets(coming.release());
        targets.filter_map(|target| self.seen.packages[target as usize].package())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use pkgres_manifest::{IndexRecord, Limits, PackageName, RegistryName, ReleaseSource};

    use super::*;
    use crate::index::CompiledIndex;

    const COUNT: usize = 50;

    /// Packages of which each requires the next, all of them seen.
    fn chain() -> (Universe, Vec<PackageId>) {
        let line = |at: usize| {
            let next = at + 1;
            format!(r#"{{"name":"P{at}","version":"1.0.0","require":[["P{next}","*"]]}}"#)
        };
        let read = |at| IndexRecord::parse_line(&line(at), &Limits::default()).expect("a record");
        let records: Vec<IndexRecord> = (0..COUNT).map(read).collect();
        let mut universe = Universe::default();
        let source = ReleaseSource::Registry(RegistryName::parse("demo").expect("a name"));
        universe.attach(source, CompiledIndex::compile(&records).into());
        universe.large = Some(0);
        let name = |at| PackageName::parse(&format!("P{at}")).expect("a name");
        let packages = (0..COUNT).map(|at| universe.package_id(&name(at)));
        let packages = packages.collect();
        (universe, packages)
    }

    #[test]
    fn what_comes_is_fetched_once_and_in_time() {
        let (universe, packages) = chain();
        let fetched = RefCell::new(Vec::new());
        let mut ahead = Ahead::default();
        let mut read = |next| {
            let upcoming = |place: usize| {
                let package = packages[place];
                universe.coming(ReleaseId { package, index: 0 })
            };
            ahead.read(
                &universe,
                (next, COUNT),
                |_| (),
                upcoming,
                |package| {
                    fetched.borrow_mut().push(package);
                },
            );
        };
        for next in 0..COUNT {
            read(next);
            // What the next eight require.
            let last = (next + PACKAGES + 1).min(COUNT - 1);
            assert_eq!(*fetched.borrow(), packages[2..=last.max(1)]);
        }
        // What was decided is decided again.
        read(10);
        assert_eq!(fetched.borrow().len(), COUNT - 2);
    }

    #[test]
    fn what_comes_is_of_the_large_index() {
        let (mut universe, packages) = chain();
        let line = r#"{"name":"Q","version":"1.0.0"}"#;
        let other = IndexRecord::parse_line(line, &Limits::default()).expect("a record");
        let source = ReleaseSource::Registry(RegistryName::parse("other").expect("a name"));
        universe.attach(source, CompiledIndex::compile([&other]).into());
        let other = universe.package_id(&other.name);
        let coming = |package| universe.coming(ReleaseId { package, index: 0 });
        assert!(
            coming(packages[7])
                .is_some_and(|coming| universe.large == Some(0) && coming.release() < 50)
        );
        assert!(coming(other).is_none());
    }

    #[test]
    fn what_is_decided_is_passed_over() {
        let (universe, packages) = chain();
        let fetched = RefCell::new(Vec::new());
        let mut ahead = Ahead::default();
        let is_open = |place: &usize| place.is_multiple_of(5);
        let upcoming = |place| {
            let package = packages[place];
            let release = ReleaseId { package, index: 0 };
            universe.coming(release).filter(|_| is_open(&place))
        };
        ahead.read(
            &universe,
            (0, COUNT),
            |_| (),
            upcoming,
            |package| {
                fetched.borrow_mut().push(package);
            },
        );
        // As many decisions ahead, however far they are.
        let required = (1..COUNT).filter(is_open).map(|place| packages[place + 1]);
        assert_eq!(
            *fetched.borrow(),
            required.take(PACKAGES).collect::<Vec<_>>()
        );
    }
}
