//! Runs a validation on a machine. Recursion is bounded: a validation file cannot nest validators more than 32 times.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{ArgumentCase, DISTRO_ARGUMENT, OsCase, OsName, Validator, ValidatorCheck};

use super::arguments::ArgumentValues;
use super::leaf::{Access, Failure, Leaves, describe};
use super::packages::PackageManager;
use super::prepare::PreparedValidation;
use super::report::{StepOutcome, ValidationError, ValidationReport, ValidationStep};
use crate::target::{OS, OS_FAMILY, Probe, Target, TargetError};

/// Watches what validators change.
pub(super) trait Observer {
    /// The paths that changed since the last call.
    fn changes(&mut self) -> Result<Vec<PathBuf>, TargetError>;
}

/// A validator with others inside, of which some may run.
#[derive(Clone, Copy)]
struct Branch<'run> {
    access: &'run Access<'run>,
    location: &'run Location,
}

/// Why a validation does not go on.
pub(super) enum Stop {
    /// A validator failed.
    Failed(Diagnostic),
    /// The work was cancelled.
    Cancelled,
}

impl PreparedValidation<'_> {
    /// Tests a machine without changing it.
    ///
    /// # Errors
    ///
    /// A custom validator cannot test, or the work is cancelled. That the machine fails is in the report.
    pub fn test(
        &self,
        probe: &dyn Probe,
        values: ArgumentValues,
    ) -> Result<ValidationReport, ValidationError> {
        self.check_custom(false)?;
        Run::new(self, probe, None).run_validation(&Access::Test(probe), values)
    }

    /// Tests a machine, and brings about what is missing.
    ///
    /// # Errors
    ///
    /// A custom validator cannot reconcile, or the work is cancelled. That the machine fails is in the report.
    pub fn reconcile(
        &self,
        target: &dyn Target,
        values: ArgumentValues,
    ) -> Result<ValidationReport, ValidationError> {
        self.check_custom(true)?;
        Run::new(self, target, None).run_validation(&Access::Reconcile(target), values)
    }
}

pub(super) struct Run<'run> {
    leaves: Leaves<'run>,
    /// The name of the machine's operating system, and those of its families.
    systems: Vec<String>,
    observer: Option<&'run mut dyn Observer>,
    steps: Vec<ValidationStep>,
    /// How many validators `any` are around the current one.
    any_depth: usize,
    /// Findings about scripts whose tests cannot be trusted.
    untrusted_tests: Vec<Diagnostic>,
}

impl<'run> Run<'run> {
    pub(super) fn new(
        prepared: &'run PreparedValidation<'run>,
        probe: &dyn Probe,
        observer: Option<&'run mut dyn Observer>,
    ) -> Self {
        let facts = probe.facts();
        let distro = facts.values(OS).next().unwrap_or_default().to_owned();
        let mut systems: Vec<String> = facts.values(OS_FAMILY).map(str::to_owned).collect();
        let known = OsName::parse(&distro).ok();
        systems.extend(known.and_then(|os| os.family()).map(str::to_owned));
        systems.push(distro.clone());
        Self {
            leaves: Leaves {
                prepared,
                distro,
                package_manager: PackageManager::of(facts),
            },
            systems,
            observer,
            steps: Vec::new(),
            any_depth: 0,
            untrusted_tests: Vec::new(),
        }
    }

    /// Runs the whole validation.
    pub(super) fn run_validation(
        mut self,
        access: &Access<'_>,
        mut arguments: ArgumentValues,
    ) -> Result<ValidationReport, ValidationError> {
        let validators = &self.leaves.prepared.validation.validators;
        let mut findings = match self.run_validators(validators, access, &mut arguments) {
            Ok(()) => Vec::new(),
            Err(Stop::Failed(finding)) => vec![finding],
            Err(Stop::Cancelled) => return Err(ValidationError::Cancelled),
        };
        findings.extend(self.untrusted_tests);
        Ok(ValidationReport {
            steps: self.steps,
            arguments,
            findings,
        })
    }

    fn run_validators(
        &mut self,
        validators: &[Validator],
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        for validator in validators {
            self.run_validator(validator, access, values)?;
        }
        Ok(())
    }

