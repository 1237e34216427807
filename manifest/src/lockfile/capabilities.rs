//! Capabilities in a lockfile: the status of every function of the classes' interfaces, on every
//! platform.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::interface::ConformanceStatus;
use crate::name::{ClassName, PackageName};
use crate::release::Release;
use crate::version::Version;

/// A class of a release with an interface that it implements.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedImplementation {
    /// The class.
    pub class: ClassName,
    /// The package that defines the class.
    pub package: PackageName,
    /// The version of that package.
    pub version: Version,
    /// The interface.
    pub interface: ClassName,
}

/// The recorded conformance of a class to one interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockedConformance {
    /// The release that defines the interface. `None` if the lockfile does not say, because an earlier version of
    /// pkgres wrote it, or if no release in it defines the interface.
    pub defined_by: Option<Release>,
    /// The functions of the interface by name, as far as the class is known to have or to lack them.
    pub functions: BTreeMap<String, LockedCapability>,
}

/// A difference between the capabilities that a lockfile recorded, and those of now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityChange {
    /// The class and its interface.
    pub implementation: LockedImplementation,
    /// What changed.
    pub kind: CapabilityChangeKind,
}

/// What changed of a class and its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapabilityChangeKind {
    /// The class implements the interface now.
    Added,
    /// The class does not implement the interface any more.
    Removed,
    /// Another release defines the interface now.
    DefinedBy {
        /// The release in the lockfile.
        locked: Release,
        /// The release now, if any.
        now: Option<Release>,
    },
    /// A function has another status.
    Function {
        /// The name of the function.
        name: String,
        /// The status in the lockfile; `None` if nothing was known of it.
        locked: Option<LockedCapability>,
        /// The status now.
        now: Option<LockedCapability>,
    },
}

/// The differences between the capabilities that a lockfile recorded, and those of now. A lockfile that does not say which
/// release defines an interface is up to date in that.
pub fn capability_changes(
    locked: &BTreeMap<LockedImplementation, LockedConformance>,
    now: &BTreeMap<LockedImplementation, LockedConformance>,
) -> Vec<CapabilityChange> {
    let all: BTreeSet<&LockedImplementation> = locked.keys().chain(now.keys()).collect();
    let mut changes = Vec::new();
    for implementation in all {
        let mut add = |kind| {
            changes.push(CapabilityChange {
                implementation: implementation.clone(),
                kind,
            });
        };
        match (locked.get(implementation), now.get(implementation)) {
            (Some(locked), Some(now)) => locked.changes_to(now).into_iter().for_each(add),
            (None, _) => add(CapabilityChangeKind::Added),
            (_, None) => add(CapabilityChangeKind::Removed),
        }
    }
    changes
}

impl LockedConformance {
    fn changes_to(&self, now: &Self) -> Vec<CapabilityChangeKind> {
        let mut changes = Vec::new();
        if let Some(locked) = &self.defined_by
            && now.defined_by.as_ref() != Some(locked)
        {
            changes.push(CapabilityChangeKind::DefinedBy {
                locked: locked.clone(),
                now: now.defined_by.clone(),
            });
        }
        let names: BTreeSet<&String> = self.functions.keys().chain(now.functions.keys()).collect();
        for name in names {
            let (locked, now) = (self.functions.get(name), now.functions.get(name));
            if locked != now {
                changes.push(CapabilityChangeKind::Function {
                    name: name.clone(),
                    locked: locked.cloned(),
                    now: now.cloned(),
                });
            }
        }
        changes
    }
}

/// The status of a function on every platform: cases with conditions on facts. The first case whose condition holds
/// counts; the last one has no condition.
///
/// ```
/// use pkgres_manifest::LockedCapability;
///
/// let text = "not-implemented if os=debian; not-supported";
/// let capability = LockedCapability::parse(text).expect("it is one");
/// assert_eq!(capability.cases.len(), 2);
/// assert_eq!(capability.to_string(), text);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedCapability {
    /// The cases.
    pub cases: Vec<(ConformanceStatus, Option<String>)>,
}

