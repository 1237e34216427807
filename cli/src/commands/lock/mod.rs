//! `pkgres lock`

mod agreement;
mod check;
mod proposal;
mod stale_members;
mod together;

use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use serde_json::json;

pub(super) use self::agreement::{
    Agreement, agree, agree_with, joint_task, locking_task, stabilize,
};
pub(super) use self::check::note_skipped_registries;
pub(super) use self::proposal::{AgreedReleases, LockOptions};
use self::proposal::{Proposal, allow_only, propose};
pub(super) use self::stale_members::{LockedFolders, stale_members};
pub(super) use self::together::AgreedLocks;
use crate::args::{Command, LockArgs};
use crate::command_line::CommandLine;
use crate::commands::several_projects::{Batch, Change, own_settings};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::lockfile::{LockText, write_lock};
use crate::output::Output;
use crate::project::{Project, read_manifest};
use crate::read_manifest::{folder_of, locked_folders};
use crate::root::ForeignRoot;
use crate::show;
use crate::solve::without_lock_mode;
use crate::solve_task::SolveTask;
use crate::write_together::Writing;

pub(super) fn run(args: &LockArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.frozen {
        let from = context.settings.from("frozen");
        let message = if args.check {
            format!("`--check` needs the registries, which `--frozen`{from} does not read")
        } else {
            format!("`--frozen` is set{from}: the lockfile must not change")
        };
        let finding = Diagnostic::error(Code::Usage, message);
        return Err(finding.hint(without_lock_mode("frozen", context)).into());
    }
    if args.locked && (args.dry_run || args.ignore_lock || args.accept_changed) {
        let from = context.settings.from("locked");
        let message = format!("`--locked` is set{from}: the lockfile must not change");
        let finding = Diagnostic::error(Code::Usage, message);
        return Err(finding.hint(without_lock_mode("locked", context)).into());
    }
    let below = projects_below(args, context)?;
    match args.manifest.as_slice() {
        _ if !below.is_empty() => {
            let batch = if args.one_solve {
                Batch::new(&below, true, context)?
            } else {
                Batch::with_own_settings(&below, context)?
            };
            lock_batch(args, batch, context, output)
        }
        _ if is_check_of_workspace(args, context)? => {
            lock_batch(args, Batch::of_workspace(context)?, context, output)
        }
        named => match (with_members(args, named, context)?, named) {
            (Some(batch), _) => lock_batch(args, batch, context, output),
            (None, [manifest]) if !args.workspace => {
                let writing = Writing::at_once_unless(args.dry_run);
                lock_one(
                    args,
                    manifest,
                    None,
                    &LockedFolders::default(),
                    writing,
                    context,
                    output,
                )
            }
            (None, _) => lock_all(args, context, output),
        },
    }
}

/// The projects that the command line names with the members that are solved together with them; `None` if they are
/// locked by themselves. A check is about the named lockfiles only.
fn with_members(args: &LockArgs, named: &[PathBuf], context: &Context) -> Result<Option<Batch>> {
    if args.workspace || args.is_check() {
        return Ok(None);
    }
    let mut together = None;
    let mut others = Vec::new();
    for manifest in named {
        match Batch::solved_with(manifest, context)? {
            Some(batch) => together = Some(batch),
            None => others.push(manifest.clone()),
        }
    }
    let Some(mut batch) = together else {
        return Ok(None);
    };
    let others = Batch::new(&others, false, context)?.manifests;
    if args.one_solve {
        batch.manifests.extend(others);
    } else {
        batch.apart = others;
    }
    Ok(Some(batch))
}

impl LockArgs {
    /// Whether lockfiles are checked instead of written.
    fn is_check(&self) -> bool {
        self.check || self.locked
    }

    fn options(&self) -> LockOptions {
        LockOptions {
            ignore_lock: self.ignore_lock,
            accept_changed: self.accept_changed,
        }
    }
}

/// Locks several projects, or checks their lockfiles.
fn lock_all(args: &LockArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let batch = if args.workspace {
        Batch::of_workspace(context)?
    } else {
        Batch::new(&args.manifest, false, context)?
    };
    lock_batch(args, batch, context, output)
}

/// Whether lockfiles are checked at the root of a repository: no project is named, and none is here.
fn is_check_of_root(args: &LockArgs, context: &Context) -> bool {
    let names_projects = args.workspace || context.invocation.names_project();
    // Without a name, the only manifest is the one here or above.
    let has_manifest = args.manifest.iter().any(|manifest| manifest.exists());
    args.is_check() && !names_projects && !has_manifest
}

/// Whether the lockfiles of all members are checked because the run is at the root of their workspace.
fn is_check_of_workspace(args: &LockArgs, context: &Context) -> Result<bool> {
    Ok(is_check_of_root(args, context) && context.workspace()?.is_some())
}

/// The projects with lockfiles below this folder, for a check at the root of a repository: one that names no project,
/// where there is neither a manifest nor a workspace.
fn projects_below(args: &LockArgs, context: &Context) -> Result<Vec<PathBuf>> {
    if !is_check_of_root(args, context) || context.workspace()?.is_some() {
        return Ok(Vec::new());
    }
    // A lockfile without a manifest fails: it would be left unchecked without notice.
    let mut projects = locked_folders()?;
    // The project here is the one that is checked by default.
    if projects.iter().all(|folder| folder == Path::new("")) {
        projects.clear();
    }
    Ok(projects.iter().map(|folder| path_of(folder)).collect())
}

/// A path that a message can show: `.` for the current folder.
fn path_of(folder: &Path) -> PathBuf {
    if folder == Path::new("") {
        PathBuf::from(".")
    } else {
        folder.to_owned()
    }
}

