//! Goals of an update: wanted versions of packages, and locked releases to keep.
//!
//! # Problem
//!
//! A wanted package must be reached from the roots. No clause says so: a variable can have a value
//! that nothing requires, and a set of packages that require only each other supports itself (an
//! unfounded set, in the words of answer set programming).
//!
//! # Idea
//!
//! In answer set programming, a loop formula (Lin and Zhao 2002) demands that a set has external support: something
//! outside of it that requires a member. As a nogood, it is a loop nogood (Gebser, Kaufmann, Neumann and Schaub 2007).
//!
//! If a search ends without a wanted package, a loop nogood rules out the cause. The reached packages and releases form a
//! set. As long as each of them is absent, or at a release that requires nothing outside the set, nothing outside is
//! reached. So one of them must have a different value: this is the external support of the wanted package.
//!
//! A loop nogood depends on which packages are required, not on the versions that requirements
//! allow. So explanations, which consist of requirements, cannot use it.
//!
//! # Cost
//!
//! There can be exponentially many loop nogoods, so they are added lazily. Each is joined with
//! the largest known one, because a larger set rules out more selections at once.

use std::collections::BTreeSet;

use pkgres_manifest::Version;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Fact;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, PackageRequirement, ReleaseId, Universe};

/// Restrictions of packages, whatever requires them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Goals {
    /// Ascending by name.
    pub(crate) wanted: Vec<Goal>,
    /// The locked releases of the packages that are kept, which may not exist any more.
    pub(crate) stays: FxHashMap<PackageId, PositionSet>,
}

/// Wanted versions of a package.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) package: PackageId,
    pub(crate) allowed: PositionSet,
    /// The versions as requested, whether they exist or not.
    pub(crate) versions: Vec<Version>,
    pub(crate) scope: GoalScope,
    /// The loop nogoods found so far.
    pub(crate) loop_nogoods: Vec<LoopNogood>,
}

/// The scope of a goal.
#[derive(Debug, Clone)]
pub(crate) enum GoalScope {
    /// The package is present, at a wanted version. Leaving a package out does not update it.
    Present,
    /// The package is at a wanted version if it is present.
    IfPresent,
    /// For a package that may have several releases: the requirements of these releases are bound
    /// to wanted versions. Other requirements are not restricted.
    RequiredBy(Vec<ReleaseId>),
}

impl Goal {
    /// Whether the package has to be present.
    pub(crate) fn is_needed(&self) -> bool {
        matches!(self.scope, GoalScope::Present)
    }

    /// Whether a selection lacks what is wanted.
    pub(crate) fn is_violated_by(&self, selection: &Selection) -> bool {
        match self.scope {
            GoalScope::Present => selection.first_release_of(self.package).is_none(),
            GoalScope::IfPresent => false,
            GoalScope::RequiredBy(_) => !(selection.releases().iter()).any(|release| {
                release.package == self.package && self.allowed.contains(release.index)
            }),
        }
    }

    /// Whether the goal applies to the requirements of a release, or, without one, to all
    /// requirements on the package.
    fn applies_to(&self, owner: Option<ReleaseId>) -> bool {
        match &self.scope {
            GoalScope::Present | GoalScope::IfPresent => true,
            GoalScope::RequiredBy(owners) => owner.is_some_and(|owner| owners.contains(&owner)),
        }
    }
}

impl Goals {
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.stays.is_empty()
    }

    /// The packages with goals that apply to some requirements only.
    pub(crate) fn partial_packages(&self) -> impl Iterator<Item = PackageId> + '_ {
        let wanted = self.wanted.iter();
        let wanted = wanted.filter(|goal| matches!(goal.scope, GoalScope::RequiredBy(_)));
        wanted.map(|goal| goal.package)
    }

    /// Whether there are such packages.
    pub(crate) fn has_partial_goals(&self) -> bool {
        self.partial_packages().next().is_some()
    }

    pub(crate) fn goal(&self, package: PackageId) -> Option<&Goal> {
        self.wanted.iter().find(|goal| goal.package == package)
    }

    /// The goals of a package, or of the requirements of `owner` on it: the facts, the allowed
    /// releases, and whether the package may be absent.
    pub(crate) fn of(
        &self,
        package: PackageId,
        owner: Option<ReleaseId>,
    ) -> Vec<(Fact, &PositionSet, bool)> {
        let goal = self.goal(package).filter(|goal| goal.applies_to(owner));
        let wanted = goal.map(|goal| (Fact::Wanted { package }, &goal.allowed, !goal.is_needed()));
        let stays = self.stays.get(&package);
        let stays = stays.map(|allowed| (Fact::Stays { package }, allowed, true));
        wanted.into_iter().chain(stays).collect()
    }

    pub(crate) fn clear_loop_nogoods(&mut self) {
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
    }
}

/// A loop nogood: these packages, and releases of split packages, must not all have values that require nothing outside
/// the set. The roots are in the set. What is outside lacks external support as long as they do.
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
            let reached = selection.first_release_of(*package);
            if let Some(release) = reached {
                universe.requirements(release, &mut requirements);
                self.bind(universe, split, release, &requirements, &mut bindings);
            }
            // Releases that are no candidates are never selected.
            let mut closed = PositionSet::range(0, universe.catalog.release_count(*package));
            for release in universe.catalog.candidate_releases(*package) {
                if reached == Some(release) {
                    continue;
                }
                universe.requirements(release, &mut requirements);
                if !(requirements.iter())
                    .all(|requirement| self.contains_all(universe, split, requirement))
                {
                    closed = closed.without(release.index);
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
