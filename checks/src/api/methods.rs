//! Compares the methods of a class in two versions: added, removed and changed ones.

use std::collections::{BTreeSet, HashMap};

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{Argument, ArgumentUsage, CallArguments, Method, is_identifier};

use super::FoundDifference;
use super::class_pair::{ClassPair, Declarers, Subject};
use super::properties::{creation, needed_values};
use super::rules::ApiRule;
use super::witness::WitnessUse;
use crate::members::{
    CallMismatch, Declared, INITIALIZER, Signature, callable_name, canonical_name,
    is_of_the_engine, is_private,
};

/// The name of an argument that is not declared, for calls that give values to arguments for all others.
const UNDECLARED: &str = "undeclared";

/// The most arguments of a method with which each number of arguments is tried, and of which each difference has a call
/// of its own: the work grows with the cube of their number. Above it, the shortest calls have to do.
const MAX_ARGUMENTS: usize = 100;

pub(super) fn compare(both: &ClassPair<'_>, found: &mut Vec<FoundDifference>) {
    let mut declarers = Declarers::new(|class| {
        let names = class
            .methods
            .iter()
            .map(|it| canonical_name(&it.name.value));
        names.collect()
    });
    for (&name, old) in &both.old.methods {
        if is_private(name) {
            continue;
        }
        match both.new.methods.get(name) {
            None => found.push(removed(both, old, &mut declarers)),
            Some(new) => {
                let comparison = MethodComparison { both, old, new };
                comparison.usage(found);
                comparison.arguments(found);
            }
        }
    }
    for (&name, new) in &both.new.methods {
        if !is_private(name) && !both.old.methods.contains_key(name) {
            let owner = both.owner(new);
            let written = &new.member.name;
            let message = format!(
                "`{owner}` has the new method `{}`",
                Escaped::shortened(&written.value)
            );
            let subject = Subject {
                class: owner,
                member: Some(written.value.clone()),
                argument: None,
                old: None,
                new: Some(written.location.clone()),
            };
            found.push(both.difference(ApiRule::MethodAdded, subject, message, None));
        }
    }
    if let Some(new) = both.new.methods.get(INITIALIZER)
        && !both.old.methods.contains_key(INITIALIZER)
    {
        new_initializer(both, new, found);
    }
}

/// The differences that a class has an initializer now, with arguments that existing code has no values for.
fn new_initializer(
    both: &ClassPair<'_>,
    new: &Declared<'_, Method>,
    found: &mut Vec<FoundDifference>,
) {
    let known = needed_values(both);
    let written = &new.member.name;
    let owner = both.owner(new);
    let needed = new.member.arguments.iter().filter(|argument| {
        // A value of a property with the name of an argument is passed to both.
        needs_value(argument) && !known.contains(argument.name.value.as_str())
    });
    for argument in needed {
        let noticed = creation(both);
        let rule = if noticed.is_some() {
            ApiRule::RequiredArgumentAdded
        } else {
            ApiRule::ArgumentsChanged
        };
        let message = format!(
            "the argument `{}` of `{}` in `{owner}` is new without default",
            Escaped::shortened(&argument.name.value),
            Escaped::shortened(&written.value)
        );
        let subject = Subject {
            class: owner.clone(),
            member: Some(written.value.clone()),
            argument: Some(argument.name.value.clone()),
            old: None,
            new: Some(argument.name.location.clone()),
        };
        found.push(both.difference(rule, subject, message, noticed));
    }
}

/// Whether a call has to have a value for an argument.
fn needs_value(argument: &Argument) -> bool {
    is_standard(argument) && !argument.has_default
}

