//! `pkgres lock`

mod agreement;
mod check;
mod proposal;
mod workspace;
mod written;

pub(crate) use agreement::{Agreement, agree, agree_otherwise, settle};
pub(crate) use proposal::Agreed;
pub(crate) use written::{LockText, Written, write_lock};

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, ReadOptions, Version};

use self::proposal::{Proposal, propose};
use crate::args::LockArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::given;
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

/// Locks the part of a project in what all agreed on, which is to have what was agreed of the packages that
/// were `named` to the command with these `words`.
pub(crate) fn lock_agreed(
    args: &LockArgs,
    manifest: &Path,
    agreement: &Agreement,
    named: &BTreeSet<PackageName>,
    words: &str,
    output: &mut Output,
) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let project = Project::open(manifest, &options)?;
    let mut problem = Problem::of_project(&project, &args.registry, &args.policy, &options)?;
    problem.warnings.clear();
    let agreed = Some(&agreement.releases);
    let proposal = match propose(&project, problem, args, agreed, &options, output)? {
        Ok(proposal) => proposal,
        Err(exit) => return Ok(exit),
    };
    // Where releases stand side by side for the sake of others, a project by itself may do without.
    let is_other = |release: &&(PackageName, Version)| {
        named.contains(&release.0) && !agreement.releases.contains(*release)
    };
    if let Some((name, version)) = proposal.lock.packages.keys().find(is_other) {
        let command = given::command_on(words, manifest);
        return Err(takes_another(&project, name, version, &command));
    }
    put(&project, proposal, args, &options, output)
}

/// A project by itself takes a release that is not what all agreed on.
fn takes_another(
    project: &Project,
    name: &PackageName,
    version: &Version,
    command: &str,
) -> Failure {
    let message = format!(
        "all together could move `{name}`, but {} by itself takes {name} {version}",
        project.package.name()
    );
    let finding = Diagnostic::error(Code::LockStale, message)
        .hint(format!("`{command}` is about this project alone"));
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

/// Solves and writes the lockfile.
fn write(
    project: &Project,
    problem: Problem,
    args: &LockArgs,
    agreed: Option<&Agreed>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    match propose(project, problem, args, agreed, options, output)? {
        Ok(proposal) => put(project, proposal, args, options, output),
        Err(exit) => Ok(exit),
    }
}

/// Writes what would be locked, unless the lockfile would stay as it is.
fn put(
    project: &Project,
    proposal: Proposal,
    args: &LockArgs,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
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
