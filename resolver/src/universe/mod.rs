//! What is known of packages: everything that was delivered, by dense numbers.
//!
//! Releases come in *loaded indexes*, each a compiled index of many packages or of one. A package becomes a number when it is first seen. Numbers depend on the order of arrival and never decide anything:
//! wherever an order matters, names, versions or positions in a manifest do.
//!
//! The search looks at loaded indexes through [`edges`], which are numbers alone. What is said to people
//! is put together from [`details`], which are texts.

mod about;
mod best;
mod candidates;
mod class_ids;
mod class_requirements;
mod classes;
mod details;
mod edges;
mod extenders;
mod ids;
mod loaded_index;
mod lock;
mod may_inherit;
mod missing;
mod model;
mod overrides;
mod owners;
mod preferences;
mod roots;
mod seen;
mod versions;

pub(crate) use class_requirements::{ClassRequirement, ClassRequirements, Found};
pub(crate) use classes::{ClassTable, Parent};
pub(crate) use details::{Body, Details, Edge, Required};
pub(crate) use edges::{PackageRequirement, SetId};
pub(crate) use ids::{ClassId, PackageId, ReleaseId};
pub(crate) use missing::Missing;

use std::collections::HashMap;
use std::sync::Arc;

use pkgres_manifest::{ArtifactDigest, ClassName, PackageName, ReleaseSource, Spec};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::index::{CompiledIndex, to_u32, width};
use crate::request::{Locked, PrereleasePolicy};
use about::About;
use class_ids::ClassEntry;
use loaded_index::LoadedIndex;
use model::Model;
use preferences::Preferences;

/// Where the releases of a package are. The search looks at little else, so there is little of it.
#[derive(Debug, Clone, Copy)]
struct Delivered {
    /// The loaded index, and the number of the name there; `NONE` if no registry has the package.
    loaded: u32,
    name: u32,
    /// The first release in the loaded index.
    first: u32,
    count: u32,
    /// Whether every release may be chosen and the newest is the best.
    has_default_order: bool,
}

/// A package that was seen.
#[derive(Debug)]
struct Entry {
    delivered: Option<Delivered>,
    /// Whether a release that was looked at requires the package.
    is_required: bool,
}

/// For so many packages and loaded indexes there is room from the beginning: a root and what it comes with.
const FEW: usize = 2;

/// Everything that is known.
#[derive(Debug, Default)]
pub(crate) struct Universe {
    indexes: Vec<LoadedIndex>,
    /// The loaded indexes whose packages need not be asked for, in order of preference.
    attached: SmallVec<[u32; 2]>,
    packages: Vec<Entry>,
    about: Vec<About>,
    /// The packages that do not come from attached loaded indexes.
    package_ids: HashMap<PackageName, PackageId, rustc_hash::FxBuildHasher>,
    classes: Vec<ClassEntry>,
    /// The classes that the first attached loaded index does not have.
    class_ids: HashMap<ClassName, ClassId, rustc_hash::FxBuildHasher>,
    core: Option<PackageId>,
    root_class: Option<ClassId>,
    roots: SmallVec<[ReleaseId; 2]>,
    model: Option<Model>,
    preferences: Preferences,
    /// What every requirement on a package is taken to say.
    overrides: FxHashMap<PackageId, Spec>,
    details: FxHashMap<ReleaseId, Arc<Details>>,
    bodies: FxHashMap<ReleaseId, Body>,
    /// Tables of classes by loaded index, number, and whether they are the core library's.
    tables: FxHashMap<(u32, u32, bool), Arc<ClassTable>>,
    sets: edges::Sets,
    /// The candidates of the core library that define a class; `None` if there are none.
    core_sets: FxHashMap<ClassId, Option<edges::SetId>>,
}

impl Universe {
    pub(crate) fn new(
        core: Option<&PackageName>,
        prerelease: PrereleasePolicy,
        locked: Locked,
    ) -> Self {
        let mut universe = Self {
            indexes: Vec::with_capacity(FEW),
            attached: SmallVec::new(),
            packages: Vec::with_capacity(FEW),
            about: Vec::with_capacity(FEW),
            package_ids: HashMap::default(),
            classes: Vec::new(),
            class_ids: HashMap::default(),
            core: None,
            root_class: None,
            roots: SmallVec::new(),
            model: None,
            preferences: Preferences::new(prerelease, locked),
            overrides: FxHashMap::default(),
            details: FxHashMap::default(),
            bodies: FxHashMap::default(),
            tables: FxHashMap::default(),
            sets: edges::Sets::default(),
            core_sets: FxHashMap::default(),
        };
        if let Some(core) = core {
            universe.core = Some(universe.package_id(core));
            universe.root_class = Some(universe.class_id(&core.root_class()));
        }
        universe
    }

