//! A validation on a machine. Recursion is bounded: a validation file cannot nest validators more than 32 times.

use std::path::{Path, PathBuf};

use pkgres_files::EntryAttributes;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{
    ArgumentCase, ArgumentValue, DISTRO_ARGUMENT, OsCase, OsName, PackagePin, Script, Validator,
    ValidatorCheck,
};

use super::arguments::ArgumentValues;
use super::packages::PackageManager;
use super::prepare::PreparedValidation;
use super::report::{StepOutcome, ValidationError, ValidationReport, ValidationStep};
use crate::target::{Command, OS, OS_FAMILY, Output, Probe, Target, TargetError};

/// What a script says that tried to write where it cannot, in the language that it is run with.
const READ_ONLY_WORDS: &str = "Read-only file system";

/// What may be done to the machine.
pub(super) enum Access<'run> {
    /// It is read.
    Test(&'run dyn Probe),
    /// It is read and changed.
    Reconcile(&'run dyn Target),
}

impl Access<'_> {
    fn probe(&self) -> &dyn Probe {
        match self {
            Self::Test(probe) => *probe,
            Self::Reconcile(target) => *target,
        }
    }
}

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

/// Why a single validator failed.
enum Failure {
    Because(String),
    /// It succeeded, but must not have: it tried to change something.
    Lied(String),
    Cancelled,
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Cancelled => Self::Cancelled,
            TargetError::File(error) => Self::Because(error.to_string()),
            other => Self::Because(other.to_string()),
        }
    }
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
    prepared: &'run PreparedValidation<'run>,
    /// The name of the machine's operating system.
    distro: String,
    /// That name, and those of its families.
    systems: Vec<String>,
    package_manager: Result<PackageManager, String>,
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
            prepared,
            distro,
            systems,
            package_manager: PackageManager::of(facts),
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
        let validators = &self.prepared.validation.validators;
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
            ValidatorCheck::OsCase(cases) => self.os_case(cases, access, values),
            ValidatorCheck::ArgumentCase(case) => self.argument_case(case, access, values),
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
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let is_this = |case: &&OsCase| {
            let mut systems = self.systems.iter();
            systems.any(|system| system == case.os.value.as_str())
        };
        match cases.iter().find(is_this) {
            Some(case) => self.list(&case.validators, access, values),
            None => Ok(()),
        }
    }

    fn argument_case(
        &mut self,
        case: &ArgumentCase,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        let name = &case.argument.value;
        let value = match values.get(name) {
            Some(value) => value.as_str(),
            None if name.as_str() == DISTRO_ARGUMENT => &self.distro,
            None => {
                let message = format!("`{name}` has no value yet");
                let finding = Diagnostic::error(Code::ValidationFailed, message);
                return Err(Stop::Failed(finding.at(case.argument.location.clone())));
            }
        };
        let mut cases = case.cases.iter();
        match cases.find(|(case, _)| case.value.as_str() == value) {
            Some((_, validators)) => self.list(validators, access, values),
            None => Ok(()),
        }
    }

    /// Runs a validator that has no others inside.
    fn step(
        &mut self,
        validator: &Validator,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Stop> {
        // A proof compares what a test says with what the validator then does.
        let tested = match (access, &self.observer) {
            (Access::Reconcile(target), Some(_)) => {
                let testing = Access::Test(*target);
                Some(self.leaf(&validator.check, &testing, &mut values.clone()))
            }
            _ => None,
        };
        let result = self.leaf(&validator.check, access, values);
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
            (Ok(()), Ok(paths)) => {
                changed = paths;
                Ok(())
            }
            (Err(Failure::Because(message)), Ok(paths)) => {
                changed = paths;
                Err((Code::ValidationFailed, message))
            }
            (Err(Failure::Lied(message)), Ok(_)) => Err((Code::TestChanges, message)),
        };
        let lied = match tested {
            Some(Ok(())) if !changed.is_empty() => Some(lie(&validator.check, &changed)),
            Some(Err(Failure::Lied(message))) => Some(message),
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
            changes: changed,
        });
        outcome.map_err(|(code, message)| {
            let finding = Diagnostic::error(code, message);
            Stop::Failed(finding.at(validator.location.clone()))
        })
    }

    fn leaf(
        &mut self,
        check: &ValidatorCheck,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Failure> {
        match check {
            ValidatorCheck::Packages(pins) => self.packages(pins, access),
            ValidatorCheck::Script(script) => self.script(script, access, values),
            ValidatorCheck::CopyScript(script) => self.copy_script(script, access),
            ValidatorCheck::Custom { name, value } => {
                let custom = self.prepared.custom_of(&name.value);
                let result = custom.and_then(|custom| match access {
                    Access::Test(probe) => {
                        let test = custom.test.as_ref()?;
                        Some(test(value, *probe, values))
                    }
                    Access::Reconcile(target) => {
                        let reconcile = custom.reconcile.as_ref()?;
                        Some(reconcile(value, *target, values))
                    }
                });
                // That it can was found out before.
                let result = result.unwrap_or_else(|| Err("cannot do this".to_owned()));
                result.map_err(Failure::Because)
            }
            _ => Ok(()),
        }
    }

    fn packages(&self, pins: &[PackagePin], access: &Access<'_>) -> Result<(), Failure> {
        let manager = (self.package_manager.clone()).map_err(Failure::Because)?;
        let query = manager.query(pins).timeout(self.prepared.timeout);
        let missing = |access: &Access<'_>| -> Result<_, Failure> {
            let output = access.probe().query(&query)?;
            Ok(manager.missing(pins, &output))
        };
        let mut found = missing(access)?;
        if let (Access::Reconcile(target), false) = (access, found.is_empty()) {
            let wanted: Vec<&PackagePin> = found.iter().map(|(pin, _)| *pin).collect();
            let install = manager.install(&wanted).timeout(self.prepared.timeout);
            let output = target.run(&install)?;
            found = missing(access)?;
            if !output.is_success() && !found.is_empty() {
                let words = last_words(&output);
                let problems = problems(&found);
                return Err(Failure::Because(format!("{problems}, and {words}")));
            }
        }
        if found.is_empty() {
            Ok(())
        } else {
            Err(Failure::Because(problems(&found)))
        }
    }

    fn script(
        &self,
        script: &Script,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<(), Failure> {
        let is_test = matches!(access, Access::Test(_));
        let runnable = self.prepared.runnable(script);
        let validation = self.prepared.validation;
        let command = runnable.command(script, validation, values, &self.distro, is_test);
        let command = command.timeout(self.prepared.timeout);
        let path = Escaped::shortened(script.path.value.as_str());
        let output = run(&command, access).map_err(|error| match error {
            // The command has the whole script in it.
            TargetError::Timeout { timeout, .. } => Failure::Because(format!(
                "`{path}` was killed: it did not end in {} s",
                timeout.as_secs_f64()
            )),
            TargetError::Start { source, .. } => {
                Failure::Because(format!("cannot run `{path}`: {source}"))
            }
            other => other.into(),
        })?;
        if !output.is_success() {
            let ended = match output.code {
                Some(code) => format!("`{path}` exited with code {code}"),
                None => format!("`{path}` was ended by a signal"),
            };
            return Err(Failure::Because(match output.last_words() {
                Some(words) => format!("{ended}: {}", Escaped::shortened(&words)),
                None => ended,
            }));
        }
        if is_test {
            let complaints = String::from_utf8_lossy(&output.stderr);
            let mut complaints = complaints.lines();
            if let Some(line) = complaints.find(|line| line.contains(READ_ONLY_WORDS)) {
                return Err(Failure::Lied(format!(
                    "`{path}` succeeds if it may only test, but tried to change something: {}",
                    Escaped::shortened(line.trim())
                )));
            }
        }
        if let Some(name) = &script.output {
            // As in a shell, the end of the last line is not part of it.
            let text = output.text();
            let text = text.trim_end_matches(['\n', '\r']);
            let value = ArgumentValue::parse(text)
                .map_err(|error| Failure::Because(format!("what `{path}` prints: {error}")))?;
            values.set(&name.value, value);
        }
        Ok(())
    }

    fn copy_script(&self, script: &Script, access: &Access<'_>) -> Result<(), Failure> {
        let content = self.prepared.file(script);
        let place = Path::new("/tmp").join(script.file_name());
        let limit = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let is_there = match access.probe().entry(&place)? {
            Some(entry) if entry.size == limit => access.probe().read(&place, limit)? == content,
            _ => false,
        };
        if is_there {
            return Ok(());
        }
        match access {
            Access::Test(_) => Err(Failure::Because(format!(
                "{} does not have the content of `{}`",
                shown(&place),
                Escaped::shortened(script.path.value.as_str())
            ))),
            Access::Reconcile(target) => {
                let attributes = EntryAttributes::with_mode(0o755);
                Ok(target.write_file(&place, content, attributes)?)
            }
        }
    }
}

