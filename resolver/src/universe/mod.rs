//! What is known of packages: everything that was delivered, by dense numbers.
//!
//! Names become numbers when they are first met. Numbers depend on the order of arrival and never
//! decide anything: wherever an order matters, names, versions or positions in a manifest do.
//! What a release requires and defines is worked out when the solver first looks at it.

mod candidates;
mod classes;

pub(crate) use classes::{ClassTable, Parent};

use std::collections::HashMap;
use std::sync::Arc;

use pkgres_manifest::{
    ClassName, IndexRecord, PackageName, ReleaseSource, Requirement, Spec, Version,
};
use rustc_hash::FxHashMap;

use crate::request::{Locked, PrereleasePolicy};
use crate::resolver::Supply;
use crate::word_set::WordSet;

/// A package, by the order in which its name was first met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PackageId(u32);

/// A class name, by the order in which it was first met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(u32);

/// A release: a package and the position of its version in the ascending list of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReleaseId {
    pub(crate) package: PackageId,
    pub(crate) index: u32,
}

/// A package that a release requires.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) package: PackageId,
    pub(crate) requirement: Requirement,
    /// Whether this is the requirement of the core library that nobody wrote.
    pub(crate) implicit: bool,
}

/// What a release requires and defines, in terms of the universe.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) edges: Box<[Edge]>,
    /// `None` if the classes are unknown.
    pub(crate) classes: Option<ClassTable>,
}

#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) record: IndexRecord,
    details: Option<Arc<Details>>,
}

/// The releases of a package and what may be chosen of them.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) source: Option<ReleaseSource>,
    /// Ascending by version; no version stands twice.
    pub(crate) releases: Vec<Release>,
    pub(crate) candidates: candidates::Candidates,
}

#[derive(Debug)]
struct Package {
    name: PackageName,
    delivered: Option<Delivered>,
}

/// What decides which releases may be chosen and which are preferred.
#[derive(Debug)]
struct Preferences {
    prerelease: PrereleasePolicy,
    locked: Locked,
    locked_versions: FxHashMap<PackageName, Vec<Version>>,
}

