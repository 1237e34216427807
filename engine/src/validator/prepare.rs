//! Prepares a validation: finds mistakes, and reads all scripts, before anything runs.

use std::collections::HashMap;
use std::time::Duration;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{DISTRO_ARGUMENT, Script, Validation, ValidatorCheck};

use super::arguments::check_choice;
use super::custom::CustomValidator;
use super::report::ValidationError;
use super::script;
use crate::script::RunnableScript;

/// The longest time that a script or an installation runs, unless the caller says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// A validation with its scripts, which can be run on machines.
#[derive(Debug)]
pub struct PreparedValidation<'validation> {
    pub(super) validation: &'validation Validation,
    pub(super) custom: &'validation [CustomValidator],
    /// The scripts by where their paths begin in the text.
    scripts: HashMap<usize, RunnableScript>,
    /// The contents of files for `copy_script`, likewise.
    files: HashMap<usize, Vec<u8>>,
    pub(super) timeout: Duration,
}

impl<'validation> PreparedValidation<'validation> {
    /// Prepares a validation. `read_script` returns the bytes of the file of a script, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Something in the validation can never work: a script is missing or cannot be run, a case depends on an argument
    /// that is not declared, a value that is set is not a choice of its argument, or a validator is not among `custom`.
    pub fn new(
        validation: &'validation Validation,
        custom: &'validation [CustomValidator],
        mut read_script: impl FnMut(&Script) -> Result<Option<Vec<u8>>, Diagnostic>,
    ) -> Result<Self, ValidationError> {
        let mut prepared = Self {
            validation,
            custom,
            scripts: HashMap::new(),
            files: HashMap::new(),
            timeout: DEFAULT_TIMEOUT,
        };
        let mut errors = Vec::new();
        let mut assigned = Vec::new();
        validation.visit(|validator| match &validator.check {
            ValidatorCheck::ArgumentSet { argument, .. } => assigned.push(&argument.value),
            ValidatorCheck::Script(script) => {
                assigned.extend(script.output.as_ref().map(|output| &output.value));
            }
            _ => {}
        });
        validation.visit(|validator| match &validator.check {
            ValidatorCheck::Script(script) => {
                let runnable = content(script, &mut read_script)
                    .and_then(|bytes| script::runnable(script, &bytes));
                match runnable {
                    Ok(runnable) => {
                        prepared.scripts.insert(key(script), runnable);
                    }
                    Err(error) => errors.push(error),
                }
            }
            ValidatorCheck::CopyScript(script) => match content(script, &mut read_script) {
                Ok(bytes) => {
                    prepared.files.insert(key(script), bytes);
                }
                Err(error) => errors.push(error),
            },
            ValidatorCheck::ArgumentCase(case) => {
                let name = &case.argument.value;
                let is_known = validation.argument(name).is_some()
                    || assigned.contains(&name)
                    || name.as_str() == DISTRO_ARGUMENT;
                if !is_known {
                    let message =
                        format!("`argument_case` depends on `{name}`, which is not an argument");
                    let error = Diagnostic::error(Code::UndeclaredArgument, message);
                    errors.push(error.at(case.argument.location.clone()));
                }
            }
            ValidatorCheck::ArgumentSet { argument, value } => {
                if let Err(message) = check_choice(validation, &argument.value, &value.value) {
                    let error = Diagnostic::error(Code::Validation, message);
                    errors.push(error.at(value.location.clone()));
                }
            }
            ValidatorCheck::Custom { name, .. }
                if !custom.iter().any(|it| it.name() == name.value) =>
            {
                let message = format!(
                    "this program has no validator `{}`",
                    Escaped::shortened(&name.value)
                );
                let error = Diagnostic::error(Code::Validation, message);
                errors.push(error.at(name.location.clone()));
            }
            _ => {}
        });
        if errors.is_empty() {
            Ok(prepared)
        } else {
            Err(ValidationError::Specification(errors))
        }
    }

    /// Sets the longest time that a script or an installation may run, which is ten minutes otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Asks custom validators whether they can do what is asked of them. In `any`, they first have to test.
    pub(super) fn check_custom(&self, reconciles: bool) -> Result<(), ValidationError> {
        let mut errors = Vec::new();
        let mut inside_any = Vec::new();
        self.validation.visit(|validator| {
            if let ValidatorCheck::Any(_) = &validator.check {
                inside_any.extend(validator.check.branches().into_iter().flatten());
            }
            let is_inside_any = inside_any.iter().any(|it| std::ptr::eq(*it, validator));
            if is_inside_any {
                inside_any.extend(validator.check.branches().into_iter().flatten());
            }
            let ValidatorCheck::Custom { name, .. } = &validator.check else {
                return;
            };
            let Some(custom) = self.custom_of(&name.value) else {
                return;
            };
            let cannot = if reconciles && !custom.can_reconcile() {
                "reconcile"
            } else if (!reconciles || is_inside_any) && !custom.can_test() {
                "test without changing something"
            } else {
                return;
            };
            let message = format!("`{}` cannot {cannot}", Escaped::shortened(&name.value));
            let error = Diagnostic::error(Code::Validation, message);
            errors.push(error.at(name.location.clone()));
        });
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ValidationError::Specification(errors))
        }
    }

    pub(super) fn custom_of(&self, name: &str) -> Option<&'validation CustomValidator> {
        self.custom.iter().find(|it| it.name() == name)
    }

    pub(super) fn runnable(&self, script: &Script) -> &RunnableScript {
        &self.scripts[&key(script)]
    }

    pub(super) fn file(&self, script: &Script) -> &[u8] {
        &self.files[&key(script)]
    }
}

fn key(script: &Script) -> usize {
    script.path.location.span().start
}

fn content(
    script: &Script,
    read_script: &mut impl FnMut(&Script) -> Result<Option<Vec<u8>>, Diagnostic>,
) -> Result<Vec<u8>, Diagnostic> {
    if let Some(inline) = &script.inline {
        return Ok(inline.value.clone().into_bytes());
    }
    read_script(script)?.ok_or_else(|| {
        let path = Escaped::shortened(script.path.value.as_str());
        Diagnostic::error(Code::ScriptMissing, format!("there is no script `{path}`"))
            .at(script.path.location.clone())
    })
}