fn removed<'both>(
    both: &ClassPair<'both>,
    old: &'both Declared<'_, Method>,
    declarers: &mut Declarers<'both>,
) -> FoundDifference {
    let written = &old.member.name;
    let name = callable_name(&written.value);
    // Only an identifier can be written after `$this.` and before `=>`.
    let is_certain = both.new.unknown.is_empty() && is_identifier(name) && !is_of_the_engine(name);
    let call = candidate_calls(&old.member.arguments).into_iter().next();
    let call = call.filter(|_| is_certain);
    let what = (
        "method",
        written.value.as_str(),
        canonical_name(&written.value),
    );
    let (class, message) = both.removal(old, what, call.is_some(), declarers);
    let (rule, noticed) = match call {
        Some(arguments) => (
            ApiRule::MethodRemoved,
            Some(WitnessUse::Call {
                class: both.name.clone(),
                usage: both.usage,
                method: name.to_owned(),
                arguments,
            }),
        ),
        None => (ApiRule::MemberPerhapsRemoved, None),
    };
    let subject = Subject {
        class,
        member: Some(written.value.clone()),
        argument: None,
        old: Some(written.location.clone()),
        new: Some(both.new_place.clone()),
    };
    both.difference(rule, subject, message, noticed)
}

/// A method in both versions.
struct MethodComparison<'both> {
    both: &'both ClassPair<'both>,
    old: &'both Declared<'both, Method>,
    new: &'both Declared<'both, Method>,
}

/// The old and the new argument.
type Arguments<'both> = (Option<&'both Argument>, Option<&'both Argument>);

