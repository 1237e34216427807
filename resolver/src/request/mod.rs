//! What is asked of the solver.

mod locked;

pub use locked::{Locked, LockedArtifact, LockedObject};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::{IndexRecord, ObjectId, ObjectModel, PackageName, Spec, Version};

/// A problem to solve.
///
/// Registries are not part of it: the solver asks for the releases of a package when it needs
/// them, see [`Resolver`](crate::Resolver).
#[derive(Debug, Clone)]
pub struct Request {
    /// What a resolution is wanted for. Each package is the only candidate of its name. Where several
    /// have one name, be they the same release, or several roots are models, there is no resolution,
    /// and the solver says so.
    pub roots: Vec<Root>,
    /// The core library, which every other package requires; `None` if there is none.
    pub core: Option<PackageName>,
    /// Releases that the host supplies. For their names no registry is asked.
    pub provided: Vec<IndexRecord>,
    /// What an earlier resolution held.
    pub locked: Locked,
    /// What every requirement on a package is taken to say, whatever is written: the way past a
    /// wrong bound in the manifest of somebody else. Whatever is said about a requirement says
    /// where this is so.
    pub overrides: BTreeMap<PackageName, Spec>,
    /// What the solver may do.
    pub options: SolveOptions,
    /// Which packages are to move away from what is locked, with as few others as possible; `None`
    /// to keep what is locked as far as it is still valid.
    pub update: Option<Update>,
}

impl Request {
    /// A request with the usual core library, nothing provided and nothing locked.
    pub fn new(root: IndexRecord) -> Self {
        Self {
            roots: vec![Root::Package(Box::new(root))],
            core: Some(PackageName::default_core_library()),
            provided: Vec::new(),
            locked: Locked::default(),
            overrides: BTreeMap::new(),
            options: SolveOptions::default(),
            update: None,
        }
    }
}

/// What a resolution is wanted for.
#[derive(Debug, Clone)]
pub enum Root {
    /// A release given by its manifest and class files: the only candidate of its name.
    Package(Box<IndexRecord>),
    /// The objects of a model.
    Model(ModelRoot),
}

impl Root {
    /// The name of which it is the only candidate; a model has none.
    pub(crate) fn name(&self) -> Option<&PackageName> {
        match self {
            Self::Package(record) => Some(&record.name),
            Self::Model(_) => None,
        }
    }
}

/// The objects of a model, each with the package that its class is taken from.
#[derive(Debug, Clone)]
pub struct ModelRoot {
    /// The model, whose contracts have to be met.
    pub(crate) model: Arc<ObjectModel>,
    /// One entry an object, in the order of the model.
    pub(crate) objects: Vec<ObjectRequirement>,
}

impl ModelRoot {
    /// A model, and what each of its objects requires.
    pub fn new(
        model: Arc<ObjectModel>,
        mut requirement: impl FnMut(ObjectId) -> ObjectRequirement,
    ) -> Self {
        let numbers = 0..model.objects().len();
        let objects = numbers
            .map(|number| requirement(ObjectId(number)))
            .collect();
        Self { model, objects }
    }

    /// A model, and what each of its objects requires; or all that is wrong with them.
    pub fn try_new<E>(
        model: Arc<ObjectModel>,
        mut requirement: impl FnMut(ObjectId) -> Result<ObjectRequirement, E>,
    ) -> Result<Self, Vec<E>> {
        let mut objects = Vec::with_capacity(model.objects().len());
        let mut errors = Vec::new();
        for number in 0..model.objects().len() {
            match requirement(ObjectId(number)) {
                Ok(requirement) => objects.push(requirement),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(Self { model, objects })
        } else {
            Err(errors)
        }
    }
}

/// What an object requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRequirement {
    /// The package that the object's class is taken from.
    pub package: PackageName,
    /// The versions that will do.
    pub spec: Spec,
}

/// Who has a requirement: a release, or the object model, whose objects require packages and which
/// has neither a name nor a version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A release.
    Release {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// The object model, of which there is at most one.
    ObjectModel,
}

impl Owner {
    /// The name and the version, unless it is the object model.
    pub fn release(&self) -> Option<(&PackageName, &Version)> {
        match self {
            Self::Release { name, version } => Some((name, version)),
            Self::ObjectModel => None,
        }
    }

    /// The name, unless it is the object model.
    pub fn name(&self) -> Option<&PackageName> {
        self.release().map(|(name, _)| name)
    }

    /// The version, unless it is the object model.
    pub fn version(&self) -> Option<&Version> {
        self.release().map(|(_, version)| version)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release { name, version } => write!(formatter, "{name} {version}"),
            Self::ObjectModel => formatter.write_str(OBJECT_MODEL),
        }
    }
}

/// What the object model is called where others are called by their names. It is not a valid name,
/// so that no package is taken for it.
pub(crate) const OBJECT_MODEL: &str = "the object model";

