//! What both the words and the lock of a resolution say of the releases that were chosen.

use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource, Version};

use crate::selection::Selection;
use crate::universe::{ReleaseId, Universe};

/// The digest that is known of a release. The host answers for what it supplies; see
/// `LockedPackage::digest`.
pub(super) fn digest(
    universe: &Universe,
    release: ReleaseId,
    source: &ReleaseSource,
) -> Option<ArtifactDigest> {
    let is_hosted = *source == ReleaseSource::Host;
    universe.catalog.digest(release).filter(|_| !is_hosted)
}

/// The versions of chosen releases, each read once.
pub(super) struct Versions<'solved> {
    selection: &'solved Selection,
    /// In the order of the selection.
    pub(super) all: Vec<Version>,
}

impl<'solved> Versions<'solved> {
    pub(super) fn of(universe: &Universe, selection: &'solved Selection) -> Self {
        let chosen = selection.releases().iter();
        Self {
            selection,
            all: chosen
                .map(|at| universe.catalog.read_version(*at))
                .collect(),
        }
    }

    /// The version of a release that was chosen.
    pub(super) fn of_release(&self, release: ReleaseId) -> &Version {
        let at = self.selection.position(release);
        &self.all[at.expect("what is bound is chosen")]
    }
}

/// The positions of the releases that are not roots, by name and version.
pub(super) fn sorted(
    universe: &Universe,
    selection: &Selection,
    versions: &Versions<'_>,
) -> Vec<usize> {
    let releases = selection.releases().iter().enumerate();
    let not_roots = releases.skip(universe.catalog.roots().len());
    let place = |(at, release): (usize, &ReleaseId)| (universe.catalog.locate(*release), at);
    let mut placed: Vec<((u32, u32), usize)> = not_roots.clone().map(place).collect();
    placed.sort_unstable();
    // Places in one index are in the order that is asked for.
    let indexes = placed.chunk_by(|((one, _), _), ((other, _), _)| one == other);
    if indexes.count() <= 1 {
        return placed.into_iter().map(|(_, at)| at).collect();
    }
    // To look a name up takes longer than to compare it.
    let mut keyed: Vec<(&PackageName, &Version, usize)> = not_roots
        .map(|(at, release)| {
            (
                universe.catalog.name(release.package),
                &versions.all[at],
                at,
            )
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, at)| at).collect()
}
