//! What an update adds to the rules: which versions were asked for, and which are to stay.
//!
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

use pkgres_manifest::Version;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, PackageRequirement, ReleaseId, Universe};

use super::Fact;

/// Packages of which not every version will do, whatever requires them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Goals {
    /// By the names of the packages.
    pub(crate) wanted: Vec<Goal>,
    /// The locked releases of the packages that stay. It may be that there are none any more.
    pub(crate) stays: FxHashMap<PackageId, PositionSet>,
}

/// Versions of a package that were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) package: PackageId,
    pub(crate) allowed: PositionSet,
    /// The versions as they were asked for, whether they exist or not.
    pub(crate) versions: Vec<Version>,
    pub(crate) scope: GoalScope,
    /// Ways in which the package would not be there.
    pub(crate) loop_nogoods: Vec<LoopNogood>,
}

/// What is asked of a package.
#[derive(Debug, Clone)]
pub(crate) enum GoalScope {
    /// That it is there at the versions. To leave a package out is no way to update it.
    Present,
    /// That it is at the versions if it is there.
    IfPresent,
    /// Of a package that may have several releases: that the requirements of these releases are bound
    /// to the versions. What others require is not asked about.
    RequiredBy(Vec<ReleaseId>),
}

impl Goal {
    /// Whether the package has to be there.
    pub(crate) fn is_needed(&self) -> bool {
        matches!(self.scope, GoalScope::Present)
    }

    /// Whether a selection does not have what was asked for.
    pub(crate) fn is_violated_by(&self, selection: &Selection) -> bool {
        match self.scope {
            GoalScope::Present => selection.only(self.package).is_none(),
            GoalScope::IfPresent => false,
            GoalScope::RequiredBy(_) => !(selection.releases().iter()).any(|release| {
                release.package == self.package && self.allowed.contains(release.index)
            }),
        }
    }

    /// Whether it is about what a release requires, or, if none is given, about all that is required
    /// of the package.
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

    /// The packages of which something is asked of some of the requirements alone.
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

    /// What goals a package, or what `owner` requires of it: the facts, the releases that they allow,
    /// and whether the package may be absent.
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

    /// Forgets in which ways packages would not be there.
    pub(crate) fn clear_loop_nogoods(&mut self) {
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
    }
}

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

/// What is reached, in the order in which it was.
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
            // What is no candidate is not chosen anyway.
            let mut closed = PositionSet::range(0, universe.release_count(*package));
            for index in universe.candidates_of(*package).iter() {
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

    /// Whether everything that a requirement could be bound to is among what is reached.
    fn contains_all(
        &self,
        universe: &Universe,
        split: &BTreeSet<PackageId>,
        requirement: &PackageRequirement,
    ) -> bool {
        if !split.contains(&requirement.target) {
            return self.known_packages.contains(&requirement.target);
        }
        let candidates = universe.candidates_of(requirement.target);
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
            if split.contains(&requirement.target)
                && !self.contains_all(universe, split, requirement)
            {
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