/// Everything that is known.
#[derive(Debug)]
pub(crate) struct Universe {
    packages: Vec<Package>,
    package_ids: HashMap<PackageName, PackageId>,
    class_names: Vec<ClassName>,
    class_ids: HashMap<ClassName, ClassId>,
    core: Option<PackageId>,
    root_class: Option<ClassId>,
    roots: Vec<ReleaseId>,
    preferences: Preferences,
    definers: FxHashMap<(PackageId, ClassId), WordSet>,
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
        let preferences = Preferences {
            prerelease,
            locked,
            locked_versions,
        };
        let mut universe = Self {
            packages: Vec::new(),
            package_ids: HashMap::new(),
            class_names: Vec::new(),
            class_ids: HashMap::new(),
            core: None,
            root_class: None,
            roots: Vec::new(),
            preferences,
            definers: FxHashMap::default(),
        };
        if let Some(core) = core {
            universe.core = Some(universe.package_id(core));
            universe.root_class = Some(universe.class_id(&core.root_class()));
        }
        universe
    }

    /// Adds a root: the only candidate of its name.
    pub(crate) fn add_root(&mut self, record: IndexRecord) {
        let package = self.package_id(&record.name);
        self.deliver(package, None, vec![record]);
        self.roots.push(ReleaseId { package, index: 0 });
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots.iter().any(|root| root.package == package)
    }

    pub(crate) fn core(&self) -> Option<PackageId> {
        self.core
    }

    pub(crate) fn package_id(&mut self, name: &PackageName) -> PackageId {
        if let Some(known) = self.package_ids.get(name) {
            return *known;
        }
        let id = PackageId(u32::try_from(self.packages.len()).expect("fewer than 2^32 packages"));
        self.packages.push(Package {
            name: name.clone(),
            delivered: None,
        });
        self.package_ids.insert(name.clone(), id);
        id
    }

    pub(crate) fn find_package(&self, name: &PackageName) -> Option<PackageId> {
        self.package_ids.get(name).copied()
    }

    pub(crate) fn class_id(&mut self, name: &ClassName) -> ClassId {
        if let Some(known) = self.class_ids.get(name) {
            return *known;
        }
        let id = ClassId(u32::try_from(self.class_names.len()).expect("fewer than 2^32 classes"));
        self.class_names.push(name.clone());
        self.class_ids.insert(name.clone(), id);
        id
    }

    pub(crate) fn class_name(&self, class: ClassId) -> &ClassName {
        &self.class_names[class.0 as usize]
    }

    pub(crate) fn name(&self, package: PackageId) -> &PackageName {
        &self.packages[package.0 as usize].name
    }

    /// How many packages have been named.
    pub(crate) fn package_count(&self) -> usize {
        self.packages.len()
    }

    pub(crate) fn package_ids(&self) -> impl Iterator<Item = PackageId> + use<> {
        (0..u32::try_from(self.packages.len()).expect("fewer than 2^32 packages")).map(PackageId)
    }

    pub(crate) fn is_delivered(&self, package: PackageId) -> bool {
        self.packages[package.0 as usize].delivered.is_some()
    }

    /// The package, which must have been delivered.
    pub(crate) fn delivered(&self, package: PackageId) -> &Delivered {
        self.packages[package.0 as usize]
            .delivered
            .as_ref()
            .expect("nothing looks at a package before it is delivered")
    }

    /// Takes what a registry has of a package. Records of other packages are dropped.
    pub(crate) fn provide(&mut self, name: &PackageName, supply: Supply) {
        let package = self.package_id(name);
        match supply {
            Supply::Unknown => self.deliver(package, None, Vec::new()),
            Supply::Releases {
                source,
                mut records,
            } => {
                records.retain(|record| record.name == *name);
                self.deliver(package, Some(source), records);
            }
        }
    }

    /// Takes all releases of a package. Of several that differ in build metadata alone, the first
    /// is kept. A second delivery is ignored.
    fn deliver(
        &mut self,
        package: PackageId,
        source: Option<ReleaseSource>,
        mut records: Vec<IndexRecord>,
    ) {
        if self.is_delivered(package) {
            return;
        }
        let ascending = records
            .windows(2)
            .all(|pair| pair[0].version < pair[1].version);
        if !ascending {
            records.sort_by(|one, two| one.version.cmp(&two.version));
            records.dedup_by(|next, kept| next.version == kept.version);
        }
        let locked = self
            .preferences
            .locked_versions
            .get(self.name(package))
            .map_or(&[][..], Vec::as_slice);
        let candidates = candidates::Candidates::new(&records, locked, self.preferences.prerelease);
        self.packages[package.0 as usize].delivered = Some(Delivered {
            source,
            releases: records
                .into_iter()
                .map(|record| Release {
                    record,
                    details: None,
                })
                .collect(),
            candidates,
        });
    }

    pub(crate) fn release(&self, release: ReleaseId) -> &Release {
        &self.delivered(release.package).releases[release.index as usize]
    }

    pub(crate) fn version(&self, release: ReleaseId) -> &Version {
        &self.release(release).record.version
    }

    /// The position of a version, if the package has it.
    pub(crate) fn index_of(&self, package: PackageId, version: &Version) -> Option<u32> {
        let releases = &self.delivered(package).releases;
        let at = releases
            .binary_search_by(|release| release.record.version.cmp(version))
            .ok()?;
        Some(u32::try_from(at).expect("fewer than 2^32 releases"))
    }

    /// Works out what a release requires and defines, the first time it is asked.
    pub(crate) fn details(&mut self, release: ReleaseId) -> Arc<Details> {
        if let Some(details) = &self.release(release).details {
            return Arc::clone(details);
        }
        let details = Arc::new(self.work_out(release));
        let package = &mut self.packages[release.package.0 as usize];
        let delivered = package
            .delivered
            .as_mut()
            .expect("the release was found above");
        delivered.releases[release.index as usize].details = Some(Arc::clone(&details));
        details
    }

    /// The details of a release that [`details`](Self::details) was called for.
    pub(crate) fn known_details(&self, release: ReleaseId) -> &Arc<Details> {
        self.release(release)
            .details
            .as_ref()
            .expect("the details of chosen releases have been worked out")
    }

    fn work_out(&mut self, release: ReleaseId) -> Details {
        let record = &self.release(release).record;
        let requirements = record.requirements.clone();
        let mut edges = Vec::with_capacity(requirements.len() + 1);
        let core = self.core.filter(|core| *core != release.package);
        if let Some(core) = core {
            let name = self.name(core).clone();
            let written = requirements
                .iter()
                .find(|requirement| requirement.package == name);
            edges.push(Edge {
                package: core,
                implicit: written.is_none(),
                requirement: written.cloned().unwrap_or_else(|| Requirement {
                    package: name,
                    spec: Spec::unspecified(),
                    location: None,
                }),
            });
        }
        for requirement in requirements {
            let package = self.package_id(&requirement.package);
            if Some(package) != core && package != release.package {
                edges.push(Edge {
                    package,
                    requirement,
                    implicit: false,
                });
            }
        }
        let classes = self.class_table(release);
        Details {
            edges: edges.into_boxed_slice(),
            classes,
        }
    }

    pub(crate) fn prerelease_policy(&self) -> PrereleasePolicy {
        self.preferences.prerelease
    }

    pub(crate) fn locked(&self) -> &Locked {
        &self.preferences.locked
    }

    /// The version to which the lock binds a requirement.
    fn locked_version(&self, release: ReleaseId, edge: usize) -> Option<&Version> {
        let package = self.known_details(release).edges[edge].package;
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

    /// The release to which the lock binds a requirement. Roots are what they are now, whatever
    /// their version was when the lock was written.
    pub(crate) fn locked_binding(&self, release: ReleaseId, edge: usize) -> Option<u32> {
        let version = self.locked_version(release, edge)?;
        let package = self.known_details(release).edges[edge].package;
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
        edge: usize,
        among: &WordSet,
        prerelease_named: bool,
    ) -> Option<u32> {
        let package = self.known_details(release).edges[edge].package;
        self.locked_binding(release, edge)
            .filter(|locked| among.contains(*locked))
            .or_else(|| {
                self.delivered(package)
                    .candidates
                    .best(among, prerelease_named)
            })
    }

    /// The candidates of a package that match a spec.
    pub(crate) fn matching(&self, package: PackageId, spec: &Spec) -> WordSet {
        let delivered = self.delivered(package);
        self.versions_in(package, spec)
            .intersection(delivered.candidates.allowed())
    }

    /// The releases of a package that match a spec, candidates or not.
    pub(crate) fn versions_in(&self, package: PackageId, spec: &Spec) -> WordSet {
        let releases = &self.delivered(package).releases;
        let position = |bound: &Version| {
            let at = releases.partition_point(|release| release.record.version < *bound);
            u32::try_from(at).expect("fewer than 2^32 releases")
        };
        let end = u32::try_from(releases.len()).expect("fewer than 2^32 releases");
        let mut matching = WordSet::EMPTY;
        for interval in spec.set().intervals() {
            let until = interval.until.as_ref().map_or(end, position);
            let run = WordSet::range(position(&interval.from), until);
            matching = if matching.is_empty() {
                run
            } else {
                matching.union(&run)
            };
        }
        matching
    }
}
