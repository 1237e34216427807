//! Checks whether the requirements of a root guarantee the classes of other packages that it refers to.
//!
//! A requirement is a promise about every release that it allows. It is wrong if none of these releases, or only some,
//! define a class that the root refers to. A format can list the references of a root, and word findings in the terms
//! of its ecosystem ([`References`]). Otherwise, the references are those in the record of the root.

mod findings;
mod record_references;

pub(crate) use findings::ReferenceCheck;
pub(crate) use record_references::check_record;

use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{
    ClassName, IndexRecord, PackageName, Requirement, Version, most_similar_name,
};

/// A reference of a root to a class of another package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassReference {
    /// The subject that refers to the class, as findings name it.
    pub from: String,
    /// The class.
    pub to: ClassName,
    /// The package that has the class.
    pub package: PackageName,
    /// Whether a release without the class breaks what refers to it when that is loaded.
    pub is_needed: bool,
    /// Whether nothing guards the reference.
    pub is_unguarded: bool,
    /// The file with the reference and its first byte there, if the format says where it is.
    pub at: Option<(String, usize)>,
}

/// What a root refers to, and what findings about it say.
pub(crate) trait References {
    /// The references to classes of other packages, in order and each once.
    fn references(&self) -> Vec<ClassReference>;

    /// The place of a reference.
    fn place_of(&self, reference: &ClassReference) -> Location;

    /// The verb between what refers and the class.
    fn verb(&self, reference: &ClassReference) -> &'static str;

    /// The words for classes, and for references and what they lead to.
    fn words(&self) -> ReferenceWords {
        ReferenceWords {
            classes: "classes",
            references: "references to it",
            needed: "needed",
            used: "used",
        }
    }

    /// A hint that says how to require a package. `least` is the lowest version with everything that is needed; `None` if
    /// nothing is needed, or no version has it all.
    fn declaration(&self, package: &PackageName, least: Option<&Version>) -> Option<String> {
        let _ = (package, least);
        None
    }

    /// What hints say about classes and ranges. By default, nothing.
    fn hints(&self) -> &dyn ReferenceHints {
        &NoHints
    }

    /// Findings about references to a package that are particular to the format.
    fn other_findings(
        &self,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        let _ = (references, requirement, allowed);
        Vec::new()
    }
}

/// What an ecosystem knows about classes and ranges, for the hints of findings about any root.
pub(crate) trait ReferenceHints {
    /// The kind of a class, if only some can be meant where one of its kind is named. By default, all are of one kind.
    fn kind_of(&self, class: &ClassName) -> String {
        let _ = class;
        String::new()
    }

    /// The part of a range that has the versions that fit: `fits` says it of each version that the range allows, in
    /// ascending order.
    fn narrowed(&self, range: &str, fits: &[(&Version, bool)]) -> Option<String> {
        let _ = (range, fits);
        None
    }

    /// Where a class has moved that a release no longer has itself: its package, and its name there.
    fn moved_to(
        &self,
        release: &IndexRecord,
        class: &ClassName,
    ) -> Option<(PackageName, ClassName)> {
        let _ = (release, class);
        None
    }

    /// A hint about a class that no allowed release has.
    fn explain_missing(
        &self,
        reference: &ClassReference,
        allowed: &AllowedReleases,
    ) -> Option<String> {
        let _ = (reference, allowed);
        None
    }
}

/// The hints of a package system that knows nothing more.
struct NoHints;

impl ReferenceHints for NoHints {}

/// The words of a format in findings about references.
pub(crate) struct ReferenceWords {
    /// What classes are, as in "no registry knows the modules of".
    pub(crate) classes: &'static str,
    /// What was not checked, as in "imports from it were not checked".
    pub(crate) references: &'static str,
    /// What references do to a class, as in "all that is imported".
    pub(crate) needed: &'static str,
    /// The same for a class that is used but not needed, as in "all that is named".
    pub(crate) used: &'static str,
}

/// The releases of a package that a requirement allows.
pub(crate) struct AllowedReleases {
    pub(crate) name: PackageName,
    /// Those whose classes are known, ascending. There is at least one.
    pub(crate) releases: Vec<IndexRecord>,
    /// Those whose classes are unknown.
    unknown: Vec<IndexRecord>,
    /// All that are known, allowed or not.
    all: Vec<IndexRecord>,
}

impl AllowedReleases {
    /// Whether the classes of all that are allowed are known.
    fn are_all_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The newest of them.
    pub(crate) fn newest(&self) -> Option<&IndexRecord> {
        self.releases.last()
    }

    /// A class of the newest release, of the same kind, whose name is similar. If classes are named by ids, similar
    /// ones mean nothing.
    fn similar(&self, class: &ClassName, kind_of: impl Fn(&ClassName) -> String) -> Option<&str> {
        let newest = self.newest().filter(|newest| newest.labels.is_empty())?;
        let kind = kind_of(class);
        let classes = newest.classes.iter().flatten();
        let exported = classes.filter(|class| !class.internal && kind_of(&class.name) == kind);
        most_similar_name(class.as_str(), exported.map(|class| class.name.as_str()))
    }
}

/// A place in a file of which nothing more is known.
pub(crate) fn somewhere_in(path: &str) -> Location {
    Location::new(&SourceText::new(path, ""), Span::default())
}
