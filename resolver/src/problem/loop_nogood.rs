//! Loop nogoods: clauses that a package which an update wants must be reached from the roots.
//!
//! # Problem
//!
//! A wanted package must be reached from the roots. No clause says so: a variable can have a value
//! that nothing requires, and a set of packages that require only each other supports itself (an
//! unfounded set, in the words of answer set programming).
//!
//! # Idea
//!
//! If a search ends without a wanted package, a loop nogood (Lin and Zhao 2002) rules out the
//! cause. The reached packages and releases form a set. As long as each of them is absent, or at a
//! release that requires nothing outside the set, nothing outside is reached. So one of them must
//! have a different value: this is the external support of the wanted package.
//!
//! A loop nogood depends on which packages are required, not on the versions that requirements
//! allow. So explanations, which consist of requirements, cannot use it.
//!
//! # Cost
//!
//! There can be exponentially many loop nogoods, so they are added lazily. Each is joined with
//! the largest known one, because a larger set rules out more selections at once.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, PackageRequirement, ReleaseId, Universe};

/// A set of packages, and of releases of split packages, with their values that require nothing
/// outside the set. The roots are in the set.
#[derive(Debug, Clone)]
pub(crate) struct LoopNogood {
    /// The unsplit packages, each with the releases that require nothing outside.
    pub(crate) packages: Vec<(PackageId, PositionSet)>,
    /// The releases of the split packages.
    pub(crate) releases: Vec<ReleaseId>,
    /// For requirements on split packages, by number: the releases inside the set.
    pub(crate) bindings: Vec<(ReleaseId, usize, PositionSet)>,
    /// The reached releases.
    pub(crate) reached: Vec<ReleaseId>,
}

impl LoopNogood {
    /// The loop nogood for a selection that lacks what is wanted; `None` if it is `known`, which
    /// only happens if facts were dropped.
    ///
    /// The set is joined with that of the largest known loop nogood, which rules out more
    /// selections at once, as long as the result is larger still. If it is not, the set is what was
    /// reached alone. That is always new, but there can be very many of these.
    pub(super) fn of(
        universe: &mut Universe,
        split: &BTreeSet<PackageId>,
        selection: &Selection,
        known: &[Self],
    ) -> Option<Self> {
        let mut reached = ReachedSet::default();
        for release in selection.releases() {
            reached.add(*release, split);
        }
        if let Some(largest) = known.iter().max_by_key(|loop_nogood| loop_nogood.size()) {
            let mut more = reached.clone();
            more.add_loop_nogood(largest);
            if more.packages.len() + more.releases.len() > largest.size() {
                reached = more;
            }
        }
        let loop_nogood = reached.loop_nogood(universe, split, selection);
        let is_same = |other: &Self| {
            other.packages == loop_nogood.packages && other.bindings == loop_nogood.bindings
        };
        (!known.iter().any(is_same)).then_some(loop_nogood)
    }

    fn size(&self) -> usize {
        self.packages.len() + self.releases.len()
    }
}

/// The reached packages and releases, in the order in which they were reached.
#[derive(Debug, Clone, Default)]
struct ReachedSet {
    packages: Vec<PackageId>,
    releases: Vec<ReleaseId>,
    known_packages: FxHashSet<PackageId>,
    known_releases: FxHashSet<ReleaseId>,
}

impl ReachedSet {
    fn add(&mut self, release: ReleaseId, split: &BTreeSet<PackageId>) {
        if split.contains(&release.package) {
            self.add_release(release);
        } else {
            self.add_package(release.package);
        }
    }

    fn add_release(&mut self, release: ReleaseId) {
        if self.known_releases.insert(release) {
            self.releases.push(release);
        }
    }

    fn add_package(&mut self, package: PackageId) {
        if self.known_packages.insert(package) {
            self.packages.push(package);
        }
    }

    fn add_loop_nogood(&mut self, loop_nogood: &LoopNogood) {
        for (package, _) in &loop_nogood.packages {
            self.add_package(*package);
        }
        for release in &loop_nogood.releases {
            self.add_release(*release);
        }
    }

    fn loop_nogood(
        self,
        universe: &mut Universe,
        split: &BTreeSet<PackageId>,
        selection: &Selection,
    ) -> LoopNogood {
        let mut requirements = Vec::new();
        let mut packages = Vec::new();
        let mut bindings = Vec::new();
        for package in &self.packages {
            let reached = selection.only(*package);
            if let Some(release) = reached {
                universe.requirements(release, &mut requirements);
                self.bind(universe, split, release, &requirements, &mut bindings);
            }
            // Releases that are no candidates are never selected.
            let mut closed = PositionSet::range(0, universe.catalog.release_count(*package));
            for index in universe.catalog.candidates_of(*package).iter() {
                let release = ReleaseId {
                    package: *package,
                    index,
                };
                if reached == Some(release) {
                    continue;
                }
                universe.requirements(release, &mut requirements);
                if !(requirements.iter())
                    .all(|requirement| self.contains_all(universe, split, requirement))
                {
                    closed = closed.intersection(&PositionSet::single(index).complement());
                }
            }
            packages.push((*package, closed));
        }
        for release in &self.releases {
            universe.requirements(*release, &mut requirements);
            self.bind(universe, split, *release, &requirements, &mut bindings);
        }
        LoopNogood {
            packages,
            releases: self.releases,
            bindings,
            reached: selection.releases().to_vec(),
        }
    }

    /// Whether all candidates of a requirement are in the set.
    fn contains_all(
        &self,
        universe: &Universe,
        split: &BTreeSet<PackageId>,
        requirement: &PackageRequirement,
    ) -> bool {
        if !split.contains(&requirement.target) {
            return self.known_packages.contains(&requirement.target);
        }
        let candidates = universe.catalog.candidates_of(requirement.target);
        candidates.is_subset_of(&self.releases_of(requirement.target))
    }

    /// Adds the bindings that keep the requirements of a release on split packages inside the set.
    fn bind(
        &self,
        universe: &Universe,
        split: &BTreeSet<PackageId>,
        release: ReleaseId,
        requirements: &[PackageRequirement],
        bindings: &mut Vec<(ReleaseId, usize, PositionSet)>,
    ) {
        for (number, requirement) in requirements.iter().enumerate() {
            if split.contains(&requirement.target)
                && !self.contains_all(universe, split, requirement)
            {
                bindings.push((release, number, self.releases_of(requirement.target)));
            }
        }
    }

    fn releases_of(&self, package: PackageId) -> PositionSet {
        let releases = self.releases.iter();
        let releases = releases.filter(|release| release.package == package);
        releases.map(|release| release.index).collect()
    }
}
