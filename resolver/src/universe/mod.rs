//! What is known of packages: everything that was delivered, by dense numbers.
//!
//! Releases come in *shards*: compiled indexes of many packages or of one. A package becomes a
//! number when it is first met. Numbers depend on the order of arrival and never decide anything:
//! wherever an order matters, names, versions or positions in a manifest do.
//!
//! The search looks at shards through [`edges`], which are numbers alone. What is said to people
//! is put together from [`details`], which are texts.

mod about;
mod ahead;
mod candidates;
mod class_demands;
mod class_ids;
mod classes;
mod details;
mod edges;
mod extenders;
mod owners;
mod shards;
mod versions;

pub(crate) use class_demands::{ClassDemand, ClassDemands, Found};
pub(crate) use classes::{ClassTable, Parent};
pub(crate) use details::{Body, Details, Edge};
pub(crate) use edges::Demand;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, ObjectId, ObjectModel, PackageName, ReleaseSource,
    Requirement, Spec, Version,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::{CompiledIndex, to_u32, width};
use crate::request::{Locked, ModelRoot, Preference, PrereleasePolicy, Root};
use crate::room::Room as _;
use crate::word_set::WordSet;
use about::About;
use class_ids::ClassEntry;
use shards::Shard;

/// The greatest number of a set of words.
fn last(words: &[u64]) -> Option<u32> {
    let mut numbered = words.iter().enumerate().rev();
    numbered
        .find(|(_, word)| **word != 0)
        .map(|(at, word)| to_u32(at) * u64::BITS + word.ilog2())
}

/// A package, by the order in which it was first met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PackageId(u32);

impl PackageId {
    #[inline]
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

/// A class name, by the order in which it was first met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(u32);

/// A release: a package and the position of its version in the ascending list of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReleaseId {
    pub(crate) package: PackageId,
    pub(crate) index: u32,
}

/// Where the releases of a package are. The search looks at little else, so there is little of it.
#[derive(Debug, Clone, Copy)]
struct Delivered {
    /// The shard, and the number of the name there; [`NONE`] if no registry has the package.
    shard: u32,
    name: u32,
    /// The first release in the shard.
    first: u32,
    count: u32,
    /// Whether every release may be chosen and the newest is the best.
    is_plain: bool,
}

/// A package that was met.
#[derive(Debug, Default)]
struct Entry {
    delivered: Option<Delivered>,
    /// Whether a release that was looked at requires the package.
    is_required: bool,
}

/// What decides which releases may be chosen and which are preferred.
#[derive(Debug, Default)]
struct Preferences {
    prerelease: PrereleasePolicy,
    prefer: Preference,
    exclude_newer: Option<Timestamp>,
    /// What was published too late, of the packages that were delivered.
    too_new: FxHashMap<PackageName, FxHashSet<Version>>,
    locked: Locked,
    locked_versions: FxHashMap<PackageName, Vec<Version>>,
    kept_versions: FxHashMap<PackageName, Vec<Version>>,
}

/// For so many packages there is room from the beginning.
const FEW: usize = 32;

