//! `pkgres validate`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pkgres_engine::{
    ArgumentValues, Cancellable, Cancellation, ChangedPath, PreparedValidation, SshOptions, Target,
    TargetError, TargetLocation, ValidationReport,
};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    Archive, Limits, Package, ReadOptions, Script, Validation, read_validation_file,
};
use pkgres_registry_client::{Artifact, PackageFolder};
use serde_json::{Value, json};

use super::validation_steps::{
    is_nothing_tested, read_script, steps_json, steps_text, validation_failure, warn_not_read_only,
};
use crate::args::ValidateArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::output::Output;
use crate::project::require_manifest;
use crate::read_manifest::folder_of;
use crate::show::{self, counted};
use crate::signals::cancelled_by_interrupts;

pub(super) fn run(args: &ValidateArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let result = validate(args, context, output);
    report_interruption(result, &args.target, "everything was validated", output)
}

/// Reports a run that was interrupted before it had a result.
pub(super) fn report_interruption(
    result: Result<Exit>,
    target: &TargetLocation,
    undone: &str,
    output: &mut Output,
) -> Result<Exit> {
    if let Err(failure) = &result
        && failure.exit == Exit::Interrupted
    {
        let target = target.to_string();
        if output.is_json() {
            output.json(&json!({
                "schema_version": 1,
                "status": "interrupted",
                "target": target,
            }));
        }
        output.note(&format!(
            "The run on {target} was interrupted before {undone}"
        ));
    }
    result
}

fn validate(args: &ValidateArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    require_manifest(&args.package, context)?;
    let source = ValidationFiles::open(&args.package, &context.read_options)?;
    let validation = source.validation()?;
    let given = args.arguments.iter();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    let values = ArgumentValues::new(validation, given)?;
    let limits = &context.read_options.limits;
    let prepared = PreparedValidation::new(validation, &[], |script| source.script(script, limits));
    let prepared = prepared.map_err(validation_failure)?;
    let prepared = prepared.timeout(Duration::from_secs(args.timeout));
    let machine = open_machine(&args.target, &args.ssh.options())?;
    let cancellation = cancelled_by_interrupts();
    let mut result = Validated::run(&prepared, args, &*machine, values, &cancellation)?;
    result.findings.dedup();
    result.show(args, output);
    let is_untrusted = |finding: &Diagnostic| finding.code == Code::TestChanges;
    Ok(if result.findings.is_empty() {
        Exit::Done
    } else if args.prove && result.findings.iter().any(is_untrusted) {
        Exit::Failed
    } else {
        Exit::Invalid
    })
}

/// The files that a validation comes from.
enum ValidationFiles {
    /// A package folder or archive.
    Package(Artifact, Box<Package>),
    /// A validation file by itself, and its folder.
    File(PathBuf, Box<Validation>),
}

impl ValidationFiles {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let shown = path.to_string_lossy();
        let artifact = if path.is_dir() {
            Artifact::Folder(PackageFolder::open(path, options)?)
        } else if path.extension().is_some_and(|extension| extension == "zip") {
            let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
            Artifact::Archive(Archive::open(&shown, bytes, &options.limits)?)
        } else {
            let bytes = read_file(path, options.limits.class_file_bytes, Follow::Links)?;
            let read = read_validation_file(&shown, &bytes, options);
            let (validation, _) = read.into_result()?;
            return Ok(Self::File(folder_of(path), validation.into()));
        };
        let (package, _) = artifact.package(&shown, options).into_result()?;
        Ok(Self::Package(artifact, package.into()))
    }

    fn validation(&self) -> Result<&Validation> {
        let package = match self {
            Self::File(_, validation) => return Ok(validation),
            Self::Package(_, package) => package,
        };
        package.validation.as_ref().ok_or_else(|| {
            let message = format!("{} has no validation", package.name());
            let finding = Diagnostic::error(Code::PackageShape, message)
                .at(package.manifest.name.location.clone())
                .hint("name its file in the manifest: `Validate: validate.yaml`");
            Failure::from(finding)
        })
    }

    /// The bytes of the file of a script.
    fn script(
        &self,
        script: &Script,
        limits: &Limits,
    ) -> std::result::Result<Option<Vec<u8>>, Diagnostic> {
        match self {
            Self::Package(artifact, package) => read_script(artifact, package, script, limits),
            Self::File(folder, _) => {
                let path = folder.join(script.path.value.as_str());
                if !path.is_file() {
                    return Ok(None);
                }
                let bytes = read_file(&path, limits.class_file_bytes, Follow::Links);
                bytes.map(Some).map_err(|error| error.to_diagnostic())
            }
        }
    }
}

/// What was found out about a machine.
struct Validated {
    report: ValidationReport,
    /// What reconciling would change, if that was asked for.
    changes: Option<Vec<ChangedPath>>,
    findings: Vec<Diagnostic>,
    is_read_only: bool,
}

