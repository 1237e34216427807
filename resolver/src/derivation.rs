//! Derivations: how a search proved that there is no solution, by names and versions.
//!
//! A [`Derivation`] is for programs that check a proof without this crate. It contains the clauses
//! that the proof uses, ordered such that each one follows from earlier ones by unit propagation. It
//! is recorded only if [`record_derivation`](crate::SolveOptions::record_derivation) is set.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{ClassName, Package, PackageName, Release, Version};

/// The classes of releases with their properties.
pub type ClassFiles = BTreeMap<Release, Arc<Package>>;

/// The evidence for a search's verdict, from which others can write a proof.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Evidence {
    /// The proof that there is no resolution, if the options [ask for it](crate::SolveOptions::record_derivation) and
    /// a search found it, without goals of an update or objects of a model.
    pub derivation: Option<Box<Derivation>>,
    /// The class files that the contracts of a model needed, if there is no resolution of it.
    pub class_files: ClassFiles,
}

/// The proof that a search ended with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Derivation {
    /// The variables of the clauses.
    pub variables: Vec<DerivationVariable>,
    /// The clauses that the proof uses. The last one is empty.
    pub clauses: Vec<DerivedClause>,
}

/// A variable of a derivation. Its values are positions in its ascending [list of versions](Self::versions); the length
/// of the list means "none of them".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DerivationVariable {
    /// The release of a package that may have only one.
    Package {
        /// The package.
        package: PackageName,
        /// All versions of the package, candidates or not.
        versions: Vec<Version>,
    },
    /// The presence of a release of a package that may have several: value 0 means present, 1 absent.
    Release {
        /// The package.
        package: PackageName,
        /// The only version of the list.
        version: Version,
    },
    /// The release that a requirement on a package with several releases is bound to.
    Binding {
        /// The release that has the requirement.
        owner: Release,
        /// The required package.
        package: PackageName,
        /// All versions of that package.
        versions: Vec<Version>,
    },
}

impl DerivationVariable {
    /// The package whose releases are the values.
    pub fn package(&self) -> &PackageName {
        match self {
            Self::Package { package, .. }
            | Self::Release { package, .. }
            | Self::Binding { package, .. } => package,
        }
    }

    /// The list of versions that values are positions in.
    pub fn versions(&self) -> &[Version] {
        match self {
            Self::Package { versions, .. } | Self::Binding { versions, .. } => versions,
            Self::Release { version, .. } => std::slice::from_ref(version),
        }
    }
}

/// A clause: at least one of its literals holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DerivedClause {
    /// The literals. The literal of the owner of a requirement comes first.
    pub literals: Vec<DerivedLiteral>,
    /// Why it holds.
    pub origin: ClauseOrigin,
}

/// A literal: the value of a variable is one of these values, or none of them, whichever list is shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DerivedLiteral {
    /// The position of the variable in [`Derivation::variables`].
    pub variable: usize,
    /// Whether the value is one of [`values`](Self::values), rather than none of them.
    pub is_among: bool,
    /// The values, ascending.
    pub values: Vec<u32>,
}

/// Why a clause holds.
///
/// Not `#[non_exhaustive]`: a proof has to justify every origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClauseOrigin {
    /// The root is present.
    Root,
    /// Releases of the first variable require the package of the second.
    Requirement,
    /// Releases of a package extend a class, which the other packages define.
    Class {
        /// The package whose releases extend it.
        owner: PackageName,
        /// The class.
        class: ClassName,
    },
    /// Classes of a release extend each other in a cycle.
    OwnCycle,
    /// Classes of several releases extend each other in a cycle, or one inherits two versions of another.
    Hierarchy {
        /// Names of the classes on the paths.
        classes: Vec<ClassName>,
        /// Pairs of packages that the clause is about: the first requires the second.
        requirements: Vec<(PackageName, PackageName)>,
    },
    /// A release that a requirement is bound to is present.
    Bound,
    /// A rule that derivations do not describe: goals of an update, contracts of a model, prereleases that
    /// have to be named.
    Other,
    /// It follows from the clauses at these positions by reverse unit propagation: they contradict its negation.
    Derived(Vec<usize>),
    /// The last literal of a clause whose other literals do not hold.
    Implied {
        /// The position of the clause.
        reason: usize,
        /// The positions of clauses with one literal each, which refute the others.
        by: Vec<usize>,
    },
}
