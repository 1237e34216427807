//! What is to be solved for a project, and with what.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LockDiff, Lockfile, Package, PackageName, ReadOptions};
use pkgres_registry_client::{Answer, RegistrySet, drive};
use pkgres_resolver::{
    Conflict, Engine, Locked, Preference, PrereleasePolicy, Request, Resolution, Resolver, Root,
    SolveOptions,
};
use serde_json::json;

use crate::args::{PolicyArgs, Prefer, Prerelease, RegistryArgs, Solver};
use crate::cutoff::cutoff;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::{given, members, registries, show};

/// A request and everything that it is solved with.
pub(crate) struct Problem {
    pub(crate) registries: RegistrySet,
    pub(crate) core: Option<PackageName>,
    pub(crate) request: Request,
    /// Where the registries are, as they could be written.
    pub(crate) searched: Vec<String>,
    /// Whether releases may have other digests than those that are locked.
    pub(crate) accept_changed: bool,
    /// The root with its files, which a conflict can be about.
    pub(crate) root: Option<Arc<Package>>,
    /// The lockfile that what is found is shown in place of, if there is one.
    pub(crate) shown_for: Option<Lockfile>,
    /// What there is to say about the roots.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Problem {
    /// To find a resolution for a project.
    pub(crate) fn of_project(
        project: &Project,
        registry: &RegistryArgs,
        policy: &PolicyArgs,
        options: &ReadOptions,
    ) -> Result<Self> {
        let problem = Self::in_folder(&project.folder, registry, policy, options)?;
        problem.with_root(project, options)
    }

    /// All of the problem of the project in a folder that does not depend on what the project is.
    pub(crate) fn in_folder(
        folder: &Path,
        registry: &RegistryArgs,
        policy: &PolicyArgs,
        options: &ReadOptions,
    ) -> Result<Self> {
        let core = registries::core_library(registry)?;
        let locations = registries::locations(registry, Some(folder))?;
        Ok(Self {
            registries: registries::open_all(&locations, registry, options)?,
            searched: locations.iter().map(ToString::to_string).collect(),
            request: Request {
                roots: Vec::new(),
                core: core.clone(),
                provided: registries::provided(registry, options)?,
                locked: Locked::default(),
                overrides: registries::overriding_specs()?,
                options: solve_options(policy)?,
                update: None,
            },
            core,
            accept_changed: false,
            root: None,
            shown_for: None,
            warnings: Vec::new(),
        })
    }

    /// The problem of this project.
    pub(crate) fn with_root(mut self, project: &Project, options: &ReadOptions) -> Result<Self> {
        self.root = Some(Arc::clone(&project.package));
        self.add_root(project, options)?;
        Ok(self)
    }

    /// Adds a root, and what it requires of the workspace.
    pub(crate) fn add_root(&mut self, project: &Project, options: &ReadOptions) -> Result<()> {
        if let Some(members) = members::required_by(project, options)? {
            self.registries.prefer(Box::new(members));
        }
        let misspelt = project.package.manifest.misspelt_key_findings();
        self.warnings.extend(misspelt);
        let record = project.package.index_record();
        self.request.roots.push(Root::Package(Box::new(record)));
        Ok(())
    }

    /// Solves; says what there is to say about the registries, and, if there is no resolution,
    /// why.
    pub(crate) fn solve(self, output: &mut Output) -> Result<Solved> {
        self.solve_with_registries(output).map(|(solved, _)| solved)
    }

