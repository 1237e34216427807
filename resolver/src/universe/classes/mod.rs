//! The classes of releases: what they extend, and which required packages define that.
//!
//! Most of this is in the compiled index: for each class that a release extends, the only required package that
//! can define it, the releases of that package that do, and the releases with the same data. The index can be
//! used if all requirements are on packages of that index. Otherwise the search works with the [table](ClassTable) of a
//! release, and looks each class up in every required package.

mod requirements;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use pkgres_manifest::{ClassName, Package};
use rustc_hash::{FxHashMap, FxHashSet};

use super::catalog::Catalog;
use super::requirements::{PackageRequirement, Requirements, SetId};
use super::{ClassId, PackageId, ReleaseId};
use crate::request::ClassRules;
pub(crate) use requirements::{ClassRequirement, ClassRequirements, OnlyDefiner};
pub(crate) use table::{ClassTable, Parent};

/// What is known of classes.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// By loaded index, number of the table, and whether it is a table of the core library.
    tables: FxHashMap<(u32, u32, bool), Arc<ClassTable>>,
    contents: FxHashMap<ReleaseId, PackageContents>,
    /// The releases whose contents decided about a selection. That others were provided must change nothing.
    looked_at: FxHashSet<ReleaseId>,
    /// The candidates of the core library that define a class; `None` if there are none.
    core_definers: FxHashMap<ClassId, Option<SetId>>,
    /// The releases that share what they extend, by package, class, the package that defines it, and what the
    /// release requires.
    extenders: FxHashMap<(PackageId, ClassId, PackageId, u32), Option<SetId>>,
}

/// The classes of a release with their properties, which only object models need.
#[derive(Debug, Clone, Default)]
pub(crate) enum PackageContents {
    #[default]
    NotRequested,
    /// No registry has them.
    Unavailable,
    Known(Arc<Package>),
}

impl Classes {
    /// Takes the classes of a release with their properties. `None` means that no registry has them.
    pub(super) fn provide(
        &mut self,
        catalog: &mut Catalog,
        release: ReleaseId,
        classes: Option<Arc<Package>>,
    ) {
        let contents = match classes {
            Some(package) => {
                // No release that was looked at may define these classes.
                for class in classes_of_contracts(&package) {
                    catalog.class_id(class);
                }
                PackageContents::Known(package)
            }
            None => PackageContents::Unavailable,
        };
        self.contents.insert(release, contents);
    }

    /// The classes of a release with their properties.
    pub(crate) fn contents(&self, release: ReleaseId) -> &PackageContents {
        let contents = self.contents.get(&release);
        contents.unwrap_or(&PackageContents::NotRequested)
    }

    /// Notes that the contents of releases decided about a selection.
    pub(crate) fn look_at(&mut self, releases: impl IntoIterator<Item = ReleaseId>) {
        self.looked_at.extend(releases);
    }

    /// The classes of a release that was looked at, with their properties.
    pub(crate) fn looked_at(&self, release: ReleaseId) -> Option<&Package> {
        match self.contents(release) {
            PackageContents::Known(package) if self.looked_at.contains(&release) => Some(package),
            _ => None,
        }
    }

    /// The releases whose classes are known with their properties.
    pub(super) fn known_contents(&self) -> impl Iterator<Item = (ReleaseId, &Arc<Package>)> {
        let contents = self.contents.iter();
        contents.filter_map(|(release, contents)| match contents {
            PackageContents::Known(package) => Some((*release, package)),
            PackageContents::NotRequested | PackageContents::Unavailable => None,
        })
    }

    /// The classes of a release, if they are known.
    pub(super) fn table(
        &mut self,
        catalog: &mut Catalog,
        release: ReleaseId,
    ) -> Option<Arc<ClassTable>> {
        let (loaded, number) = catalog.locate(release);
        let index = Arc::clone(catalog.indexes().index(loaded));
        let table = index.table(number)?;
        let is_core = catalog.core() == Some(release.package);
        let key = (loaded, table, is_core);
        if let Some(known) = self.tables.get(&key) {
            return Some(Arc::clone(known));
        }
        let new = Arc::new(ClassTable::read(catalog, loaded, &index, table, is_core));
        self.tables.insert(key, Arc::clone(&new));
        Some(new)
    }
}

fn classes_of_contracts(package: &Package) -> impl Iterator<Item = &ClassName> {
    let classes = package.classes.iter().flat_map(BTreeMap::values);
    let properties = classes.flat_map(|class| &class.properties);
    properties.flat_map(|property| property.contract.value.classes())
}

/// Shortcuts: what the compiled indexes say of all classes of a release or package at once.
impl Catalog {
    /// Whether it is known that no release of an index has classes.
    #[inline]
    fn has_no_classes(&self, release: ReleaseId) -> bool {
        let loaded = self.delivered(release.package).loaded;
        self.index(loaded).has_no_classes()
    }

    /// Whether no class of a package can be part of a cycle or have the name of another package's class;
    /// `None` if the package does not come from the only attached index.
    pub(crate) fn package_has_separate_classes(&self, package: PackageId) -> Option<bool> {
        let loaded = self.indexes().only_attached()?;
        let delivered = self.delivered(package);
        let inheritance = self.index(loaded).inheritance();
        let mut releases = delivered.first..delivered.first + delivered.count;
        // Every class extends what the core library extends.
        let ends_here = self.core() != Some(package)
            || releases.all(|release| inheritance.links(release).is_empty());
        (delivered.loaded == loaded)
            .then(|| inheritance.has_separate_classes(delivered.name) && ends_here)
    }