/// Everything that is known.
#[derive(Debug, Default)]
pub(crate) struct Universe {
    shards: Vec<Shard>,
    /// The shards whose packages need not be asked for, in order of preference.
    attached: Vec<u32>,
    /// Whether any of the shards does not fit into the caches of a processor.
    is_large: bool,
    packages: Vec<Entry>,
    about: Vec<About>,
    /// The packages that do not come from attached shards.
    package_ids: HashMap<PackageName, PackageId, rustc_hash::FxBuildHasher>,
    classes: Vec<ClassEntry>,
    /// The classes that the first attached shard does not have.
    class_ids: HashMap<ClassName, ClassId, rustc_hash::FxBuildHasher>,
    core: Option<PackageId>,
    root_class: Option<ClassId>,
    roots: Vec<ReleaseId>,
    model: Option<Arc<ObjectModel>>,
    preferences: Preferences,
    /// What every requirement on a package is taken to say.
    overrides: FxHashMap<PackageId, Spec>,
    details: FxHashMap<ReleaseId, Arc<Details>>,
    bodies: FxHashMap<ReleaseId, Body>,
    /// Tables of classes by shard, number, and whether they are the core library's.
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
        let mut locked_versions: FxHashMap<PackageName, Vec<Version>> = FxHashMap::default();
        for (name, version) in locked.releases() {
            locked_versions
                .entry(name.clone())
                .or_default()
                .push(version.clone());
        }
        let mut kept_versions: FxHashMap<PackageName, Vec<Version>> = FxHashMap::default();
        for (name, version) in &locked.kept {
            kept_versions
                .entry(name.clone())
                .or_default()
                .push(version.clone());
        }
        let preferences = Preferences {
            prerelease,
            prefer: Preference::default(),
            exclude_newer: None,
            too_new: FxHashMap::default(),
            locked,
            locked_versions,
            kept_versions,
        };
        let mut universe = Self {
            shards: Vec::new(),
            attached: Vec::new(),
            is_large: false,
            packages: Vec::with_capacity(FEW),
            about: Vec::with_capacity(FEW),
            package_ids: HashMap::default(),
            classes: Vec::new(),
            class_ids: HashMap::default(),
            core: None,
            root_class: None,
            roots: Vec::new(),
            model: None,
            preferences,
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

    /// Says which releases are better and which are out of the question. Nothing may have been
    /// delivered before.
    pub(crate) fn prefer(&mut self, prefer: Preference, exclude_newer: Option<Timestamp>) {
        self.preferences.prefer = prefer;
        self.preferences.exclude_newer = exclude_newer;
    }

    /// Takes what requirements are to say in place of what is written. Nothing may have been
    /// delivered before.
    pub(crate) fn override_requirements(&mut self, overrides: BTreeMap<PackageName, Spec>) {
        for (name, spec) in overrides {
            let package = self.package_id(&name);
            self.overrides.insert(package, spec);
        }
    }

    /// What requirements are taken to say in place of what is written.
    pub(crate) fn overrides(&self) -> BTreeMap<PackageName, Spec> {
        self.overrides
            .iter()
            .map(|(package, spec)| (self.name(*package).clone(), spec.clone()))
            .collect()
    }

    /// What every requirement on a package is taken to say.
    pub(crate) fn overriding(&self, package: PackageId) -> Option<&Spec> {
        if self.overrides.is_empty() {
            return None;
        }
        self.overrides.get(&package)
    }

    /// Whether a release was published too late to be chosen.
    pub(crate) fn is_too_new(&self, release: ReleaseId) -> bool {
        let too_new = self.preferences.too_new.get(self.name(release.package));
        too_new.is_some_and(|versions| versions.contains(self.version(release)))
    }

    /// Whether dates of publication have to be known, which compiled indexes do not hold.
    pub(crate) fn needs_dates(&self) -> bool {
        self.preferences.exclude_newer.is_some()
    }

    /// Adds a root.
    pub(crate) fn add_root(&mut self, root: Root) {
        match root {
            Root::Package(record) => {
                let package = self.package_id(&record.name);
                if !self.is_delivered(package) {
                    let requirements = record.requirements.clone();
                    self.deliver(package, None, &[*record]);
                    self.know_specs(package, &requirements);
                }
                self.roots.push(ReleaseId { package, index: 0 });
            }
            Root::Model(root) => self.add_model(root),
        }
    }

    fn add_model(&mut self, root: ModelRoot) {
        let name = PackageName::object_model();
        let package = self.package_id(&name);
        let edges: Vec<Edge> = root
            .objects
            .into_iter()
            .enumerate()
            .map(|(number, demand)| {
                let object = root.model.object(ObjectId(number));
                Edge {
                    package: self.required(&demand.package),
                    object: Some((ObjectId(number), self.class_id(&object.class))),
                    requirement: Requirement {
                        package: demand.package,
                        spec: demand.spec,
                        location: Some(object.location.clone()),
                    },
                    overridden: None,
                }
            })
            .collect();
        self.deliver(package, None, &[IndexRecord::new(name, Version::ZERO)]);
        let root_release = ReleaseId { package, index: 0 };
        let details = Details {
            edges: edges.into_boxed_slice(),
            classes: None,
        };
        self.details.insert(root_release, Arc::new(details));
        self.roots.push(root_release);
        self.model = Some(root.model);
    }

    /// The model that is solved for, if it is one.
    pub(crate) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.model.as_ref()
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots.iter().any(|root| root.package == package)
    }

    /// Whether any requirement that is known names a prerelease.
    pub(crate) fn any_names_prerelease(&self) -> bool {
        let mut shards = self.shards.iter();
        // What a model demands stands in no index.
        let mut overrides = self.overrides.values();
        self.model.is_some()
            || overrides.any(Spec::names_prerelease)
            || shards.any(|shard| shard.index.any_names_prerelease())
    }

    /// Whether there are whole indexes at hand.
    pub(crate) fn has_attached(&self) -> bool {
        !self.attached.is_empty()
    }

    /// Says that a release that the search looked at requires a package.
    pub(crate) fn set_required(&mut self, package: PackageId) {
        self.packages[package.position()].is_required = true;
    }

    /// How many packages were met.
    pub(crate) fn package_count(&self) -> usize {
        self.packages.len()
    }

    fn new_package(&mut self, about: About) -> PackageId {
        let id = PackageId(to_u32(self.packages.len()));
        self.packages.make_room(1);
        self.packages.push(Entry::default());
        self.about.make_room(1);
        self.about.push(about);
        id
    }

    #[inline]
    fn about(&self, package: PackageId) -> &About {
        &self.about[package.position()]
    }

    /// The package, which something that is looked at requires.
    fn required(&mut self, name: &PackageName) -> PackageId {
        let package = self.package_id(name);
        self.packages[package.position()].is_required = true;
        package
    }

