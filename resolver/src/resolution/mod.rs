//! Resolutions, which are rendered when they are first read.

mod contents;
mod lock;
mod unusual_choices;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::{Lockfile, PackageName, Release, ReleaseSource, Spec};

use crate::request::{Locked, LockedArtifacts};
use crate::selection::Selection;
use crate::universe::Universe;
use crate::update::UpdateReport;
use contents::Contents;
pub use contents::{BoundRequirement, ResolvedOwner, ResolvedPackage, ResolvedRoot};
pub use contents::{PathStep, RequirementPath};
pub use lock::ModelNotLockable;
pub use unusual_choices::ArtifactChange;
pub use unusual_choices::Compromise;
pub use unusual_choices::{
    ChosenExcluded, ChosenPrerelease, PrereleaseReason, Requirer, SideBySide,
};

/// A valid set of releases, and the binding of each requirement.
///
/// Names, versions and specs are read from the indexes when they are first asked for. Until then, a
/// resolution consists of the ids that the solver found.
#[derive(Clone)]
pub struct Resolution {
    solved: Arc<Solved>,
}

/// The result of the solver.
struct Solved {
    universe: Box<Universe>,
    selection: Selection,
    stats: Stats,
    update: Option<UpdateReport>,
    contents: OnceLock<Contents>,
    side_by_side: OnceLock<Vec<SideBySide>>,
    prereleases: OnceLock<Vec<ChosenPrerelease>>,
}

/// The effort for a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The number of steps of the solver.
    pub steps: u64,
}

impl Resolution {
    pub(crate) fn new(
        universe: Box<Universe>,
        selection: Selection,
        steps: u64,
        update: Option<UpdateReport>,
    ) -> Self {
        Self {
            solved: Arc::new(Solved {
                universe,
                selection,
                stats: Stats { steps },
                update,
                contents: OnceLock::new(),
                side_by_side: OnceLock::new(),
                prereleases: OnceLock::new(),
            }),
        }
    }

    fn contents(&self) -> &Contents {
        let solved = &*self.solved;
        let contents = || Contents::new(&solved.universe, &solved.selection);
        solved.contents.get_or_init(contents)
    }

    /// The number of releases without the roots.
    pub fn len(&self) -> usize {
        let roots = self.solved.universe.catalog.roots().len();
        self.solved.selection.releases().len() - roots
    }

    /// Whether there are no releases besides the roots.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The roots, in the order of the request.
    pub fn roots(&self) -> &[ResolvedRoot] {
        &self.contents().roots
    }

    /// The releases, without the roots, sorted by name and version.
    pub fn packages(&self) -> &[ResolvedPackage] {
        &self.contents().packages
    }

    /// Everything that has requirements: the roots, then the releases.
    pub fn owners(&self) -> impl Iterator<Item = ResolvedOwner<'_>> + Clone {
        self.contents().owners()
    }

    /// The packages that have several releases, and why.
    pub fn side_by_side(&self) -> &[SideBySide] {
        let solved = &*self.solved;
        let find = || {
            let packages = solved.selection.packages_side_by_side();
            let universe = &solved.universe;
            let packages: BTreeSet<&PackageName> = packages
                .map(|package| universe.catalog.name(package))
                .collect();
            if packages.is_empty() {
                return Vec::new();
            }
            let locked = universe.catalog.policy().locked();
            unusual_choices::side_by_side(self.contents(), &packages, |name, version| {
                let release = Release::new(name.clone(), version.clone());
                locked.packages.contains_key(&release) || locked.preferred.contains(&release)
            })
        };
        solved.side_by_side.get_or_init(find)
    }

    /// The prereleases among the releases, and why they were chosen.
    pub fn prereleases(&self) -> &[ChosenPrerelease] {
        let solved = &*self.solved;
        let is_update = solved.update.is_some();
        let find = || unusual_choices::prereleases(&solved.universe, &solved.selection, is_update);
        solved.prereleases.get_or_init(find)
    }

    /// The releases that the policy excludes, sorted by name and version: they were yanked, or published at the cut-off
    /// date or later, and are locked or were requested.
    pub fn excluded(&self) -> Vec<ChosenExcluded> {
        let Solved {
            universe,
            selection,
            update,
            ..
        } = &*self.solved;
        unusual_choices::excluded(universe, selection, update.is_some())
    }

    /// The releases that are [built in](ReleaseSource::BuiltIn), because no registry has their packages, in the order of
    /// decisions.
    pub fn built_in(&self) -> Vec<Release> {
        let catalog = &self.solved.universe.catalog;
        let releases = self.solved.selection.releases().iter();
        releases
            .filter(|release| catalog.source(release.package) == Some(&ReleaseSource::BuiltIn))
            .map(|release| catalog.named_version(*release))
            .collect()
    }

    /// The releases with classes that implement interfaces, roots included, in the order of decisions. Classes that are
    /// not known implement nothing.
    pub fn implementing(&self) -> Vec<Release> {
        let catalog = &self.solved.universe.catalog;
        let releases = self.solved.selection.releases().iter();
        releases
            .filter(|release| catalog.implements_interfaces(**release))
            .filter(|release| !catalog.is_model(release.package))
            .map(|release| catalog.named_version(*release))
            .collect()
    }

    /// The overrides of packages that nothing here requires, sorted: they changed nothing.
    pub fn unused_overrides(&self) -> Vec<(PackageName, Spec)> {
        let Solved {
            universe,
            selection,
            ..
        } = &*self.solved;
        let mut overrides = universe.catalog.overrides();
        if overrides.is_empty() {
            return Vec::new();
        }
        for release in selection.releases() {
            for bound in selection.bound(*release) {
                overrides.remove(universe.catalog.name(bound.package));
            }
        }
        overrides.into_iter().collect()
    }

    /// The first package, in the order of decisions, that did not get its best candidate. `None` if each one got it, or
    /// if a package has several releases.
    pub fn first_compromise(&self) -> Option<Compromise> {
        let Solved {
            universe,
            selection,
            ..
        } = &*self.solved;
        if selection.packages_side_by_side().next().is_some() {
            return None;
        }
        unusual_choices::first_compromise(universe, selection)
    }

    /// The effort for it.
    pub fn stats(&self) -> Stats {
        self.solved.stats
    }

    /// The report of the update, if the request has one.
    pub fn update(&self) -> Option<&UpdateReport> {
        self.solved.update.as_ref()
    }

    /// The release of a package; the newest if there are several.
    pub fn package(&self, name: &PackageName) -> Option<&ResolvedPackage> {
        let packages = self.packages();
        let end = packages.partition_point(|package| package.name <= *name);
        let last = packages[..end].last()?;
        (last.name == *name).then_some(last)
    }

    /// The requirements on a package: requirements of roots first, then by name and version.
    pub fn requirers(&self, name: &PackageName) -> Vec<Requirer> {
        self.owners()
            .flat_map(|owner| {
                let requires = owner.requires().iter();
                let bound = requires.filter(|bound| bound.package == *name);
                bound.map(move |bound| Requirer::new(owner, bound))
            })
            .collect()
    }

    /// The paths to a package: for each requirement on it, the shortest path from a root. The
    /// shortest path comes first. Empty if the package is not part of the resolution.
    pub fn paths_to(&self, name: &PackageName) -> Vec<RequirementPath> {
        contents::paths_to(self, name)
    }

    /// The releases whose artifacts differ from those that the request had
    /// [locked](crate::Locked::artifacts), sorted. If a change is a
    /// [violation](ArtifactChange::is_violation), the release must not be used without the consent
    /// of the user.
    pub fn artifact_changes(&self) -> Vec<ArtifactChange> {
        let artifacts = self.locked_artifacts();
        if artifacts.is_empty() {
            return Vec::new();
        }
        self.packages()
            .iter()
            .filter_map(|package| {
                let key = package.release();
                let change = ArtifactChange {
                    name: package.name.clone(),
                    version: package.version.clone(),
                    locked: artifacts.get(&key)?.clone(),
                    source: package.source.clone(),
                    digest: package.digest,
                };
                (change.digest_differs() || change.source_differs()).then_some(change)
            })
            .collect()
    }

    /// The artifacts that the request had locked.
    pub fn locked_artifacts(&self) -> &LockedArtifacts {
        &self.solved.universe.catalog.policy().locked().artifacts
    }

    /// The lockfile that keeps this resolution.
    ///
    /// # Errors
    ///
    /// A root is an object model, whose versions are written into the model.
    pub fn to_lockfile(&self) -> Result<Lockfile, ModelNotLockable> {
        lock::lockfile(&self.solved.universe, &self.solved.selection)
    }

    /// This resolution as the lock of another request.
    pub fn to_locked(&self) -> Locked {
        lock::locked(&self.solved.universe, &self.solved.selection)
    }
}