    fn run_validator(
        &mut self,
        validator: &Validator,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let branch = Branch {
            access,
            location: &validator.location,
        };
        match &validator.check {
            ValidatorCheck::All(validators) => self.run_validators(validators, access, values),
            ValidatorCheck::Any(branches) => self.run_any(branches, branch, values),
            ValidatorCheck::OsCase(cases) => self.run_os_case(cases, branch, values),
            ValidatorCheck::ArgumentCase(case) => self.run_argument_case(case, branch, values),
            ValidatorCheck::ArgumentSet { argument, value } => {
                values.set(&argument.value, value.value.clone());
                Ok(())
            }
            _ => self.run_leaf(validator, access, values),
        }
    }

    /// Tests all branches before it changes anything for the first of them: the machine may have the last one already.
    /// What a branch does to arguments holds only if the branch succeeds.
    fn run_any(
        &mut self,
        branches: &[Validator],
        branch: Branch<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let mut failures = Vec::new();
        let reconciling = match branch.access {
            Access::Test(_) => None,
            Access::Reconcile(_) => Some(branch.access),
        };
        let testing = Access::Test(branch.access.probe());
        for access in std::iter::once(&testing).chain(reconciling) {
            failures.clear();
            for alternative in branches {
                let mut inside = values.clone();
                self.any_depth += 1;
                let result = self.run_validator(alternative, access, &mut inside);
                self.any_depth -= 1;
                match result {
                    Ok(()) => {
                        *values = inside;
                        return Ok(());
                    }
                    Err(Stop::Failed(failure)) => failures.push(failure),
                    Err(Stop::Cancelled) => return Err(Stop::Cancelled),
                }
            }
        }
        let finding = Diagnostic::error(Code::ValidationFailed, "no alternative succeeds");
        let mut finding = finding.at(branch.location.clone());
        for failure in failures {
            if let Some(place) = failure.labels.first() {
                finding = finding.label(place.location.clone(), failure.message);
            }
        }
        Err(Stop::Failed(finding))
    }

    fn run_os_case(
        &mut self,
        cases: &[OsCase],
        branch: Branch<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let is_this = |case: &&OsCase| {
            let mut systems = self.systems.iter();
            systems.any(|system| system == case.os.value.as_str())
        };
        if let Some(case) = cases.iter().find(is_this) {
            return self.run_validators(&case.validators, branch.access, values);
        }
        let reason = self.systems.iter().filter(|system| !system.is_empty());
        let reason: BTreeSet<String> = reason.map(|system| format!("`{system}`")).collect();
        let reason = match reason.into_iter().collect::<Vec<_>>().as_slice() {
            [] => "the machine does not say which operating system it has".to_owned(),
            systems => format!("no case for {}", systems.join(" or ")),
        };
        self.record_skipped("os_case", reason, branch);
        Ok(())
    }

    /// Notes that none of the cases of a validator applies.
    fn record_skipped(&mut self, what: &str, reason: String, branch: Branch<'_>) {
        self.steps.push(ValidationStep {
            location: branch.location.clone(),
            what: what.to_owned(),
            is_test: matches!(branch.access, Access::Test(_)),
            is_alternative: self.any_depth > 0,
            outcome: StepOutcome::Skipped(reason),
            is_changed: false,
            changes: Vec::new(),
        });
    }

    fn run_argument_case(
        &mut self,
        case: &ArgumentCase,
        branch: Branch<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let name = &case.argument.value;
        let value = match values.get(name) {
            Some(value) => value.as_str(),
            None if name.as_str() == DISTRO_ARGUMENT => &self.leaves.distro,
            None => {
                let message = format!("`{name}` has no value yet");
                let finding = Diagnostic::error(Code::ValidationFailed, message);
                return Err(Stop::Failed(finding.at(case.argument.location.clone())));
            }
        };
        let mut cases = case.cases.iter();
        if let Some((_, validators)) = cases.find(|(case, _)| case.value.as_str() == value) {
            return self.run_validators(validators, branch.access, values);
        }
        let value = Escaped::shortened(value);
        let reason = format!("no case for `{value}` of `{name}`");
        self.record_skipped("argument_case", reason, branch);
        Ok(())
    }

