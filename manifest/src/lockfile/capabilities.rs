//! Capabilities in a lockfile: how classes stand to the functions of their interfaces, on every platform.

use std::fmt;

use crate::interface::ConformanceStatus;
use crate::name::{ClassName, PackageName};
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

/// The status of a function on every platform: cases with conditions on facts, of which the first that holds counts.
/// The last one has no condition.
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
