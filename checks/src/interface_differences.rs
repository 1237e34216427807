//! Compares two versions of an interface, and says what the differences mean for callers.
//!
//! A new function breaks classes that implement the interface, and no caller: it needs a minor bump.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassName, Deprecation, FactMatch, Interface, InterfaceFunction, Package};
use serde_json::Value;

use crate::api::Impact;
use crate::conformance::compare_signatures;

/// A difference between two versions of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceDifference {
    /// The impact on callers.
    pub impact: Impact,
    /// The interface.
    pub interface: ClassName,
    /// The function, unless it is about the interface as a whole.
    pub function: Option<String>,
    /// The difference in a sentence.
    pub message: String,
    /// The place in the old version, unless it is new.
    pub old: Option<Location>,
    /// The place in the new version; `None` if it was removed.
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
    let interface = &new.name.value;
    let mut differences = Vec::new();
    let [in_old, in_new] = [old, new].map(|interface| -> HashMap<&str, &InterfaceFunction> {
        let functions = interface.functions.iter();
        functions.map(|it| (it.name.value.as_str(), it)).collect()
    });
    for before in &old.functions {
        let name = Escaped::shortened(&before.name.value);
        let Some(after) = in_new.get(before.name.value.as_str()) else {
            differences.push(InterfaceDifference {
                impact: Impact::Major,
                interface: interface.clone(),
                function: Some(before.name.value.clone()),
                message: format!("the function `{name}` is removed"),
                old: Some(before.name.location.clone()),
                new: None,
            });
            continue;
        };
        let changes = signature_changes(before, after)
            .into_iter()
            .chain(platform_changes(before, after))
            .chain(deprecation_changes(before, after));
        differences.extend(changes.map(|(impact, what)| InterfaceDifference {
            impact,
            interface: interface.clone(),
            function: Some(before.name.value.clone()),
            message: format!("`{name}`: {what}"),
            old: Some(before.name.location.clone()),
            new: Some(after.name.location.clone()),
        }));
    }
    for after in &new.functions {
        if !in_old.contains_key(after.name.value.as_str()) {
            let name = Escaped::shortened(&after.name.value);
            differences.push(InterfaceDifference {
                impact: Impact::Minor,
                interface: interface.clone(),
                function: Some(after.name.value.clone()),
                message: format!("the function `{name}` is added"),
                old: None,
                new: Some(after.name.location.clone()),
            });
        }
    }
    differences
}

/// A change of a function, and what it means for classes and callers.
type Change = (Impact, String);

/// What changed in the arguments of a function and in the values that it returns.
fn signature_changes(before: &InterfaceFunction, after: &InterfaceFunction) -> Vec<Change> {
    let mut changes = Vec::new();
    let forward = compare_signatures(&before.arguments, &after.arguments);
    let back = compare_signatures(&after.arguments, &before.arguments);
    if forward.differences.is_empty() && !back.differences.is_empty() {
        changes.push((Impact::Minor, "it takes more than before".to_owned()));
    }
    let differences = forward.differences.iter();
    changes.extend(differences.map(|difference| (Impact::Major, difference.to_string())));
    let notes = forward.notes.into_iter();
    changes.extend(notes.map(|note| (Impact::Review, note)));
    if returned_schema(before) != returned_schema(after) {
        changes.push((Impact::Review, "`Returns` is changed".to_owned()));
    }
    changes
}

/// The schema of the values that a function returns. The order of its keys means nothing.
fn returned_schema(function: &InterfaceFunction) -> Option<Value> {
    let text = &function.returns.as_ref()?.value;
    Some(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())))
}

/// Changes of the platforms that support a function, and of those to which it does not apply.
fn platform_changes(before: &InterfaceFunction, after: &InterfaceFunction) -> Vec<Change> {
    let mut changes = Vec::new();
    let [supported, now_supported] = [before, after].map(|it| it.supported.as_ref());
    if !says_the_same(supported, now_supported) {
        // It only says how a missing function is reported: no class loses the function.
        let impact = if is_wider(supported, now_supported) {
            Impact::Minor
        } else {
            Impact::Review
        };
        changes.push((impact, platforms("supported", now_supported)));
    }
    let [excluded, now_excluded] = [before, after].map(|it| it.not_applicable.as_ref());
    if !says_the_same(excluded, now_excluded) {
        changes.push((Impact::Review, platforms("not applicable", now_excluded)));
    }
    changes
}

