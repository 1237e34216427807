//! The values of the arguments of a validation. Validators can change them while it runs.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ArgumentName, ArgumentValue, Validation, ValidationArgument, did_you_mean, most_similar,
};

/// The value of each argument. Validators change them in the course of a validation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgumentValues(BTreeMap<ArgumentName, ArgumentValue>);

impl ArgumentValues {
    /// The initial values of arguments: the given ones by name, or else the defaults.
    ///
    /// # Errors
    ///
    /// A name is not an argument, a value is not among its choices, or a value is missing.
    pub fn new<'text>(
        validation: &Validation,
        given: impl IntoIterator<Item = (&'text str, &'text str)>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut values = BTreeMap::new();
        let mut errors = Vec::new();
        let mut given_names = BTreeSet::new();
        for (name, value) in given {
            given_names.insert(name);
            match given_value(validation, name, value) {
                Ok((name, value)) => {
                    values.insert(name, value);
                }
                Err(error) => errors.push(error),
            }
        }
        for argument in &validation.arguments {
            let name = &argument.name.value;
            if values.contains_key(name) {
                continue;
            }
            match &argument.default {
                Some(default) => {
                    values.insert(name.clone(), default.value.clone());
                }
                // Its value is wrong, which was reported.
                None if given_names.contains(name.as_str()) => {}
                None => errors.push(
                    Diagnostic::error(Code::Usage, format!("the argument `{name}` has no value"))
                        .at(argument.name.location.clone())
                        .hint(format!("`--arg {name}=VALUE` sets it")),
                ),
            }
        }
        if errors.is_empty() {
            Ok(Self(values))
        } else {
            Err(errors)
        }
    }

    /// The value of an argument.
    pub fn get(&self, name: &ArgumentName) -> Option<&ArgumentValue> {
        self.0.get(name)
    }

    /// The arguments with their values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ArgumentName, &ArgumentValue)> {
        self.0.iter()
    }

    pub(super) fn set(&mut self, name: &ArgumentName, value: ArgumentValue) {
        self.0.insert(name.clone(), value);
    }
}

fn given_value(
    validation: &Validation,
    name: &str,
    value: &str,
) -> Result<(ArgumentName, ArgumentValue), Diagnostic> {
    let mut arguments = validation.arguments.iter();
    let Some(argument) = arguments.find(|argument| argument.name.value.as_str() == name) else {
        let message = format!(
            "the validation has no argument `{}`",
            Escaped::shortened(name)
        );
        let error = Diagnostic::error(Code::UndeclaredArgument, message);
        let names = (validation.arguments.iter()).map(|argument| argument.name.value.as_str());
        return Err(error.maybe_hint(most_similar(name, names).map(did_you_mean)));
    };
    let parsed = ArgumentValue::parse(value)
        .map_err(|error| Diagnostic::error(Code::Usage, error.to_string()))?;
    if !is_allowed(argument, &parsed) {
        let message = format!(
            "`{}` is not a choice of `{name}`",
            Escaped::shortened(value)
        );
        let choices: Vec<String> = (argument.choices.iter())
            .map(|choice| format!("`{}`", Escaped::shortened(choice.value.as_str())))
            .collect();
        return Err(Diagnostic::error(Code::Usage, message)
            .at(argument.name.location.clone())
            .hint(format!("choose {}", choices.join(" or "))));
    }
    Ok((argument.name.value.clone(), parsed))
}

/// Checks that a value which a validator sets is a choice of its argument. Without a declaration, any value is.
pub(super) fn check_choice(
    validation: &Validation,
    name: &ArgumentName,
    value: &ArgumentValue,
) -> Result<(), String> {
    match validation.argument(name) {
        Some(argument) if !is_allowed(argument, value) => {
            let value = Escaped::shortened(value.as_str());
            Err(format!("`{value}` is not a choice of `{name}`"))
        }
        _ => Ok(()),
    }
}

fn is_allowed(argument: &ValidationArgument, value: &ArgumentValue) -> bool {
    let choices = &argument.choices;
    choices.is_empty() || choices.iter().any(|choice| choice.value == *value)
}
