//! Collects a class, everything that it inherits from, and the interfaces that these classes implement.
//!
//! Records say which classes and interfaces these are. Their files are unpacked afterwards, once for each release.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, ClassConformance, class_conformance};
use pkgres_manifest::{ClassDefinition, ClassName, IndexRecord, PackageName, Release, Version};

use super::backend::RegistryBackend;
use crate::problem::{Problem, ProblemCode};

/// The most classes whose files are read.
const MAX_CLASSES: usize = 16;

/// A class and the release that its definition is from.
#[derive(Debug)]
pub(crate) struct ClassPart<'lineage> {
    pub(crate) package: PackageName,
    pub(crate) version: Version,
    pub(crate) definition: &'lineage ClassDefinition,
}

/// A class and its ancestors.
#[derive(Debug)]
pub(crate) struct Lineage {
    class: ClassName,
    release: Release,
    /// The releases with the classes and their interfaces, but no others.
    packages: BoundPackages,
    /// The ancestors that no release in the registry defines.
    pub(crate) unknown: Vec<ClassName>,
    /// The ancestors that the engine supplies, because the registry does not have the core library.
    pub(crate) built_in: Vec<ClassName>,
    /// Whether there are more ancestors than are read.
    pub(crate) is_partial: bool,
}

impl Lineage {
    /// The class, then its parents, then theirs.
    pub(crate) fn parts(&self) -> Vec<ClassPart<'_>> {
        let known = self.packages.lineage(&self.release, &self.class);
        let parts = known.into_iter().filter_map(|(release, class)| {
            let package = self.packages.releases.get(&release)?.package.as_ref()?;
            let definition = package.classes.as_ref()?.get(&class)?;
            let Release {
                name: package,
                version,
            } = release;
            Some(ClassPart {
                package,
                version,
                definition,
            })
        });
        parts.collect()
    }

    /// Compares the class with the interfaces that it implements or inherits; `None` if its class file cannot be read.
    pub(crate) fn conformance(&self) -> Option<ClassConformance<'_>> {
        class_conformance(&self.packages, &self.release, &self.class)
    }
}

/// What is needed of a release.
struct Wanted {
    record: IndexRecord,
    classes: BTreeSet<ClassName>,
    interfaces: BTreeSet<ClassName>,
    /// The releases that define what these classes extend and implement.
    requires: Vec<Release>,
}

/// Collects what is needed of releases.
#[derive(Default)]
struct Collection(BTreeMap<Release, Wanted>);

impl Collection {
    fn of(&mut self, record: &IndexRecord) -> &mut Wanted {
        self.0.entry(record.release()).or_insert_with(|| Wanted {
            record: record.clone(),
            classes: BTreeSet::new(),
            interfaces: BTreeSet::new(),
            requires: Vec::new(),
        })
    }

    /// Adds that a release requires another one.
    fn require(&mut self, record: &IndexRecord, other: &Release) {
        let is_own = record.release() == *other;
        let known = &mut self.of(record).requires;
        if !is_own && !known.contains(other) {
            known.push(other.clone());
        }
    }
}

