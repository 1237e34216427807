//! What the commands share that solve.

use pkgres_manifest::{PackageName, ReadOptions};
use pkgres_registry_client::{Answer, RegistrySet, drive};
use pkgres_resolver::{Locked, PrereleasePolicy, Request, Resolution, Resolver, SolveOptions};
use serde_json::json;

use crate::args::{PolicyArgs, Prerelease, RegistryArgs, SolveArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::project::Project;
use crate::{registries, show};

/// A project and everything that it is solved with.
pub(crate) struct Problem {
    pub(crate) project: Project,
    pub(crate) registries: RegistrySet,
    pub(crate) core: Option<PackageName>,
    pub(crate) request: Request,
}

impl Problem {
    pub(crate) fn open(
        manifest: &std::path::Path,
        registry: &RegistryArgs,
        policy: &PolicyArgs,
        options: &ReadOptions,
    ) -> Result<Self> {
        let project = Project::open(manifest, options)?;
        let registries = registries::open(registry, Some(&project.folder), options)?;
        let core = registries::core_library(registry)?;
        let request = Request {
            roots: vec![project.record.clone()],
            core: core.clone(),
            provided: registries::provided(registry, options)?,
            locked: Locked::default(),
            options: solve_options(policy),
        };
        Ok(Self {
            project,
            registries,
            core,
            request,
        })
    }

    /// Solves; says what there is to say about the registries, and, if there is no resolution,
    /// why.
    pub(crate) fn solve(self, output: &mut Output) -> Result<Solved> {
        let mut resolver = Resolver::new(self.request);
        let answer = drive(&mut resolver, &self.registries);
        output.findings(&self.registries.take_findings());
        match answer? {
            Answer::Solved(resolution) => Ok(Solved::Yes(resolution, self.core)),
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
                Ok(Solved::No(Exit::Failed))
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
                    use pkgres_manifest::diagnostic::{Code, Diagnostic};
                    output.findings(&[Diagnostic::error(Code::GaveUp, summary).hint(hint)]);
                }
                Ok(Solved::No(Exit::GaveUp))
            }
        }
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
    }
}

/// Solves the project that the arguments name, with its lockfile unless they say otherwise.
pub(crate) fn solve(args: &SolveArgs, output: &mut Output) -> Result<Solved> {
    let options = ReadOptions::default();
    let mut problem = Problem::open(&args.manifest, &args.registry, &args.policy, &options)?;
    if !args.ignore_lock
        && let Some(lock) = problem.project.lockfile(&options)?
    {
        problem.request.locked = Locked::from_lockfile(&lock);
    }
    problem.solve(output)
}
