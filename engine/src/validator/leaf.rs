//! Runs validators without nested validators: packages, scripts, and custom ones. Judges the exit status of a script.

use std::path::Path;

use pkgres_files::EntryAttributes;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ArgumentValue, PackagePin, Script, ValidatorCheck};

use super::arguments::{ArgumentValues, check_choice};
use super::custom::CustomValidator;
use super::packages::PackageManager;
use super::prepare::PreparedValidation;
use super::script;
use crate::target::{Command, MAX_OUTPUT, Output, Probe, Target, TargetError, has_content};

/// What may be done to the machine.
pub(super) enum Access<'run> {
    /// It is read.
    Test(&'run dyn Probe),
    /// It is read and changed.
    Reconcile(&'run dyn Target),
}

impl Access<'_> {
    pub(super) fn probe(&self) -> &dyn Probe {
        match self {
            Self::Test(probe) => *probe,
            Self::Reconcile(target) => *target,
        }
    }
}

/// Why a single validator failed.
pub(super) enum Failure {
    /// The machine fails its test, or it could not set up what is missing.
    Failed(String),
    /// Its test cannot be trusted: it succeeds although something is to be changed, or fails although nothing is.
    UntrustedTest(String),
    /// The work was cancelled.
    Cancelled,
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Cancelled => Self::Cancelled,
            other => Self::Failed(other.to_string()),
        }
    }
}

/// What the validators of a run have in common.
pub(super) struct Leaves<'run> {
    pub(super) prepared: &'run PreparedValidation<'run>,
    /// The name of the machine's operating system.
    pub(super) distro: String,
    pub(super) package_manager: Result<PackageManager, String>,
}

impl Leaves<'_> {
    /// Whether only its test says what a validator does, and it has one.
    pub(super) fn has_own_test(&self, check: &ValidatorCheck) -> bool {
        match check {
            ValidatorCheck::Script(_) => true,
            ValidatorCheck::Custom { name, .. } => {
                let custom = self.prepared.custom_of(&name.value);
                custom.is_some_and(CustomValidator::can_test)
            }
            _ => false,
        }
    }

    /// Runs a validator that has no others inside. Returns whether it is known to have changed something.
    pub(super) fn run(
        &self,
        check: &ValidatorCheck,
        access: &Access<'_>,
        values: &mut ArgumentValues,
    ) -> Result<bool, Failure> {
        match check {
            ValidatorCheck::Packages(pins) => self.packages(pins, access),
            ValidatorCheck::Script(script) => self.script(script, access, values).map(|()| false),
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
                result.map(|()| false).map_err(Failure::Failed)
            }
            _ => Ok(false),
        }
    }

    fn packages(&self, pins: &[PackagePin], access: &Access<'_>) -> Result<bool, Failure> {
        let manager = (self.package_manager.clone()).map_err(Failure::Failed)?;
        let timeout = self.prepared.timeout;
        let missing = || manager.missing(pins, access.probe(), timeout);
        let mut found = missing()?;
        let were_missing = !found.is_empty();
        if let (Access::Reconcile(target), false) = (access, found.is_empty()) {
            let wanted: Vec<&PackagePin> = found.iter().map(|(pin, _)| *pin).collect();
            let installed = manager.install(&wanted, *target, timeout);
            found = missing()?;
            if let (Err(error), false) = (installed, found.is_empty()) {
                let problems = problems(&found);
                let message = format!("{problems}, and the installation failed: {error}");
                return Err(Failure::Failed(message));
            }
        }
        if found.is_empty() {
            Ok(were_missing)
        } else {
            Err(Failure::Failed(problems(&found)))
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
        let command = script::command(runnable, script, validation, values, &self.distro, is_test);
        let command = command.timeout(self.prepared.timeout);
        let path = Escaped::shortened(script.path.value.as_str());
        let ended = run(&command, access);
        let output = TargetError::unless_script_succeeded(script.path.value.as_str(), ended)?;
        if is_test && let Some(line) = output.refused_write() {
            return Err(Failure::UntrustedTest(format!(
                "`{path}` succeeded in a test, although it tried to change something: {}",
                Escaped::shortened(&line)
            )));
        }
        if let Some(name) = &script.output {
            if output.is_cut {
                let most = MAX_OUTPUT >> 20;
                let message =
                    format!("`{path}` prints more than {most} MiB, the limit for a value");
                return Err(Failure::Failed(message));
            }
            let Ok(text) = std::str::from_utf8(&output.stdout) else {
                let message = format!("what `{path}` prints is not UTF-8");
                return Err(Failure::Failed(message));
            };
            // As in a shell, the end of the last line is not part of it.
            let text = text.trim_end_matches(['\n', '\r']);
            let value = ArgumentValue::parse(text)
                .map_err(|error| Failure::Failed(format!("what `{path}` prints: {error}")))?;
            check_choice(validation, &name.value, &value)
                .map_err(|error| Failure::Failed(format!("what `{path}` prints: {error}")))?;
            values.set(&name.value, value);
        }
        Ok(())
    }

    fn copy_script(&self, script: &Script, access: &Access<'_>) -> Result<bool, Failure> {
        let content = self.prepared.file(script);
        let place = Path::new("/tmp").join(script.file_name());
        let probe = access.probe();
        if let Some(entry) = probe.entry(&place)?
            && has_content(probe, &place, entry.size, content)?
        {
            return Ok(false);
        }
        match access {
            Access::Test(_) => Err(Failure::Failed(format!(
                "{} does not have the content of `{}`",
                Escaped::path(&place),
                Escaped::shortened(script.path.value.as_str())
            ))),
            Access::Reconcile(target) => {
                let attributes = EntryAttributes::with_mode(0o755);
                target.write_file(&place, content, attributes)?;
                Ok(true)
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

fn problems(missing: &[(&PackagePin, String)]) -> String {
    let problems: Vec<&str> = missing
        .iter()
        .map(|(_, problem)| problem.as_str())
        .collect();
    problems.join(", ")
}

/// What a validator validates, in words; empty for one that only contains others.
pub(super) fn describe(check: &ValidatorCheck) -> String {
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