    /// Runs a validator that has no others inside.
    fn run_leaf(
        &mut self,
        validator: &Validator,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let check = &validator.check;
        let before = values.clone();
        let tested = self.test_alone(check, access, &before);
        let was_missing = matches!(tested, Some(Err(Failure::Failed(_))));
        let mut result = self.leaves.run(check, access, values);
        if was_missing && result.is_ok() && self.leaves.has_own_test(check) {
            result = self.test_again(check, access, &before).and(result);
        }
        if matches!(result, Err(Failure::Cancelled)) {
            return Err(Stop::Cancelled);
        }
        let is_changed = result.as_ref().is_ok_and(|known| *known || was_missing);
        let (result, changes) = match self.observe_changes(access) {
            Ok(changes) => (result, changes),
            Err(error) => (Err(error.into()), Vec::new()),
        };
        let outcome = match result {
            Ok(_) => Ok(()),
            Err(Failure::Cancelled) => return Err(Stop::Cancelled),
            Err(Failure::Failed(message)) => Err((Code::ValidationFailed, message)),
            Err(Failure::UntrustedTest(message)) => Err((Code::TestChanges, message)),
        };
        if self.observer.is_some() {
            self.judge_test(validator, tested, &changes);
        }
        self.steps.push(ValidationStep {
            location: validator.location.clone(),
            what: describe(check),
            is_test: matches!(access, Access::Test(_)),
            is_alternative: self.any_depth > 0,
            outcome: match &outcome {
                Ok(()) => StepOutcome::Passed,
                Err((_, message)) => StepOutcome::Failed(message.clone()),
            },
            is_changed,
            changes,
        });
        outcome.map_err(|(code, message)| {
            let finding = Diagnostic::error(code, message);
            Stop::Failed(finding.at(validator.location.clone()))
        })
    }

    /// What a validator that may change something says if it may only test; `None` if nothing is compared with that.
    fn test_alone(
        &self,
        check: &ValidatorCheck,
        access: &Access<'_>,
        values: &ArgumentValues,
    ) -> Option<Result<bool, Failure>> {
        match access {
            Access::Reconcile(target)
                if self.observer.is_some() || self.leaves.has_own_test(check) =>
            {
                let testing = Access::Test(*target);
                let mut values = values.clone();
                Some(self.leaves.run(check, &testing, &mut values))
            }
            _ => None,
        }
    }

    /// Tests once more what a validator has set up.
    fn test_again(
        &self,
        check: &ValidatorCheck,
        access: &Access<'_>,
        values: &ArgumentValues,
    ) -> Result<(), Failure> {
        match self.test_alone(check, access, values) {
            Some(Err(Failure::Failed(message))) => {
                let message = format!(
                    "{} made its changes and succeeded, but its test still fails: {message}",
                    describe(check)
                );
                Err(match self.observer {
                    Some(_) => Failure::UntrustedTest(message),
                    None => Failure::Failed(message),
                })
            }
            Some(Err(Failure::Cancelled)) => Err(Failure::Cancelled),
            _ => Ok(()),
        }
    }

    /// The paths that a validator has changed.
    fn observe_changes(&mut self, access: &Access<'_>) -> Result<Vec<PathBuf>, TargetError> {
        match (&mut self.observer, access) {
            (Some(observer), Access::Reconcile(_)) => observer.changes(),
            _ => Ok(Vec::new()),
        }
    }

    /// Adds a finding if a test succeeded although the validator then changed something, or the test itself tried to.
    fn judge_test(
        &mut self,
        validator: &Validator,
        tested: Option<Result<bool, Failure>>,
        changes: &[PathBuf],
    ) {
        let message = match tested {
            Some(Ok(_)) if !changes.is_empty() => {
                changes_after_success(&describe(&validator.check), changes)
            }
            Some(Err(Failure::UntrustedTest(message))) => message,
            _ => return,
        };
        let finding = Diagnostic::error(Code::TestChanges, message);
        let finding = finding.at(validator.location.clone());
        self.untrusted_tests.push(finding);
    }
}

/// The message about a validator whose test succeeds although it then changes something.
fn changes_after_success(validator: &str, changed: &[PathBuf]) -> String {
    let paths: Vec<String> = changed
        .iter()
        .take(3)
        .map(|path| Escaped::path(path).to_string())
        .collect();
    let more = match changed.len() - paths.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let paths = paths.join(", ");
    format!("{validator} succeeds if it may only test, but then changes {paths}{more}")
}
