//! The report of a validation: the result of each validator, and findings about the machine.

use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Diagnostic, Location};
use thiserror::Error;

use super::arguments::ArgumentValues;

/// The steps of a validation, and the findings if the machine fails it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ValidationReport {
    /// The validators that ran, in order, without those that only contain others.
    pub steps: Vec<ValidationStep>,
    /// The values of the arguments at the end.
    pub arguments: ArgumentValues,
    /// Why the machine fails the validation; empty if it passes.
    pub findings: Vec<Diagnostic>,
}

impl ValidationReport {
    /// Whether the machine passes the validation.
    pub fn is_passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// A validator that ran.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ValidationStep {
    /// The place of the validator.
    pub location: Location,
    /// A description of what it validates.
    pub what: String,
    /// Whether it could only test.
    pub is_test: bool,
    /// Whether it is an alternative of `any`, whose failure alone does not fail the validation.
    pub is_alternative: bool,
    /// Its result.
    pub outcome: StepOutcome,
    /// Whether its test failed before, and succeeds since it could change something.
    pub is_changed: bool,
    /// The paths that it changed, if a proof watched it.
    pub changes: Vec<PathBuf>,
}

/// The result of a validator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// It succeeded.
    Passed,
    /// It failed, and why.
    Failed(String),
    /// Nothing was tested, because none of its cases applies; with the reason.
    Skipped(String),
}

/// Why a validation could not run at all. That a machine fails it is no such error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// The validation, or a value for it, is wrong. Nothing was run.
    #[error("{}", .0.first().map_or_else(String::new, ToString::to_string))]
    Specification(Vec<Diagnostic>),
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}
