//! Decides which differences concern a class that calls, declares or creates what has changed.

use std::collections::BTreeSet;

use pkgres_manifest::{CallArguments, Method, ObjectCreation, Property};

use crate::api::ApiDifference;
use crate::api::methods::candidate_calls;
use crate::api::rules::{ApiRule, Impact};
use crate::members::{CallMismatch, EffectiveMembers, Signature, accepts, is_input};

/// The arguments of the creation of an object that are for the initializer, and not values of properties.
pub(super) fn initializer_call(
    creation: &ObjectCreation,
    members: &EffectiveMembers<'_>,
    initializer: &Method,
) -> CallArguments {
    let is_argument = |name: &str| {
        let mut arguments = initializer.arguments.iter();
        arguments.any(|argument| argument.name.value == name)
    };
    let is_property = |name: &str| {
        let property = members.properties.get(name);
        property.is_some_and(|declared| is_input(declared.member))
    };
    let named = creation.arguments.named.iter();
    CallArguments {
        positional: 0,
        named: named
            .filter(|name| is_argument(name) || !is_property(name))
            .cloned()
            .collect(),
    }
}

/// What a difference in a property means for the creation of an object, with or without a value for it; `None` if
/// nothing.
pub(super) fn creation_impact(
    rule: ApiRule,
    new: Option<&Property>,
    is_given: bool,
) -> Option<Impact> {
    match rule {
        ApiRule::PropertyRemoved => is_given.then_some(Impact::Major),
        ApiRule::PropertyUsageChanged => {
            let can_be_given = new.is_none_or(is_input);
            (is_given && !can_be_given).then_some(Impact::Major)
        }
        ApiRule::MemberPerhapsRemoved | ApiRule::ContractChanged => {
            is_given.then_some(Impact::Review)
        }
        ApiRule::RequiredPropertyAdded | ApiRule::PropertyBecameRequired => {
            (!is_given).then_some(Impact::Major)
        }
        _ => None,
    }
}

/// Whether a difference in a property concerns a class that declares it itself.
pub(super) fn concerns_property(
    difference: &ApiDifference,
    new: Option<&Property>,
    own: &Property,
) -> bool {
    match difference.rule {
        ApiRule::PropertyRemoved
        | ApiRule::MemberPerhapsRemoved
        | ApiRule::PropertyAdded
        | ApiRule::RequiredPropertyAdded
        | ApiRule::PropertyPerhapsRequired => true,
        ApiRule::PropertyUsageChanged => new.is_some_and(|new| new.usage.value != own.usage.value),
        ApiRule::ContractChanged => new.is_some_and(|new| new.contract.value != own.contract.value),
        _ => false,
    }
}

/// The differences in a method that concern a class that declares it itself: calls that are new, or that still have to
/// work, fail with its declaration.
pub(super) fn concerning_declaration(
    differences: &[ApiDifference],
    old: Option<&Method>,
    new: Option<&Method>,
    own: &Method,
) -> BTreeSet<usize> {
    let mut concerning = BTreeSet::new();
    for (at, difference) in differences.iter().enumerate() {
        let is_concerned = match difference.rule {
            ApiRule::MethodRemoved | ApiRule::MemberPerhapsRemoved | ApiRule::MethodAdded => true,
            ApiRule::MethodUsageChanged => {
                new.is_some_and(|new| new.usage != own.usage || new.scope != own.scope)
            }
            ApiRule::ContractChanged => {
                let contract = |method: &Method| {
                    let mut arguments = method.arguments.iter();
                    let name = difference.argument.as_deref();
                    let argument = arguments.find(|it| Some(it.name.value.as_str()) == name);
                    argument.map(|argument| argument.contract.value.clone())
                };
                let (own, new) = (contract(own), new.and_then(contract));
                own.is_some() && own != new
            }
            _ => false,
        };
        if is_concerned {
            concerning.insert(at);
        }
    }
    let (Some(old), Some(new)) = (old, new) else {
        return concerning;
    };
    let [old, own] = [old, own].map(|method| Signature::of(&method.arguments));
    for call in candidate_calls(&new.arguments) {
        // What failed before is no effect of the update.
        let is_new = old.accepts(&call).is_err();
        let mismatch = own.accepts(&call).err();
        if let Some(mismatch) = mismatch.filter(|_| is_new) {
            concerning.extend(cause(differences, &mismatch));
        }
    }
    concerning
}

