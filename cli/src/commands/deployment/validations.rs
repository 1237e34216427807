//! The validations of the deployed packages, which run before the changes and afterwards.

use pkgres_checks::BoundPackages;
use pkgres_engine::{
    ArgumentValues, Cancellable, Cancellation, PreparedValidation, Target, ValidationReport,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Release, did_you_mean, most_similar};
use serde_json::{Value, json};

use super::release_files::ReleaseFiles;
use crate::args::ValidationValue;
use crate::commands::validation_steps::{
    read_script, steps_json, steps_text, validation_failure, warn_not_read_only,
};
use crate::failure::Result;
use crate::output::Output;
use crate::requirements_first::requirements_first;
use crate::show::{counted, diagnostics_json};

/// The validations of the locked packages, those of required packages first.
#[derive(Default)]
pub(super) struct Validations<'packages> {
    validations: Vec<PackageValidation<'packages>>,
}

/// The validation of a release, and the values that its arguments begin with.
struct PackageValidation<'packages> {
    release: &'packages Release,
    prepared: PreparedValidation<'packages>,
    values: ArgumentValues,
}

/// When a validation runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

impl Moment {
    fn text(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// What came of the validation of a release.
pub(super) struct ValidationOutcome<'packages> {
    release: &'packages Release,
    report: ValidationReport,
    reconciles: bool,
}

impl<'packages> Validations<'packages> {
    /// Prepares the validations of all releases. Whatever is wrong with them, or with the values for their arguments,
    /// is an error here, so that nothing is run then.
    pub(super) fn prepare(
        packages: &'packages BoundPackages,
        files: &ReleaseFiles,
        given: &[ValidationValue],
    ) -> Result<Self> {
        let mut validations = Vec::new();
        let mut findings = Vec::new();
        let with_validation = in_order(packages).into_iter().filter_map(|release| {
            let package = packages.releases.get(release)?.package.as_deref()?;
            Some((release, package, package.validation.as_ref()?))
        });
        let with_validation: Vec<_> = with_validation.collect();
        let mut unused: Vec<&ValidationValue> = given.iter().collect();
        for (release, package, validation) in with_validation {
            let values = given.iter().filter(|given| {
                let is_argument = || {
                    let mut arguments = validation.arguments.iter();
                    arguments.any(|argument| argument.name.value.as_str() == given.argument)
                };
                match &given.package {
                    Some(name) => *name == release.name,
                    None => is_argument(),
                }
            });
            let values: Vec<&ValidationValue> = values.collect();
            unused.retain(|unused| !values.iter().any(|value| std::ptr::eq(*value, *unused)));
            let values = values
                .iter()
                .map(|given| (given.argument.as_str(), given.value.as_str()));
            let values = ArgumentValues::new(validation, values);
            let mut unreadable = None;
            let scripts = |script: &_| match files.artifact(release) {
                Ok(artifact) => read_script(&artifact, package, script, &files.options.limits),
                Err(failure) => {
                    unreadable = Some(failure);
                    Ok(None)
                }
            };
            let prepared = PreparedValidation::new(validation, &[], scripts);
            if let Some(failure) = unreadable {
                return Err(failure);
            }
            match (values, prepared.map_err(validation_failure)) {
                (Ok(values), Ok(prepared)) => validations.push(PackageValidation {
                    release,
                    prepared,
                    values,
                }),
                (values, prepared) => {
                    findings.extend(values.err().into_iter().flatten());
                    findings.extend(
                        prepared
                            .err()
                            .map(|failure| failure.findings)
                            .into_iter()
                            .flatten(),
                    );
                }
            }
        }
        findings.extend(unused.into_iter().map(|given| unknown(given, packages)));
        if findings.is_empty() {
            Ok(Self { validations })
        } else {
            Err(findings.into())
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.validations.is_empty()
    }

    /// Runs all validations, each on what those before it left behind.
    pub(super) fn run(
        &self,
        target: &dyn Target,
        reconciles: bool,
        cancellation: &Cancellation,
        output: &mut Output,
    ) -> Result<Vec<ValidationOutcome<'packages>>> {
        if !reconciles && !self.is_empty() && !target.enforces_read_only() {
            warn_not_read_only(output);
        }
        let target = Cancellable::new(target, cancellation.clone());
        let outcomes = self.validations.iter().map(|validation| {
            let values = validation.values.clone();
            let report = if reconciles {
                validation.prepared.reconcile(&target, values)
            } else {
                validation.prepared.test(&target, values)
            };
            Ok(ValidationOutcome {
                release: validation.release,
                report: report.map_err(validation_failure)?,
                reconciles,
            })
        });
        outcomes.collect()
    }
}

impl ValidationOutcome<'_> {
    pub(super) fn is_passed(&self) -> bool {
        self.report.is_passed()
    }

    /// The outcome, and the steps that led to it, as lines of a plan.
    pub(super) fn plan_lines(&self) -> String {
        let mark = if self.is_passed() { '=' } else { '!' };
        let Release { name, version } = self.release;
        let steps = steps_text(&self.report, self.reconciles);
        let steps: String = steps.lines().map(|line| format!("    {line}\n")).collect();
        format!("{mark} validation of {name} {version}\n{steps}")
    }

