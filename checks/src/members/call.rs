//! Checks whether a method accepts the arguments of a call.

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

/// Whether a method with these arguments can be called like this.
pub(crate) fn accepts(arguments: &[Argument], call: &CallArguments) -> Result<(), CallMismatch> {
    let standard: Vec<&Argument> = arguments
        .iter()
        .filter(|argument| argument.usage == ArgumentUsage::Standard)
        .collect();
    let takes_all = |usage| arguments.iter().any(|argument| argument.usage == usage);
    if call.positional > standard.len() && !takes_all(ArgumentUsage::VarArgs) {
        return Err(CallMismatch::TooMany(standard.len()));
    }
    let mut has_value = vec![false; standard.len()];
    for filled in has_value.iter_mut().take(call.positional) {
        *filled = true;
    }
    let mut further: Vec<&str> = Vec::new();
    for name in &call.named {
        let is_repeated = match standard.iter().position(|it| it.name.value == *name) {
            Some(at) => std::mem::replace(&mut has_value[at], true),
            None if !takes_all(ArgumentUsage::KwArgs) => {
                return Err(CallMismatch::Unknown(name.clone()));
            }
            None => {
                let is_repeated = further.contains(&name.as_str());
                further.push(name);
                is_repeated
            }
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
