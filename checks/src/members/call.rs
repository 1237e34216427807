//! Checks whether a method accepts the arguments of a call.

use std::collections::{HashMap, HashSet};

use pkgres_manifest::{Argument, ArgumentUsage, CallArguments, Contract, MapKey, Rule};

/// Why a call does not fit a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallMismatch {
    /// An argument without default gets no value.
    Missing(String),
    /// No argument has this name.
    Unknown(String),
    /// An argument gets a value by position and by name, or by name twice.
    Twice(String),
    /// There are more values by position than arguments.
    TooMany(usize),
}

impl CallMismatch {
    /// What is wrong, after the name of the method.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Missing(name) => format!("needs the argument `{name}`"),
            Self::Unknown(name) => format!("has no argument `{name}`"),
            Self::Twice(name) => format!("gets the argument `{name}` twice"),
            Self::TooMany(most) => match most {
                0 => "takes no arguments by position".to_owned(),
                1 => "takes at most one argument by position".to_owned(),
                _ => format!("takes at most {most} arguments by position"),
            },
        }
    }
}

/// The arguments of a method, by name, for checks of many calls.
pub(crate) struct Signature<'method> {
    standard: Vec<&'method Argument>,
    /// The position of each of them. The first of several with one name counts.
    positions: HashMap<&'method str, usize>,
    /// The positions of those without default, in ascending order.
    required: Vec<usize>,
    /// The names of the arguments for further values.
    further: HashSet<&'method str>,
    has_varargs: bool,
    has_kwargs: bool,
}

impl<'method> Signature<'method> {
    pub(crate) fn of(arguments: &'method [Argument]) -> Self {
        let with = |usage| arguments.iter().filter(move |it| it.usage == usage);
        let standard: Vec<&Argument> = with(ArgumentUsage::Standard).collect();
        let places = standard.iter().enumerate();
        let required = places.clone().filter(|(_, argument)| !argument.has_default);
        let by_name = places.rev();
        let by_name = by_name.map(|(at, argument)| (argument.name.value.as_str(), at));
        let further = arguments
            .iter()
            .filter(|it| it.usage != ArgumentUsage::Standard);
        Self {
            positions: by_name.collect(),
            required: required.map(|(at, _)| at).collect(),
            further: further.map(|it| it.name.value.as_str()).collect(),
            has_varargs: with(ArgumentUsage::VarArgs).next().is_some(),
            has_kwargs: with(ArgumentUsage::KwArgs).next().is_some(),
            standard,
        }
    }

    /// The position of an argument among those that get single values; `None` if it is none of them.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether the method has an argument of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name) || self.further.contains(name)
    }

    /// Whether the method can be called like this. Takes time for the arguments of the call, not for all of the method.
    pub(crate) fn accepts(&self, call: &CallArguments) -> Result<(), CallMismatch> {
        let standard = &self.standard;
        if call.positional > standard.len() && !self.has_varargs {
            return Err(CallMismatch::TooMany(standard.len()));
        }
        let mut named: HashSet<usize> = HashSet::new();
        let mut further: HashSet<&str> = HashSet::new();
        for name in &call.named {
            let is_repeated = match self.position(name) {
                Some(at) => at < call.positional || !named.insert(at),
                None if !self.has_kwargs => {
                    return Err(CallMismatch::Unknown(name.clone()));
                }
                None => !further.insert(name),
            };
            if is_repeated {
                return Err(CallMismatch::Twice(name.clone()));
            }
        }
        let by_position = self.required.partition_point(|at| *at < call.positional);
        let mut required = self.required[by_position..].iter();
        match required.find(|at| !named.contains(at)) {
            Some(at) => Err(CallMismatch::Missing(standard[*at].name.value.clone())),
            None => Ok(()),
        }
    }
}

/// Whether a contract rejects null, the value of a property that has none. `None` if only the deployment engine can
/// tell.
pub(crate) fn rejects_null(contract: &Contract) -> Option<bool> {
    match contract {
        Contract::Rules(rules) if rules.contains(&Rule::NotNull) => Some(true),
        Contract::Rules(rules) => {
            let is_decidable = !rules.iter().any(|rule| matches!(rule, Rule::Unchecked(_)));
            is_decidable.then_some(false)
        }
        // Null stands for the empty list and for the empty mapping.
        Contract::List { minimum, .. } => Some(*minimum > 0),
        Contract::Map(entries) => {
            let has_named = entries
                .iter()
                .any(|(key, _)| matches!(key, MapKey::Named(_)));
            (!has_named).then_some(false)
        }
    }
}
