//! The scripts, steps and errors of validations, shared by the commands that run them.

use pkgres_engine::{StepOutcome, ValidationError, ValidationReport};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{Limits, Package, Script};
use pkgres_registry_client::Artifact;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// The bytes of the file of a script of a package; `None` if the package has no such file.
pub(super) fn read_script(
    artifact: &Artifact,
    package: &Package,
    script: &Script,
    limits: &Limits,
) -> Result<Option<Vec<u8>>, Diagnostic> {
    let Some(validation_file) = &package.manifest.validate else {
        return Ok(None);
    };
    for place in script.places(&validation_file.value) {
        let read = artifact.read(&place, limits.class_file_bytes);
        if let Some(bytes) = read.map_err(|error| error.to_diagnostic())? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// The steps of a validation as lines of text. What `any` tried before it changed something is no result.
pub(super) fn steps_text(report: &ValidationReport, reconciles: bool) -> String {
    let steps = report.steps.iter();
    let results = steps.filter(|step| !(step.is_test && reconciles));
    let lines = results.map(|step| {
        let outcome = match &step.outcome {
            StepOutcome::Passed if step.is_changed => "changed",
            StepOutcome::Passed => "ok",
            StepOutcome::Failed(_) if step.is_alternative => "no",
            StepOutcome::Failed(_) => "failed",
            StepOutcome::Skipped(reason) => {
                return format!("skipped {}: {reason}\n", step.what);
            }
        };
        format!("{outcome:7} {}\n", step.what)
    });
    lines.collect()
}

/// Whether nothing was tested, as no case applied or there was nothing to test.
pub(super) fn is_nothing_tested(report: &ValidationReport) -> bool {
    let is_skipped = |outcome: &StepOutcome| matches!(outcome, StepOutcome::Skipped(_));
    report.steps.iter().all(|step| is_skipped(&step.outcome))
}

/// The steps of a validation as JSON.
pub(super) fn steps_json(report: &ValidationReport) -> Value {
    let steps = report.steps.iter().map(|step| {
        let (outcome, message) = match &step.outcome {
            StepOutcome::Passed if step.is_changed => ("changed", None),
            StepOutcome::Passed => ("ok", None),
            StepOutcome::Failed(message) => ("failed", Some(message)),
            StepOutcome::Skipped(reason) => ("skipped", Some(reason)),
        };
        json!({
            "validator": step.what,
            "position": step.location.to_string(),
            "test": step.is_test,
            "alternative": step.is_alternative,
            "passed": outcome != "failed",
            "outcome": outcome,
            "message": message,
        })
    });
    steps.collect()
}

/// Warns that scripts could have changed something although they should only test.
pub(super) fn warn_not_read_only(output: &mut Output) {
    output.note("Scripts were only asked not to change anything: nothing here can stop them");
}

/// The failure of a command whose validation could not run.
pub(super) fn validation_failure(error: ValidationError) -> Failure {
    match error {
        ValidationError::Specification(findings) => findings.into(),
        ValidationError::Cancelled => Failure::reported(Exit::Interrupted),
        other => Failure::usage(other.to_string()),
    }
}
