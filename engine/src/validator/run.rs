//! Runs a validation on a machine. Recursion is bounded: a validation file cannot nest validators more than 32 times.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{ArgumentCase, DISTRO_ARGUMENT, OsCase, OsName, Validator, ValidatorCheck};

use super::arguments::ArgumentValues;
use super::leaf::{Access, Failure, Leaves, shown, what};
use super::packages::PackageManager;
use super::prepare::PreparedValidation;
use super::report::{StepOutcome, ValidationError, ValidationReport, ValidationStep};
use crate::target::{OS, OS_FAMILY, Probe, Target, TargetError};

/// Watches what validators change.
pub(super) trait Observer {
    /// The paths that changed since the last call.
    fn changes(&mut self) -> Result<Vec<PathBuf>, TargetError>;
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
        Run::new(self, probe, None).all(&Access::Test(probe), values)
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
        Run::new(self, target, None).all(&Access::Reconcile(target), values)
    }
}

pub(super) struct Run<'run> {
    leaves: Leaves<'run>,
    /// The name of the machine's operating system, and those of its families.
    systems: Vec<String>,
    observer: Option<&'run mut dyn Observer>,
    steps: Vec<ValidationStep>,
    /// The validators `any` around the current one.
    alternatives: usize,
    /// Findings about scripts whose tests cannot be trusted.
    lies: Vec<Diagnostic>,
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
            alternatives: 0,
            lies: Vec::new(),
        }
    }

    /// Runs the whole validation.
    pub(super) fn all(
        mut self,
        access: &Access<'_>,
        mut arguments: ArgumentValues,
    ) -> Result<ValidationReport, ValidationError> {
        let validators = &self.leaves.prepared.validation.validators;
        let mut findings = match self.list(validators, access, &mut arguments) {
            Ok(()) => Vec::new(),
            Err(Stop::Failed(finding)) => vec![finding],
            Err(Stop::Cancelled) => return Err(ValidationError::Cancelled),
        };
        findings.extend(self.lies);
        Ok(ValidationReport {
            steps: self.steps,
            arguments,
            findings,
        })
    }

    fn list(
        &mut self,
        validators: &[Validator],
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        for validator in validators {
            self.one(validator, access, values)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        validator: &Validator,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        match &validator.check {
            ValidatorCheck::All(validators) => self.list(validators, access, values),
            ValidatorCheck::Any(branches) => {
                self.any(branches, &validator.location, access, values)
            }
            ValidatorCheck::OsCase(cases) => {
                self.os_case(cases, &validator.location, access, values)
            }
            ValidatorCheck::ArgumentCase(case) => {
                self.argument_case(case, &validator.location, access, values)
            }
            ValidatorCheck::ArgumentSet { argument, value } => {
                values.set(&argument.value, value.value.clone());
                Ok(())
            }
            _ => self.step(validator, access, values),
        }
    }

    /// Tests all branches before it changes anything for the first of them: the machine may have the last one already.
    /// What a branch does to arguments holds only if the branch succeeds.
    fn any(
        &mut self,
        branches: &[Validator],
        location: &Location,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let mut failures = Vec::new();
        let reconciling = match access {
            Access::Test(_) => None,
            Access::Reconcile(_) => Some(access),
        };
        let testing = Access::Test(access.probe());
        for access in std::iter::once(&testing).chain(reconciling) {
            failures.clear();
            for branch in branches {
                let mut inside = values.clone();
                self.alternatives += 1;
                let result = self.one(branch, access, &mut inside);
                self.alternatives -= 1;
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
        let mut finding = finding.at(location.clone());
        for failure in failures {
            if let Some(place) = failure.labels.first() {
                finding = finding.label(place.location.clone(), failure.message);
            }
        }
        Err(Stop::Failed(finding))
    }

    fn os_case(
        &mut self,
        cases: &[OsCase],
        location: &Location,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let is_this = |case: &&OsCase| {
            let mut systems = self.systems.iter();
            systems.any(|system| system == case.os.value.as_str())
        };
        if let Some(case) = cases.iter().find(is_this) {
            return self.list(&case.validators, access, values);
        }
        let reason = self.systems.iter().filter(|system| !system.is_empty());
        let reason: BTreeSet<String> = reason.map(|system| format!("`{system}`")).collect();
        let reason = match reason.into_iter().collect::<Vec<_>>().as_slice() {
            [] => "the machine does not say which operating system it has".to_owned(),
            systems => format!("no case for {}", systems.join(" or ")),
        };
        self.skip("os_case", reason, location, access);
        Ok(())
    }

    /// Notes that none of the cases of a validator applies.
    fn skip(&mut self, what: &str, reason: String, location: &Location, access: &Access<'_>) {
        self.steps.push(ValidationStep {
            location: location.clone(),
            what: what.to_owned(),
            is_test: matches!(access, Access::Test(_)),
            is_alternative: self.alternatives > 0,
            outcome: StepOutcome::Skipped(reason),
            is_changed: false,
            changes: Vec::new(),
        });
    }

    fn argument_case(
        &mut self,
        case: &ArgumentCase,
        location: &Location,
        access: &Access<'_>,
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
            return self.list(validators, access, values);
        }
        let value = Escaped::shortened(value);
        let reason = format!("no case for `{value}` of `{name}`");
        self.skip("argument_case", reason, location, access);
        Ok(())
    }

    /// Runs a validator that has no others inside.
    fn step(
        &mut self,
        validator: &Validator,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        // What a test says is compared with what the validator then does.
        let has_own_test = self.leaves.has_own_test(&validator.check);
        let test = |access: &Access<'_>, values: &ArgumentValues| match access {
            Access::Reconcile(target) if has_own_test || self.observer.is_some() => {
                let testing = Access::Test(*target);
                let mut values = values.clone();
                Some(self.leaves.run(&validator.check, &testing, &mut values))
            }
            _ => None,
        };
        let tested = test(access, values);
        let before = values.clone();
        let mut result = self.leaves.run(&validator.check, access, values);
        let was_missing = matches!(tested, Some(Err(Failure::Because(_))));
        let mut is_untrusted = false;
        if was_missing && has_own_test && result.is_ok() {
            match test(access, &before) {
                Some(Err(Failure::Because(message))) => {
                    let message = format!(
                        "{} made its changes and succeeded, but its test still fails: {message}",
                        what(&validator.check)
                    );
                    is_untrusted = self.observer.is_some();
                    result = Err(Failure::Because(message));
                }
                Some(Err(Failure::Cancelled)) => return Err(Stop::Cancelled),
                _ => {}
            }
        }
        let is_changed = result.as_ref().is_ok_and(|known| *known || was_missing);
        let observed = match (&mut self.observer, access) {
            (Some(observer), Access::Reconcile(_)) => observer.changes(),
            _ => Ok(Vec::new()),
        };
        let mut changed = Vec::new();
        let outcome = match (result, observed) {
            (Err(Failure::Cancelled), _) | (_, Err(TargetError::Cancelled)) => {
                return Err(Stop::Cancelled);
            }
            (_, Err(error)) => Err((Code::ValidationFailed, error.to_string())),
            (Ok(_), Ok(paths)) => {
                changed = paths;
                Ok(())
            }
            (Err(Failure::Because(message)), Ok(paths)) => {
                changed = paths;
                let code = if is_untrusted {
                    Code::TestChanges
                } else {
                    Code::ValidationFailed
                };
                Err((code, message))
            }
            (Err(Failure::Lied(message)), Ok(_)) => Err((Code::TestChanges, message)),
        };
        let lied = match tested {
            Some(Ok(_)) if self.observer.is_some() && !changed.is_empty() => {
                Some(lie(&validator.check, &changed))
            }
            Some(Err(Failure::Lied(message))) if self.observer.is_some() => Some(message),
            _ => None,
        };
        if let Some(message) = lied {
            let lie = Diagnostic::error(Code::TestChanges, message);
            self.lies.push(lie.at(validator.location.clone()));
        }
        self.steps.push(ValidationStep {
            location: validator.location.clone(),
            what: what(&validator.check),
            is_test: matches!(access, Access::Test(_)),
            is_alternative: self.alternatives > 0,
            outcome: match &outcome {
                Ok(()) => StepOutcome::Passed,
                Err((_, message)) => StepOutcome::Failed(message.clone()),
            },
            is_changed,
            changes: changed,
        });
        outcome.map_err(|(code, message)| {
            let finding = Diagnostic::error(code, message);
            Stop::Failed(finding.at(validator.location.clone()))
        })
    }
}

/// The message about a validator whose test succeeds although it then changes something.
fn lie(check: &ValidatorCheck, changed: &[PathBuf]) -> String {
    let paths: Vec<String> = changed.iter().take(3).map(|path| shown(path)).collect();
    let more = match changed.len() - paths.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (what, paths) = (what(check), paths.join(", "));
    format!("{what} succeeds if it may only test, but then changes {paths}{more}")
}
