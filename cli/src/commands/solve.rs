//! What the commands share that solve.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, ReadOptions};
use pkgres_registry_client::{Answer, RegistrySet, drive};
use pkgres_resolver::{
    Engine, Locked, PrereleasePolicy, Request, Resolution, Resolver, Root, SolveOptions,
};
use serde_json::json;

use crate::args::{PolicyArgs, Prerelease, RegistryArgs, SolveArgs, Solver};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::project::Project;
use crate::{registries, show};

/// A request and everything that it is solved with.
pub(crate) struct Problem {
    pub(crate) registries: RegistrySet,
    pub(crate) core: Option<PackageName>,
    pub(crate) request: Request,
}

impl Problem {
    /// To find a resolution for a project.
    pub(crate) fn of_project(
        project: &Project,
        registry: &RegistryArgs,
        policy: &PolicyArgs,
        options: &ReadOptions,
    ) -> Result<Self> {
        let core = registries::core_library(registry)?;
        Ok(Self {
            registries: registries::open(registry, Some(&project.folder), options)?,
            request: Request {
                roots: vec![Root::Package(Box::new(project.package.index_record()))],
                core: core.clone(),
                provided: registries::provided(registry, options)?,
                locked: Locked::default(),
                options: solve_options(policy),
                update: None,
            },
            core,
        })
    }

    /// Solves; says what there is to say about the registries, and, if there is no resolution,
    /// why.
    pub(crate) fn solve(self, output: &mut Output) -> Result<Solved> {
        self.solve_with_registries(output).map(|(solved, _)| solved)
    }

    /// Like [`solve`](Self::solve), for those who go on to ask the registries.
    pub(crate) fn solve_with_registries(
        self,
        output: &mut Output,
    ) -> Result<(Solved, RegistrySet)> {
        let mut resolver = Resolver::new(self.request);
        let answer = drive(&mut resolver, &self.registries, &ReadOptions::default());
        output.findings(&self.registries.take_findings());
        let exit = match answer? {
            Answer::Solved(resolution) => {
                return Ok((Solved::Yes(resolution, self.core), self.registries));
            }
            Answer::Conflict(conflict) => {
                if output.is_json() {
                    output.json(&json!({
                        "schema_version": 1,
                        "status": "conflict",
                        "conflict": show::conflict_json(&conflict),
                    }));
                } else {
                    let text = show::conflict(&conflict, output.is_styled());
                    output.say(&text);
                }
                Exit::Failed
            }
            Answer::GaveUp { steps } => {
                let summary = format!("gave up after {steps} steps without an answer");
                let hint = "`--max-steps` allows more";
                if output.is_json() {
                    output.json(&json!({
                        "schema_version": 1,
                        "status": "gave_up",
                        "conflict": {"summary": summary, "steps": [], "packages": [], "hints": [hint]},
                    }));
                } else {
                    output.findings(&[Diagnostic::error(Code::GaveUp, summary).hint(hint)]);
                }
                Exit::GaveUp
            }
        };
        Ok((Solved::No(exit), self.registries))
    }
}

/// Whether there is a resolution; if not, it was said why.
pub(crate) enum Solved {
    Yes(Box<Resolution>, Option<PackageName>),
    No(Exit),
}

pub(crate) fn solve_options(policy: &PolicyArgs) -> SolveOptions {
    SolveOptions {
        prerelease: match policy.prerelease {
            Prerelease::IfNecessary => PrereleasePolicy::IfNecessary,
            Prerelease::Allow => PrereleasePolicy::Allow,
            Prerelease::Never => PrereleasePolicy::Never,
        },
        single_version: policy.single_version,
        max_steps: policy.max_steps,
        engine: match policy.solver {
            Solver::Native => Engine::Native,
            Solver::Pubgrub => Engine::Pubgrub,
        },
        ..SolveOptions::default()
    }
}

/// Solves the project that the arguments name, with its lockfile unless they say otherwise.
pub(crate) fn solve(args: &SolveArgs, output: &mut Output) -> Result<Solved> {
    let options = ReadOptions::default();
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
    let mut problem = Problem::of_project(project, &args.registry, &args.policy, options)?;
    if !args.ignore_lock
        && let Some(lock) = project.lockfile(options)?
    {
        problem.request.locked = Locked::from_lockfile(&lock);
    }
    problem.solve_with_registries(output)
}