fn run(command: &Command, access: &Access<'_>) -> Result<Output, TargetError> {
    match access {
        Access::Test(probe) => probe.query(command),
        Access::Reconcile(target) => target.run(command),
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

fn problems(missing: &[(&PackagePin, String)]) -> String {
    let problems: Vec<&str> = missing
        .iter()
        .map(|(_, problem)| problem.as_str())
        .collect();
    problems.join(", ")
}

fn last_words(output: &Output) -> String {
    match output.last_words() {
        Some(words) => format!("the installation failed: {}", Escaped::shortened(&words)),
        None => "the installation failed".to_owned(),
    }
}

fn shown(path: &Path) -> String {
    Escaped::new(&path.to_string_lossy()).to_string()
}

/// What a validator validates, in words.
fn what(check: &ValidatorCheck) -> String {
    match check {
        ValidatorCheck::Packages(pins) => {
            let pins = pins.iter().map(|pin| match &pin.version {
                Some(version) => format!("{}={}", pin.name.value, version.value),
                None => pin.name.value.to_string(),
            });
            format!("package {}", pins.collect::<Vec<_>>().join(" "))
        }
        ValidatorCheck::Script(script) => {
            format!("script {}", Escaped::new(script.path.value.as_str()))
        }
        ValidatorCheck::CopyScript(script) => {
            format!("copy_script {}", Escaped::new(script.path.value.as_str()))
        }
        ValidatorCheck::Custom { name, .. } => Escaped::new(&name.value).to_string(),
        _ => String::new(),
    }
}
