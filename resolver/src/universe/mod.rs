//! The universe: everything that is known about packages, by dense numbers.
//!
//! Problem: a search asks the same few questions millions of times. What does a release require? Which releases does a
//! requirement allow? Which classes does a release extend, and which packages define them? Packages arrive one by one
//! or as an index of hundreds of thousands, and answers must not depend on the order of arrival.
//!
//! Idea: names are interned as numbers when they are first met, and releases are compiled to indexes, in which a
//! requirement is a few numbers and a reference to a set of releases. The search reads these in place. Results never
//! depend on the numbers: where an order matters, it is the order of names, of versions, or of positions in a
//! manifest.
//!
//! Parts, each with private state, arrows one way:
//!
//! - [`Policy`]: which releases are candidates, which are preferred, what overrides say;
//! - [`Catalog`]: packages, releases and class names, and where they were delivered;
//! - [`Requirements`]: what releases require and allow, as numbers and as texts;
//! - [`Classes`]: what releases extend, and which required packages define that.
//!
//! Questions that involve several parts are methods of [`Universe`].
//!
//! Cost: an attached index costs a few bytes for each name. Packages that the search does not reach cost nothing else.

mod catalog;
mod classes;
mod policy;
mod requirements;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pkgres_manifest::{ClassName, ObjectId, Package, PackageName, Spec, Version};
use rustc_hash::FxHashMap;

use crate::derivation::ClassFiles;
use crate::request::{ClassRules, PrereleasePolicy, Root};
use crate::set::{PositionSet, bits};
pub(crate) use catalog::{Catalog, check_names};
pub use catalog::{ProvideError, Supply};
use classes::Classes;
pub(crate) use classes::{
    ClassRequirement, ClassRequirements, ClassTable, OnlyDefiner, PackageContents, Parent,
};
pub(crate) use policy::Policy;
use requirements::Requirements;
pub(crate) use requirements::{PackageRequirement, ReleaseRequirement, SetId, SpecCache};

/// Everything that is known.
#[derive(Debug, Default)]
pub(crate) struct Universe {
    pub(crate) catalog: Catalog,
    pub(crate) classes: Classes,
    requirements: Requirements,
    details: FxHashMap<ReleaseId, Arc<Details>>,
}

/// What a release requires and defines, as texts.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) requirements: Box<[ReleaseRequirement]>,
    /// `None` if the classes are unknown.
    pub(crate) classes: Option<Arc<ClassTable>>,
}

/// What must be delivered before the search can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The releases of packages.
    Packages(Vec<PackageId>),
    /// The classes of releases, with their properties.
    Classes(Vec<ReleaseId>),
}

impl Universe {
    /// A universe without releases. `overrides` replace the specs of requirements.
    pub(crate) fn new(
        core: Option<&PackageName>,
        policy: Policy,
        overrides: BTreeMap<PackageName, Spec>,
    ) -> Self {
        Self {
            catalog: Catalog::new(core, policy, overrides),
            ..Self::default()
        }
    }

    pub(crate) fn add_root(&mut self, root: Root) {
        match root {
            Root::Package(record) => {
                self.catalog.add_root(*record);
            }
            Root::File(record) => self.catalog.add_file(*record),
            Root::Model(root) => {
                let objects = (0..).map(ObjectId).zip(root.objects);
                let objects = objects.map(|(object, requirement)| {
                    ReleaseRequirement::of_object(
                        &mut self.catalog,
                        &root.model,
                        object,
                        requirement,
                    )
                });
                self.requirements.set_objects(objects.collect());
                (self.catalog).add_model(root.model, root.contracts, root.violated);
            }
        }
    }

    /// Takes the classes of a release, with their properties; returns whether there is such a release.
    /// `None` means that no registry has them.
    pub(crate) fn provide_classes(
        &mut self,
        name: &PackageName,
        version: &Version,
        classes: Option<Arc<Package>>,
    ) -> bool {
        let package = self.catalog.package_id(name);
        if !self.catalog.is_delivered(package) {
            return false;
        }
        let Some(index) = self.catalog.index_of(package, version) else {
            return false;
        };
        let release = ReleaseId { package, index };
        self.classes.provide(&mut self.catalog, release, classes);
        true
    }

    /// The classes of releases that were provided with their properties.
    pub(crate) fn class_files(&self) -> ClassFiles {
        let known = self.classes.known_contents();
        known
            .map(|(release, package)| (self.catalog.named_version(release), Arc::clone(package)))
            .collect()
    }

    /// Puts the requirements of a release into `requirements`, in the order of its manifest, the core
    /// library first.
    #[inline]
    pub(crate) fn requirements(
        &mut self,
        release: ReleaseId,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        (self.requirements).read(&mut self.catalog, release, requirements);
    }

    /// Visits the requirements of a release of a selection, in the order of
    /// [`requirements`](Self::requirements). Specs that are read are kept in `specs`.
    pub(crate) fn visit_requirements(
        &self,
        release: ReleaseId,
        specs: &mut SpecCache,
        visit: impl FnMut(ReleaseRequirement),
    ) {
        (self.requirements).visit(&self.catalog, release, specs, visit);
    }

    /// The words of a set of releases, of which there are `width`.
    #[inline]
    pub(crate) fn set(&self, set: SetId, width: usize) -> &[u64] {
        self.requirements.set(&self.catalog, set, width)
    }

    /// The words of the set that a requirement allows. Its target must have been delivered.
    #[inline]
    pub(crate) fn allowed_words(&self, requirement: &PackageRequirement) -> &[u64] {
        (self.requirements).allowed_words(&self.catalog, requirement)
    }

