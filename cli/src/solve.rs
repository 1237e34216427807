//! Solving for a project with its lockfile, in the mode that is set.

use pkgres_manifest::ReadOptions;
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::Locked;

use crate::args::SolveArgs;
use crate::failure::Result;
use crate::lock_modes::{refuse_ignored_lock, require_fitting_lock, take_frozen};
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::Project;
use crate::registries;

/// Solves the project that the arguments name, with its lockfile unless they say otherwise.
pub(crate) fn solve(args: &SolveArgs, output: &mut Output) -> Result<Solved> {
    let options = registries::read_options(&args.registry)?;
    if args.mode.frozen {
        let resolution = take_frozen(args, &options)?;
        let core = registries::core_library(&args.registry)?;
        return Ok(Solved::Yes(Box::new(resolution), core));
    }
    let project = Project::open(&args.manifest, &options)?;
    solve_project(args, &project, &options, output).map(|(solved, _)| solved)
}

/// Likewise for a project that was opened, and gives the registries back.
pub(crate) fn solve_project(
    args: &SolveArgs,
    project: &Project,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<(Solved, RegistrySet)> {
    problem_with_lock(args, project, options, output)?.solve_with_registries(output)
}

/// The problem of a project and its lockfile, which has to fit if the mode says so.
pub(crate) fn problem_with_lock(
    args: &SolveArgs,
    project: &Project,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Problem> {
    let mut problem = Problem::of_project(project, &args.registry, &args.policy, options)?;
    if args.mode.locked {
        refuse_ignored_lock(args, "locked")?;
        require_fitting_lock(project, &problem, options, output)?;
    }
    if !args.ignore_lock
        && let Some(lock) = project.lockfile(options)?
    {
        problem.request.locked = Locked::from_lockfile(&lock);
        problem.shown_for = Some(lock);
    }
    Ok(problem)
}
