//! Conflicts as values: reasons and hints.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::{Code, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, IndexRecord, Package, PackageName, ReleaseSource, Version,
    class_cycles,
};

use super::Repair;
use super::wording::{Subject, extending_classes};
use crate::request::{OBJECT_MODEL, Root};
use crate::universe::{PackageId, ReleaseId, Universe};

/// Why there is no resolution: reasons that together leave none. Only where
/// [`is_minimal`](Self::is_minimal) does not hold, some of them may not be needed for that.
///
/// It depends on the request and on what was provided, but not on how many steps the search took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The kind of conflict.
    pub code: Code,
    /// The conflict in one sentence.
    pub summary: String,
    /// The packages that take part, sorted.
    pub packages: Vec<PackageName>,
    /// The reasons: those that clash first, then how the others came in, from the root on.
    pub reasons: Vec<Reason>,
    /// Whether it is proved that no reason can be left out. It is not where that would take too
    /// long, as with a chain of very many packages.
    pub is_minimal: bool,
    /// What can be done, at most two entries.
    pub hints: Vec<Hint>,
    /// Changes of which any one makes it solvable with one release of each package; each was tried.
    pub repairs: Vec<Repair>,
}

impl Conflict {
    /// Says of reasons about classes of a root which class it is and where it stands. An index does
    /// not know that; whoever has the files of the root does.
    pub fn locate_classes(&mut self, root: &Package) {
        locate_classes(&mut self.reasons, root);
    }
}

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

/// What can be done about a conflict, or what there is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What kind of hint it is, for those who do not show every kind.
    pub kind: HintKind,
    /// The hint in one sentence.
    pub text: String,
}

/// What kind of hint it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintKind {
    /// A package has a name similar to one that nobody knows.
    Similar {
        /// The name that was asked for.
        unknown: PackageName,
        /// The package that may have been meant.
        meant: PackageName,
    },
    /// It names options of the command line or settings: of use to those alone who have one.
    Option,
    /// It speaks of packages and their versions, and says the same to everybody.
    Packages,
}

impl Hint {
    /// A hint that a package may have been meant by a name that nobody knows.
    pub fn similar(unknown: PackageName, meant: PackageName) -> Self {
        Self {
            text: format!("there is a package `{meant}`"),
            kind: HintKind::Similar { unknown, meant },
        }
    }

    /// A hint that names options of the command line or settings.
    pub fn option(text: impl Into<String>) -> Self {
        Self {
            kind: HintKind::Option,
            text: text.into(),
        }
    }

    /// A hint that speaks of packages and their versions.
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

/// A reason about releases of a package, in words that depend on which these are.
pub(super) fn reason_about(
    universe: &Universe,
    owner: PackageId,
    releases: &[ReleaseId],
    describe: impl FnOnce(&Subject) -> (String, ReasonKind),
) -> Reason {
    let subject = Subject::new(universe, owner, releases);
    let (text, kind) = describe(&subject);
    Reason {
        kind,
        owner: universe.package_name(owner).cloned(),
        versions: subject.versions,
        every_version: subject.is_every_version,
        location: None,
        source: universe.source(owner).cloned(),
        clashes: true,
        text,
    }
}

/// Says of reasons about classes of a root where these stand.
pub(crate) fn locate_classes(reasons: &mut [Reason], root: &Package) {
    if let Some(classes) = &root.classes {
        for reason in reasons {
            let is_of_root = reason.owner.as_ref() == Some(root.name()) && reason.source.is_none();
            if !is_of_root || reason.location.is_some() {
                continue;
            }
            match &reason.kind {
                ReasonKind::Extends { class } => {
                    let mut extending = classes
                        .values()
                        .filter_map(|it| Some((it, extended_at(it, class)?)));
                    let Some((first, location)) = extending.next() else {
                        continue;
                    };
                    let (classes, extend) = extending_classes(&first.name.value, extending.count());
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {extend} {class}");
                    reason.location = Some(location);
                }
                ReasonKind::OwnCycle => {
                    let cycles = class_cycles(classes);
                    reason.location = cycles.first().map(|cycle| cycle.location.clone());
                }
                _ => {}
            }
        }
    }
}

/// Where a class says that it extends another one.
fn extended_at(definition: &ClassDefinition, class: &ClassName) -> Option<Location> {
    let mut extended = definition.extends.iter();
    let found = extended.find(|extended| extended.value == *class)?;
    Some(found.location.clone())
}

/// The conflict of roots of which only one can be there: those that have one name, each of which is
/// to be the only candidate of it, or models. Of several such names the first is told.
pub(crate) fn several_roots_of_one_name(roots: &[Root]) -> Option<Conflict> {
    if roots.len() < 2 {
        return None;
    }
    let mut by_name: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
    let mut models = 0;
    for root in roots {
        match root {
            Root::Package(record) => by_name.entry(&record.name).or_default().push(record),
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

/// A conflict of roots alone.
fn conflict_of_roots(
    summary: String,
    text: String,
    owner: Option<PackageName>,
    versions: Vec<Version>,
) -> Conflict {
    let packages = owner.clone().into_iter().collect();
    let reason = Reason {
        kind: ReasonKind::Wanted { dropped_by: None },
        owner,
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: true,
        text,
    };
    Conflict {
        code: Code::NoVersion,
        summary,
        packages,
        reasons: vec![reason],
        is_minimal: true,
        hints: Vec::new(),
        repairs: Vec::new(),
    }
}
