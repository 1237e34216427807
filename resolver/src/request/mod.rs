//! Requests to the solver: roots, lock and options.

mod locked;

pub(crate) use locked::artifacts;
pub use locked::{Locked, LockedArtifact, LockedArtifacts, LockedObject};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::{
    ContractPlace, IndexRecord, ObjectId, ObjectModel, PackageName, Release, Spec, Version,
};

/// A problem to solve.
///
/// Registries are not part of it: the solver asks for the releases of a package when it needs
/// them, see [`Resolver`](crate::Resolver).
///
/// Not `#[non_exhaustive]`: whoever remembers an answer has to know everything that it depends on.
#[derive(Debug, Clone)]
pub struct Request {
    /// The roots. Each package is the only candidate of its name. If several have one name, or
    /// several roots are models, there is no resolution.
    pub roots: Vec<Root>,
    /// The core library, which every other package requires; `None` if there is none.
    pub core: Option<PackageName>,
    /// The releases that the host supplies. Their names are not looked up in any registry.
    pub host_releases: Vec<IndexRecord>,
    /// The lock.
    pub locked: Locked,
    /// Specs that replace every requirement on a package, as a way around a wrong bound in a
    /// manifest that is somebody else's. An override is visible wherever its requirement is reported.
    pub overrides: BTreeMap<PackageName, Spec>,
    /// The options.
    pub options: SolveOptions,
    /// The packages to update, with as few other changes as possible; `None` to keep the lock as
    /// far as it is valid.
    pub update: Option<Update>,
}

impl Request {
    /// A request with the default core library and without host releases and lock.
    ///
    /// Packages outside Murano require no core library. For these, set [`core`](Self::core) to `None`; otherwise, the
    /// solver needs the releases of one, and each package requires it.
    pub fn new(root: IndexRecord) -> Self {
        Self::of_roots(vec![Root::Package(Box::new(root))])
    }

    /// A request for several roots, or one of another kind, with the defaults of [`new`](Self::new).
    pub fn of_roots(roots: Vec<Root>) -> Self {
        Self {
            roots,
            core: Some(PackageName::default_core_library()),
            host_releases: Vec::new(),
            locked: Locked::default(),
            overrides: BTreeMap::new(),
            options: SolveOptions::default(),
            update: None,
        }
    }
}

/// A root of a resolution.
#[derive(Debug, Clone)]
pub enum Root {
    /// A package, as the record of its manifest and classes: the only candidate of its name.
    Package(Box<IndexRecord>),
    /// A file that requires packages and is no release, such as the `requirements.yml` of Ansible. Its record has the
    /// name of the file. Messages name it without a version.
    File(Box<IndexRecord>),
    /// The objects of a model.
    Model(ModelRoot),
}

impl Root {
    /// The record of a release or a file; a model has none.
    pub fn record(&self) -> Option<&IndexRecord> {
        match self {
            Self::Package(record) | Self::File(record) => Some(record),
            Self::Model(_) => None,
        }
    }

    /// The record of a release or a file, to change it; a model has none.
    pub(crate) fn record_mut(&mut self) -> Option<&mut IndexRecord> {
        match self {
            Self::Package(record) | Self::File(record) => Some(record),
            Self::Model(_) => None,
        }
    }

    /// The name of a release or a file; a model has none.
    pub(crate) fn name(&self) -> Option<&PackageName> {
        self.record().map(|record| &record.name)
    }

    /// Whether the root is a model or has classes; if so, the classes of what it requires matter.
    pub fn has_classes(&self) -> bool {
        self.record()
            .is_none_or(|record| record.classes.iter().flatten().next().is_some())
    }
}

/// An object model, with the package of each object.
#[derive(Debug, Clone)]
pub struct ModelRoot {
    /// The model, whose contracts have to be met.
    pub(crate) model: Arc<ObjectModel>,
    /// One requirement for each object, in the order of the model.
    pub(crate) objects: Vec<ObjectRequirement>,
    pub(crate) contracts: ContractScope,
    /// Where contracts on the classes of objects need not be met.
    pub(crate) violated: BTreeSet<ContractPlace>,
}