    /// The class that classes without `Extends` extend.
    pub(crate) fn root_class_name(&self) -> Option<ClassName> {
        self.root_class.map(|class| self.class_name(class).clone())
    }

    pub(crate) fn name(&self, package: PackageId) -> &PackageName {
        self.about(package).name(|| {
            // Packages that are not delivered were met by name.
            let delivered = self.delivered(package);
            let index = &self.shards[delivered.shard as usize].index;
            index.name(delivered.name)
        })
    }

    /// The packages that the solver came across, in no particular order. What was delivered
    /// without being asked for is not among them: it must not show in an answer.
    pub(crate) fn met(&self) -> impl Iterator<Item = PackageId> {
        (0..)
            .map(PackageId)
            .zip(&self.packages)
            .filter(|(_, entry)| entry.is_required && entry.delivered.is_some())
            .map(|(package, _)| package)
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
        let delivered = self.delivered(release.package);
        let shard = &self.shards[delivered.shard as usize];
        (&shard.index, delivered.first + release.index)
    }

    /// Where a package comes from; `None` for roots and what no registry has.
    pub(crate) fn source(&self, package: PackageId) -> Option<&ReleaseSource> {
        let delivered = self.delivered(package);
        self.shards.get(delivered.shard as usize)?.source.as_ref()
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

    /// The releases of a package that may be chosen.
    pub(crate) fn candidates_of(&self, package: PackageId) -> WordSet {
        match self.about(package).candidates() {
            Some(candidates) => candidates.allowed().clone(),
            None => WordSet::range(0, self.release_count(package)),
        }
    }

    /// Whether every release of a package may be chosen and the newest is the best.
    #[inline]
    pub(crate) fn is_plain(&self, package: PackageId) -> bool {
        self.delivered(package).is_plain
    }

    /// The best release of a package among some.
    pub(crate) fn best(
        &self,
        package: PackageId,
        among: &WordSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        match self.about(package).candidates() {
            Some(candidates) => candidates.best(among, prerelease_named),
            None => among.last(),
        }
    }

    /// Whether no candidate is better than a release, whatever names prereleases.
    pub(crate) fn is_best(&self, release: ReleaseId) -> bool {
        let ReleaseId { package, index } = release;
        if self.is_plain(package) {
            return index + 1 == self.release_count(package);
        }
        let all = self.candidates_of(package);
        [false, true]
            .iter()
            .all(|named| self.best(package, &all, *named) == Some(index))
    }

    /// The best release of a package among those of a set of words.
    #[inline]
    pub(crate) fn best_of_words(
        &self,
        package: PackageId,
        words: &[u64],
        prerelease_named: bool,
    ) -> Option<u32> {
        if self.is_plain(package) {
            return last(words);
        }
        self.best(package, &WordSet::of_words(words), prerelease_named)
    }

    pub(crate) fn is_locked(&self, release: ReleaseId) -> bool {
        let candidates = self.about(release.package).candidates();
        candidates.is_some_and(|candidates| candidates.is_locked(release.index))
    }

    /// Whether a release is a candidate only because it was locked, and is not preferred for that.
    pub(crate) fn is_last_resort(&self, release: ReleaseId) -> bool {
        let candidates = self.about(release.package).candidates();
        candidates.is_some_and(|candidates| candidates.is_last_resort(release.index))
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

    pub(crate) fn prerelease_policy(&self) -> PrereleasePolicy {
        self.preferences.prerelease
    }

    pub(crate) fn locked(&self) -> &Locked {
        &self.preferences.locked
    }

    /// The versions of a package that are locked, in any order.
    pub(crate) fn locked_versions(&self, package: PackageId) -> &[Version] {
        let versions = self.preferences.locked_versions.get(self.name(package));
        versions.map_or(&[], Vec::as_slice)
    }

    /// The version to which the lock binds a requirement.
    fn locked_version(&self, release: ReleaseId, package: PackageId) -> Option<&Version> {
        let locked = &self.preferences.locked;
        let bindings = if self.is_root(release.package) {
            locked.roots.get(self.name(release.package))
        } else if locked.packages.is_empty() {
            None
        } else {
            let key = (
                self.name(release.package).clone(),
                self.version(release).clone(),
            );
            locked.packages.get(&key)
        };
        bindings?.get(self.name(package))
    }

    /// The release of a package to which the lock binds a requirement. Roots are what they are
    /// now, whatever their version was when the lock was written.
    pub(crate) fn locked_binding(&self, release: ReleaseId, package: PackageId) -> Option<u32> {
        let version = self.locked_version(release, package)?;
        if self.is_root(package) {
            Some(0)
        } else {
            self.index_of(package, version)
        }
    }

    /// The best release of a split package for one requirement.
    pub(crate) fn best_binding(
        &self,
        release: ReleaseId,
        package: PackageId,
        among: &WordSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        self.locked_binding(release, package)
            .filter(|locked| among.contains(*locked))
            .or_else(|| self.best(package, among, prerelease_named))
    }
}
