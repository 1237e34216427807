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
    ClassName, IndexRecord, ObjectId, ObjectModel, Package, PackageName, ReleaseSource,
    Requirement, Spec, Version,
};
use rustc_hash::FxHashMap;

use crate::request::{Locked, ModelRoot, PrereleasePolicy, Root};
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
    /// The object of a model that it is for, and the class that the release must define.
    pub(crate) object: Option<(ObjectId, ClassId)>,
}

/// The classes of a release with their properties, which only object models need.
#[derive(Debug, Clone, Default)]
pub(crate) enum Body {
    #[default]
    NotAskedFor,
    /// Nobody has them.
    Unavailable,
    Known(Arc<Package>),
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
    pub(crate) body: Body,
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
struct Entry {
    name: PackageName,
    /// Whether a release that was looked at requires the package.
    is_required: bool,
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
    packages: Vec<Entry>,
    package_ids: HashMap<PackageName, PackageId>,
    class_names: Vec<ClassName>,
    class_ids: HashMap<ClassName, ClassId>,
    core: Option<PackageId>,
    root_class: Option<ClassId>,
    roots: Vec<ReleaseId>,
    model: Option<Arc<ObjectModel>>,
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
            model: None,
            preferences,
            definers: FxHashMap::default(),
        };
        if let Some(core) = core {
            universe.core = Some(universe.package_id(core));
            universe.root_class = Some(universe.class_id(&core.root_class()));
        }
        universe
    }

    /// Adds a root.
    pub(crate) fn add_root(&mut self, root: Root) {
        match root {
            Root::Package(record) => {
                let package = self.package_id(&record.name);
                self.deliver(package, None, vec![*record]);
                self.roots.push(ReleaseId { package, index: 0 });
            }
            Root::Model(root) => self.add_model(root),
        }
    }

    /// Adds a model as a release that requires something for each of its objects.
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
                }
            })
            .collect();
        self.deliver(package, None, vec![IndexRecord::new(name, Version::ZERO)]);
        let delivered = self.packages[package.0 as usize].delivered.as_mut();
        delivered.expect("it was delivered above").releases[0].details = Some(Arc::new(Details {
            edges: edges.into_boxed_slice(),
            classes: None,
        }));
        self.roots.push(ReleaseId { package, index: 0 });
        self.model = Some(root.model);
    }

    /// The model that is solved for, if it is one.
    pub(crate) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.model.as_ref()
    }

    /// Takes the classes of a release, with their properties.
    pub(crate) fn provide_classes(
        &mut self,
        name: &PackageName,
        version: &Version,
        classes: Option<Arc<Package>>,
    ) {
        let package = self.package_id(name);
        if !self.is_delivered(package) {
            return;
        }
        if let Some(index) = self.index_of(package, version)
            && let Some(delivered) = &mut self.packages[package.0 as usize].delivered
        {
            delivered.releases[index as usize].body = match classes {
                Some(classes) => Body::Known(classes),
                None => Body::Unavailable,
            };
        }
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots.iter().any(|root| root.package == package)
    }

    pub(crate) fn package_id(&mut self, name: &PackageName) -> PackageId {
        if let Some(known) = self.package_ids.get(name) {
            return *known;
        }
        let id = PackageId(u32::try_from(self.packages.len()).expect("fewer than 2^32 packages"));
        self.packages.push(Entry {
            name: name.clone(),
            is_required: false,
            delivered: None,
        });
        self.package_ids.insert(name.clone(), id);
        id
    }

    /// The package, which something that is looked at requires.
    fn required(&mut self, name: &PackageName) -> PackageId {
        let package = self.package_id(name);
        self.packages[package.0 as usize].is_required = true;
        package
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

    pub(crate) fn find_class(&self, name: &ClassName) -> Option<ClassId> {
        self.class_ids.get(name).copied()
    }

    /// The class that classes without `Extends` extend.
    pub(crate) fn root_class_name(&self) -> Option<ClassName> {
        self.root_class.map(|class| self.class_name(class).clone())
    }

    pub(crate) fn class_name(&self, class: ClassId) -> &ClassName {
        &self.class_names[class.0 as usize]
    }

    pub(crate) fn name(&self, package: PackageId) -> &PackageName {
        &self.packages[package.0 as usize].name
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

    /// Takes all releases of a package. Of several that differ in build metadata alone, the one is
    /// kept whose metadata is the least as text. A second delivery is ignored.
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
            records.sort_by(|one, two| {
                (&one.version, one.version.build())
                    .cmp(&(&two.version, two.version.build()))
                    .then_with(|| one.to_line().cmp(&two.to_line()))
            });
            records.dedup_by(|next, kept| next.version == kept.version);
        }
        let locked = self
            .preferences
            .locked_versions
            .get(self.name(package))
            .map_or(&[][..], Vec::as_slice);
        let kept: Vec<Version> = self
            .preferences
            .locked
            .kept
            .iter()
            .filter(|(name, _)| name == self.name(package))
            .map(|(_, version)| version.clone())
            .collect();
        let policy = self.preferences.prerelease;
        let candidates = candidates::Candidates::new(&records, locked, &kept, policy);
        self.packages[package.0 as usize].delivered = Some(Delivered {
            source,
            releases: records
                .into_iter()
                .map(|record| Release {
                    record,
                    details: None,
                    body: Body::NotAskedFor,
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
            self.required(&name);
            let written = requirements
                .iter()
                .find(|requirement| requirement.package == name);
            edges.push(Edge {
                package: core,
                object: None,
                requirement: written.cloned().unwrap_or_else(|| Requirement {
                    package: name,
                    spec: Spec::unspecified(),
                    location: None,
                }),
            });
        }
        for requirement in requirements {
            let package = self.required(&requirement.package);
            if Some(package) != core && package != release.package {
                edges.push(Edge {
                    package,
                    requirement,
                    object: None,
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

    /// The candidates that a requirement allows.
    pub(crate) fn allowed(&mut self, edge: &Edge) -> WordSet {
        let candidates = self.delivered(edge.package).candidates.allowed();
        let matching = self.versions_in(edge.package, &edge.requirement.spec);
        let matching = matching.intersection(candidates);
        match edge.object {
            Some((_, class)) => matching.intersection(&self.definers(edge.package, class)),
            None => matching,
        }
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