impl MethodComparison<'_> {
    fn usage(&self, found: &mut Vec<FoundDifference>) {
        let (old, new) = (self.old.member, self.new.member);
        let shown = Escaped::shortened(&old.name.value).to_string();
        let scope = |method: &Method| {
            method
                .scope
                .clone()
                .unwrap_or_else(|| "no scope".to_owned())
        };
        let mut changes = Vec::new();
        if old.usage != new.usage {
            changes.push((old.usage.clone(), new.usage.clone()));
        }
        if old.scope != new.scope {
            changes.push((scope(old), scope(new)));
        }
        for (before, after) in changes {
            let message = format!(
                "the method `{shown}` of `{}` has {} instead of {}",
                self.both.owner(self.old),
                Escaped::shortened(&after),
                Escaped::shortened(&before)
            );
            let subject = self.subject((None, None));
            let rule = ApiRule::MethodUsageChanged;
            found.push(self.both.difference(rule, subject, message, None));
        }
    }

    /// What a difference in an argument, or in the method, is about.
    fn subject(&self, (old, new): Arguments<'_>) -> Subject {
        let place = |argument: Option<&Argument>, method: &Method| -> Location {
            argument
                .map_or(&method.name, |argument| &argument.name)
                .location
                .clone()
        };
        Subject {
            class: self.both.owner(self.old),
            member: Some(self.old.member.name.value.clone()),
            argument: old.or(new).map(|argument| argument.name.value.clone()),
            old: Some(place(old, self.old.member)),
            new: Some(place(new, self.new.member)),
        }
    }

    fn arguments(&self, found: &mut Vec<FoundDifference>) {
        let (old, new) = (&self.old.member.arguments, &self.new.member.arguments);
        let name = callable_name(&self.old.member.name.value);
        let calls = if is_identifier(name) {
            candidate_calls(old)
        } else {
            Vec::new()
        };
        let now = Signature::of(new);
        let breaking: Vec<(CallArguments, CallMismatch)> = calls
            .into_iter()
            .filter_map(|call| {
                let mismatch = now.accepts(&call).err()?;
                Some((call, mismatch))
            })
            .collect();
        let is_broken = !breaking.is_empty();
        let mut is_explained = false;
        for (rule, arguments, message) in self.changes() {
            let is_major = matches!(rule.impact(), super::rules::Impact::Major);
            let has_call = is_broken && (old.len() <= MAX_ARGUMENTS || !is_explained);
            let (rule, noticed) = if is_major && has_call {
                is_explained = true;
                (rule, Some(self.noticed(&breaking, arguments)))
            } else if is_major {
                (ApiRule::ArgumentsChanged, None)
            } else {
                (rule, None)
            };
            let subject = self.subject(arguments);
            found.push(self.both.difference(rule, subject, message, noticed));
        }
        if let Some((moved, message)) = self.moved().filter(|_| !is_explained) {
            let (rule, noticed) = if is_broken {
                let noticed = self.noticed(&breaking, moved);
                (ApiRule::ArgumentMoved, Some(noticed))
            } else {
                (ApiRule::ArgumentsChanged, None)
            };
            found.push(
                self.both
                    .difference(rule, self.subject(moved), message, noticed),
            );
        }
    }

    /// The call that shows a difference best: one that fails because of the argument.
    fn noticed(
        &self,
        breaking: &[(CallArguments, CallMismatch)],
        (old, new): Arguments<'_>,
    ) -> WitnessUse {
        let is_about = |mismatch: &CallMismatch| match mismatch {
            CallMismatch::Missing(name) => new.is_some_and(|argument| argument.name.value == *name),
            CallMismatch::Unknown(name) => old.is_some_and(|argument| argument.name.value == *name),
            CallMismatch::Twice(_) | CallMismatch::TooMany(_) => false,
        };
        let best = breaking.iter().find(|(_, mismatch)| is_about(mismatch));
        let (arguments, _) = best.unwrap_or(&breaking[0]);
        WitnessUse::Call {
            class: self.both.name.clone(),
            usage: self.both.usage,
            method: callable_name(&self.old.member.name.value).to_owned(),
            arguments: arguments.clone(),
        }
    }

    /// The differences between single arguments.
    fn changes(&self) -> Vec<(ApiRule, Arguments<'_>, String)> {
        let (old, new) = (&self.old.member.arguments, &self.new.member.arguments);
        let shown = Escaped::shortened(&self.old.member.name.value).to_string();
        let of = format!("of `{shown}` in `{}`", self.both.owner(self.old));
        let named = |argument: &Argument| format!("`{}`", Escaped::shortened(&argument.name.value));
        let (in_old, in_new) = (positions(old), positions(new));
        let others_in_new = [ArgumentUsage::VarArgs, ArgumentUsage::KwArgs].map(|usage| {
            let at = new.iter().position(|argument| argument.usage == usage);
            (usage, at)
        });
        let mut renamed = BTreeSet::new();
        let mut changes = Vec::new();
        for (place, before) in old.iter().enumerate() {
            let same = in_new.get(before.name.value.as_str()).copied();
            let same = same.or_else(|| {
                // Nothing refers to the name of an argument for all others.
                let mut others = others_in_new.iter();
                let at = others.find(|(usage, _)| *usage == before.usage)?.1?;
                let was_there = in_old.contains_key(new[at].name.value.as_str());
                (!was_there).then_some(at)
            });
            if let Some(at) = same {
                renamed.insert(new[at].name.value.as_str());
            }
            let Some(at) = same else {
                let other = new.get(place).filter(|other| {
                    !in_old.contains_key(other.name.value.as_str())
                        && is_same_but_for_the_name(before, other)
                });
                changes.push(if let Some(other) = other {
                    renamed.insert(other.name.value.as_str());
                    let (from, to) = (named(before), named(other));
                    let message = format!("the argument {from} {of} was renamed to {to}");
                    let both = (Some(before), Some(other));
                    (ApiRule::ArgumentRenamed, both, message)
                } else {
                    let message = format!("the argument {} {of} was removed", named(before));
                    (ApiRule::ArgumentRemoved, (Some(before), None), message)
                });
                continue;
            };
            let after = &new[at];
            let both = (Some(before), Some(after));
            let name = named(before);
            if before.usage != after.usage {
                let message = format!("the argument {name} {of} accepts different values");
                changes.push((ApiRule::ArgumentRemoved, both, message));
            } else if before.has_default && !after.has_default && is_standard(after) {
                let message = format!("the argument {name} {of} no longer has a default");
                changes.push((ApiRule::ArgumentBecameRequired, both, message));
            } else if !before.has_default && after.has_default && is_standard(after) {
                let message = format!("the argument {name} {of} has a default now");
                changes.push((ApiRule::DefaultAdded, both, message));
            }
            if before.contract.value != after.contract.value {
                let message = format!("the contract of the argument {name} {of} changed");
                changes.push((ApiRule::ContractChanged, both, message));
            }
        }
        let others = old.iter().find(|it| !is_standard(it)).map(named);
        for after in new {
            let name = after.name.value.as_str();
            if in_old.contains_key(name) || renamed.contains(name) {
                continue;
            }
            let others = others.as_ref().filter(|_| is_standard(after));
            let (rule, more) = if needs_value(after) {
                (
                    ApiRule::RequiredArgumentAdded,
                    " without default".to_owned(),
                )
            } else if let Some(others) = others {
                let more = format!(", and takes values that went to {others}");
                (ApiRule::ArgumentsChanged, more)
            } else {
                (ApiRule::OptionalArgumentAdded, String::new())
            };
            let message = format!("the argument {} {of} is new{more}", named(after));
            changes.push((rule, (None, Some(after)), message));
        }
        changes
    }

    /// The first argument by position that is at another position now, and the difference in a sentence.
    fn moved(&self) -> Option<(Arguments<'_>, String)> {
        let (old, new) = (&self.old.member.arguments, &self.new.member.arguments);
        let [in_old, in_new] = [old, new].map(|arguments| Signature::of(arguments));
        old.iter().find_map(|before| {
            let name = before.name.value.as_str();
            let (from, to) = (in_old.position(name)?, in_new.position(name)?);
            if from == to {
                return None;
            }
            let after = new.iter().find(|argument| argument.name.value == name);
            let message = format!(
                "the argument `{}` of `{}` in `{}` is number {} instead of {}",
                Escaped::shortened(name),
                Escaped::shortened(&self.old.member.name.value),
                self.both.owner(self.old),
                to + 1,
                from + 1
            );
            Some(((Some(before), after), message))
        })
    }
}

