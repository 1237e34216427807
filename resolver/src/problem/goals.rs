//! What an update adds to the rules: which versions were asked for, and which are to stay.

use pkgres_manifest::Version;
use rustc_hash::FxHashMap;

use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId};

use super::{Fact, LoopNogood};

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
    ToBeThere,
    /// That it is at the versions if it is there.
    IfThere,
    /// Of a package that may have several releases: that the requirements of these releases are bound
    /// to the versions. What others require is not asked about.
    Of(Vec<ReleaseId>),
}

impl Goal {
    /// Whether the package has to be there.
    pub(crate) fn is_needed(&self) -> bool {
        matches!(self.scope, GoalScope::ToBeThere)
    }

    /// Whether a selection does not have what was asked for.
    pub(crate) fn is_left_out(&self, selection: &Selection) -> bool {
        match self.scope {
            GoalScope::ToBeThere => selection.only(self.package).is_none(),
            GoalScope::IfThere => false,
            GoalScope::Of(_) => !(selection.releases().iter()).any(|release| {
                release.package == self.package && self.allowed.contains(release.index)
            }),
        }
    }

    /// Whether it is about what a release requires, or, if none is given, about all that is required
    /// of the package.
    fn is_about(&self, owner: Option<ReleaseId>) -> bool {
        match &self.scope {
            GoalScope::ToBeThere | GoalScope::IfThere => true,
            GoalScope::Of(owners) => owner.is_some_and(|owner| owners.contains(&owner)),
        }
    }
}

impl Goals {
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.stays.is_empty()
    }

    /// The packages of which something is asked of some of the requirements alone.
    pub(crate) fn in_part(&self) -> impl Iterator<Item = PackageId> + '_ {
        let wanted = self.wanted.iter();
        let wanted = wanted.filter(|goal| matches!(goal.scope, GoalScope::Of(_)));
        wanted.map(|goal| goal.package)
    }

    /// Whether there are such packages.
    pub(crate) fn asks_in_part(&self) -> bool {
        self.in_part().next().is_some()
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
        let goal = self.goal(package).filter(|goal| goal.is_about(owner));
        let wanted = goal.map(|goal| (Fact::Wanted { package }, &goal.allowed, !goal.is_needed()));
        let stays = self.stays.get(&package);
        let stays = stays.map(|allowed| (Fact::Stays { package }, allowed, true));
        wanted.into_iter().chain(stays).collect()
    }

    /// Forgets in which ways packages would not be there.
    pub(crate) fn forget_loop_nogoods(&mut self) {
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
    }
}