/// Locks the projects of a batch, or checks their lockfiles.
fn lock_batch(
    args: &LockArgs,
    mut batch: Batch,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    batch.one_solve |= args.one_solve;
    let apart = std::mem::take(&mut batch.apart);
    let agreement = if batch.one_solve && !batch.manifests.is_empty() {
        Some(agree(&batch.manifests, &args.options(), context, output)?)
    } else {
        None
    };
    let agreed = agreement.as_ref().map(|agreement| &agreement.releases);
    // Hints name the project, or all that are solved together.
    let together = match &agreed {
        Some(_) => Some(context.for_all(&batch.manifests)?),
        None => None,
    };
    let names_projects = context.invocation.names_project();
    batch.manifests.extend(apart.iter().cloned());
    let all = &LockedFolders::of(&batch.manifests);
    let lock = |manifest: &Path, writing: Writing<'_>, output: &mut Output| {
        if own_settings(manifest, context)?.is_none() {
            return match &together {
                Some(context) if !apart.iter().any(|one| one == manifest) => {
                    lock_one(args, manifest, agreed, all, writing, context, output)
                }
                _ if names_projects => {
                    lock_one(args, manifest, None, all, writing, context, output)
                }
                _ => lock_one(
                    args,
                    manifest,
                    None,
                    all,
                    writing,
                    &context.for_one(manifest),
                    output,
                ),
            };
        }
        let (own, context) = CommandLine::for_project(context, &folder_of(manifest))?;
        let context = context.for_one(manifest);
        match &own.command {
            Command::Lock(own) => lock_one(own, manifest, None, all, writing, &context, output),
            _ => unreachable!("the command is that of the run"),
        }
    };
    let change = Change {
        is_dry_run: args.dry_run || args.is_check(),
        // Lockfiles of projects that are solved together are all written, or none.
        needs_all: together.is_some(),
    };
    let outcomes = batch.write("Locking", &change, &[], lock, output)?;
    let is_written = !args.dry_run && (!change.needs_all || outcomes.are_all_done());
    let result = batch.report(outcomes, output);
    let exit = result.exit;
    let resolution = agreement.map(|agreement| agreement.resolution);
    if output.is_json() {
        let mut document = result.into_json();
        if let Some(resolution) = resolution {
            document["side_by_side"] = json!(show::side_by_side_json(&resolution));
        }
        output.json(&document);
        return Ok(exit);
    }
    let resolution = resolution.iter();
    output.notes(resolution.flat_map(|resolution| show::side_by_side(resolution, context)));
    output.note(&if args.is_check() {
        result.summary_of_reading("Checked")
    } else if is_written {
        result.summary_of_writing("Locked")
    } else {
        result.summary_of_reading("Looked at")
    });
    Ok(exit)
}

/// Locks a project, or checks its lockfile. `agreed` are the releases that several projects agreed on, if they were
/// solved together, and `locked` has the projects of the run.
fn lock_one(
    args: &LockArgs,
    manifest: &Path,
    agreed: Option<&AgreedReleases>,
    locked: &LockedFolders,
    writing: Writing<'_>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let project = if let Some(foreign) =
        ForeignRoot::find(manifest, context.ecosystem, &context.read_options)?
    {
        let project = Project::foreign(foreign);
        if args.is_check() {
            return check::check_foreign(args, &project, context, output);
        }
        project
    } else {
        let manifest_file = read_manifest(manifest, context)?;
        if args.is_check() {
            return check::check(args, manifest, manifest_file, agreed, context, output);
        }
        let package = manifest_file.parse(&context.read_options, |_, _| {})?;
        Project::new(manifest_file, package, context)
    };
    let mut task = SolveTask::of_project(&project, context)?;
    if let Some(agreed) = agreed {
        allow_only(agreed, &mut task);
        // Solving all projects together reported them.
        task.warnings.clear();
    }
    let options = args.options();
    let proposal = propose(&project, task, &options, agreed, context, output)?;
    let others = stale_members(&project, locked, true, context)?;
    write(&project, proposal, writing, others, context, output)
}

/// Locks a project with the releases that all projects agreed on.
pub(super) fn lock_agreed(
    manifest: &Path,
    agreement: &Agreement,
    writing: Writing<'_>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let project = Project::open(manifest, context)?;
    let mut task = SolveTask::of_project(&project, context)?;
    task.warnings.clear();
    allow_only(&agreement.releases, &mut task);
    let agreed = Some(&agreement.releases);
    let options = LockOptions::default();
    let proposal = propose(&project, task, &options, agreed, context, output)?;
    write(&project, proposal, writing, None, context, output)
}

/// Writes a proposed lockfile if it differs from the previous one, and reports the changes. `others` is a note about
/// other members of the workspace.
fn write(
    project: &Project,
    proposal: Proposal,
    writing: Writing<'_>,
    others: Option<String>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let Proposal {
        previous,
        resolution,
        lock,
        yank_reasons,
    } = proposal;
    let written = write_lock(
        &project.lock_path(),
        &LockText::new(&lock, &context.read_options)?,
        previous.bytes.as_deref(),
        writing,
        &context.read_options,
    )?;
    let diff = previous.diff(&lock);
    let mut notes = show::notes_on_agreed(&resolution, &yank_reasons, &previous.locked(), context);
    if output.is_json() {
        let mut document = written.to_json(&diff);
        notes.extend(others);
        document["notes"] = notes.into();
        output.json(&document);
        return Ok(Exit::Done);
    }
    output.notes(show::changes(&previous.shown_diff(diff)));
    output.shared_notes(notes);
    output.note(&written.summary(resolution.len(), 0));
    output.notes(others);
    Ok(Exit::Done)
}