/// The positions of arguments by name. The first of several with one name counts.
fn positions(arguments: &[Argument]) -> HashMap<&str, usize> {
    let arguments = arguments.iter().enumerate().rev();
    let by_name = arguments.map(|(at, argument)| (argument.name.value.as_str(), at));
    by_name.collect()
}

fn is_standard(argument: &Argument) -> bool {
    argument.usage == ArgumentUsage::Standard
}

fn is_same_but_for_the_name(one: &Argument, other: &Argument) -> bool {
    one.contract.value == other.contract.value
        && one.has_default == other.has_default
        && one.usage == other.usage
}

/// Calls that a method accepts, the shortest first: with the arguments that it needs, and unless they are very many, with
/// each further one, and with every number of arguments by position.
pub(super) fn candidate_calls(arguments: &[Argument]) -> Vec<CallArguments> {
    let standard: Vec<&Argument> = arguments.iter().filter(|it| is_standard(it)).collect();
    let has = |usage| arguments.iter().any(|argument| argument.usage == usage);
    let named = |wanted: &dyn Fn(usize, &Argument) -> bool| -> Vec<String> {
        let all = standard.iter().enumerate();
        all.filter(|(at, argument)| wanted(*at, argument))
            .map(|(_, argument)| argument.name.value.clone())
            .collect()
    };
    let mut calls = vec![CallArguments {
        positional: 0,
        named: named(&|_, argument| !argument.has_default),
    }];
    let tried = if standard.len() > MAX_ARGUMENTS {
        0
    } else {
        standard.len()
    };
    let optional = standard.iter().take(tried).enumerate();
    for (at, _) in optional.filter(|(_, it)| it.has_default) {
        calls.push(CallArguments {
            positional: 0,
            named: named(&|other, argument| other == at || !argument.has_default),
        });
    }
    for positional in 1..=tried {
        for with_optional in [false, true] {
            let named =
                named(&|at, argument| at >= positional && (with_optional || !argument.has_default));
            calls.push(CallArguments { positional, named });
        }
    }
    if has(ArgumentUsage::VarArgs) {
        calls.push(CallArguments {
            positional: standard.len() + 1,
            named: Vec::new(),
        });
    }
    if has(ArgumentUsage::KwArgs) {
        let mut named = named(&|_, argument| !argument.has_default);
        named.push(UNDECLARED.to_owned());
        calls.push(CallArguments {
            positional: 0,
            named,
        });
    }
    let can_be_written = |call: &CallArguments| call.named.iter().all(|name| is_identifier(name));
    let signature = Signature::of(arguments);
    calls.retain(|call| can_be_written(call) && signature.accepts(call).is_ok());
    calls.dedup();
    calls
}