    /// The candidates that a stated requirement allows.
    pub(crate) fn allowed(&self, requirement: &ReleaseRequirement) -> PositionSet {
        requirement.allowed(&self.catalog)
    }

    /// Whether a requirement allows a release of its target.
    pub(crate) fn allows(&self, requirement: &PackageRequirement, index: u32) -> bool {
        bits::contains(self.allowed_words(requirement), index)
    }

    /// The owners of a requirement and what it allows, if the index holds both and each takes one word, as
    /// nearly always.
    #[inline]
    pub(crate) fn short_sets(&self, requirement: &PackageRequirement) -> Option<[u64; 2]> {
        Requirements::short_sets(&self.catalog, requirement)
    }

    /// The releases of the same package that allow the same releases of the target; `None` for the
    /// requirements of objects.
    pub(crate) fn owners(
        &mut self,
        release: ReleaseId,
        requirement: &PackageRequirement,
    ) -> Option<SetId> {
        (self.requirements).owners(&mut self.catalog, release, requirement)
    }

    /// What a release requires and defines. It is worked out the first time.
    pub(crate) fn details(&mut self, release: ReleaseId) -> Arc<Details> {
        if let Some(details) = self.details.get(&release) {
            return Arc::clone(details);
        }
        let requirements = self.requirements.stated(&mut self.catalog, release);
        let details = Arc::new(Details {
            requirements: requirements.into_boxed_slice(),
            classes: self.class_table(release),
        });
        self.details.insert(release, Arc::clone(&details));
        details
    }

    /// The details of a release that [`details`](Self::details) was called for.
    pub(crate) fn known_details(&self, release: ReleaseId) -> &Arc<Details> {
        self.details
            .get(&release)
            .expect("the details of chosen releases have been worked out")
    }

    /// The package of a requirement of such a release.
    pub(crate) fn required_package(&self, release: ReleaseId, number: usize) -> PackageId {
        self.known_details(release).requirements[number].package
    }

    /// The classes of a release, if they are known.
    pub(crate) fn class_table(&mut self, release: ReleaseId) -> Option<Arc<ClassTable>> {
        self.classes.table(&mut self.catalog, release)
    }

    /// Puts what a release extends into `classes`. `requirements` is what it requires.
    pub(crate) fn class_requirements(
        &mut self,
        release: ReleaseId,
        requirements: &[PackageRequirement],
        classes: &mut ClassRequirements,
    ) {
        let rules = self.catalog.policy().class_rules();
        if rules == ClassRules::Ignored {
            classes.clear();
            return;
        }
        self.classes.read(
            &mut self.catalog,
            &mut self.requirements,
            release,
            requirements,
            classes,
        );
        classes.has_cycle &= rules == ClassRules::Inheritance;
    }

    /// The releases of the same package that extend a class too and have the same only definer, `target`.
    /// `None` if the releases of the package share no such requirement.
    pub(crate) fn extenders(
        &mut self,
        release: ReleaseId,
        class: ClassId,
        target: PackageId,
    ) -> Option<SetId> {
        self.classes.extenders(
            &mut self.catalog,
            &mut self.requirements,
            release,
            class,
            target,
        )
    }

    /// Whether it is known from the index alone that any releases that meet the requirements of a release
    /// define all classes that it extends.
    pub(crate) fn requirements_define_all_classes(
        &self,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> bool {
        self.catalog.policy().class_rules() == ClassRules::Ignored
            || (self.requirements).define_all_classes(&self.catalog, release, requirements)
    }

    /// Whether there may be versions in which a class of a package inherits a class of this name, or is it.
    pub(crate) fn may_inherit(
        &mut self,
        package: PackageId,
        class: ClassId,
        wanted: &ClassName,
    ) -> bool {
        let wanted = self.catalog.class_id(wanted);
        (self.classes).may_inherit(&mut self.catalog, package, class, wanted)
    }
}

/// A package, by the order in which it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PackageId(pub(super) u32);

impl PackageId {
    /// The first package, for tests that need any.
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);

    #[inline]
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

/// A class name, by the order in which it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(pub(super) u32);

/// A release: a package and the position of its version in the ascending list of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReleaseId {
    pub(crate) package: PackageId,
    pub(crate) index: u32,
}

/// The reason for which a release is chosen only if it is locked or requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PolicyExclusion {
    /// It was yanked.
    Yanked,
    /// It was published at the cut-off date or later.
    TooNew,
    /// It is a prerelease, and no prerelease is chosen unless it is requested.
    Prerelease,
}

impl PolicyExclusion {
    /// The first reason why a release is chosen only if it is locked or requested; `None` if there is none.
    pub(crate) fn until_requested(universe: &Universe, release: ReleaseId) -> Option<Self> {
        Self::all_of(universe, release).next()
    }

    /// All reasons why a release is chosen only if it is locked or requested.
    pub(crate) fn all_of(
        universe: &Universe,
        release: ReleaseId,
    ) -> impl Iterator<Item = Self> + use<> {
        let catalog = &universe.catalog;
        let is_forbidden = catalog.is_prerelease(release)
            && catalog.policy().prerelease() == PrereleasePolicy::Never;
        let exclusions = [
            (catalog.is_yanked(release), Self::Yanked),
            (catalog.is_too_new(release), Self::TooNew),
            (is_forbidden, Self::Prerelease),
        ];
        let applying = exclusions.into_iter().filter(|(applies, _)| *applies);
        applying.map(|(_, exclusion)| exclusion)
    }
}

impl fmt::Display for PolicyExclusion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Yanked => "was yanked",
            Self::TooNew => "was published too late",
            Self::Prerelease => "is a prerelease",
        })
    }
}
