//! `pkgres fetch` and `pkgres verify`

use std::path::Path;

use pkgres_manifest::Lockfile;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::{ReceivedArtifact, check_lock, solve};
use pkgres_resolver::{LockCheck, Locked};
use serde_json::json;

use super::locked_artifacts::{WithoutDigest, fetch_locked, locked_project};
use crate::args::LockedArgs;
use crate::commands::members::Projects;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::project::Project;
use crate::show::counted;
use crate::solve_task::SolveTask;

pub(super) fn fetch(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let hint = if args.registry.no_cache {
        let from = context.settings.from("no-cache");
        format!("run it without `--no-cache`{from}, or use `pkgres verify`, which keeps nothing")
    } else if context.registries.cache_folder().is_none() {
        context.registries.cache_hint().to_owned()
    } else {
        "PKGRES_CACHE names another folder for the cache".to_owned()
    };
    // What is fetched is there afterwards: without the network, the next command finds it.
    let keep = |received: &ReceivedArtifact| {
        let Some(reason) = &received.not_kept else {
            return Ok(());
        };
        let message = format!("not kept in the cache: {}", reason.message);
        Err(Diagnostic::error(reason.code, message).hint(&hint).into())
    };
    let projects = Projects::of(&args.members, &args.manifest, context)?;
    let task = Task::Fetch;
    projects.run(task.verbs(), context, output, |manifest, output| {
        fetch_project(args, manifest, task, &keep, context, output)
    })
}

pub(super) fn verify(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let projects = Projects::of(&args.members, &args.manifest, context)?;
    let task = Task::Verify;
    projects.run(task.verbs(), context, output, |manifest, output| {
        fetch_project(args, manifest, task, &|_| Ok(()), context, output)
    })
}

/// What a command does with the artifacts of a lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Fetch,
    Verify,
}

impl Task {
    /// The beginnings of the sentences about a run that goes on, and one that is done.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Fetch => ("Fetching", "Fetched"),
            Self::Verify => ("Verifying", "Verified"),
        }
    }

    /// The status of the JSON document of a run that is done.
    fn status(self) -> &'static str {
        match self {
            Self::Fetch => "fetched",
            Self::Verify => "verified",
        }
    }
}

/// Reads what the registries on the network know of the locked releases, unless the cache has it, which it does
/// afterwards: commands that check a lockfile or resolve with it work `--offline` then.
fn read_index(
    project: &Project,
    lock: &Lockfile,
    context: &Context,
    output: &mut Output,
) -> Result<()> {
    let registries = project.registries(context)?;
    let mut locations = registries.iter().map(|registry| &registry.location);
    if !locations.any(|location| location.address().is_some()) {
        return Ok(());
    }
    let read = |task: SolveTask| {
        let SolveTask {
            registries,
            mut request,
            ..
        } = task;
        // Whether the lockfile is up to date does not matter here, only what has to be read to find out.
        let (check, options) = (
            LockCheck::new(request.clone(), lock.clone()),
            &context.read_options,
        );
        check_lock(check, &registries, options)?;
        request.locked = Locked::from_lockfile(lock);
        solve(request, &registries, options).map(drop)
    };
    match read(SolveTask::of_project_offline(project, context)?) {
        Err(error) if error.to_diagnostic().code == Code::Offline => {
            let task = SolveTask::of_project(project, context)?;
            let activity = context.registries.activity();
            Ok(output.during("Reading the index", activity, || read(task))?)
        }
        cached => Ok(cached?),
    }
}

/// Fetches the artifacts of one project, which verifies their digests; `check` decides whether one is enough.
fn fetch_project(
    args: &LockedArgs,
    manifest: &Path,
    task: Task,
    check: &(dyn Fn(&ReceivedArtifact) -> Result<()> + Sync),
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let (project, lock) = locked_project(args, manifest, context, output)?;
    let counted_only = WithoutDigest::Counted;
    let on_artifact = |_: &_, received: ReceivedArtifact| check(&received);
    let fetched = fetch_locked(&project, &lock, counted_only, context, output, on_artifact)?;
    if task == Task::Fetch {
        read_index(&project, &lock, context, output)?;
    }
    let without = fetched.without_digest.len();
    let count = fetched.packages - without;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": task.status(),
            "packages": count,
            "without_digest": without,
        }));
    }
    let rest = match without {
        0 => String::new(),
        without => format!("; {} without a digest", counted(without, "package")),
    };
    let with = counted(count, "package");
    let (_, done) = task.verbs();
    output.note(&format!("{done} {with}{rest}"));
    Ok(Exit::Done)
}