    /// Searches, and gives the registries back; says what there is to say about them, and that the
    /// search gave up, if it did.
    pub(crate) fn search(self, output: &mut Output) -> Result<(Searched, RegistrySet)> {
        output.findings(&self.warnings);
        let is_alone = self.request.roots.len() == 1;
        let mut resolver = Resolver::new(self.request);
        let options = ReadOptions::with_core(self.core);
        let progress = output.progress("Resolving");
        let answer = drive(&mut resolver, &self.registries, &options);
        drop(progress);
        output.findings(&self.registries.take_findings());
        let searched = match answer? {
            Answer::Solved(resolution) => {
                if !self.accept_changed {
                    refuse_changed(&resolution)?;
                }
                if let Some(lock) = &self.shown_for
                    && let Ok(found) = resolution.to_lockfile()
                    && !LockDiff::between(lock, &found).is_empty()
                {
                    let command = given::command("lock");
                    output.note(&format!(
                        "The lockfile is out of date: this is not what it holds, but what `{command}` would write"
                    ));
                }
                Searched::Solved(resolution)
            }
            Answer::Conflict(mut conflict) => {
                if let Some(root) = &self.root {
                    conflict.locate_classes(root);
                    if is_alone {
                        show::add_commands(&mut conflict, root.name());
                    }
                }
                // A registry that cannot be read does not make the conflict another one.
                let _ = self.registries.advise(&mut conflict);
                let hint = show::core_hint(&conflict, options.core.as_ref());
                conflict.hints.extend(hint);
                Searched::Conflict(conflict)
            }
            Answer::Cancelled => unreachable!("an interrupt ends the whole process"),
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
                Searched::GaveUp
            }
        };
        Ok((searched, self.registries))
    }

    /// Like [`solve`](Self::solve), for those who go on to ask the registries.
    pub(crate) fn solve_with_registries(
        mut self,
        output: &mut Output,
    ) -> Result<(Solved, RegistrySet)> {
        let core = self.core.clone();
        let places = std::mem::take(&mut self.searched);
        let (searched, registries) = self.search(output)?;
        let solved = match searched {
            Searched::Solved(resolution) => Solved::Yes(resolution, core),
            Searched::Conflict(conflict) => {
                if output.is_json() {
                    output.json(&show::conflict_answer(&conflict));
                } else {
                    let text = show::conflict(&conflict, &places, output.is_styled());
                    output.say(&text);
                }
                Solved::No(Exit::Failed)
            }
            Searched::GaveUp => Solved::No(Exit::GaveUp),
        };
        Ok((solved, registries))
    }
}

/// What a search found.
pub(crate) enum Searched {
    Solved(Box<Resolution>),
    Conflict(Box<Conflict>),
    /// Nothing in time, as was said.
    GaveUp,
}

/// Refuses a resolution in which a release has other content than what was locked.
fn refuse_changed(resolution: &Resolution) -> Result<()> {
    let mut findings: Vec<Diagnostic> = resolution
        .artifact_changes()
        .iter()
        .filter(|change| change.is_violation())
        .map(|change| {
            let locked: Vec<String> = change
                .locked
                .digests
                .iter()
                .map(ToString::to_string)
                .collect();
            let found = match &change.digest {
                Some(digest) => format!("has the digest {digest}"),
                None => "has no digest".to_owned(),
            };
            let message = format!(
                "{} {} of the registry `{}` {found}; locked was {}",
                change.name,
                change.version,
                change.source,
                locked.join(" or "),
            );
            Diagnostic::error(Code::Digest, message)
        })
        .collect();
    let Some(last) = findings.pop() else {
        return Ok(());
    };
    findings.push(last.hint(show::FIND_OUT_WHY).hint(show::accept_changed()));
    Err(Failure {
        findings,
        exit: Exit::Integrity,
    })
}

/// Whether there is a resolution; if not, it was said why.
pub(crate) enum Solved {
    Yes(Box<Resolution>, Option<PackageName>),
    No(Exit),
}

pub(crate) fn solve_options(policy: &PolicyArgs) -> Result<SolveOptions> {
    let now = Timestamp::now();
    let exclude_newer = policy
        .exclude_newer
        .as_ref()
        .map(|text| cutoff(text, now))
        .transpose()?;
    Ok(SolveOptions {
        exclude_newer,
        prefer: match policy.prefer {
            Prefer::Newest => Preference::Newest,
            Prefer::Oldest => Preference::Oldest,
        },
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
    })
}
