//! Decides which differences in a method concern a class that calls or declares it.

use std::collections::{BTreeSet, HashMap, HashSet};

use pkgres_manifest::{Argument, CallArguments, Method};

use crate::api::ApiDifference;
use crate::api::methods::candidate_calls;
use crate::api::rules::{ApiRule, Impact};
use crate::members::{CallMismatch, Signature};

/// The differences in a method, by argument, for decisions about many calls.
pub(super) struct ChangedMethod<'packages> {
    pub(super) differences: Vec<ApiDifference>,
    old: Option<MethodVersion<'packages>>,
    new: Option<MethodVersion<'packages>>,
    /// The differences in the method itself.
    of_method: Vec<usize>,
    /// The differences in each argument.
    of_arguments: HashMap<String, Vec<usize>>,
    /// The differences in the arguments by position.
    moved: Vec<usize>,
    /// The first difference in each argument that can make a call fail.
    failing: HashMap<String, usize>,
    /// The first difference in any argument that can make a call fail.
    first_failing: Option<usize>,
}

/// A method in one of the versions.
struct MethodVersion<'packages> {
    method: &'packages Method,
    signature: Signature<'packages>,
}

impl<'packages> MethodVersion<'packages> {
    fn of(method: &'packages Method) -> Self {
        Self {
            method,
            signature: Signature::of(&method.arguments),
        }
    }

    /// The names of the first arguments.
    fn first(&self, number: usize) -> impl Iterator<Item = &'packages str> + use<'packages> {
        let arguments = self.method.arguments.iter().take(number);
        arguments.map(|argument| argument.name.value.as_str())
    }
}

impl<'packages> ChangedMethod<'packages> {
    pub(super) fn new(
        differences: Vec<ApiDifference>,
        old: Option<&'packages Method>,
        new: Option<&'packages Method>,
    ) -> Self {
        let mut of_method = Vec::new();
        let mut of_arguments: HashMap<String, Vec<usize>> = HashMap::new();
        let (mut moved, mut failing, mut first_failing) = (Vec::new(), HashMap::new(), None);
        for (at, difference) in differences.iter().enumerate() {
            let Some(argument) = &difference.argument else {
                of_method.push(at);
                continue;
            };
            of_arguments.entry(argument.clone()).or_default().push(at);
            let rule = difference.rule;
            if matches!(rule, ApiRule::ArgumentMoved | ApiRule::ArgumentsChanged) {
                moved.push(at);
            }
            if can_make_a_call_fail(rule) {
                failing.entry(argument.clone()).or_insert(at);
                first_failing.get_or_insert(at);
            }
        }
        Self {
            differences,
            old: old.map(MethodVersion::of),
            new: new.map(MethodVersion::of),
            of_method,
            of_arguments,
            moved,
            failing,
            first_failing,
        }
    }

    /// The differences that concern a class that declares the method itself: calls that are new, or that still have to
    /// work, fail with its declaration.
    pub(super) fn concerning_declaration(&self, own: &Method) -> BTreeSet<usize> {
        let own_signature = Signature::of(&own.arguments);
        let own_arguments = by_name(&own.arguments);
        let new = self.new.as_ref().map(|new| new.method);
        let new_arguments = new.map_or_else(HashMap::new, |new| by_name(&new.arguments));
        let differences = self.differences.iter().enumerate();
        let concerned = differences.filter(|(_, difference)| match difference.rule {
            ApiRule::MethodRemoved | ApiRule::MemberPerhapsRemoved | ApiRule::MethodAdded => true,
            ApiRule::MethodUsageChanged => {
                new.is_some_and(|new| new.usage != own.usage || new.scope != own.scope)
            }
            ApiRule::ContractChanged => {
                let name = difference.argument.as_deref().unwrap_or_default();
                let own = own_arguments.get(name);
                let new = new_arguments.get(name).map(|new| &new.contract.value);
                own.is_some_and(|own| new != Some(&own.contract.value))
            }
            _ => false,
        });
        let mut concerning: BTreeSet<usize> = concerned.map(|(at, _)| at).collect();
        let (Some(old), Some(new)) = (&self.old, new) else {
            return concerning;
        };
        for call in candidate_calls(&new.arguments) {
            // What failed before is no effect of the update.
            let is_new = old.signature.accepts(&call).is_err();
            let mismatch = own_signature.accepts(&call).err();
            if let Some(mismatch) = mismatch.filter(|_| is_new) {
                concerning.extend(self.cause(&mismatch));
            }
        }
        concerning
    }

