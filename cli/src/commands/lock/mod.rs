//! `pkgres lock`

mod agreement;
mod check;
mod proposal;
mod workspace;
mod written;

pub(crate) use agreement::{Agreement, agree, agree_otherwise};
pub(crate) use written::{LockText, Written, write_lock};

use std::path::Path;

use pkgres_manifest::ReadOptions;

use self::proposal::{Agreed, Proposal, propose};
use crate::args::LockArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::problem::Problem;
use crate::project::{Found, Project};
use crate::registries;
use crate::settings;
use crate::show;

pub(crate) fn run(args: &LockArgs, output: &mut Output) -> Result<Exit> {
    if args.frozen {
        let from = settings::current().from("frozen");
        return Err(Failure::usage(format!(
            "`--frozen` is set{from}: the lockfile is to be taken as it is"
        )));
    }
    if args.locked && (args.dry_run || args.ignore_lock || args.accept_changed) {
        let from = settings::current().from("locked");
        return Err(Failure::usage(format!(
            "`--locked` is set{from}: the lockfile is not to change"
        )));
    }
    if let [manifest] = args.manifest.as_slice()
        && !args.workspace
    {
        return lock_one(args, manifest, None, output);
    }
    workspace::lock_all(args, output, |manifest, agreed, output| {
        lock_one(args, manifest, agreed, output)
    })
}

/// Locks a project, or checks its lockfile. Where several projects were solved together, `agreed` is
/// what they agreed on.
fn lock_one(
    args: &LockArgs,
    manifest: &Path,
    agreed: Option<&Agreed>,
    output: &mut Output,
) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let found = Found::at(manifest, &options)?;
    if args.check || args.locked {
        return check::check(args, manifest, found, agreed, &options, output);
    }
    let project = found.read(&options, |_, _| {})?;
    let mut problem = Problem::of_project(&project, &args.registry, &args.policy, &options)?;
    if agreed.is_some() {
        // All were told of before, when they were solved together.
        problem.warnings.clear();
    }
    write(&project, problem, args, agreed, &options, output)
}

/// Locks the part of a project in what all agreed on.
pub(crate) fn lock_agreed(
    args: &LockArgs,
    manifest: &Path,
    agreement: &Agreement,
    output: &mut Output,
) -> Result<Exit> {
    lock_one(args, manifest, Some(&agreement.releases), output)
}

/// Solves and writes the lockfile, unless it would stay as it is.
fn write(
    project: &Project,
    problem: Problem,
    args: &LockArgs,
    agreed: Option<&Agreed>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    let proposal = match propose(project, problem, args, agreed, options, output)? {
        Ok(proposal) => proposal,
        Err(exit) => return Ok(exit),
    };
    let Proposal {
        earlier,
        resolution,
        lock,
    } = proposal;
    let text = LockText::of(&lock, options)?;
    let written = write_lock(
        project,
        &text,
        earlier.bytes.as_deref(),
        args.dry_run,
        options,
    )?;
    let diff = earlier.diff(&lock);
    if output.is_json() {
        let mut answer = written.answer(&diff);
        answer["notes"] = show::notes(&resolution).into();
        output.json(&answer);
        return Ok(Exit::Done);
    }
    output.notes(show::changes(&earlier.news(diff)));
    output.notes(show::notes(&resolution));
    output.note(&written.summary(resolution.len(), 0));
    Ok(Exit::Done)
}