/// How prereleases compare with stable versions. Matching is not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrereleasePolicy {
    /// Stable versions come first, then prereleases; but simply the newest first as soon as a
    /// requirement that is present names a prerelease.
    #[default]
    IfNecessary,
    /// The newest comes first, prerelease or not.
    Allow,
    /// Prereleases are no candidates unless a lockfile holds them.
    Never,
}

/// Which version is the better one of two stable versions, or of two prereleases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preference {
    /// The newer one.
    #[default]
    Newest,
    /// The older one: what a package says that it works with is put to the test.
    Oldest,
}

/// Which engine searches. An [update](crate::Request::update) and the search for
/// [repairs](crate::Conflict::repairs) are the native engine's whichever it is, because only that one
/// can be told what stays and what is to allow more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The engine of our own.
    #[default]
    Native,
    /// The `pubgrub` crate: a second opinion, with the cargo feature of that name.
    #[cfg(feature = "pubgrub")]
    Pubgrub,
}

impl Engine {
    /// Whether a search goes on where it was after a delivery, rather than starting anew.
    pub(crate) fn is_resumable(self) -> bool {
        matches!(self, Self::Native)
    }
}

/// What the solver may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolveOptions {
    /// How prereleases compare.
    pub prerelease: PrereleasePolicy,
    /// Whether newer versions are better, or older ones.
    pub prefer: Preference,
    /// Releases that were published at this time or later are no candidates unless they are locked.
    /// A release without a date of publication is taken for old, and one whose date cannot be read
    /// for new ([`is_published_before`](pkgres_manifest::IndexRecord::is_published_before)).
    pub exclude_newer: Option<Timestamp>,
    /// Whether several releases of a package are out of the question.
    pub single_version: bool,
    /// After how many steps the solver gives up. A step is a decision, a conflict, or a release that is
    /// ruled out before it could be decided on.
    pub max_steps: u64,
    /// After how many conflicts a search settles for a locally best resolution: one in which no
    /// release can be exchanged for a better one with all others kept. The best resolution in the
    /// order of decisions can be out of reach where some resolution is not. 1,000 unless told
    /// otherwise.
    pub conflict_limit: u64,
    /// Which engine searches. [Updates](crate::Request::update), and which
    /// [reasons](crate::Conflict::reasons) are needed and what would [repair](crate::Conflict::repairs)
    /// a conflict, are always the native engine's.
    pub engine: Engine,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            prerelease: PrereleasePolicy::default(),
            prefer: Preference::default(),
            exclude_newer: None,
            single_version: false,
            max_steps: 10_000_000,
            conflict_limit: 1000,
            engine: Engine::default(),
        }
    }
}

/// Packages that are to move away from what is locked.
///
/// What is not named stays where it is if that is possible; with no package named, only what has to
/// move for the lock to be valid again does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Update {
    /// The packages, and where they are to go.
    pub packages: BTreeMap<PackageName, PackageUpdate>,
}

/// Which of the locked releases of a package are to move, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageUpdate {
    /// The versions that are to move; whatever is locked of the package if none is named. Others of
    /// a package that is locked side by side stay where they are if that is possible.
    pub from: BTreeSet<Version>,
    /// Where they are to go.
    pub to: UpdateTarget,
}

impl PackageUpdate {
    /// Whether this version is to move.
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

/// Where a package is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateTarget {
    /// To the best version for which there is a resolution. Of several packages the first by name
    /// has the first choice.
    Newest,
    /// To this version, which then is a candidate even if it was yanked or is a prerelease.
    Exactly(Version),
}

impl Update {
    /// What is still locked: bindings of the named packages are only candidates, and what was asked
    /// for is preferred.
    pub(crate) fn unlock(&self, mut locked: Locked) -> Locked {
        let mut unlock = BTreeSet::new();
        let mut stays = |name: &PackageName, version: &Version| {
            let moves = self.moves(name, version);
            if moves {
                unlock.insert((name.clone(), version.clone()));
            }
            !moves
        };
        let of_roots = locked.roots.values_mut();
        for bindings in of_roots.chain(locked.packages.values_mut()) {
            bindings.retain(&mut stays);
        }
        (locked.model).retain(|_, (name, version)| stays(name, version));
        (locked.preferred).retain(|(name, version)| !self.moves(name, version));
        locked.kept.extend(unlock);
        for (name, package_update) in &self.packages {
            if let UpdateTarget::Exactly(version) = &package_update.to {
                locked.preferred.insert((name.clone(), version.clone()));
            }
        }
        locked
    }

    /// Whether a locked release is to move.
    pub(crate) fn moves(&self, name: &PackageName, version: &Version) -> bool {
        let package_update = self.packages.get(name);
        package_update.is_some_and(|package_update| package_update.moves(version))
    }
}

/// Releases that the host supplies by their names, each name with its releases in the order that
/// they were given.
pub(crate) fn by_name(provided: Vec<IndexRecord>) -> BTreeMap<PackageName, Vec<IndexRecord>> {
    let mut by_name: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for record in provided {
        by_name.entry(record.name.clone()).or_default().push(record);
    }
    by_name
}