impl fmt::Debug for Resolution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Resolution")
            .field("roots", &self.roots())
            .field("packages", &self.packages())
            .field("side_by_side", &self.side_by_side())
            .field("prereleases", &self.prereleases())
            .field("stats", &self.stats())
            .field("update", &self.update())
            .finish()
    }
}

impl PartialEq for Resolution {
    fn eq(&self, other: &Self) -> bool {
        self.contents() == other.contents()
            && self.prereleases() == other.prereleases()
            && self.stats() == other.stats()
            && self.update() == other.update()
    }
}

impl Eq for Resolution {}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Version};

    use super::*;
    use crate::{Request, Resolver, Step, Supply};

    /// The resolution of a root that requires a package which is built in.
    fn resolution() -> Resolution {
        let database = PackageName::parse("org.acme.Db").expect("a name");
        let root = PackageName::parse("org.acme.App").expect("a name");
        let root = IndexRecord::new(root, Version::new(1, 0, 0))
            .with_requirement(database.clone(), Spec::any());
        let mut request = Request::new(root);
        request.core = None;
        let mut resolver = Resolver::new(request);
        loop {
            match resolver.step() {
                Step::Solved(resolution) => return *resolution,
                Step::Need(_) => {
                    let supply = Supply::Releases {
                        source: ReleaseSource::BuiltIn,
                        records: vec![IndexRecord::new(database.clone(), Version::new(2, 1, 0))],
                    };
                    resolver
                        .provide(&database, supply)
                        .expect("no other was provided");
                }
                step => panic!("{step:?}"),
            }
        }
    }

    #[test]
    fn what_is_built_in_is_listed() {
        let built_in = resolution().built_in();
        let built_in: Vec<String> = built_in
            .iter()
            .map(|Release { name, version }| format!("{name} {version}"))
            .collect();
        assert_eq!(built_in, ["org.acme.Db 2.1.0"]);
    }

    /// Rendering takes a quarter of the time of `pkgres lock`, which writes and says only this.
    #[test]
    fn locks_and_unusual_choices_are_made_without_rendering_everything() {
        let resolution = resolution();
        let lock = resolution.to_lockfile().expect("no root is a model");
        assert_eq!(lock.packages.len(), resolution.len());
        assert!(resolution.side_by_side().is_empty());
        assert!(resolution.prereleases().is_empty());
        assert!(resolution.excluded().is_empty());
        assert!(resolution.unused_overrides().is_empty());
        assert_eq!(resolution.built_in().len(), 1);
        assert!(resolution.solved.contents.get().is_none());
        assert_eq!(resolution.packages().len(), 1);
        assert!(resolution.solved.contents.get().is_some());
    }
}
