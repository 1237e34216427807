//! Prepares the scripts of validations, and the commands that run them.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{DISTRO_ARGUMENT, Script, TEST_ONLY_VARIABLE, Validation};

use super::arguments::ArgumentValues;
use crate::script::RunnableScript;
use crate::target::Command;

/// Reads a script from the bytes of its file.
pub(super) fn runnable(script: &Script, bytes: &[u8]) -> Result<RunnableScript, Diagnostic> {
    RunnableScript::new(script.path.value.as_str(), bytes).map_err(|error| {
        let finding = Diagnostic::error(Code::Validation, error.message);
        let finding = finding.at(script.path.location.clone());
        match error.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    })
}

/// The command that runs a script with the values of its arguments.
pub(super) fn command(
    runnable: &RunnableScript,
    script: &Script,
    validation: &Validation,
    values: &ArgumentValues,
    distro: &str,
    is_test: bool,
) -> Command {
    let mut command = runnable.command(script.path.value.as_str());
    for argument in &script.arguments {
        let name = &argument.value;
        let Some(value) = values.get(name) else {
            continue;
        };
        let variable = match validation.argument(name) {
            Some(declared) => declared.variable(),
            None => name.as_variable(),
        };
        command = command.variable(variable.as_str(), value.as_str());
    }
    // They come last: nothing can replace them.
    let (test, reconcile) = if is_test { ("1", "0") } else { ("0", "1") };
    command
        .variable("HOME", "/root")
        .variable(DISTRO_ARGUMENT, distro)
        .variable("SIV_DISTRO", distro)
        .variable(TEST_ONLY_VARIABLE, test)
        .variable("SIV_RECONCILE", reconcile)
}