    /// The differences that concern a call of the method of the old version, with what they mean.
    pub(super) fn concerning_call(&self, call: &CallArguments) -> Vec<(usize, Impact)> {
        let of_method = self.of_method.iter().filter_map(|&at| {
            let impact = match self.differences[at].rule {
                ApiRule::MethodRemoved => Impact::Major,
                ApiRule::MemberPerhapsRemoved | ApiRule::MethodUsageChanged => Impact::Review,
                _ => return None,
            };
            Some((at, impact))
        });
        let mut concerning: Vec<(usize, Impact)> = of_method.collect();
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            return concerning;
        };
        if old.signature.accepts(call).is_err() {
            return concerning;
        }
        if let Err(mismatch) = new.signature.accepts(call) {
            let cause = self.cause(&mismatch);
            concerning.extend(cause.map(|at| (at, Impact::Major)));
            return concerning;
        }
        let mut reviewed = |at| concerning.push((at, Impact::Review));
        if !old.first(call.positional).eq(new.first(call.positional)) {
            self.moved.iter().copied().for_each(&mut reviewed);
        }
        let named: HashSet<&str> = call.named.iter().map(String::as_str).collect();
        let passed = named.iter().copied().chain(new.first(call.positional));
        let of_passed: BTreeSet<(usize, &str)> = passed
            .filter_map(|name| Some((name, self.of_arguments.get(name)?)))
            .flat_map(|(name, differences)| differences.iter().map(move |at| (*at, name)))
            .collect();
        for (at, name) in of_passed {
            let is_taken = named.contains(name) && !old.signature.has(name);
            let rule = self.differences[at].rule;
            if rule == ApiRule::ContractChanged || rule == ApiRule::ArgumentsChanged && is_taken {
                reviewed(at);
            }
        }
        concerning
    }

    /// The differences that concern the creation of an object, if this is the initializer of its class. `call` has
    /// the arguments that are for the initializer.
    pub(super) fn concerning_creation(&self, call: &CallArguments) -> Vec<(usize, Impact)> {
        if self.old.is_some() {
            return self.concerning_call(call);
        }
        let new = self.new.as_ref();
        let mismatch = new.and_then(|new| new.signature.accepts(call).err());
        let cause = mismatch.and_then(|mismatch| self.cause(&mismatch));
        cause.map(|at| (at, Impact::Major)).into_iter().collect()
    }

    /// Whether the method has an argument of this name: in the old version, or else in the new one.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        let method = self.old.as_ref().or(self.new.as_ref());
        method.is_some_and(|method| method.signature.has(name))
    }

    /// The difference in arguments that makes a call fail: the one in the argument that is the problem, or else the
    /// first.
    fn cause(&self, mismatch: &CallMismatch) -> Option<usize> {
        let of_argument = match mismatch {
            CallMismatch::Missing(name) | CallMismatch::Unknown(name) => self.failing.get(name),
            CallMismatch::Twice(_) | CallMismatch::TooMany(_) => None,
        };
        of_argument.copied().or(self.first_failing)
    }
}

/// Whether a difference in an argument can make a call fail.
fn can_make_a_call_fail(rule: ApiRule) -> bool {
    matches!(
        rule,
        ApiRule::ArgumentRemoved
            | ApiRule::ArgumentRenamed
            | ApiRule::RequiredArgumentAdded
            | ApiRule::ArgumentBecameRequired
            | ApiRule::ArgumentMoved
            | ApiRule::ArgumentsChanged
            | ApiRule::OptionalArgumentAdded
            | ApiRule::DefaultAdded
    )
}

/// Arguments by name. The first of several with one name counts.
fn by_name(arguments: &[Argument]) -> HashMap<&str, &Argument> {
    let arguments = arguments.iter().rev();
    arguments.map(|it| (it.name.value.as_str(), it)).collect()
}
