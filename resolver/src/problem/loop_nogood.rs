//! Ways in which something that an update asks for would not be there.
//!
//! What is there is what the roots reach, which no constraint says: variables can have values that
//! nothing requires. So where a search ends without what was asked for, the way in which that came
//! about is ruled out. Everything that is reached makes a set of packages and releases. As long as
//! each of them is absent, or requires nothing that is not among them, nothing else is reached: one of
//! them has to be something else.
//!
//! What requirements allow is not looked at, only what they are on: an explanation rests on the first and
//! has to name it, and cannot name what was used here.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, PackageRequirement, ReleaseId, Universe};

/// Packages, and releases of packages that may have several, with values of theirs that require nothing
/// else. The roots are among them.
#[derive(Debug, Clone)]
pub(crate) struct LoopNogood {
    /// The packages of one release, each with the releases that require nothing else.
    pub(crate) packages: Vec<(PackageId, PositionSet)>,
    /// The releases of the packages that may have several.
    pub(crate) releases: Vec<ReleaseId>,
    /// What requirements on such packages, by number, have to be bound to so that nothing else is
    /// required.
    pub(crate) bindings: Vec<(ReleaseId, usize, PositionSet)>,
    /// What was reached.
    pub(crate) reached: Vec<ReleaseId>,
}

impl LoopNogood {
    /// The way in which a selection came about without what was asked for; nothing if it is among those
    /// that are `known`, which can only be where facts were dropped.
    ///
    /// With what the largest of these has, many ways are ruled out at once, as long as that makes one
    /// that is larger still. Where it does not, what made up for it was required by nothing. Then it is
    /// what was reached alone, with which no search ends again; of these there can be very many.
    pub(super) fn of(
        universe: &mut Universe,
        split: &BTreeSet<PackageId>,
        selection: &Selection,
        known: &[Self],
    ) -> Option<Self> {
        let mut among = Among::default();
        for release in selection.releases() {
            among.add(*release, split);
        }
        if let Some(largest) = known.iter().max_by_key(|loop_nogood| loop_nogood.size()) {
            let mut more = among.clone();
            more.add_all(largest);
            if more.packages.len() + more.releases.len() > largest.size() {
                among = more;
            }
        }
        let loop_nogood = among.loop_nogood(universe, split, selection);
        let is_same = |other: &Self| {
            other.packages == loop_nogood.packages && other.bindings == loop_nogood.bindings
        };
        (!known.iter().any(is_same)).then_some(loop_nogood)
    }

    fn size(&self) -> usize {
        self.packages.len() + self.releases.len()
    }
}

/// What is reached, in the order in which it was.
#[derive(Debug, Clone, Default)]
struct Among {
    packages: Vec<PackageId>,
    releases: Vec<ReleaseId>,
    known_packages: FxHashSet<PackageId>,
    known_releases: FxHashSet<ReleaseId>,
}

impl Among {
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

    fn add_all(&mut self, loop_nogood: &LoopNogood) {
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
            // What is no candidate is not chosen anyway.
            let mut harmless = PositionSet::range(0, universe.catalog.release_count(*package));
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
                    .all(|requirement| self.has_all(universe, split, requirement))
                {
                    harmless = harmless.intersection(&PositionSet::single(index).complement());
                }
            }
            packages.push((*package, harmless));
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

    /// Whether everything that a requirement could be bound to is among what is reached.
    fn has_all(
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

    /// What the requirements of a release on packages that may have several have to be bound to.
    fn bind(
        &self,
        universe: &Universe,
        split: &BTreeSet<PackageId>,
        release: ReleaseId,
        requirements: &[PackageRequirement],
        bindings: &mut Vec<(ReleaseId, usize, PositionSet)>,
    ) {
        for (edge, requirement) in requirements.iter().enumerate() {
            if split.contains(&requirement.target) && !self.has_all(universe, split, requirement) {
                bindings.push((release, edge, self.releases_of(requirement.target)));
            }
        }
    }

    fn releases_of(&self, package: PackageId) -> PositionSet {
        let releases = self.releases.iter();
        let releases = releases.filter(|release| release.package == package);
        releases.map(|release| release.index).collect()
    }
}