impl Validated {
    fn run(
        prepared: &PreparedValidation<'_>,
        args: &ValidateArgs,
        machine: &dyn Target,
        values: ArgumentValues,
        cancellation: &Cancellation,
    ) -> Result<Self> {
        let target = Cancellable::new(machine, cancellation.clone());
        let report = if args.reconcile {
            prepared.reconcile(&target, values.clone())
        } else {
            prepared.test(&target, values.clone())
        };
        let report = report.map_err(validation_failure)?;
        let mut findings = report.findings.clone();
        let mut changes = None;
        if args.prove {
            let overlay = args.target.overlay().map_err(target_failure)?;
            let proof = prepared.prove(&overlay, &target, values, cancellation);
            let proof = proof.map_err(validation_failure)?;
            for mut finding in proof.report.findings {
                // What was not in order before fails in the same way there.
                let is_same = |other: &Diagnostic| {
                    other.message == finding.message && other.labels == finding.labels
                };
                if !findings.iter().any(is_same) {
                    finding.message = format!("on the overlay: {}", finding.message);
                    findings.push(finding);
                }
            }
            changes = Some(proof.changes);
        }
        Ok(Self {
            report,
            changes,
            findings,
            is_read_only: machine.enforces_read_only(),
        })
    }

    fn show(&self, args: &ValidateArgs, output: &mut Output) {
        if output.is_json() {
            output.json(&self.document(args));
            return;
        }
        output.prose(&steps_text(&self.report, args.reconcile));
        for change in self.changes.iter().flatten() {
            output.data(&format!(
                "would {} {}\n",
                verb(change),
                Escaped::path(&change.path)
            ));
        }
        output.findings(&self.findings);
        if !args.reconcile && !self.is_read_only {
            warn_not_read_only(output);
        }
        let failures = match self.findings.len() {
            0 if is_nothing_tested(&self.report) => "passes, but nothing was tested".to_owned(),
            0 => "passes".to_owned(),
            count => format!("fails: {}", counted(count, "error")),
        };
        output.note(&format!("The machine {failures}"));
    }

    fn document(&self, args: &ValidateArgs) -> Value {
        let arguments = self.report.arguments.iter();
        let arguments = arguments.map(|(name, value)| (name.to_string(), json!(value.as_str())));
        let mut document = json!({
            "schema_version": 1,
            "status": if self.findings.is_empty() { "passed" } else { "failed" },
            "target": args.target.to_string(),
            "mode": match (args.reconcile, args.prove) {
                (true, _) => "reconcile",
                (false, true) => "prove",
                (false, false) => "test",
            },
            "read_only": !args.reconcile && self.is_read_only,
            "arguments": arguments.collect::<serde_json::Map<_, _>>(),
            "steps": steps_json(&self.report),
            "diagnostics": show::diagnostics_json(&self.findings),
        });
        if let Some(changes) = &self.changes {
            let changes = changes.iter().map(
                |change| json!({"path": change.path.to_string_lossy(), "change": verb(change)}),
            );
            document["changes"] = changes.collect();
        }
        document
    }
}

/// What happens to a path.
fn verb(change: &ChangedPath) -> &'static str {
    match (change.before, change.after) {
        (None, _) => "create",
        (Some(_), None) => "remove",
        (Some(_), Some(_)) => "change",
    }
}

/// Opens a machine.
pub(super) fn open_machine(
    location: &TargetLocation,
    options: &SshOptions,
) -> Result<Arc<dyn Target>> {
    location.open(options).map_err(|error| {
        let is_missing = matches!(&error, TargetError::File(error) if error.is_not_found());
        let mut failure = target_failure(error);
        if is_missing && let TargetLocation::RootFolder(folder) = location {
            let folder = quoted(folder);
            let hints = [
                format!("`mkdir -p {folder}` makes an empty one, which is enough for files and folders"),
                format!(
                    "commands, users and packages need a whole system: `mmdebstrap stable {folder}` makes one of Debian"
                ),
            ];
            for finding in &mut failure.findings {
                finding.hints.extend(hints.clone());
            }
        }
        failure
    })
}

/// The failure of a command that cannot use a machine.
pub(super) fn target_failure(error: TargetError) -> Failure {
    match error {
        TargetError::File(error) => error.into(),
        TargetError::Cancelled => Failure::reported(Exit::Interrupted),
        TargetError::Connection { ref reason, .. } => {
            let finding = Diagnostic::error(Code::MachineUnreachable, error.to_string());
            let hint = connection_hint(reason);
            Failure {
                findings: vec![match hint {
                    Some(hint) => finding.hint(hint),
                    None => finding,
                }],
                exit: Exit::Resource,
            }
        }
        other => Failure::usage(other.to_string()),
    }
}

/// What helps if `ssh` gives this reason.
fn connection_hint(reason: &str) -> Option<&'static str> {
    let hints = [
        (
            "Host key verification failed",
            "connect with `ssh` once and compare the key, or write it into `known_hosts`",
        ),
        (
            "Permission denied",
            "pkgres never asks for a password: use a key, which `ssh-agent` may hold",
        ),
    ];
    let hint = hints.iter().find(|(text, _)| reason.contains(text));
    hint.map(|(_, hint)| *hint)
}