/// The differences in a method that concern a call of it, with what they mean.
pub(super) fn concerning_call(
    differences: &[ApiDifference],
    old: &Method,
    new: Option<&Method>,
    call: &CallArguments,
) -> Vec<(usize, Impact)> {
    let of_rules = |rules: &[ApiRule], impact| {
        let differences = differences.iter().enumerate();
        let found = differences.filter(|(_, difference)| rules.contains(&difference.rule));
        found.map(|(at, _)| (at, impact)).collect::<Vec<_>>()
    };
    let mut concerning = of_rules(&[ApiRule::MethodRemoved], Impact::Major);
    let unsure = [ApiRule::MemberPerhapsRemoved, ApiRule::MethodUsageChanged];
    concerning.extend(of_rules(&unsure, Impact::Review));
    let Some(new) = new.filter(|_| accepts(&old.arguments, call).is_ok()) else {
        return concerning;
    };
    if let Err(mismatch) = accepts(&new.arguments, call) {
        let cause = cause(differences, &mismatch);
        concerning.extend(cause.map(|at| (at, Impact::Major)));
        return concerning;
    }
    let by_position = |method: &'_ Method| -> Vec<String> {
        let arguments = method.arguments.iter().take(call.positional);
        arguments
            .map(|argument| argument.name.value.clone())
            .collect()
    };
    let (before, after) = (by_position(old), by_position(new));
    if before != after {
        let moved = [ApiRule::ArgumentMoved, ApiRule::ArgumentsChanged];
        concerning.extend(of_rules(&moved, Impact::Review));
    }
    for (at, difference) in differences.iter().enumerate() {
        let Some(name) = &difference.argument else {
            continue;
        };
        let is_passed = call.named.contains(name) || after.contains(name);
        let is_unknown = old.arguments.iter().all(|it| it.name.value != *name);
        let is_taken = call.named.contains(name) && is_unknown;
        if difference.rule == ApiRule::ContractChanged && is_passed
            || difference.rule == ApiRule::ArgumentsChanged && is_taken
        {
            concerning.push((at, Impact::Review));
        }
    }
    concerning
}

/// The differences that concern the creation of an object of a class that had no initializer before.
pub(super) fn concerning_new_initializer(
    differences: &[ApiDifference],
    new: &Method,
    call: &CallArguments,
) -> Vec<(usize, Impact)> {
    let mismatch = accepts(&new.arguments, call).err();
    let cause = mismatch.and_then(|mismatch| cause(differences, &mismatch));
    cause.map(|at| (at, Impact::Major)).into_iter().collect()
}

/// The difference in arguments that makes a call fail: the one in the argument that is the problem, or else the first.
fn cause(differences: &[ApiDifference], mismatch: &CallMismatch) -> Option<usize> {
    let is_about_arguments = |difference: &ApiDifference| {
        matches!(
            difference.rule,
            ApiRule::ArgumentRemoved
                | ApiRule::ArgumentRenamed
                | ApiRule::RequiredArgumentAdded
                | ApiRule::ArgumentBecameRequired
                | ApiRule::ArgumentMoved
                | ApiRule::ArgumentsChanged
                | ApiRule::OptionalArgumentAdded
                | ApiRule::DefaultAdded
        )
    };
    let name = match mismatch {
        CallMismatch::Missing(name) | CallMismatch::Unknown(name) => Some(name),
        CallMismatch::Twice(_) | CallMismatch::TooMany(_) => None,
    };
    let is_about = |difference: &ApiDifference| {
        name.is_some() && difference.argument.as_ref() == name && is_about_arguments(difference)
    };
    let position = |wanted: &dyn Fn(&ApiDifference) -> bool| differences.iter().position(wanted);
    position(&is_about).or_else(|| position(&is_about_arguments))
}