/// The contracts that a resolution of a model has to meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ContractScope {
    /// All contracts that can be checked: classes, values, and properties without a value.
    #[default]
    All,
    /// Only contracts on the classes of objects. Use it if other checks then report every wrong value of a model,
    /// instead of one conflict.
    Classes,
}

impl ModelRoot {
    /// A model with the requirement of each object.
    pub fn new(
        model: Arc<ObjectModel>,
        mut requirement: impl FnMut(ObjectId) -> ObjectRequirement,
    ) -> Self {
        let objects = (0..model.objects().len()).map(ObjectId);
        let objects = objects.map(&mut requirement).collect();
        Self {
            model,
            objects,
            contracts: ContractScope::All,
            violated: BTreeSet::new(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Arc<ObjectModel> {
        &self.model
    }

    /// One requirement for each object, in the order of the model.
    pub fn objects(&self) -> &[ObjectRequirement] {
        &self.objects
    }

    /// The contracts that have to be met.
    pub fn contracts(&self) -> ContractScope {
        self.contracts
    }

    /// Sets which contracts have to be met.
    #[must_use]
    pub fn with_contracts(mut self, contracts: ContractScope) -> Self {
        self.contracts = contracts;
        self
    }

    /// Sets where contracts on the classes of objects need not be met, because it is known that they cannot be. Other
    /// contradictions are then still found.
    #[must_use]
    pub fn with_violated(mut self, violated: BTreeSet<ContractPlace>) -> Self {
        self.violated = violated;
        self
    }
}

/// The requirement of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRequirement {
    /// The package that defines the object's class.
    pub package: PackageName,
    /// The allowed versions.
    pub spec: Spec,
}

/// The owner of a requirement: a release, a file without a version, or the object model, whose objects require
/// packages and which has neither name nor version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A release.
    Release {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// A root that is a file and no release.
    File {
        /// The name of the file.
        name: PackageName,
    },
    /// The object model, of which there is at most one.
    ObjectModel,
}

impl Owner {
    /// The name and the version by which the resolution and its lockfile know it, unless it is the object model. The
    /// version of a file is 0.0.0.
    pub fn release(&self) -> Option<(&PackageName, &Version)> {
        match self {
            Self::Release { name, version } => Some((name, version)),
            Self::File { name } => Some((name, const { &Version::ZERO })),
            Self::ObjectModel => None,
        }
    }

    /// The name, unless it is the object model.
    pub fn name(&self) -> Option<&PackageName> {
        self.release().map(|(name, _)| name)
    }

    /// The version of a release; a file and the object model have none.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Release { version, .. } => Some(version),
            Self::File { .. } | Self::ObjectModel => None,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release { name, version } => write!(formatter, "{name} {version}"),
            Self::File { name } => write!(formatter, "{name}"),
            Self::ObjectModel => formatter.write_str(OBJECT_MODEL),
        }
    }
}

/// The name of the object model in messages. It is not a valid package name, so it cannot be
/// confused with one.
pub(crate) const OBJECT_MODEL: &str = "the object model";

/// Which prereleases may be chosen, and whether stable versions come first. Which versions match a spec is not
/// affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PrereleasePolicy {
    /// Stable versions come first. If a requirement of a root, or of a release that was decided before, names a
    /// prerelease of the package, the newest version comes first. Requirements of releases that are decided later do
    /// not count, because whether these are in the resolution may depend on this very choice.
    #[default]
    IfNecessary,
    /// The newest comes first, prerelease or not.
    Allow,
    /// Prereleases are not candidates unless they are locked.
    Never,
    /// Stable versions come first. A prerelease of a package that has a stable version is in a resolution only if it
    /// is locked, or if a requirement in the resolution names exactly it: the rule of Ansible collections.
    IfNamed,
}

