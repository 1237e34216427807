//! Differences between two versions of an interface, and what they mean for those who call its functions.
//!
//! A new function breaks classes that implement the interface, and no caller: it needs a minor step.

use std::fmt;

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{FactMatch, Interface, InterfaceFunction};

use crate::api::Impact;
use crate::conformance::compare_signatures;

/// A difference between two versions of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceDifference {
    /// What it means for callers.
    pub impact: Impact,
    /// The function.
    pub function: String,
    /// The difference in a sentence.
    pub message: String,
    /// The place in the old version, unless the function is new.
    pub old: Option<Location>,
    /// The place in the new version, unless the function is gone.
    pub new: Option<Location>,
}

impl fmt::Display for InterfaceDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.impact, self.message)
    }
}

/// Returns the differences between two versions of an interface: those of old functions in their order, then new
/// functions.
pub fn interface_differences(old: &Interface, new: &Interface) -> Vec<InterfaceDifference> {
    let mut differences = Vec::new();
    for before in &old.functions {
        let mut add = |impact, message: String, after: Option<&InterfaceFunction>| {
            differences.push(InterfaceDifference {
                impact,
                function: before.name.value.clone(),
                message,
                old: Some(before.name.location.clone()),
                new: after.map(|after| after.name.location.clone()),
            });
        };
        let name = Escaped::shortened(&before.name.value);
        let Some(after) = new.function(&before.name.value) else {
            add(
                Impact::Major,
                format!("the function `{name}` is removed"),
                None,
            );
            continue;
        };
        let mut changed = |impact, what: String| {
            add(impact, format!("`{name}`: {what}"), Some(after));
        };
        let forward = compare_signatures(&before.arguments, &after.arguments);
        let back = compare_signatures(&after.arguments, &before.arguments);
        if forward.differences.is_empty() && !back.differences.is_empty() {
            changed(Impact::Minor, "it takes more than before".to_owned());
        }
        for difference in forward.differences {
            changed(Impact::Major, difference.to_string());
        }
        for note in forward.notes {
            changed(Impact::Review, note);
        }
        let schema = |function: &InterfaceFunction| {
            let returns = function.returns.as_ref();
            returns.map(|returns| returns.value.clone())
        };
        if schema(before) != schema(after) {
            changed(Impact::Review, "`Returns` is changed".to_owned());
        }
        if !says_the_same(before.supported.as_ref(), after.supported.as_ref()) {
            let is_wider = after.supported.is_none();
            let impact = if is_wider {
                Impact::Minor
            } else {
                Impact::Major
            };
            changed(impact, platforms("supported", after.supported.as_ref()));
        }
        let not_applicable = [before, after].map(|function| function.not_applicable.as_ref());
        if !says_the_same(not_applicable[0], not_applicable[1]) {
            changed(
                Impact::Review,
                platforms("not applicable", not_applicable[1]),
            );
        }
        match (&before.deprecated, &after.deprecated) {
            (None, Some(_)) => changed(Impact::Minor, "it is deprecated".to_owned()),
            (Some(_), None) => changed(Impact::Minor, "it is no longer deprecated".to_owned()),
            _ => {}
        }
    }
    for after in &new.functions {
        if old.function(&after.name.value).is_none() {
            let name = Escaped::shortened(&after.name.value);
            differences.push(InterfaceDifference {
                impact: Impact::Minor,
                function: after.name.value.clone(),
                message: format!("the function `{name}` is added"),
                old: None,
                new: Some(after.name.location.clone()),
            });
        }
    }
    differences
}

/// Whether two versions name the same platforms, however they are written.
fn says_the_same(one: Option<&FactMatch>, other: Option<&FactMatch>) -> bool {
    one.map(ToString::to_string) == other.map(ToString::to_string)
}

fn platforms(what: &str, now: Option<&FactMatch>) -> String {
    match now {
        Some(now) => {
            let now = now.to_string();
            format!("it is {what} where {} now", Escaped::shortened(&now))
        }
        None => format!("no platforms are named as {what} any more"),
    }
}
