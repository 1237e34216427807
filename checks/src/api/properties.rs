//! Compares the properties of a class in two versions.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ArgumentUsage, Contract, Property, is_identifier};

use super::FoundDifference;
use super::class_pair::{ClassPair, Declarers, Subject};
use super::rules::ApiRule;
use super::witness::WitnessUse;
use crate::members::{Declared, INITIALIZER, is_private, is_required};

pub(super) fn compare(both: &ClassPair<'_>, found: &mut Vec<FoundDifference>) {
    let mut declarers = Declarers::new(|class| {
        let properties = class.properties.iter();
        properties.map(|it| it.name.value.as_str()).collect()
    });
    for (&name, old) in &both.old.properties {
        if is_private(name) {
            continue;
        }
        match both.new.properties.get(name) {
            None => found.push(removed(both, old, &mut declarers)),
            Some(new) => changed(both, old, new, found),
        }
    }
    for (&name, new) in &both.new.properties {
        // A private property without a value is as much of an obstacle to creating an object as any other.
        let is_new = !both.old.properties.contains_key(name);
        if is_new && (!is_private(name) || is_required(new.member) == Some(true)) {
            found.push(added(both, new));
        }
    }
}

fn subject(
    both: &ClassPair<'_>,
    old: Option<&Declared<'_, Property>>,
    new: Option<&Declared<'_, Property>>,
) -> Option<Subject> {
    let declared = old.or(new)?;
    let place = |declared: &Declared<'_, Property>| declared.member.name.location.clone();
    let in_new = new.map(place);
    Some(Subject {
        class: both.owner(declared),
        member: Some(declared.member.name.value.clone()),
        argument: None,
        old: old.map(place),
        new: in_new.or_else(|| Some(both.new_place.clone())),
    })
}

fn removed<'both>(
    both: &ClassPair<'both>,
    old: &'both Declared<'_, Property>,
    declarers: &mut Declarers<'both>,
) -> FoundDifference {
    let name = &old.member.name.value;
    let is_certain = both.new.unknown.is_empty() && is_identifier(name);
    let what = ("property", name.as_str(), name.as_str());
    let (class, message) = both.removal(old, what, is_certain, declarers);
    let (rule, noticed) = if is_certain {
        let noticed = WitnessUse::Read {
            class: both.name.clone(),
            usage: both.usage,
            property: name.clone(),
        };
        (ApiRule::PropertyRemoved, Some(noticed))
    } else {
        (ApiRule::MemberPerhapsRemoved, None)
    };
    let mut subject = subject(both, Some(old), None).expect("one of both is given");
    subject.class = class;
    both.difference(rule, subject, message, noticed)
}

fn added(both: &ClassPair<'_>, new: &Declared<'_, Property>) -> FoundDifference {
    let shown = Escaped::shortened(&new.member.name.value).to_string();
    let owner = both.owner(new);
    let (rule, noticed, more) = match (is_required(new.member), creation(both)) {
        (Some(true), Some(creation)) => (
            ApiRule::RequiredPropertyAdded,
            Some(creation),
            ", which needs a value",
        ),
        (Some(true) | None, _) => (
            ApiRule::PropertyPerhapsRequired,
            None,
            ", which may need a value",
        ),
        (Some(false), _) => (ApiRule::PropertyAdded, None, ""),
    };
    let message = format!("`{owner}` has the new property `{shown}`{more}");
    let mut subject = subject(both, None, Some(new)).expect("one of both is given");
    subject.old = None;
    both.difference(rule, subject, message, noticed)
}

fn changed(
    both: &ClassPair<'_>,
    old: &Declared<'_, Property>,
    new: &Declared<'_, Property>,
    found: &mut Vec<FoundDifference>,
) {
    let (before, after) = (old.member, new.member);
    let shown = Escaped::shortened(&before.name.value).to_string();
    let of = format!("the property `{shown}` of `{}`", both.owner(old));
    let mut report = |rule, message, noticed| {
        let subject = subject(both, Some(old), Some(new)).expect("both are given");
        found.push(both.difference(rule, subject, message, noticed));
    };
    if before.usage.value != after.usage.value {
        let message = format!(
            "{of} has the usage {} instead of {}",
            Escaped::shortened(&after.usage.value),
            Escaped::shortened(&before.usage.value)
        );
        report(ApiRule::PropertyUsageChanged, message, None);
    }
    let was_needless = before.has_default || before.usage.value != after.usage.value;
    let is_needed = is_required(before) == Some(false) && is_required(after) == Some(true);
    let creation = creation(both).filter(|_| was_needless && is_needed);
    if creation.is_some() {
        let message = format!("{of} needs a value now");
        report(ApiRule::PropertyBecameRequired, message, creation);
    } else if is_required(before) == Some(true) && after.has_default {
        let message = format!("{of} has a default now");
        report(ApiRule::DefaultAdded, message, None);
    } else if has_other_value(before) != has_other_value(after) {
        let verb = if after.has_default {
            "has a default now"
        } else {
            "no longer has a default"
        };
        let message = format!("{of} {verb}");
        report(ApiRule::PropertyDefaultChanged, message, None);
    }
    if before.contract.value != after.contract.value {
        let message = format!("the contract of {of} changed");
        report(ApiRule::ContractChanged, message, None);
    }
}

/// Whether the default of a property is another value than the one of properties without a default.
fn has_other_value(property: &Property) -> bool {
    let absent = match property.contract.value {
        Contract::Rules(_) => "null",
        Contract::List { .. } => "[]",
        Contract::Map(_) => "{}",
    };
    let default = property.default.as_deref();
    property.has_default && default != Some("null") && default != Some(absent)
}

/// The creation of an object with what it needed in the old version; `None` if not everything is known that an object
/// needs, so that its creation does not show what it lacks.
pub(super) fn creation(both: &ClassPair<'_>) -> Option<WitnessUse> {
    let creation = both.creation.get_or_init(|| {
        let values = needed_values(both);
        let is_complete = both.new.unknown.is_empty() && values.iter().all(|it| is_identifier(it));
        is_complete.then(|| WitnessUse::Creates {
            class: both.name.clone(),
            values: values.into_iter().map(str::to_owned).collect(),
        })
    });
    creation.clone()
}

/// The properties and the arguments of the initializer that need values, or may need them, in the old version.
pub(super) fn needed_values<'packages>(both: &ClassPair<'packages>) -> BTreeSet<&'packages str> {
    let properties = both.old.properties.iter();
    let properties = properties
        .filter(|(_, declared)| is_required(declared.member) != Some(false))
        .map(|(name, _)| *name);
    let initializer = both.old.methods.get(INITIALIZER);
    let arguments = initializer.map_or(&[][..], |declared| &declared.member.arguments);
    let arguments = arguments
        .iter()
        .filter(|argument| !argument.has_default && argument.usage == ArgumentUsage::Standard)
        .map(|argument| argument.name.value.as_str());
    properties.chain(arguments).collect()
}
