//! What a reason of a conflict is.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, PackageName, ReleaseSource, Version};

use crate::owner::OBJECT_MODEL;
use crate::universe::{PackageId, ReleaseId, Universe};

use super::subject::Subject;

/// One reason of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What the reason is.
    pub kind: ReasonKind,
    /// The package that it is about; `None` if it is about the object model.
    pub owner: Option<PackageName>,
    /// The package's versions for which it holds, ascending.
    pub versions: Vec<Version>,
    /// Whether it holds for all versions that could be chosen, of several.
    pub every_version: bool,
    /// Where it is written, if it comes from a file.
    pub location: Option<Location>,
    /// Where the package comes from; `None` for a root.
    pub source: Option<ReleaseSource>,
    /// Whether it is one of those that clash, rather than what brought one of them in.
    pub clashes: bool,
    /// The reason in one sentence.
    pub text: String,
}

impl Reason {
    /// What the package that it is about is called, or the object model.
    pub fn owner_name(&self) -> &str {
        self.owner
            .as_ref()
            .map_or(OBJECT_MODEL, PackageName::as_str)
    }
}

/// What a reason is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasonKind {
    /// The owner requires a package.
    Requires {
        /// The package.
        package: PackageName,
        /// The spec as written.
        spec: String,
        /// What it is taken to say, if an override stands in its place.
        overridden_by: Option<String>,
        /// Whether nobody wrote it: every package requires the core library.
        is_implied: bool,
    },
    /// A class of the owner extends a class that no required package defines, or only some
    /// versions do.
    Extends {
        /// The class that is extended.
        class: ClassName,
    },
    /// The owner does not define a class that is extended.
    Lacks {
        /// The class.
        class: ClassName,
    },
    /// Classes of the owner extend each other.
    OwnCycle,
    /// These versions of the owner were asked for, by an update or as roots.
    Wanted {
        /// A release, if there is one, with which nothing would require the owner. That is no way to
        /// update it.
        dropped_by: Option<(PackageName, Version)>,
    },
    /// The lock holds these versions of the owner.
    Stays,
    /// An object of a model does not meet the contract of a property.
    Contract {
        /// The object that has the property.
        holder: String,
        /// The property, with positions in lists and keys of mappings.
        path: String,
        /// The object that is there.
        object: String,
        /// The class that the contract wants.
        class: ClassName,
    },
    /// A class would be inherited twice, or extend itself: the paths, as classes and releases.
    Inherits {
        /// One path for a cycle, two for a class that is inherited twice.
        paths: Vec<Vec<(ClassName, PackageName, Version)>>,
    },
}

/// A reason about releases of a package, in words that depend on which these are.
pub(super) fn reason_about(
    universe: &Universe,
    owner: PackageId,
    releases: &[ReleaseId],
    say: impl FnOnce(&Subject) -> (String, ReasonKind),
) -> Reason {
    let subject = Subject::new(universe, owner, releases);
    let (text, kind) = say(&subject);
    Reason {
        kind,
        owner: universe.catalog.package_name(owner).cloned(),
        versions: subject.versions,
        every_version: subject.is_every_version,
        location: None,
        source: universe.catalog.source(owner).cloned(),
        clashes: true,
        text,
    }
}
