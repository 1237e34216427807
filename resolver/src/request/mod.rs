//! What is asked of the solver.

mod locked;
mod options;
mod update;

pub use locked::{Locked, LockedArtifact, LockedObject};
pub use options::{Engine, Preference, PrereleasePolicy, SolveOptions};
pub use update::{Moving, Target, Update};

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, ObjectId, ObjectModel, PackageName, Spec};

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

/// Releases that the host supplies by their names, each name with its releases in the order that
/// they were given.
pub(crate) fn by_name(provided: Vec<IndexRecord>) -> BTreeMap<PackageName, Vec<IndexRecord>> {
    let mut by_name: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for record in provided {
        by_name.entry(record.name.clone()).or_default().push(record);
    }
    by_name
}

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
