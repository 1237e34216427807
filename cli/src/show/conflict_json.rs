//! Conflicts as JSON.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, PackageName, Release, ReleaseSource, Version};
use pkgres_resolver::{Conflict, InheritingClass, Reason, ReasonKind, SuggestedChange};
use serde::Serialize;
use serde_json::{Value, json};

/// The JSON document of a command that ends with a conflict.
pub(crate) fn conflict_document(conflict: &Conflict) -> Value {
    json!({
        "schema_version": 1,
        "status": "conflict",
        "conflict": conflict_json(conflict),
    })
}

/// A conflict as JSON.
pub(crate) fn conflict_json(conflict: &Conflict) -> Value {
    json!({
        "code": conflict.code.to_string(),
        "summary": conflict.summary,
        "steps": conflict.reasons.iter().map(Step::of).collect::<Vec<_>>(),
        "packages": conflict.packages,
        "minimal": conflict.is_minimal,
        "smallest": conflict.is_smallest,
        "hints": conflict.hints.iter().map(|hint| &hint.text).collect::<Vec<_>>(),
        "repairs": conflict.suggestions.iter().map(repair_json).collect::<Vec<_>>(),
    })
}

fn repair_json(repair: &SuggestedChange) -> Value {
    json!({
        "text": repair.text,
        "package": repair.owner,
        "versions": repair.versions,
        "requires": repair.package,
        "spec": repair.spec,
        "allow": repair.allow,
    })
}

/// A reason of a conflict.
#[derive(Serialize)]
struct Step<'r> {
    text: &'r str,
    package: &'r str,
    versions: &'r [Version],
    every_version: bool,
    clashes: bool,
    #[serde(flatten)]
    kind: StepKind<'r>,
    #[serde(flatten)]
    place: Option<Place<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Place<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'r ReleaseSource>,
}

/// What a reason says.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StepKind<'r> {
    Requires {
        requires: &'r PackageName,
        spec: &'r str,
        #[serde(skip_serializing_if = "Option::is_none")]
        overridden_by: Option<&'r str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        implied: bool,
    },
    Extends {
        class: &'r ClassName,
    },
    Uses {
        class: &'r ClassName,
    },
    Lacks {
        class: &'r ClassName,
    },
    Implements {
        interface: &'r ClassName,
    },
    LacksInterface {
        interface: &'r ClassName,
    },
    Contract {
        holder: &'r str,
        path: &'r str,
        object: &'r str,
        class: &'r ClassName,
    },
    Value {
        holder: &'r str,
        path: &'r str,
        problem: &'r str,
        class: &'r ClassName,
    },
    Wanted {
        #[serde(skip_serializing_if = "Option::is_none")]
        dropped_by: Option<DroppingRelease<'r>>,
    },
    Stays,
    UnnamedPrerelease,
    OwnCycle,
    Inherits {
        paths: Vec<Vec<PathClass<'r>>>,
    },
}

#[derive(Serialize)]
struct DroppingRelease<'r> {
    package: &'r PackageName,
    version: &'r Version,
}

/// A class on a path of inheritance.
#[derive(Serialize)]
struct PathClass<'r> {
    #[serde(flatten)]
    name: PathName<'r>,
    package: &'r PackageName,
    versions: &'r [Version],
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum PathName<'r> {
    Class(&'r ClassName),
    Interface(&'r ClassName),
}

/// A position in a file.
#[derive(Serialize)]
struct Place<'r> {
    file: &'r str,
    line: usize,
    column: usize,
}

impl<'r> Place<'r> {
    fn of(location: &'r Location) -> Self {
        let position = location.position();
        Self {
            file: location.source().name(),
            line: position.line,
            column: position.column,
        }
    }
}

impl<'r> Step<'r> {
    fn of(reason: &'r Reason) -> Self {
        Self {
            text: &reason.text,
            package: reason.owner_name(),
            versions: &reason.versions,
            every_version: reason.every_version,
            clashes: reason.clashes,
            kind: StepKind::of(&reason.kind),
            place: reason.location.as_ref().map(Place::of),
            also: reason.more_locations.iter().map(Place::of).collect(),
            source: reason.source.as_ref(),
        }
    }
}

impl<'r> StepKind<'r> {
    fn of(kind: &'r ReasonKind) -> Self {
        match kind {
            ReasonKind::Requires {
                package,
                spec,
                overridden_by,
                is_implied,
            } => Self::Requires {
                requires: package,
                spec,
                overridden_by: overridden_by.as_deref(),
                implied: *is_implied,
            },
            ReasonKind::Extends { class } => Self::Extends { class },
            ReasonKind::Uses { class } => Self::Uses { class },
            ReasonKind::Lacks { class } => Self::Lacks { class },
            ReasonKind::Implements { interface } => Self::Implements { interface },
            ReasonKind::LacksInterface { interface } => Self::LacksInterface { interface },
            ReasonKind::Contract {
                holder,
                place,
                object,
                class,
            } => Self::Contract {
                holder,
                path: &place.path,
                object,
                class,
            },
            ReasonKind::Value {
                holder,
                place,
                problem,
                class,
            } => Self::Value {
                holder,
                path: &place.path,
                problem,
                class,
            },
            ReasonKind::Wanted { dropped_by } => Self::Wanted {
                dropped_by: dropped_by.as_ref().map(
                    |Release {
                         name: package,
                         version,
                     }| DroppingRelease { package, version },
                ),
            },
            ReasonKind::Stays => Self::Stays,
            ReasonKind::UnnamedPrerelease => Self::UnnamedPrerelease,
            ReasonKind::OwnCycle => Self::OwnCycle,
            ReasonKind::Inherits { paths } => Self::Inherits {
                paths: paths
                    .iter()
                    .map(|path| path.iter().map(PathClass::of).collect())
                    .collect(),
            },
        }
    }
}

impl<'r> PathClass<'r> {
    fn of(class: &'r InheritingClass) -> Self {
        Self {
            name: if class.is_interface {
                PathName::Interface(&class.class)
            } else {
                PathName::Class(&class.class)
            },
            package: &class.package,
            versions: &class.versions,
        }
    }
}