    /// Whether any requirement that is known names a prerelease.
    pub(crate) fn any_names_prerelease(&self) -> bool {
        let mut indexes = self.indexes.iter();
        // What a model requires stands in no index.
        let mut overrides = self.overrides.values();
        self.model.is_some()
            || overrides.any(Spec::names_prerelease)
            || indexes.any(|loaded| loaded.index.any_names_prerelease())
    }

    /// Whether there are whole indexes at hand.
    pub(crate) fn has_attached(&self) -> bool {
        !self.attached.is_empty()
    }

    /// Says that a release that the search looked at requires a package.
    pub(crate) fn set_required(&mut self, package: PackageId) {
        self.packages[package.position()].is_required = true;
    }

    /// How many packages were seen.
    pub(crate) fn package_count(&self) -> usize {
        self.packages.len()
    }

    #[inline]
    fn add_package(&mut self, delivered: Option<Delivered>, about: About) -> PackageId {
        let id = PackageId(to_u32(self.packages.len()));
        self.packages.push(Entry {
            delivered,
            is_required: false,
        });
        self.about.push(about);
        id
    }

    #[inline]
    fn about(&self, package: PackageId) -> &About {
        &self.about[package.position()]
    }

    pub(crate) fn name(&self, package: PackageId) -> &PackageName {
        self.about(package).name(|| {
            // Packages that are not delivered were seen by name.
            let delivered = self.delivered(package);
            let index = self.indexes[delivered.loaded as usize].index();
            index.name(delivered.name)
        })
    }

    /// The packages that the solver came across, in no particular order. What was delivered
    /// without being asked for is not among them: it must not show in an answer.
    pub(crate) fn reached(&self) -> impl Iterator<Item = PackageId> {
        let all = (0..to_u32(self.packages.len())).map(PackageId);
        all.filter(|package| self.is_reached(*package))
    }

    /// Whether the solver came across a package.
    fn is_reached(&self, package: PackageId) -> bool {
        let entry = &self.packages[package.position()];
        entry.is_required && entry.delivered.is_some()
    }

    #[inline]
    pub(crate) fn is_delivered(&self, package: PackageId) -> bool {
        self.packages[package.position()].delivered.is_some()
    }

    /// The package, which must have been delivered.
    #[inline]
    fn delivered(&self, package: PackageId) -> &Delivered {
        self.packages[package.position()]
            .delivered
            .as_ref()
            .expect("nothing looks at a package before it is delivered")
    }

    /// The index and the number in it of a release.
    #[inline]
    fn locate(&self, release: ReleaseId) -> (&CompiledIndex, u32) {
        let (loaded, number) = self.place(release);
        (self.indexes[loaded as usize].index(), number)
    }

    /// The index of a release and the number that it has there. In one index releases stand in the order of
    /// their names, and those of a package in the order of their versions.
    #[inline]
    pub(crate) fn place(&self, release: ReleaseId) -> (u32, u32) {
        let delivered = self.delivered(release.package);
        (delivered.loaded, delivered.first + release.index)
    }

    /// Where a package comes from; `None` for roots and what no registry has.
    pub(crate) fn source(&self, package: PackageId) -> Option<&ReleaseSource> {
        let delivered = self.delivered(package);
        self.indexes.get(delivered.loaded as usize)?.source.as_ref()
    }

    /// How many releases a package has.
    #[inline]
    pub(crate) fn release_count(&self, package: PackageId) -> u32 {
        self.delivered(package).count
    }

    /// How many words a set of releases of a package takes.
    #[inline]
    pub(crate) fn width(&self, package: PackageId) -> usize {
        width(self.delivered(package).count)
    }

    /// The releases of a package, candidates or not.
    pub(crate) fn releases(&self, package: PackageId) -> impl Iterator<Item = ReleaseId> + use<> {
        (0..self.release_count(package)).map(move |index| ReleaseId { package, index })
    }

    pub(crate) fn is_yanked(&self, release: ReleaseId) -> bool {
        let (index, number) = self.locate(release);
        index.is_yanked(number)
    }

    pub(crate) fn is_prerelease(&self, release: ReleaseId) -> bool {
        let (index, number) = self.locate(release);
        index.is_prerelease(number)
    }

    pub(crate) fn digest(&self, release: ReleaseId) -> Option<ArtifactDigest> {
        let (index, number) = self.locate(release);
        index.digest(number)
    }
}
