//! Capabilities in a lockfile: the status of every function of the classes' interfaces, on every
//! platform.

use std::collections::BTreeMap;
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

impl LockedConformance {
    /// Whether a lockfile that recorded this is up to date if the conformance is now `now`. It is also up to date if
    /// it does not say which release defines the interface.
    pub fn agrees_with(&self, now: &Self) -> bool {
        self.functions == now.functions
            && (self.defined_by.is_none() || self.defined_by == now.defined_by)
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