/// The rules that hold for classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ClassRules {
    /// Extended classes are defined, no class extends itself through others, and none inherits two versions of one
    /// class.
    #[default]
    Inheritance,
    /// Extended classes are defined. Classes may extend each other in cycles, as modules import each other. With
    /// one release of each package ([`single_version`](SolveOptions::single_version)), no class can be inherited in
    /// two versions.
    Definition,
    /// None.
    Ignored,
}

/// The order of two stable versions, or of two prereleases.
///
/// Not `#[non_exhaustive]`: there is no third order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preference {
    /// The newer one.
    #[default]
    Newest,
    /// The older one, to test the lower bounds of requirements.
    Oldest,
}

/// The search engine. [Updates](crate::Request::update) always use the native engine, and so does the search for the
/// [reasons](crate::Conflict::reasons) that are needed and for [suggestions](crate::Conflict::suggestions): only that one
/// supports goals and relaxed requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The native engine.
    #[default]
    Native,
    /// The `pubgrub` crate, as a second opinion, with the cargo feature of that name.
    #[cfg(feature = "pubgrub")]
    Pubgrub,
}

impl Engine {
    /// Whether a search continues after packages were provided, rather than starting again.
    pub(crate) fn is_resumable(self) -> bool {
        matches!(self, Self::Native)
    }
}

/// Options of the solver.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SolveOptions {
    /// The policy for prereleases.
    pub prerelease: PrereleasePolicy,
    /// The rules for classes.
    pub classes: ClassRules,
    /// Whether newer versions are better, or older ones.
    pub prefer: Preference,
    /// Releases that were published at this time or later are not candidates unless they are
    /// locked. A release without a date counts as old, and one with an unreadable date as new
    /// ([`is_published_before`](pkgres_manifest::IndexRecord::is_published_before)).
    pub exclude_newer: Option<Timestamp>,
    /// For some packages, the only versions that may be chosen: to find out what choosing them leads to. Locked
    /// versions are no exception; roots are not affected.
    pub allowed_versions: BTreeMap<PackageName, BTreeSet<Version>>,
    /// Whether each package may have only one release.
    pub single_version: bool,
    /// A package of the host whose version is not known, such as `ansible-core`. Requirements on it are left out.
    pub host_package_of_unknown_version: Option<PackageName>,
    /// The number of steps after which the solver gives up. A step is a decision, a conflict, or a release that is
    /// ruled out before it could be decided; the literals that a conflict looks at count too, so a step is a bounded
    /// amount of work.
    pub max_steps: u64,
    /// The number of conflicts after which a search accepts a locally best resolution: one in which no release can be
    /// exchanged for a better one with all others kept. The best resolution in the order of decisions can be much
    /// harder to find than another one. The default is 1,000.
    pub conflict_limit: u64,
    /// The search engine.
    pub engine: Engine,
    /// Whether to keep how it was proved that there is no resolution, see
    /// [`Resolver::take_evidence`](crate::Resolver::take_evidence). Only the native engine does.
    pub record_derivation: bool,
}

impl SolveOptions {
    /// The default of [`max_steps`](Self::max_steps). The hardest problems that are known use it up
    /// in less than 30 seconds.
    pub const DEFAULT_MAX_STEPS: u64 = 30_000_000;
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            prerelease: PrereleasePolicy::default(),
            classes: ClassRules::default(),
            prefer: Preference::default(),
            exclude_newer: None,
            allowed_versions: BTreeMap::new(),
            single_version: false,
            host_package_of_unknown_version: None,
            max_steps: Self::DEFAULT_MAX_STEPS,
            conflict_limit: 1000,
            engine: Engine::default(),
            record_derivation: false,
        }
    }
}

