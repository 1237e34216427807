//! Goals of an update: wanted versions of packages, and locked releases to keep.
//!
//! A wanted package must be reached from the roots, which no clause says: loop nogoods do (`loop_nogood.rs`).

use pkgres_manifest::Version;
use rustc_hash::FxHashMap;

use super::{Fact, LoopNogood};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId};

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
            GoalScope::Present => selection.only(self.package).is_none(),
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

    /// Removes all loop nogoods.
    pub(crate) fn clear_loop_nogoods(&mut self) {
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
    }
}
