//! Solves a project with its lockfile, in the lock mode of the command.
//!
//! `--locked` needs a lockfile that is up to date; `--frozen` uses it as it is, without looking at anything else.

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, Lockfile, PackageManifest, PackageName, Version};
use pkgres_registry_client::{RegistrySet, check_lock};
use pkgres_resolver::{LockCheck, Locked, Resolution};

use crate::args::{SolveArgs, WriteArgs};
use crate::capabilities::stale_capabilities;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_owner::require_own_lock;
use crate::lockfile::{lock_missing_in_mode, parse_checked_lock, parse_lock, read_lock_bytes};
use crate::output::Output;
use crate::project::Project;
use crate::read_manifest::{folder_of, manifest_at};
use crate::root::ForeignRoot;
use crate::show;
use crate::solve_task::{ExistingLock, SolveTask};
use crate::yank_reasons::YankReasons;

/// Solves the project of a manifest.
pub(crate) fn solve(
    args: &SolveArgs,
    manifest: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<Box<Resolution>> {
    if args.mode.frozen {
        return Ok(Box::new(read_frozen(args, manifest, context)?));
    }
    let project = Project::open(manifest, context)?;
    let (resolution, _) = solve_project(args, &project, context, output)?;
    Ok(resolution)
}

/// Solves the project of a manifest, and looks up why its releases were yanked.
pub(crate) fn solve_with_reasons(
    args: &SolveArgs,
    manifest: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<(Box<Resolution>, YankReasons)> {
    if args.mode.frozen {
        let resolution = Box::new(read_frozen(args, manifest, context)?);
        return Ok((resolution, YankReasons::default()));
    }
    let project = Project::open(manifest, context)?;
    let (resolution, registries) = solve_project(args, &project, context, output)?;
    let reasons = YankReasons::of_resolution(&resolution, &registries);
    Ok((resolution, reasons))
}

/// Solves a project, and returns the registries as well.
pub(crate) fn solve_project(
    args: &SolveArgs,
    project: &Project,
    context: &Context,
    output: &mut Output,
) -> Result<(Box<Resolution>, RegistrySet)> {
    task_with_lock(args, project, context, output)?.solve_with_registries(context, output)
}

/// The task of a project and its lockfile, which `--locked` checks first.
pub(crate) fn task_with_lock(
    args: &SolveArgs,
    project: &Project,
    context: &Context,
    output: &mut Output,
) -> Result<SolveTask> {
    let mut task = SolveTask::of_project(project, context)?;
    if args.mode.locked {
        reject_ignore_lock(args, "locked", context)?;
        let mode = show::locked_mode(context);
        require_current_lock(project, &task, &mode, context, output)?;
    }
    if !args.ignore_lock
        && let Some(lock) = project.lockfile(context)?
    {
        task.request.locked = Locked::from_lockfile(&lock);
        let command = context.invocation.command("lock");
        let remark = format!(
            "The lockfile is out of date: this is the resolution that `{command}` would write"
        );
        task.existing_lock = Some(ExistingLock { lock, remark });
    }
    Ok(task)
}

/// Fails if there is no lockfile, or if it is out of date. `mode` is the end of the message: why that matters.
pub(crate) fn require_current_lock(
    project: &Project,
    task: &SolveTask,
    mode: &str,
    context: &Context,
    output: &mut Output,
) -> Result<()> {
    let path = project.lock_path();
    let Some(bytes) = read_lock_bytes(&path, context)? else {
        return Err(lock_missing_in_mode("locked", &project.manifest, context));
    };
    let lock = parse_checked_lock(&path, &bytes, context)?;
    let check = LockCheck::new(task.request.clone(), lock.clone());
    let progress = output.progress("Checking the lockfile", context.registries.activity());
    let report = check_lock(check, &task.registries, &context.read_options);
    drop(progress);
    let mut report = report?;
    output.registry_findings(&task.registries.take_findings());
    if report.stale.is_empty() {
        report.stale = stale_capabilities(&lock, project, &task.registries, context)?;
    }
    if report.stale.is_empty() {
        return Ok(());
    }
    Err(Failure {
        findings: show::staleness(&report.stale, mode, context),
        exit: Exit::of_lock_check(&report.stale),
    })
}

/// Rejects `--ignore-lock` in a mode that needs the lockfile. The grammar excludes both flags, but a setting can set
/// the mode as well.
fn reject_ignore_lock(args: &SolveArgs, mode: &str, context: &Context) -> Result<()> {
    if !args.ignore_lock {
        return Ok(());
    }
    let from = context.settings.from(mode);
    Err(Failure::usage(format!(
        "`--ignore-lock` cannot be used with `--{mode}`{from}"
    )))
}

/// The resolution in the lockfile, for `--frozen`. The manifest is only read for the version of the root. If there is
/// none, the root has no version.
pub(crate) fn read_frozen(
    args: &SolveArgs,
    manifest: &Path,
    context: &Context,
) -> Result<Resolution> {
    reject_ignore_lock(args, "frozen", context)?;
    if context.certificate.is_some() {
        let from = context.settings.from("frozen");
        return Err(Failure::usage(format!(
            "`--certificate` needs a search, and `--frozen`{from} does not search"
        )));
    }
    let path = folder_of(manifest).join(LOCK_FILE);
    let Some(bytes) = read_lock_bytes(&path, context)? else {
        let manifest = match ForeignRoot::find(manifest, context.ecosystem, &context.read_options)?
        {
            Some(foreign) => Project::foreign(foreign).manifest,
            None => manifest_at(manifest),
        };
        return Err(lock_missing_in_mode("frozen", &manifest, context));
    };
    let lock = parse_lock(&path, &bytes, context)?;
    if let Some(foreign) = ForeignRoot::find(manifest, context.ecosystem, &context.read_options)? {
        let project = Project::foreign(foreign);
        require_own_lock(&project, lock.roots.keys(), context)?;
        let record = project.record();
        let version = project.is_release().then_some(&record.version);
        return frozen_resolution(&lock, &record.name, version, context);
    }
    let options = &context.read_options;
    let manifest = manifest_at(manifest);
    let manifest = match read_file(&manifest, options.limits.manifest_bytes, Follow::Links) {
        Ok(bytes) => {
            let shown = manifest.to_string_lossy();
            let read = PackageManifest::read(&shown, &bytes, options);
            Some(read.into_result()?.0)
        }
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let mut roots = lock.roots.keys();
    match (manifest, roots.next(), roots.next()) {
        (Some(manifest), ..) => {
            let version = Some(&manifest.version);
            frozen_resolution(&lock, &manifest.name.value, version, context)
        }
        (None, Some(root), None) => frozen_resolution(&lock, root, None, context),
        (None, ..) => Err(Failure::usage(
            "the lockfile has several roots: name the manifest of one",
        )),
    }
}

/// The resolution in a lockfile that was read.
fn frozen_resolution(
    lock: &Lockfile,
    root: &PackageName,
    version: Option<&Version>,
    context: &Context,
) -> Result<Resolution> {
    Resolution::from_lockfile(lock, root, version).map_err(|error| {
        let hint = format!("run `{}` to update it", context.invocation.command("lock"));
        Failure {
            findings: vec![Diagnostic::error(Code::LockStale, error.to_string()).hint(hint)],
            exit: Exit::Failed,
        }
    })
}

/// Rejects a command that changes the lockfile in a mode that does not allow it.
pub(crate) fn reject_lock_modes(command: &str, write: &WriteArgs, context: &Context) -> Result<()> {
    for (is_set, mode) in [(write.locked, "locked"), (write.frozen, "frozen")] {
        if is_set {
            let from = context.settings.from(mode);
            let message =
                format!("`pkgres {command}` changes the lockfile, but `--{mode}` is set{from}");
            let finding = Diagnostic::error(Code::Usage, message);
            return Err(finding.hint(without_lock_mode(mode, context)).into());
        }
    }
    Ok(())
}

/// The failure of something that cannot be done from the lockfile alone. `needs` says what it needs.
pub(crate) fn frozen_lacks(needs: &str, context: &Context) -> Failure {
    let from = context.settings.from("frozen");
    let message = format!("{needs}, which `--frozen`{from} does not read");
    let finding = Diagnostic::error(Code::Usage, message);
    finding.hint(without_lock_mode("frozen", context)).into()
}

/// A hint about how to run a command without a mode that is set, `locked` or `frozen`.
pub(crate) fn without_lock_mode(mode: &str, context: &Context) -> String {
    format!("run it {}", context.settings.run_without(mode))
}