    /// Why the machine fails the validation.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        let Release { name, version } = self.release;
        let mut findings = self.report.findings.clone();
        for finding in &mut findings {
            finding.message = format!("{name} {version}: {}", finding.message);
        }
        findings
    }

    /// The outcome as JSON.
    pub(super) fn json(&self) -> Value {
        let Release { name, version } = self.release;
        json!({
            "package": name,
            "version": version,
            "mode": if self.reconciles { "reconcile" } else { "test" },
            "status": if self.is_passed() { "passed" } else { "failed" },
            "steps": steps_json(&self.report),
            "diagnostics": diagnostics_json(&self.report.findings),
        })
    }

    /// The outcome as an event of a run.
    pub(super) fn event(&self, moment: Moment) -> Value {
        let mut event = self.json();
        event["event"] = json!("validated");
        event["when"] = json!(moment.text());
        event
    }
}

/// Reports outcomes of `apply`; returns how many validations failed. `is_noop` says that nothing may be changed.
pub(super) fn report_outcomes(
    outcomes: &[ValidationOutcome<'_>],
    moment: Moment,
    is_noop: bool,
    output: &mut Output,
) -> usize {
    if outcomes.is_empty() {
        return 0;
    }
    if output.is_json() {
        for outcome in outcomes {
            output.json(&outcome.event(moment));
        }
        output.flush();
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.is_passed());
    let failed: Vec<_> = failed.collect();
    for outcome in &failed {
        let mut findings = outcome.findings();
        if let (Moment::Before, false, Some(last)) =
            (moment, outcome.reconciles, findings.last_mut())
        {
            let hint = if is_noop {
                "`--no-validate` leaves validations out"
            } else {
                "`--reconcile` brings about what is missing, and `--no-validate` leaves validations out"
            };
            last.hints.push(hint.to_owned());
        }
        output.findings(&findings);
    }
    if failed.is_empty() {
        let count = counted(outcomes.len(), "package");
        output.note(&format!("Validated {count} {} the changes", moment.text()));
    }
    failed.len()
}

/// The releases, each after those that it requires.
fn in_order(packages: &BoundPackages) -> Vec<&Release> {
    requirements_first(packages.releases.keys(), |release| {
        let required = packages.releases[release].requires.iter();
        let known = required.filter_map(|required| packages.releases.get_key_value(required));
        known.map(|(required, _)| required).collect()
    })
}

/// The error for a value that no validation has an argument for.
fn unknown(given: &ValidationValue, packages: &BoundPackages) -> Diagnostic {
    let located = |error: Diagnostic| match &given.location {
        Some(location) => error.at(location.clone()),
        None => error,
    };
    let argument = Escaped::shortened(&given.argument);
    let validations = packages.releases.iter().filter_map(|(release, bound)| {
        let validation = bound.package.as_deref()?.validation.as_ref()?;
        Some((&release.name, validation))
    });
    let validations: Vec<_> = validations.collect();
    if let Some(package) = &given.package {
        let message = format!("no locked package `{package}` has a validation");
        let error = located(Diagnostic::error(Code::UndeclaredArgument, message));
        let names = validations.iter().map(|(name, _)| name.as_str());
        return match most_similar(package.as_str(), names) {
            Some(similar) => error.hint(format!("did you mean `{similar}:{argument}`?")),
            None => error,
        };
    }
    let message = format!("no validation has an argument `{argument}`");
    let error = located(Diagnostic::error(Code::UndeclaredArgument, message));
    let names = validations
        .iter()
        .flat_map(|(_, validation)| &validation.arguments)
        .map(|argument| argument.name.value.as_str());
    error.maybe_hint(most_similar(&given.argument, names).map(did_you_mean))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pkgres_checks::BoundPackage;
    use pkgres_manifest::{PackageName, Version};

    use super::*;

    fn release(name: &str) -> Release {
        let name = PackageName::parse(name).expect("it is a name");
        Release::new(name, Version::new(1, 0, 0))
    }

    #[test]
    fn required_packages_are_validated_first_and_cycles_end() {
        let requires = [
            ("org.a.App", vec!["org.b.Lib", "org.c.Db"]),
            ("org.b.Lib", vec!["org.c.Db", "org.z.Gone"]),
            ("org.c.Db", vec!["org.b.Lib"]),
        ];
        let releases = requires.map(|(name, requires)| {
            let bound = BoundPackage {
                package: None,
                requires: requires.into_iter().map(release).collect(),
            };
            (release(name), bound)
        });
        let packages = BoundPackages {
            root_class: None,
            releases: BTreeMap::from(releases),
        };
        let order = in_order(&packages);
        let names: Vec<_> = order
            .iter()
            .map(|Release { name, .. }| name.as_str())
            .collect();
        assert_eq!(names, ["org.c.Db", "org.b.Lib", "org.a.App"]);
    }
}
