//! The input of a resolution as a certificate sees it: candidates with their requirements and classes.
//!
//! This restates the rules of the user's guide on records, for readers. It shares no code with the search.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    CLASS_PACKAGES, ClassName, IndexRecord, PackageName, Release, Spec, Version,
};
use pkgres_resolver::{ClassRules, ModelRoot, PrereleasePolicy, Request, Root};

use crate::NotCertified;

/// The candidates of each package.
#[derive(Debug)]
pub struct Universe {
    pub(crate) roots: BTreeSet<PackageName>,
    /// The object model, if it is a root.
    pub(crate) model: Option<ModelRoot>,
    /// The candidates, ascending by version.
    pub(crate) candidates: BTreeMap<PackageName, Vec<Candidate>>,
    /// Whether classes must not extend each other in cycles, and not inherit two classes of one name.
    pub(crate) has_hierarchy: bool,
}

/// A release that can be chosen.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) version: Version,
    /// The requirements in the order in which classes are looked up.
    pub(crate) requirements: Vec<(PackageName, Spec)>,
    /// The classes; `None` if they are unknown.
    pub(crate) classes: Option<Vec<DefinedClass>>,
}

/// A class of a release.
#[derive(Debug)]
pub(crate) struct DefinedClass {
    pub(crate) name: ClassName,
    /// The folder in `folder.*`, which means every class in that folder.
    pub(crate) folder: Option<String>,
    /// Whether only the release itself sees it.
    pub(crate) is_internal: bool,
    /// The classes that it extends.
    pub(crate) parents: Vec<ClassName>,
}

impl DefinedClass {
    /// Whether it is this class, or the folder of all classes that this one is in.
    fn defines(&self, class: &ClassName) -> bool {
        self.name == *class
            || self.folder.as_deref().is_some_and(|folder| {
                let path = class.as_str().rsplit_once('.');
                path.is_some_and(|(of_class, _)| of_class == folder)
            })
    }
}

impl Candidate {
    /// Whether the release finds a class in itself.
    pub(crate) fn has(&self, class: &ClassName) -> bool {
        let classes = self.classes.as_ref();
        classes.is_none_or(|classes| classes.iter().any(|one| one.defines(class)))
    }

    /// Whether a release that requires this one finds a class in it.
    pub(crate) fn exports(&self, class: &ClassName) -> bool {
        let is_exported = |one: &DefinedClass| one.defines(class) && !one.is_internal;
        let classes = self.classes.as_ref();
        classes.is_none_or(|classes| classes.iter().any(is_exported))
    }

    /// Each class with a class that it extends.
    pub(crate) fn extensions(&self) -> impl Iterator<Item = (&ClassName, &ClassName)> {
        let classes = self.classes.iter().flatten();
        classes.flat_map(|class| class.parents.iter().map(|parent| (&class.name, parent)))
    }

    /// Whether classes of the release extend each other in a cycle.
    pub(crate) fn has_cycle(&self) -> bool {
        let classes = self.classes.iter().flatten();
        // Classes are removed whose parents are all elsewhere or removed, until that changes nothing.
        let mut open: BTreeMap<&ClassName, &[ClassName]> = classes
            .map(|class| (&class.name, class.parents.as_slice()))
            .collect();
        loop {
            let before = open.len();
            let names: BTreeSet<&ClassName> = open.keys().copied().collect();
            open.retain(|_, parents| parents.iter().any(|parent| names.contains(parent)));
            if open.len() == before {
                return before > 0;
            }
        }
    }
}

impl Universe {
    /// The universe of a request. `records` are the releases in registries, by package.
    ///
    /// # Errors
    ///
    /// The request is an update.
    pub fn new(
        request: &Request,
        records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    ) -> Result<Self, NotCertified> {
        if request.update.is_some() {
            return Err(NotCertified::Update);
        }
        let mut roots = BTreeSet::new();
        let mut model = None;
        let mut candidates = BTreeMap::new();
        for root in &request.roots {
            match root {
                Root::Package(record) | Root::File(record) => {
                    roots.insert(record.name.clone());
                    candidates.insert(record.name.clone(), vec![candidate(request, record)]);
                }
                Root::Model(root) => model = Some(root.clone()),
            }
        }
        // Releases of the host take the place of those in registries.
        let mut others: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
        for record in &request.host_releases {
            others.entry(&record.name).or_default().push(record);
        }
        for (name, records) in records {
            others
                .entry(name)
                .or_insert_with(|| records.iter().collect());
        }
        let held = held_releases(request);
        for (name, mut records) in others {
            if roots.contains(name) {
                continue;
            }
            records.sort_by(|one, other| {
                let by_version = one.version.cmp(&other.version);
                by_version.then_with(|| one.cmp_content(other))
            });
            records.dedup_by(|next, kept| next.version == kept.version);
            let eligible = records
                .iter()
                .filter(|record| is_candidate(request, &held, record));
            let of_package = eligible.map(|record| candidate(request, record)).collect();
            candidates.insert(name.clone(), of_package);
        }
        Ok(Self {
            roots,
            model,
            candidates,
            has_hierarchy: request.options.classes == ClassRules::Inheritance,
        })
    }

    /// The candidates of a package.
    pub(crate) fn of(&self, package: &PackageName) -> &[Candidate] {
        self.candidates.get(package).map_or(&[], Vec::as_slice)
    }