/// An update: packages that move away from their locked versions.
///
/// Other packages stay if possible. If none is named, a package moves only where the lock is no longer valid.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use pkgres_manifest::{IndexRecord, PackageName, RegistryName, ReleaseSource, Spec, Version};
/// use pkgres_resolver::{Request, Resolution, Resolver, Step, Supply, Update, UpdateTarget};
///
/// /// Solves a request with these major versions of a database.
/// fn solve(request: Request, versions: &[u64]) -> Resolution {
///     let mut resolver = Resolver::new(request);
///     loop {
///         match resolver.step() {
///             Step::Need(names) => {
///                 for name in names {
///                     let record = |major| IndexRecord::new(name.clone(), Version::new(major, 0, 0));
///                     let supply = Supply::Releases {
///                         source: ReleaseSource::Registry(RegistryName::parse("demo").unwrap()),
///                         records: versions.iter().map(|major| record(*major)).collect(),
///                     };
///                     resolver.provide(&name, supply).unwrap();
///                 }
///             }
///             Step::Solved(resolution) => return *resolution,
///             other => panic!("no resolution: {other:?}"),
///         }
///     }
/// }
///
/// let database = PackageName::parse("org.acme.Db")?;
/// let root = IndexRecord::new(PackageName::parse("org.acme.Web")?, Version::new(1, 0, 0));
/// let mut request = Request::new(root.with_requirement(database.clone(), Spec::parse(">=1")?));
/// request.core = None;
/// let first = solve(request.clone(), &[1]);
///
/// // Version 2 has been released. The lock alone keeps version 1.
/// request.locked = first.to_locked();
/// let same = solve(request.clone(), &[1, 2]);
/// assert_eq!(same.packages()[0].version, Version::new(1, 0, 0));
///
/// let best = UpdateTarget::Best.into();
/// request.update = Some(Update::from(BTreeMap::from([(database, best)])));
/// let next = solve(request, &[1, 2]);
/// let report = next.update().expect("an update was requested");
/// assert_eq!(report.moved[0].to, Some(Version::new(2, 0, 0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Update {
    /// The packages and their targets.
    pub packages: BTreeMap<PackageName, PackageUpdate>,
}

/// The update of one package: which of its locked releases move, and their target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageUpdate {
    /// The versions that move, or all locked ones if this is empty. If several releases of the package are locked, the
    /// others stay if possible.
    pub from: BTreeSet<Version>,
    /// The target.
    pub to: UpdateTarget,
}

impl PackageUpdate {
    pub(crate) fn moves(&self, version: &Version) -> bool {
        self.from.is_empty() || self.from.contains(version)
    }
}

/// All locked releases of a package move.
impl From<UpdateTarget> for PackageUpdate {
    fn from(to: UpdateTarget) -> Self {
        let from = BTreeSet::new();
        Self { from, to }
    }
}

/// The target of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateTarget {
    /// The best version with a resolution. If several packages are updated, the first by name has
    /// the first choice.
    Best,
    /// Exactly this version, which is a candidate even if it is yanked or a prerelease.
    Exactly(Version),
}

impl From<BTreeMap<PackageName, PackageUpdate>> for Update {
    fn from(packages: BTreeMap<PackageName, PackageUpdate>) -> Self {
        Self { packages }
    }
}

impl Update {
    /// The rest of a lock: the bindings of moving releases are removed, the releases stay
    /// candidates, and exact versions are preferred.
    pub(crate) fn unlock(&self, mut locked: Locked) -> Locked {
        let mut unlock = BTreeSet::new();
        let mut stays = |name: &PackageName, version: &Version| {
            let moves = self.moves(name, version);
            if moves {
                unlock.insert(Release::new(name.clone(), version.clone()));
            }
            !moves
        };
        let of_roots = locked.roots.values_mut();
        for bindings in of_roots.chain(locked.packages.values_mut()) {
            bindings.retain(&mut stays);
        }
        (locked.model).retain(|_, Release { name, version }| stays(name, version));
        (locked.preferred).retain(|Release { name, version }| !self.moves(name, version));
        locked.kept.extend(unlock);
        for (name, package_update) in &self.packages {
            if let UpdateTarget::Exactly(version) = &package_update.to {
                locked
                    .preferred
                    .insert(Release::new(name.clone(), version.clone()));
            }
        }
        locked
    }

    /// Whether a locked release moves.
    pub(crate) fn moves(&self, name: &PackageName, version: &Version) -> bool {
        let package_update = self.packages.get(name);
        package_update.is_some_and(|package_update| package_update.moves(version))
    }
}