impl LockedCapability {
    /// Reads a capability; `None` if the text is not in the one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let cases = text.split("; ").map(|case| match case.split_once(" if ") {
            Some((status, condition)) => {
                let is_written = !condition.is_empty() && condition.chars().all(is_plain);
                let condition = is_written.then(|| condition.to_owned())?;
                Some((ConformanceStatus::parse(status)?, Some(condition)))
            }
            None => Some((ConformanceStatus::parse(case)?, None)),
        });
        let cases: Option<Vec<_>> = cases.collect();
        let (last, others) = cases.as_ref()?.split_last()?;
        let is_ordered =
            last.1.is_none() && others.iter().all(|(_, condition)| condition.is_some());
        cases.filter(|_| is_ordered).map(|cases| Self { cases })
    }
}

/// Whether a condition can have a character.
fn is_plain(character: char) -> bool {
    !crate::diagnostic::is_hazardous(character) && !matches!(character, ';' | '"' | '\\')
}

impl fmt::Display for LockedCapability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (status, condition)) in self.cases.iter().enumerate() {
            if number > 0 {
                formatter.write_str("; ")?;
            }
            write!(formatter, "{status}")?;
            if let Some(condition) = condition {
                write!(formatter, " if {condition}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn implementation(interface: &str) -> LockedImplementation {
        LockedImplementation {
            class: ClassName::parse("org.example.App").expect("a name"),
            package: PackageName::parse("org.example.App").expect("a name"),
            version: Version::new(1, 0, 0),
            interface: ClassName::parse(interface).expect("a name"),
        }
    }

    fn conformance(release: Option<&str>, functions: &[(&str, &str)]) -> LockedConformance {
        let functions = functions.iter().map(|(name, capability)| {
            let capability = LockedCapability::parse(capability).expect("it is one");
            ((*name).to_owned(), capability)
        });
        LockedConformance {
            defined_by: release.map(|name| {
                Release::new(
                    PackageName::parse(name).expect("a name"),
                    Version::new(1, 0, 0),
                )
            }),
            functions: functions.collect(),
        }
    }

    #[test]
    fn every_difference_between_capabilities_is_found() {
        let locked = BTreeMap::from([
            (implementation("a.Gone"), conformance(None, &[])),
            (
                implementation("a.Kept"),
                conformance(None, &[("stop", "implemented")]),
            ),
            (
                implementation("a.Moved"),
                conformance(
                    Some("a.One"),
                    &[("old", "implemented"), ("stop", "implemented")],
                ),
            ),
        ]);
        let now = BTreeMap::from([
            // That a lockfile does not say who defines an interface is no difference.
            (
                implementation("a.Kept"),
                conformance(Some("a.One"), &[("stop", "implemented")]),
            ),
            (
                implementation("a.Moved"),
                conformance(
                    Some("a.Two"),
                    &[("new", "implemented"), ("stop", "not-supported")],
                ),
            ),
            (implementation("a.New"), conformance(None, &[])),
        ]);
        let changes = capability_changes(&locked, &now).into_iter();
        let changes = changes.map(|change| {
            let kind = match change.kind {
                CapabilityChangeKind::Added => "added".to_owned(),
                CapabilityChangeKind::Removed => "removed".to_owned(),
                CapabilityChangeKind::DefinedBy { locked, now } => {
                    format!("{} -> {}", locked.name, now.expect("it is known").name)
                }
                CapabilityChangeKind::Function { name, locked, now } => {
                    let [locked, now] = [locked, now].map(|it| it.map(|it| it.to_string()));
                    format!("{name}: {locked:?} -> {now:?}")
                }
            };
            format!("{} {kind}", change.implementation.interface)
        });
        assert_eq!(
            changes.collect::<Vec<_>>(),
            [
                "a.Gone removed",
                "a.Moved a.One -> a.Two",
                r#"a.Moved new: None -> Some("implemented")"#,
                r#"a.Moved old: Some("implemented") -> None"#,
                r#"a.Moved stop: Some("implemented") -> Some("not-supported")"#,
                "a.New added",
            ]
        );
    }
}
