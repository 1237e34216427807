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
    has_varargs: bool,
    has_kwargs: bool,
}

impl<'method> Signature<'method> {
    pub(crate) fn of(arguments: &'method [Argument]) -> Self {
        let with = |usage| arguments.iter().filter(move |it| it.usage == usage);
        let standard: Vec<&Argument> = with(ArgumentUsage::Standard).collect();
        let arguments = standard.iter().enumerate().rev();
        let by_name = arguments.map(|(at, argument)| (argument.name.value.as_str(), at));
        Self {
            positions: by_name.collect(),
            has_varargs: with(ArgumentUsage::VarArgs).next().is_some(),
            has_kwargs: with(ArgumentUsage::KwArgs).next().is_some(),
            standard,
        }
    }

    /// The position of an argument among those that get single values; `None` if it is none of them.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether the method can be called like this.
    pub(crate) fn accepts(&self, call: &CallArguments) -> Result<(), CallMismatch> {
        let standard = &self.standard;
        if call.positional > standard.len() && !self.has_varargs {
            return Err(CallMismatch::TooMany(standard.len()));
        }
        let mut has_value = vec![false; standard.len()];
        for filled in has_value.iter_mut().take(call.positional) {
            *filled = true;
        }
        let mut further: HashSet<&str> = HashSet::new();
        for name in &call.named {
            let is_repeated = match self.position(name) {
                Some(at) => std::mem::replace(&mut has_value[at], true),
                None if !self.has_kwargs => {
                    return Err(CallMismatch::Unknown(name.clone()));
                }
                None => !further.insert(name),
            };
            if is_repeated {
                return Err(CallMismatch::Twice(name.clone()));
            }
        }
        let missing = standard
            .iter()
            .zip(has_value)
            .find(|(argument, has_value)| !has_value && !argument.has_default);
        match missing {
            Some((argument, _)) => Err(CallMismatch::Missing(argument.name.value.clone())),
            None => Ok(()),
        }
    }
}

/// Whether a method with these arguments can be called like this.
pub(crate) fn accepts(arguments: &[Argument], call: &CallArguments) -> Result<(), CallMismatch> {
    Signature::of(arguments).accepts(call)
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
