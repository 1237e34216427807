//! A resolution as a lockfile.
//!
//! A lock says less than a resolution in words: of most requirements only what they are bound to.
//! It is made of what the solver found, so that nothing else is put into words for it.

use pkgres_manifest::{
    LockedPackage, LockedRequirement, Lockfile, PackageName, ReleaseSource, Version,
};
use rustc_hash::FxHashMap;

use crate::selection::Selection;
use crate::universe::{ReleaseId, Universe};

/// The lockfile that keeps a selection.
pub(super) fn lockfile(universe: &Universe, selection: &Selection) -> Lockfile {
    let versions = Versions::of(universe, selection);
    let name = |release: &ReleaseId| universe.name(release.package).clone();
    let roots = universe.roots().iter().enumerate().map(|(at, root)| {
        let mut specs = FxHashMap::default();
        let mut bound = selection.bound_at(at).iter();
        let mut requirements = Vec::with_capacity(bound.len());
        universe.each_requirement(*root, &mut specs, |package, spec, _| {
            let target = bound.next().expect("each requirement is bound");
            let version = versions.of_release(*target).clone();
            let package = universe.name(package).clone();
            requirements.push((package, LockedRequirement { spec, version }));
        });
        (name(root), requirements.into_iter().collect())
    });
    let packages = sorted(universe, selection, &versions);
    let packages = packages.into_iter().filter_map(|at| {
        let release = selection.releases()[at];
        let source = universe.source(release.package)?.clone();
        let bound = selection.bound_at(at).iter();
        let bound = bound.map(|target| (name(target), versions.of_release(*target).clone()));
        let locked = LockedPackage {
            digest: digest(universe, release, &source),
            source,
            requires: bound.collect(),
        };
        Some(((name(&release), versions.all[at].clone()), locked))
    });
    Lockfile {
        roots: roots.collect(),
        overrides: universe.overrides(),
        side_by_side: (selection.packages_side_by_side())
            .map(|package| universe.name(package).clone())
            .collect(),
        packages: packages.collect(),
    }
}

/// The digest that is known of a release. The host answers for what it supplies; see
/// `LockedPackage::digest`.
pub(super) fn digest(
    universe: &Universe,
    release: ReleaseId,
    source: &ReleaseSource,
) -> Option<pkgres_manifest::ArtifactDigest> {
    let is_hosted = *source == ReleaseSource::Host;
    universe.digest(release).filter(|_| !is_hosted)
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
            all: chosen.map(|at| universe.read_version(*at)).collect(),
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
    let releases = selection.releases();
    let key = |at: &usize| -> (&PackageName, &Version) {
        (universe.name(releases[*at].package), &versions.all[*at])
    };
    let mut positions: Vec<usize> = (universe.roots().len()..releases.len()).collect();
    positions.sort_by(|one, two| key(one).cmp(&key(two)));
    positions
}
