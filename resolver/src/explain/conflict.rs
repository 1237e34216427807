//! Conflicts as values: reasons and hints. Requests that contradict themselves end in a conflict at once.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::{Code, Location};
use pkgres_manifest::{
    ClassName, ContractPlace, IndexRecord, PackageName, Release, ReleaseSource, Version,
};

use super::SuggestedChange;
use super::phrases::Subject;
use crate::request::{OBJECT_MODEL, Root};
use crate::universe::{PackageId, ReleaseId, Universe};

/// Why there is no resolution: reasons that contradict each other. If [`is_minimal`](Self::is_minimal) is true, none of
/// them can be left out.
///
/// A conflict depends on the request and the metadata, but not on the number of steps that the
/// search took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The kind of conflict.
    pub code: Code,
    /// The conflict in one sentence.
    pub summary: String,
    /// The packages of the conflict, sorted.
    pub packages: Vec<PackageName>,
    /// The reasons: first those that contradict each other, then those that lead to them, from the
    /// root on.
    pub reasons: Vec<Reason>,
    /// Whether it is proved that no reason can be left out. False if the proof would take too long,
    /// as for a chain of very many packages.
    pub is_minimal: bool,
    /// Whether it is proved that no smaller set of reasons is a contradiction. False if that was not tried or not
    /// finished.
    pub is_smallest: bool,
    /// Hints: at most four about the conflict itself, and at most eleven about other packages that do not exist.
    pub hints: Vec<Hint>,
    /// Single changes that each make the problem solvable, with one release of the changed package. Each was tried. At
    /// most 24 requirements are tried, so there may be others; see [`find_repairs`](crate::find_repairs).
    pub suggestions: Vec<SuggestedChange>,
}

/// One reason of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// The package that has the reason; `None` for the object model.
    pub owner: Option<PackageName>,
    /// The package's versions with the reason, ascending.
    pub versions: Vec<Version>,
    /// Whether all candidates of the package have the reason, if there are several.
    pub every_version: bool,
    /// The location in a file of the root, if known.
    pub location: Option<Location>,
    /// The locations of other entries of a requirement that a file of the root has several times.
    pub more_locations: Vec<Location>,
    /// The source of the package; `None` for a root.
    pub source: Option<ReleaseSource>,
    /// The packages that the owner requires, if the reason is a class that none of these defines, or only some versions.
    pub searched: Vec<PackageName>,
    /// Whether it contradicts other reasons, rather than leading to one that does.
    pub clashes: bool,
    /// The reason in one sentence.
    pub text: String,
}

impl Reason {
    /// A reason without an owner, versions and a location, which contradicts others.
    pub(super) fn new(kind: ReasonKind, text: String) -> Self {
        Self {
            kind,
            owner: None,
            versions: Vec::new(),
            every_version: false,
            location: None,
            more_locations: Vec::new(),
            source: None,
            searched: Vec::new(),
            clashes: true,
            text,
        }
    }

    /// The name of the package, or "the object model".
    pub fn owner_name(&self) -> &str {
        self.owner
            .as_ref()
            .map_or(OBJECT_MODEL, PackageName::as_str)
    }
}

/// The kind of a reason.
///
/// Not `#[non_exhaustive]`: whoever proves or presents a conflict has to handle every kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasonKind {
    /// The owner requires a package.
    Requires {
        /// The package.
        package: PackageName,
        /// The spec as written.
        spec: String,
        /// The spec of the override that replaces it, if there is one.
        overridden_by: Option<String>,
        /// Whether it is implied: every package requires the core library.
        is_implied: bool,
    },
    /// A class of the owner extends a class that no required package defines, or only some
    /// versions do.
    Extends {
        /// The class that is extended.
        class: ClassName,
    },
    /// A class of the owner uses a class that no required package defines, or only some versions do, and uses are
    /// binding.
    Uses {
        /// The class that is used.
        class: ClassName,
    },
    /// A class of the owner implements an interface that no required package defines, or only some versions do.
    Implements {
        /// The interface.
        interface: ClassName,
    },
    /// The owner does not define an interface that is implemented.
    LacksInterface {
        /// The interface.
        interface: ClassName,
    },
    /// The owner does not define a class that is extended.
    Lacks {
        /// The class.
        class: ClassName,
    },
    /// Classes of the owner extend each other.
    OwnCycle,
    /// The owner is a prerelease, which a requirement has to name exactly.
    UnnamedPrerelease,
    /// These versions of the owner were requested, by an update or as roots.
    Wanted {
        /// A release without any requirement on the owner, which would remove the owner instead of
        /// updating it.
        dropped_by: Option<Release>,
    },
    /// The lock holds these versions of the owner.
    Stays,
    /// An object of a model violates the contract of a property.
    Contract {
        /// The object that has the property.
        holder: String,
        /// The same object, and the property.
        place: ContractPlace,
        /// The object that the property holds.
        object: String,
        /// The class that the contract demands.
        class: ClassName,
    },
    /// A value of a model violates the contract of its property.
    Value {
        /// The object that has the property.
        holder: String,
        /// The same object, and the property.
        place: ContractPlace,
        /// What is wrong with the value, such as "must be text".
        problem: String,
        /// The class that declares the property.
        class: ClassName,
    },
    /// A class would be inherited twice, or extend itself: the paths, as classes with their
    /// releases.
    Inherits {
        /// One path for a cycle, which ends with its first class again; two for a class that is
        /// inherited twice.
        paths: Vec<Vec<InheritingClass>>,
    },
}

