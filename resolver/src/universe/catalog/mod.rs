//! The catalog: packages, releases and class names, interned as dense numbers.
//!
//! A registry delivers the releases of a package as records, which are compiled to a separate index, or a whole
//! index is attached. A package gets its number when its name is first met: as a root, as the target of a
//! requirement, or as what a registry delivered.

mod deliver;
mod loaded_index;
mod releases;
mod roots;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use pkgres_manifest::{ClassName, PackageName, ReleaseSource, Spec, Version};
use rustc_hash::FxHashMap;

use super::policy::Candidates;
use super::policy::Policy;
use super::{ClassId, Missing, PackageId, ReleaseId};
use crate::index::{ANY_CLASS, ClassDefiners, CompiledIndex, to_u32, width};
use crate::set::PositionSet;
pub(crate) use deliver::check_names;
pub use deliver::{ProvideError, Supply};
use loaded_index::ClassNames;
pub(super) use loaded_index::LoadedIndexes;
use roots::Roots;

/// Everything that was delivered.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    policy: Policy,
    indexes: LoadedIndexes,
    packages: Vec<Package>,
    /// By package.
    facts: Vec<PackageFacts>,
    /// The packages that do not come from attached indexes.
    package_ids: FxHashMap<PackageName, PackageId>,
    class_names: ClassNames,
    core: Option<PackageId>,
    root_class: Option<ClassId>,
    roots: Roots,
}

/// A package, as far as the search looks at it all the time.
#[derive(Debug)]
struct Package {
    delivered: Option<Delivered>,
    /// Whether a release that was looked at requires the package.
    is_required: bool,
}

/// Where the releases of a package are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivered {
    /// The loaded index, and the number of the name in it; `NONE` if no registry has the package.
    pub(super) loaded: u32,
    pub(super) name: u32,
    /// The first release in the loaded index.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Whether all releases are candidates and the newest is the best.
    pub(super) has_default_order: bool,
}

/// Facts about a package that are read when they are first needed.
#[derive(Debug, Default)]
struct PackageFacts {
    name: OnceLock<PackageName>,
    versions: OnceLock<Box<[Version]>>,
    /// `None` if all releases are candidates and the newest is the best.
    candidates: Option<Box<Candidates>>,
}

impl Catalog {
    /// A catalog that holds nothing but the name of the core library, which has the root class.
    pub(super) fn new(
        core: Option<&PackageName>,
        policy: Policy,
        overrides: BTreeMap<PackageName, Spec>,
    ) -> Self {
        let mut catalog = Self {
            policy,
            ..Self::default()
        };
        if let Some(core) = core {
            catalog.core = Some(catalog.package_id(core));
            catalog.root_class = Some(catalog.class_id(&core.root_class()));
        }
        for (name, spec) in overrides {
            let package = catalog.package_id(&name);
            catalog.policy.override_spec(package, spec);
        }
        catalog
    }

    /// The rules by which releases are candidates and preferred.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The core library.
    #[inline]
    pub(crate) fn core(&self) -> Option<PackageId> {
        self.core
    }

    /// The core library, as a requirement of a package: every other package requires it.
    #[inline]
    pub(super) fn core_required_by(&self, package: PackageId) -> Option<PackageId> {
        self.core.filter(|core| *core != package)
    }

    /// The class that every class without `Extends` extends.
    #[inline]
    pub(super) fn root_class(&self) -> Option<ClassId> {
        self.root_class
    }

    #[inline]
    pub(super) fn indexes(&self) -> &LoadedIndexes {
        &self.indexes
    }

    #[inline]
    pub(super) fn index(&self, loaded: u32) -> &CompiledIndex {
        self.indexes.index(loaded)
    }

    /// Whether whole indexes are attached.
    pub(crate) fn has_attached(&self) -> bool {
        self.indexes.first_attached().is_some()
    }

    /// Marks a package as required by a release that the search looked at.
    pub(crate) fn set_required(&mut self, package: PackageId) {
        self.packages[package.position()].is_required = true;
    }

    /// How many packages were interned.
    pub(crate) fn package_count(&self) -> usize {
        self.packages.len()
    }

    fn add_package(&mut self, delivered: Option<Delivered>, facts: PackageFacts) -> PackageId {
        let id = PackageId(to_u32(self.packages.len()));
        self.packages.push(Package {
            delivered,
            is_required: false,
        });
        self.facts.push(facts);
        id
    }

    #[inline]
    fn facts(&self, package: PackageId) -> &PackageFacts {
        &self.facts[package.position()]
    }

    pub(crate) fn name(&self, package: PackageId) -> &PackageName {
        self.facts(package).name.get_or_init(|| {
            let delivered = self.delivered(package);
            self.index(delivered.loaded).name(delivered.name)
        })
    }

    /// The packages that the search reached, in no particular order. A package that was delivered
    /// without being required is not among them: it must not show in an answer.
    pub(crate) fn reached(&self) -> impl Iterator<Item = PackageId> {
        let all = (0..to_u32(self.packages.len())).map(PackageId);
        all.filter(|package| self.is_reached(*package))
    }

