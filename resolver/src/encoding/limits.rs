//! What an update adds to the rules: which versions were asked for, and which are to stay.

use pkgres_manifest::Version;
use rustc_hash::FxHashMap;

use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId};
use crate::word_set::WordSet;

use super::{Detour, Fact};

/// Packages of which not every version will do, whatever requires them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    /// By the names of the packages.
    pub(crate) wanted: Vec<Wish>,
    /// The locked releases of the packages that stay. It may be that there are none any more.
    pub(crate) stays: FxHashMap<PackageId, WordSet>,
}

/// Versions of a package that were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) package: PackageId,
    pub(crate) allowed: WordSet,
    /// The versions as they were asked for, whether they exist or not.
    pub(crate) versions: Vec<Version>,
    pub(crate) asking: Asking,
    /// Ways in which the package would not be there.
    pub(crate) detours: Vec<Detour>,
}

/// What is asked of a package.
#[derive(Debug, Clone)]
pub(crate) enum Asking {
    /// That it is there at the versions. To leave a package out is no way to update it.
    ToBeThere,
    /// That it is at the versions if it is there.
    IfThere,
    /// Of a package that may have several releases: that the requirements of these releases are bound
    /// to the versions. What others require is not asked about.
    Of(Vec<ReleaseId>),
}

impl Wish {
    /// Whether the package has to be there.
    pub(crate) fn is_needed(&self) -> bool {
        matches!(self.asking, Asking::ToBeThere)
    }

    /// Whether a selection does not have what was asked for.
    pub(crate) fn is_left_out(&self, selection: &Selection) -> bool {
        match self.asking {
            Asking::ToBeThere => selection.only(self.package).is_none(),
            Asking::IfThere => false,
            Asking::Of(_) => !(selection.releases().iter()).any(|release| {
                release.package == self.package && self.allowed.contains(release.index)
            }),
        }
    }

    /// Whether it is about what a release requires, or, if none is given, about all that is required
    /// of the package.
    fn is_about(&self, owner: Option<ReleaseId>) -> bool {
        match &self.asking {
            Asking::ToBeThere | Asking::IfThere => true,
            Asking::Of(owners) => owner.is_some_and(|owner| owners.contains(&owner)),
        }
    }
}

impl Limits {
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.stays.is_empty()
    }

    /// The packages of which something is asked of some of the requirements alone.
    pub(crate) fn in_part(&self) -> impl Iterator<Item = PackageId> + '_ {
        let wanted = self.wanted.iter();
        let wanted = wanted.filter(|wish| matches!(wish.asking, Asking::Of(_)));
        wanted.map(|wish| wish.package)
    }

    /// Whether there are such packages.
    pub(crate) fn asks_in_part(&self) -> bool {
        self.in_part().next().is_some()
    }

    pub(crate) fn wish(&self, package: PackageId) -> Option<&Wish> {
        self.wanted.iter().find(|wish| wish.package == package)
    }

    /// What limits a package, or what `owner` requires of it: the facts, the releases that they allow,
    /// and whether the package may be absent.
    pub(crate) fn of(
        &self,
        package: PackageId,
        owner: Option<ReleaseId>,
    ) -> Vec<(Fact, &WordSet, bool)> {
        let wish = self.wish(package).filter(|wish| wish.is_about(owner));
        let wanted = wish.map(|wish| (Fact::Wanted { package }, &wish.allowed, !wish.is_needed()));
        let stays = self.stays.get(&package);
        let stays = stays.map(|allowed| (Fact::Stays { package }, allowed, true));
        wanted.into_iter().chain(stays).collect()
    }

    /// Forgets in which ways packages would not be there.
    pub(crate) fn forget_detours(&mut self) {
        for wish in &mut self.wanted {
            wish.detours.clear();
        }
    }
}