/// A class on a path of inheritance.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InheritingClass {
    /// The class, or the interface at the end of a path.
    pub class: ClassName,
    /// Whether it is an interface.
    pub is_interface: bool,
    /// The package that defines it.
    pub package: PackageName,
    /// The versions of the package that are at this place of the path, ascending.
    pub versions: Vec<Version>,
}

/// A sentence that may help to solve a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The kind of hint, for callers that do not show every kind.
    pub kind: HintKind,
    /// The hint in one sentence.
    pub text: String,
}

/// The kind of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintKind {
    /// A package has a name similar to an unknown one.
    Similar {
        /// The unknown name.
        unknown: PackageName,
        /// The similar name.
        similar: PackageName,
    },
    /// A root requires another package that does not exist. It is no reason of this conflict, but the next one.
    AlsoUnknown {
        /// The name of the package.
        package: PackageName,
    },
    /// A package defines a class that is missing, and its user does not require it.
    NotRequired {
        /// The package whose class extends the missing one.
        owner: PackageName,
        /// The package that defines the missing class.
        package: PackageName,
    },
    /// It names options or settings, so it helps only users of the command line.
    Option,
    /// It is about packages and versions, and helps everybody.
    Packages,
}

impl Hint {
    /// A hint about a similar package name.
    pub fn similar(unknown: PackageName, similar: PackageName) -> Self {
        Self {
            text: format!("there is a package `{similar}`"),
            kind: HintKind::Similar { unknown, similar },
        }
    }

    /// A hint about another unknown package that a root requires, with a similar name if one is known.
    pub fn also_unknown(package: PackageName, similar: Option<&PackageName>) -> Self {
        let mut text = format!("no registry has `{package}` either");
        if let Some(similar) = similar {
            text.push_str(&format!(": there is a package `{similar}`"));
        }
        Self {
            text,
            kind: HintKind::AlsoUnknown { package },
        }
    }

    /// A hint about a package that defines a missing class, and that the owner of a requirement on the class does not
    /// require.
    pub fn not_required(owner: PackageName, package: PackageName, class: &ClassName) -> Self {
        Self {
            text: format!("{package} defines the class {class}, and {owner} does not require it"),
            kind: HintKind::NotRequired { owner, package },
        }
    }

    /// A hint that names options or settings.
    pub fn option(text: impl Into<String>) -> Self {
        Self {
            kind: HintKind::Option,
            text: text.into(),
        }
    }

    /// A hint about packages and versions.
    pub fn packages(text: impl Into<String>) -> Self {
        Self {
            kind: HintKind::Packages,
            text: text.into(),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// A reason about releases of a package. Its text may depend on which these are.
pub(super) fn reason_about(
    universe: &Universe,
    owner: PackageId,
    releases: &[ReleaseId],
    describe: impl FnOnce(&Subject) -> (String, ReasonKind),
) -> Reason {
    let subject = Subject::new(universe, owner, releases);
    let (text, kind) = describe(&subject);
    Reason {
        owner: universe.catalog.package_name(owner).cloned(),
        versions: subject.versions,
        every_version: subject.is_every_version,
        source: universe.catalog.source(owner).cloned(),
        ..Reason::new(kind, text)
    }
}

/// The conflict of roots that exclude each other: several with one name, each of which would be its
/// only candidate, or several models. If several names conflict, the first is reported.
pub(crate) fn several_roots_of_one_name(roots: &[Root]) -> Option<Conflict> {
    if roots.len() < 2 {
        return None;
    }
    let mut by_name: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
    let mut models = 0;
    for root in roots {
        match root {
            Root::Package(record) | Root::File(record) => {
                by_name.entry(&record.name).or_default().push(record);
            }
            Root::Model(_) => models += 1,
        }
    }
    let of_one_name = by_name.into_iter().find(|(_, records)| records.len() > 1);
    if let Some((name, records)) = of_one_name {
        let mut versions: Vec<Version> = (records.iter())
            .map(|record| record.version.clone())
            .collect();
        versions.sort();
        let shown: Vec<String> = (versions.iter())
            .map(|version| format!("{name} {version}"))
            .collect();
        versions.dedup();
        let summary = format!("several roots have the name `{name}`");
        let text = format!("{} are roots", shown.join(" and "));
        return Some(conflict_of_roots(
            summary,
            text,
            Some(name.clone()),
            versions,
        ));
    }
    (models > 1).then(|| {
        let summary = "several roots are object models".to_owned();
        let text = format!("{models} object models are roots");
        conflict_of_roots(summary, text, None, Vec::new())
    })
}

fn conflict_of_roots(
    summary: String,
    text: String,
    owner: Option<PackageName>,
    versions: Vec<Version>,
) -> Conflict {
    let packages = owner.clone().into_iter().collect();
    let reason = Reason {
        owner,
        versions,
        ..Reason::new(ReasonKind::Wanted { dropped_by: None }, text)
    };
    Conflict {
        code: Code::NoVersion,
        summary,
        packages,
        reasons: vec![reason],
        is_minimal: true,
        is_smallest: true,
        hints: Vec::new(),
        suggestions: Vec::new(),
    }
}