    /// The candidate of a version.
    pub(crate) fn candidate(&self, package: &PackageName, version: &Version) -> Option<&Candidate> {
        let mut candidates = self.of(package).iter();
        candidates.find(|candidate| candidate.version == *version)
    }

    /// The versions of the candidates of a package that match a spec, ascending.
    pub(crate) fn allowed(&self, package: &PackageName, spec: &Spec) -> Vec<&Version> {
        let candidates = self.of(package);
        let before = |version: &Version| {
            candidates.partition_point(|candidate| candidate.version < *version)
        };
        let ranges = spec.set().intervals().iter().map(|interval| {
            let until = interval.until.as_ref();
            before(&interval.from)..until.map_or(candidates.len(), before)
        });
        let of_ranges = ranges.filter_map(|range| candidates.get(range)).flatten();
        of_ranges.map(|candidate| &candidate.version).collect()
    }
}

/// Releases by name and version.
type HeldReleases<'request> = BTreeSet<(&'request PackageName, &'request Version)>;

/// The releases that stay candidates as a lock holds them.
fn held_releases(request: &Request) -> HeldReleases<'_> {
    let kept = request.locked.kept.iter();
    let kept = kept.map(|Release { name, version }| (name, version));
    request.locked.releases().chain(kept).collect()
}

/// Whether a release in a registry can be chosen.
fn is_candidate(request: &Request, held: &HeldReleases<'_>, record: &IndexRecord) -> bool {
    let options = &request.options;
    let is_held = held.contains(&(&record.name, &record.version));
    let is_too_new = (options.exclude_newer).is_some_and(|time| !record.is_published_before(time));
    let is_rejected =
        record.version.is_prerelease() && options.prerelease == PrereleasePolicy::Never;
    let only = options.allowed_versions.get(&record.name);
    let is_left_out = only.is_some_and(|versions| !versions.contains(&record.version));
    !is_left_out && (is_held || !(record.yanked || is_too_new || is_rejected))
}

fn candidate(request: &Request, record: &IndexRecord) -> Candidate {
    let classes = match request.options.classes {
        ClassRules::Ignored => Some(Vec::new()),
        _ => classes(request, record),
    };
    Candidate {
        version: record.version.clone(),
        requirements: requirements(request, record),
        classes,
    }
}

/// The requirements of a release: the core library first, which every other package requires.
fn requirements(request: &Request, record: &IndexRecord) -> Vec<(PackageName, Spec)> {
    let core = request.core.as_ref().filter(|core| **core != record.name);
    let mut requirements = Vec::new();
    if let Some(core) = core {
        let mut stated = record.requirements.iter();
        let stated = stated.find(|requirement| requirement.package == *core);
        let spec = stated.map(|requirement| requirement.spec.clone());
        requirements.push((core.clone(), spec.unwrap_or_else(Spec::unspecified)));
    }
    for requirement in &record.requirements {
        let package = &requirement.package;
        let is_left_out = request.options.host_package_of_unknown_version.as_ref() == Some(package);
        if *package != record.name && Some(package) != core && !is_left_out {
            requirements.push((package.clone(), requirement.spec.clone()));
        }
    }
    for (package, spec) in &mut requirements {
        if let Some(replacement) = request.overrides.get(package) {
            *spec = replacement.clone();
        }
    }
    requirements
}

/// The classes of a release with everything that they extend: stated, implemented, or the root class of the core library.
fn classes(request: &Request, record: &IndexRecord) -> Option<Vec<DefinedClass>> {
    let mut classes = Vec::new();
    for class in record.classes.as_ref()? {
        let mut parents = class.extends.clone();
        if let Some(core) = request.core.as_ref().filter(|_| parents.is_empty()) {
            let root_class = core.root_class();
            if record.name != *core || class.name != root_class {
                parents.push(root_class);
            }
        }
        parents.extend(class.implements.iter().map(ClassName::of_interface));
        let folder = class.name.as_str().strip_suffix(".*");
        let folder = folder.filter(|_| record.ecosystem != CLASS_PACKAGES);
        classes.push(DefinedClass {
            name: class.name.clone(),
            folder: folder.map(str::to_owned),
            is_internal: class.internal,
            parents,
        });
    }
    classes.extend(record.interfaces.iter().map(|interface| DefinedClass {
        name: interface.of_interface(),
        folder: None,
        is_internal: false,
        parents: Vec::new(),
    }));
    Some(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_can_stand_for_a_folder() {
        let class = |name: &str, folder: Option<&str>| DefinedClass {
            name: ClassName::native(name).expect("a name"),
            folder: folder.map(str::to_owned),
            is_internal: false,
            parents: Vec::new(),
        };
        let candidate = Candidate {
            version: Version::ZERO,
            requirements: Vec::new(),
            classes: Some(vec![
                class("acme.web.page.*", Some("acme.web.page")),
                class("acme.web.Page", None),
            ]),
        };
        let defines = |name: &str| {
            let class = ClassName::native(name).expect("a name");
            assert_eq!(candidate.has(&class), candidate.exports(&class));
            candidate.exports(&class)
        };
        assert!(defines("acme.web.Page"));
        assert!(defines("acme.web.page.Title"));
        assert!(!defines("acme.web.Title"));
        assert!(!defines("acme.web.page.part.Title"));
    }
}
