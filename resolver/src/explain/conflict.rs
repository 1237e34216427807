//! Conflicts as values: reasons and hints.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::{Code, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, IndexRecord, Package, PackageName, ReleaseSource, Version,
    class_cycles,
};

use super::SingleRepair;
use super::wording::{Edge, Subject, some_classes};
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
    /// Whether these are proved to be the fewest reasons: no smaller set of reasons is a contradiction. Requirements
    /// that allow the same releases, and a class that releases of one package extend, count once. Of the conflicts
    /// between inherited classes, only those that the search met are considered. False if the proof would take too
    /// long, if packages may have several releases, or if an update failed.
    pub is_smallest: bool,
    /// Suggestions, at most two.
    pub hints: Vec<Hint>,
    /// Changes that each make the problem solvable with one release of each package. Each was tried.
    pub repairs: Vec<SingleRepair>,
}

impl Conflict {
    /// Names and locates the classes of a root in the reasons. An index does not have their
    /// locations; callers with the files of the root do.
    pub fn locate_classes(&mut self, root: &Package) {
        locate_classes(&mut self.reasons, root);
    }

    /// Locates the classes that a root extends or uses in the reasons. `place` has the place of a reference to a class, if
    /// it is known; callers with the files of the root know it.
    pub fn locate_references(
        &mut self,
        root: &PackageName,
        place: impl Fn(&ClassName) -> Option<Location>,
    ) {
        for reason in &mut self.reasons {
            let is_of_root = reason.owner.as_ref() == Some(root) && reason.source.is_none();
            if let ReasonKind::Extends { class } | ReasonKind::Uses { class } = &reason.kind
                && is_of_root
                && reason.location.is_none()
            {
                reason.location = place(class);
            }
        }
    }

    /// Adds the label of each class behind its name in the texts of the conflict, if `label` knows one. Some
    /// ecosystems identify classes by ids that mean nothing to people.
    pub fn label_classes(&mut self, label: impl Fn(&ClassName) -> Option<String>) {
        let reasons = self.reasons.iter_mut().map(|reason| &mut reason.text);
        let hints = self.hints.iter_mut().map(|hint| &mut hint.text);
        for text in std::iter::once(&mut self.summary)
            .chain(reasons)
            .chain(hints)
        {
            *text = with_labels(text, &label);
        }
    }
}

/// A text with labels behind the classes that have one.
fn with_labels(text: &str, label: &impl Fn(&ClassName) -> Option<String>) -> String {
    let words = text.split(' ').map(|word| {
        let start = word.len() - word.trim_start_matches('`').len();
        let name = word[start..].trim_end_matches(['`', ',', ';', ':']);
        let found = ClassName::native(name).ok().and_then(|class| label(&class));
        let Some(label) = found else {
            return word.to_owned();
        };
        // Behind the quotes around the name.
        let (named, rest) = word.split_at(start + name.len() + start);
        format!("{named} ({label}){rest}")
    });
    words.collect::<Vec<String>>().join(" ")
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
    /// The source of the package; `None` for a root.
    pub source: Option<ReleaseSource>,
    /// Whether it contradicts other reasons, rather than leading to one that does.
    pub clashes: bool,
    /// The reason in one sentence.
    pub text: String,
}

impl Reason {
    /// The name of the package, or "the object model".
    pub fn owner_name(&self) -> &str {
        self.owner
            .as_ref()
            .map_or(OBJECT_MODEL, PackageName::as_str)
    }
}

/// The kind of a reason.
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
    /// A class of the owner uses a class that no required package defines, or only some versions do, and uses are binding.
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
        dropped_by: Option<(PackageName, Version)>,
    },
    /// The lock holds these versions of the owner.
    Stays,
    /// An object of a model violates the contract of a property.
    Contract {
        /// The object that has the property.
        holder: String,
        /// The property, with positions in lists and keys of mappings.
        path: String,
        /// The object that the property holds.
        object: String,
        /// The class that the contract demands.
        class: ClassName,
    },
    /// A value of a model violates the contract of its property.
    Value {
        /// The object that has the property.
        holder: String,
        /// The property, with positions in lists and keys of mappings.
        path: String,
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

/// A suggestion about a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The kind of hint, for callers that do not show every kind.
    pub kind: HintKind,
    /// The hint in one sentence.
    pub text: String,
}

/// The kind of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Names and locates the classes of a root in reasons.
pub(crate) fn locate_classes(reasons: &mut [Reason], root: &Package) {
    if let Some(classes) = &root.classes {
        for reason in reasons {
            let is_of_root = reason.owner.as_ref() == Some(root.name()) && reason.source.is_none();
            if !is_of_root || reason.location.is_some() {
                continue;
            }
            match &reason.kind {
                ReasonKind::Extends { class } | ReasonKind::Uses { class } => {
                    let edge = match reason.kind {
                        ReasonKind::Uses { .. } => Edge::Uses,
                        _ => Edge::Extends,
                    };
                    let mut referring = classes
                        .values()
                        .filter_map(|it| Some((it, referred_at(it, class, edge)?)));
                    let Some((first, location)) = referring.next() else {
                        continue;
                    };
                    let (classes, extend) =
                        some_classes(&first.name.value, referring.count(), edge);
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {extend} {class}");
                    reason.location = Some(location);
                }
                ReasonKind::Implements { interface } => {
                    let mut implementing = (root.manifest.implements.iter()).filter_map(|entry| {
                        let mut named = entry.interfaces.iter();
                        let found = named.find(|named| named.value == *interface)?;
                        Some((&entry.class.value, found.location.clone()))
                    });
                    let Some((first, location)) = implementing.next() else {
                        continue;
                    };
                    let count = implementing.count();
                    let (classes, implement) = some_classes(first, count, Edge::Implements);
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {implement} {interface}");
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

/// The location at which a class extends or uses another one.
fn referred_at(definition: &ClassDefinition, class: &ClassName, edge: Edge) -> Option<Location> {
    let mut referred = match edge {
        Edge::Uses => definition.uses.iter(),
        _ => definition.extends.iter(),
    };
    let found = referred.find(|referred| referred.value == *class)?;
    Some(found.location.clone())
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

/// A conflict that has only roots.
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
        is_smallest: true,
        hints: Vec::new(),
        repairs: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_names_of_classes() {
        let label = |class: &ClassName| {
            let is_known = class.as_str().starts_with("urn:a;i=1");
            is_known.then(|| "1:Pump".to_owned())
        };
        for (text, expected) in [
            (
                "no version defines the class `urn:a;i=1(ObjectType)`",
                "no version defines the class `urn:a;i=1(ObjectType)` (1:Pump)",
            ),
            (
                "b 1.0@ lacks urn:a;i=1; 2.0@ does not",
                "b 1.0@ lacks urn:a;i=1 (1:Pump); 2.0@ does not",
            ),
            ("urn:b;i=1 and ` are none", "urn:b;i=1 and ` are none"),
        ] {
            assert_eq!(with_labels(text, &label), expected);
        }
    }
}