/// What changed in the deprecation of a function.
fn deprecation_changes(before: &InterfaceFunction, after: &InterfaceFunction) -> Vec<Change> {
    match (&before.deprecated, &after.deprecated) {
        (None, Some(_)) => vec![(Impact::Minor, "it is deprecated".to_owned())],
        (Some(_), None) => vec![(Impact::Minor, "it is no longer deprecated".to_owned())],
        (Some(old), Some(new)) => deprecation_differences(old, new),
        (None, None) => Vec::new(),
    }
}

/// Returns the differences between the interfaces of two versions of a package, and between the interfaces that their
/// classes implement.
pub fn package_interface_differences(old: &Package, new: &Package) -> Vec<InterfaceDifference> {
    let mut differences = Vec::new();
    for (name, before) in &old.interfaces {
        let Some(after) = new.interfaces.get(name) else {
            differences.push(InterfaceDifference {
                impact: Impact::Major,
                interface: name.clone(),
                function: None,
                message: format!("the interface `{name}` is removed"),
                old: Some(before.name.location.clone()),
                new: None,
            });
            continue;
        };
        let found = interface_differences(before, after).into_iter();
        differences.extend(found.map(|mut difference| {
            difference.message = format!("`{name}`: {}", difference.message);
            difference
        }));
    }
    for (name, after) in &new.interfaces {
        if !old.interfaces.contains_key(name) {
            differences.push(InterfaceDifference {
                impact: Impact::Minor,
                interface: name.clone(),
                function: None,
                message: format!("the interface `{name}` is added"),
                old: None,
                new: Some(after.name.location.clone()),
            });
        }
    }
    let mut now: BTreeMap<&ClassName, BTreeSet<&ClassName>> = BTreeMap::new();
    for entry in &new.manifest.implements {
        let interfaces = entry.interfaces.iter().map(|interface| &interface.value);
        now.entry(&entry.class.value)
            .or_default()
            .extend(interfaces);
    }
    for entry in &old.manifest.implements {
        let class = &entry.class.value;
        // A class that is gone is a difference of classes.
        if !new.exports(class) {
            continue;
        }
        let now = now.get(class);
        let definition = new.classes.as_ref().and_then(|classes| classes.get(class));
        let may_inherit = definition.is_none_or(|definition| !definition.extends.is_empty());
        for interface in &entry.interfaces {
            if now.is_some_and(|now| now.contains(&interface.value)) {
                continue;
            }
            let (impact, unless) = if may_inherit {
                (Impact::Review, ", unless it inherits it")
            } else {
                (Impact::Major, "")
            };
            let name = &interface.value;
            differences.push(InterfaceDifference {
                impact,
                interface: name.clone(),
                function: None,
                message: format!("`{class}` no longer implements `{name}`{unless}"),
                old: Some(interface.location.clone()),
                new: None,
            });
        }
    }
    differences
}

/// What differs between two deprecations of a function.
fn deprecation_differences(old: &Deprecation, new: &Deprecation) -> Vec<Change> {
    let mut differences = Vec::new();
    if old.since != new.since {
        let what = match &new.since {
            Some(since) => format!("it is deprecated since {since} now"),
            None => "it is no longer said since when it is deprecated".to_owned(),
        };
        differences.push((Impact::Patch, what));
    }
    if old.removed_in != new.removed_in {
        // Callers may have less time than they were told.
        let (impact, what) = match &new.removed_in {
            Some(removed) => (Impact::Review, format!("it is removed in {removed} now")),
            None => (
                Impact::Patch,
                "it is no longer planned for removal".to_owned(),
            ),
        };
        differences.push((impact, what));
    }
    let successor = |it: &Deprecation| it.successor.as_ref().map(|name| name.value.clone());
    if successor(old) != successor(new) {
        let what = match successor(new) {
            Some(successor) => format!("`{}` replaces it now", Escaped::shortened(&successor)),
            None => "it no longer has a successor".to_owned(),
        };
        differences.push((Impact::Patch, what));
    }
    differences
}

/// Whether everything that matched still does. Without a list, everything matches.
fn is_wider(before: Option<&FactMatch>, after: Option<&FactMatch>) -> bool {
    match (before, after) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(before), Some(after)) => before.is_within(after),
    }
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
        None => format!("platforms are no longer listed as {what}"),
    }
}