    /// Whether the search reached a package.
    pub(super) fn is_reached(&self, package: PackageId) -> bool {
        let package = &self.packages[package.position()];
        package.is_required && package.delivered.is_some()
    }

    #[inline]
    pub(crate) fn is_delivered(&self, package: PackageId) -> bool {
        self.find_delivered(package).is_some()
    }

    /// Fails with the packages of which no releases were delivered yet.
    pub(crate) fn ensure_delivered(
        &self,
        packages: impl IntoIterator<Item = PackageId>,
    ) -> Result<(), Missing> {
        let packages = packages.into_iter();
        let missing = packages.filter(|package| !self.is_delivered(*package));
        let missing: Vec<PackageId> = missing.collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Missing::Packages(missing))
        }
    }

    #[inline]
    pub(super) fn find_delivered(&self, package: PackageId) -> Option<&Delivered> {
        self.packages[package.position()].delivered.as_ref()
    }

    /// The releases of a package, which must have been delivered.
    #[inline]
    pub(super) fn delivered(&self, package: PackageId) -> &Delivered {
        self.find_delivered(package)
            .expect("a package is looked at only after it was delivered")
    }

    /// The loaded index of a release and its number there. In an index the releases are in the order
    /// of their names, and those of a package in the order of their versions.
    #[inline]
    pub(crate) fn locate(&self, release: ReleaseId) -> (u32, u32) {
        let delivered = self.delivered(release.package);
        (delivered.loaded, delivered.first + release.index)
    }

    /// The compiled index of a release and its number there.
    #[inline]
    pub(super) fn index_of_release(&self, release: ReleaseId) -> (&CompiledIndex, u32) {
        let (loaded, number) = self.locate(release);
        (self.index(loaded), number)
    }

    /// Where a package comes from; `None` for roots and for packages that no registry has.
    pub(crate) fn source(&self, package: PackageId) -> Option<&ReleaseSource> {
        let delivered = self.delivered(package);
        self.indexes.find(delivered.loaded)?.source.as_ref()
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

    /// Interns a class name.
    pub(crate) fn class_id(&mut self, name: &ClassName) -> ClassId {
        self.class_names.intern(&mut self.indexes, name)
    }

    /// Interns a class name of a loaded index.
    pub(super) fn class_id_in(&mut self, loaded: u32, number: u32) -> ClassId {
        (self.class_names).intern_in(&mut self.indexes, loaded, number)
    }

    /// A class that a contract names.
    pub(crate) fn class_of_contract(&self, name: &ClassName) -> ClassId {
        let class = self.class_names.find(&self.indexes, name);
        class.expect("the classes that contracts name were interned with their package")
    }

    pub(crate) fn class_name(&self, class: ClassId) -> &ClassName {
        self.class_names.name(&self.indexes, class)
    }

    /// The number of a class in a loaded index, if it knows the class.
    pub(super) fn class_number(&self, class: ClassId, loaded: u32) -> Option<u32> {
        self.class_names.number_in(&self.indexes, class, loaded)
    }

    /// The releases of a package that define a class for other packages. A release whose classes are unknown
    /// counts as one.
    pub(crate) fn definers(&self, package: PackageId, class: ClassId) -> PositionSet {
        let definers = self.indexed_definers(package, class);
        definers.map_or(PositionSet::EMPTY, |definers| {
            definers.to_set(self.width(package))
        })
    }

    /// Whether a release defines a class for other packages.
    pub(crate) fn defines(&self, release: ReleaseId, class: ClassId) -> bool {
        let definers = self.indexed_definers(release.package, class);
        definers.is_some_and(|definers| definers.contain(release.index))
    }

    /// Whether the classes of a release are unknown, so that it only may define a class.
    pub(crate) fn has_unknown_classes(&self, release: ReleaseId) -> bool {
        let delivered = self.delivered(release.package);
        if delivered.count == 0 {
            return false;
        }
        let inheritance = self.index(delivered.loaded).inheritance();
        let unknown = inheritance.unknown_definers(delivered.name, width(delivered.count));
        unknown.is_some_and(|unknown| unknown.contain(release.index))
    }

    /// The wildcard class of an index that matches a class, if there is one.
    fn any_class_beside(&self, class: ClassId, index: &CompiledIndex) -> Option<u32> {
        if !self.ecosystem().has_wildcard_classes() {
            return None;
        }
        let (prefix, _) = self.class_name(class).as_str().rsplit_once('.')?;
        index.find_class(&format!("{prefix}{ANY_CLASS}"))
    }

    /// The [`definers`](Self::definers) of a class as the index has them; `None` if there are none.
    pub(super) fn indexed_definers(
        &self,
        package: PackageId,
        class: ClassId,
    ) -> Option<ClassDefiners<'_>> {
        let delivered = self.delivered(package);
        if delivered.count == 0 {
            return None;
        }
        let index = self.index(delivered.loaded);
        let inheritance = index.inheritance();
        let number = self
            .class_number(class, delivered.loaded)
            .or_else(|| self.any_class_beside(class, index));
        match number {
            Some(number) => inheritance.definers_of(index, delivered.name, number),
            None => inheritance.unknown_definers(delivered.name, width(delivered.count)),
        }
    }
}