impl RegistryBackend {
    /// A class of a release with its ancestors. Those of other packages are from the newest release that the
    /// requirements permit, as are interfaces; a resolution may have another one.
    pub(crate) fn lineage(
        &self,
        record: &IndexRecord,
        class: &ClassName,
    ) -> Result<Lineage, Problem> {
        let core = self.options.read.core.as_ref();
        let root_class = core.map(PackageName::root_class);
        let mut wanted = Collection::default();
        let mut unknown = Vec::new();
        let mut built_in = Vec::new();
        let mut is_partial = false;
        let mut seen = BTreeMap::from([(class.clone(), record.release())]);
        let mut rest = VecDeque::from([(class.clone(), record.clone())]);
        let mut count = 0;
        while let Some((class, record)) = rest.pop_front() {
            if count == MAX_CLASSES {
                is_partial = true;
                break;
            }
            let Some(indexed_class) = record.class(&class) else {
                unknown.push(class);
                continue;
            };
            count += 1;
            let mut parents = indexed_class.extends.clone();
            if parents.is_empty() {
                parents.extend(root_class.clone().filter(|root| *root != class));
            }
            for parent in parents {
                if let Some(release) = seen.get(&parent) {
                    wanted.require(&record, release);
                    continue;
                }
                if let Some(found) = self.release_of_parent(&record, &parent)? {
                    let release = found.release();
                    wanted.require(&record, &release);
                    seen.insert(parent.clone(), release);
                    rest.push_back((parent, found));
                } else {
                    let missing = if self.is_built_in(&parent) {
                        &mut built_in
                    } else {
                        &mut unknown
                    };
                    if !missing.contains(&parent) {
                        missing.push(parent);
                    }
                }
            }
            for interface in &indexed_class.implements {
                if let Some(found) = self.release_of_interface(&record, interface)? {
                    wanted.require(&record, &found.release());
                    wanted.of(&found).interfaces.insert(interface.clone());
                }
            }
            wanted.of(&record).classes.insert(class);
        }
        let packages = self.read_wanted(wanted, root_class, &mut unknown)?;
        Ok(Lineage {
            class: class.clone(),
            release: record.release(),
            packages,
            unknown,
            built_in,
            is_partial,
        })
    }

    /// Reads the wanted classes and interfaces. Adds classes that their releases do not have to the unknown ones.
    fn read_wanted(
        &self,
        wanted: Collection,
        root_class: Option<ClassName>,
        unknown: &mut Vec<ClassName>,
    ) -> Result<BoundPackages, Problem> {
        let mut packages = BoundPackages {
            root_class,
            ..BoundPackages::default()
        };
        for (release, wanted) in wanted.0 {
            let package = self.package_with(&wanted.record, &wanted.classes, &wanted.interfaces)?;
            let known = package
                .as_ref()
                .and_then(|package| package.classes.as_ref());
            let is_known = |class: &ClassName| known.is_some_and(|known| known.contains_key(class));
            unknown.extend(
                wanted
                    .classes
                    .iter()
                    .filter(|class| !is_known(class))
                    .cloned(),
            );
            let bound = BoundPackage {
                package: package.map(Arc::new),
                requires: wanted.requires,
            };
            packages.releases.insert(release, bound);
        }
        Ok(packages)
    }

    /// The release that a parent of a class of a release is from.
    fn release_of_parent(
        &self,
        record: &IndexRecord,
        parent: &ClassName,
    ) -> Result<Option<IndexRecord>, Problem> {
        if record.class(parent).is_some() {
            return Ok(Some(record.clone()));
        }
        let definers = self.definers(parent)?;
        self.required_release(record, definers, |release| release.exports(parent))
    }

    /// The release that an interface of a class of a release is from.
    fn release_of_interface(
        &self,
        record: &IndexRecord,
        interface: &ClassName,
    ) -> Result<Option<IndexRecord>, Problem> {
        let has = |record: &IndexRecord| record.interfaces.contains(interface);
        if has(record) {
            return Ok(Some(record.clone()));
        }
        self.required_release(record, self.definers_of_interface(interface)?, has)
    }

    /// The newest release of one of some packages that a release requires, if it has what is needed.
    fn required_release(
        &self,
        record: &IndexRecord,
        packages: Vec<PackageName>,
        has: impl Fn(&IndexRecord) -> bool,
    ) -> Result<Option<IndexRecord>, Problem> {
        for package in packages {
            let mut requirements = record.requirements.iter();
            let required = requirements.find(|known| known.package == package);
            let is_core = self.options.read.core.as_ref() == Some(&package);
            if required.is_none() && !is_core {
                continue;
            }
            let spec = required.map(|required| &required.spec);
            match self.release_for_spec(&package, spec) {
                Ok(release) if has(&release) => return Ok(Some(release)),
                Ok(_) => {}
                Err(problem)
                    if matches!(
                        problem.code,
                        ProblemCode::NoSuchVersion | ProblemCode::NoSuchPackage
                    ) => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(None)
    }
}