    /// Whether the only attached index neither refers to the package of a release that is not in it nor defines
    /// a class with the name of one of its classes.
    pub(crate) fn release_has_separate_classes(&self, release: ReleaseId) -> bool {
        let Some(attached) = self.indexes().only_attached() else {
            return false;
        };
        let all = self.index(attached);
        let is_named = || all.find(self.name(release.package).as_str()).is_some();
        if self.has_no_classes(release) {
            return !is_named();
        }
        let (index, number) = self.index_of_release(release);
        let Some(table) = index.table(number) else {
            return !is_named();
        };
        let is_defined_there = |class: &u32| {
            let class = all.find_class(index.class_text(*class));
            class.is_some_and(|class| all.inheritance().home(class).is_some())
        };
        // Every class extends what the core library extends.
        let ends_here = self.core() != Some(release.package) || index.externals(table).is_empty();
        ends_here
            && !index.inheritance().has_cycle(table)
            && !is_named()
            && !index.table_classes(table).iter().any(is_defined_there)
    }

    /// Whether no class of a release extends another one, even implicitly.
    pub(crate) fn extends_nothing(&self, release: ReleaseId) -> bool {
        if self.has_no_classes(release) || self.policy().class_rules() == ClassRules::Ignored {
            return true;
        }
        let (index, number) = self.index_of_release(release);
        let extends = index.inheritance().extends(number);
        extends.nothing(self.root_class().is_some())
    }

    /// Whether a class of a release is known to implement an interface.
    pub(crate) fn implements_interfaces(&self, release: ReleaseId) -> bool {
        let (index, number) = self.index_of_release(release);
        let table = index.table(number);
        table.is_some_and(|table| index.implements_interfaces(table))
    }

    /// Whether a release is one of the core library that defines the root class itself.
    fn defines_root_class(&self, release: ReleaseId) -> bool {
        let is_core = self.core() == Some(release.package);
        is_core && (self.root_class()).is_some_and(|root| self.defines(release, root))
    }

    /// Whether it is known that no package of an index but the core library defines the root class.
    fn only_core_defines_root_class(&self, loaded: u32, root: ClassId) -> bool {
        let inheritance = self.index(loaded).inheritance();
        let number = self.class_number(root, loaded);
        let home = number.and_then(|root| inheritance.home(root));
        let is_in_core = home.is_none_or(|home| {
            let package = self.indexes().get(loaded).package(home).id();
            package == self.core() && inheritance.has_separate_classes(home)
        });
        is_in_core && !inheritance.any_unknown()
    }
}

impl Requirements {
    /// Whether it is known from the index alone that any releases that meet the requirements of a release
    /// define all classes that it extends.
    pub(super) fn define_all_classes(
        &self,
        catalog: &Catalog,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> bool {
        if catalog.has_no_classes(release) {
            return true;
        }
        let (index, number) = catalog.index_of_release(release);
        let extends = index.inheritance().extends(number);
        let are_as_indexed = || (requirements.iter()).all(|requirement| requirement.is_as_indexed);
        extends.nothing(catalog.root_class().is_some())
            || extends.nothing(false) && catalog.defines_root_class(release)
            || !extends.unresolved
                && are_as_indexed()
                && (!extends.implicit || self.define_root_class(catalog, release, requirements))
    }

    /// Whether all releases of the core library that a release allows define the root class.
    fn define_root_class(
        &self,
        catalog: &Catalog,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> bool {
        let Some(root) = catalog.root_class() else {
            return true;
        };
        let loaded = catalog.delivered(release.package).loaded;
        if catalog.core() == Some(release.package)
            || !catalog.only_core_defines_root_class(loaded, root)
        {
            return false;
        }
        // The core library is required first.
        requirements.first().is_some_and(|requirement| {
            let allowed = self.allowed_words(catalog, requirement);
            let definers = catalog.indexed_definers(requirement.target, root);
            definers.is_some_and(|definers| definers.contain_all(allowed))
        })
    }
}

impl Classes {
    /// Whether there may be versions in which a class of a package inherits the class `wanted`, or is it.
    ///
    /// Each class that is extended is looked up in every release of every required package, whether or not
    /// these can be chosen together. What is unknown or was not reached yet counts as possible.
    pub(in crate::universe) fn may_inherit(
        &mut self,
        catalog: &mut Catalog,
        package: PackageId,
        class: ClassId,
        wanted: ClassId,
    ) -> bool {
        let mut visited: FxHashSet<(PackageId, ClassId)> = FxHashSet::default();
        // Breadth first: most inherited classes are near.
        let mut queue = VecDeque::from([(package, class)]);
        while let Some((package, class)) = queue.pop_front() {
            if class == wanted || !catalog.is_reached(package) {
                return true;
            }
            if !visited.insert((package, class)) {
                continue;
            }
            for release in catalog.candidate_releases(package) {
                let Some(table) = self.table(catalog, release) else {
                    return true;
                };
                let Some(position) = table.position(class) else {
                    continue;
                };
                for parent in &table.classes[position as usize].parents {
                    match parent {
                        Parent::Own(own) => {
                            queue.push_back((package, table.classes[*own as usize].name));
                        }
                        Parent::External(external) => {
                            let class = table.external[*external as usize];
                            for target in required(catalog, release) {
                                let Some(target) = target else {
                                    return true;
                                };
                                queue.push_back((target, class));
                            }
                        }
                    }
                }
            }
        }
        false
    }
}

/// The packages that a release requires, including the core library; `None` for one that is not interned.
fn required(catalog: &Catalog, release: ReleaseId) -> impl Iterator<Item = Option<PackageId>> {
    let (loaded, number) = catalog.locate(release);
    let loaded = catalog.indexes().get(loaded);
    let stated = loaded
        .index()
        .requirement_range(number)
        .map(|number| loaded.target(number));
    let others = stated.filter(move |target| *target != Some(release.package));
    let core = catalog.core_required_by(release.package);
    core.map(Some).into_iter().chain(others)
}
