//! Solves several projects together, so that they agree on versions.
//!
//! All projects are solved as one task, and each lockfile gets its part of the answer. A lockfile does not record
//! that: when the projects are solved together again, only the releases in their lockfiles are preferred. If a package
//! has several releases side by side, that can lead to a different answer, so [`stabilize`] repeats the solve until
//! locking the answer changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Package, PackageName, Release};
use pkgres_resolver::{Locked, Resolution, ResolvedOwner, Update};
use serde_json::{Value, json};

use super::proposal::{AgreedReleases, LockOptions, allow_only, propose};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::PreviousLock;
use crate::output::Output;
use crate::project::Project;
use crate::show::{self, ChangeLine};
use crate::solve_task::SolveTask;

/// How often [`stabilize`] solves at most; nearly always, once is enough.
const MAX_ROUNDS: usize = 8;

/// The agreement of several projects.
#[derive(Debug)]
pub(crate) struct Agreement {
    pub(crate) releases: AgreedReleases,
    /// The resolution of all projects, of which each lockfile has a part.
    pub(crate) resolution: Box<Resolution>,
    /// The packages of the projects.
    pub(crate) roots: Vec<Arc<Package>>,
    /// The locations of the registries, for messages.
    pub(crate) searched: Vec<String>,
}

impl Agreement {
    /// Whether a package has several releases.
    fn has_side_by_side(&self) -> bool {
        let names = self.releases.iter().map(|Release { name, .. }| name);
        let next = names.clone().skip(1);
        names.zip(next).any(|(one, next)| one == next)
    }
}

/// Solves all projects together, preferring the releases of their lockfiles.
pub(crate) fn agree(
    manifests: &[PathBuf],
    options: &LockOptions,
    context: &Context,
    output: &mut Output,
) -> Result<Agreement> {
    let mut joint = JointTask::new(manifests, context)?;
    if !options.ignore_lock {
        joint.prefer_locked(manifests, context)?;
    }
    let agreement = joint.solve(context, output)?;
    stabilize(agreement, manifests, options, context, output)
}

/// The task of locking all projects together.
pub(crate) fn locking_task(manifests: &[PathBuf], context: &Context) -> Result<SolveTask> {
    let mut joint = JointTask::new(manifests, context)?;
    joint.prefer_locked(manifests, context)?;
    Ok(joint.task)
}

/// The releases in the lockfiles of projects.
fn locked_releases(manifests: &[PathBuf], context: &Context) -> Result<AgreedReleases> {
    let mut all = AgreedReleases::new();
    for manifest in manifests {
        let project = Project::open(manifest, context)?;
        let locked = PreviousLock::read(&project.lock_path(), context)?.locked();
        let releases = locked.releases();
        all.extend(releases.map(|(name, version)| Release::new(name.clone(), version.clone())));
    }
    Ok(all)
}

/// Repeats the solve until locking the agreed releases would lead to the same agreement.
pub(crate) fn stabilize(
    mut agreement: Agreement,
    manifests: &[PathBuf],
    options: &LockOptions,
    context: &Context,
    output: &mut Output,
) -> Result<Agreement> {
    for _ in 0..MAX_ROUNDS {
        if !agreement.has_side_by_side() {
            break;
        }
        let taken = taken_releases(manifests, &agreement.releases, options, context, output);
        let Some(taken) = taken? else {
            break;
        };
        let next = agree_with(manifests, Locked::preferring(taken), None, context, output)?;
        let is_stable = next.releases == agreement.releases;
        agreement = next;
        if is_stable {
            break;
        }
    }
    Ok(agreement)
}

/// The releases that the projects would lock, each by itself; `None` if one of them could not be locked.
fn taken_releases(
    manifests: &[PathBuf],
    agreed: &AgreedReleases,
    options: &LockOptions,
    context: &Context,
    output: &Output,
) -> Result<Option<AgreedReleases>> {
    let mut taken = AgreedReleases::new();
    for manifest in manifests {
        let project = Project::open(manifest, context)?;
        let task = SolveTask::of_project(&project, context)?;
        let mut proposal = Err(Failure::reported(Exit::Failed));
        // Locking the project reports everything again.
        Output::capture(&output.style(), |output| {
            proposal = propose(&project, task, options, Some(agreed), context, output);
        });
        let Ok(proposal) = proposal else {
            return Ok(None);
        };
        taken.extend(proposal.lock.packages.into_keys());
    }
    Ok(Some(taken))
}

/// Solves all projects together again, with other locked releases or an update.
pub(crate) fn agree_with(
    manifests: &[PathBuf],
    locked: Locked,
    update: Option<Update>,
    context: &Context,
    output: &mut Output,
) -> Result<Agreement> {
    let mut joint = JointTask::new(manifests, context)?;
    joint.task.request.locked = locked;
    joint.task.request.update = update;
    // The first solve reported them.
    joint.task.warnings.clear();
    joint.solve(context, output)
}

/// The task of updating all projects together, without warnings: locked releases are not preferred, but are kept if
/// nothing else is possible.
pub(crate) fn joint_task(manifests: &[PathBuf], context: &Context) -> Result<SolveTask> {
    let mut task = JointTask::new(manifests, context)?.task;
    task.warnings.clear();
    task.request.locked.kept = locked_releases(manifests, context)?;
    Ok(task)
}

/// Fails if projects cannot be solved together: an ecosystem has its own registries, and the answer has the releases of
/// each root by its name.
fn require_joinable(projects: &[Project]) -> Result<()> {
    let Some((first, others)) = projects.split_first() else {
        return Ok(());
    };
    let ecosystem = |project: &Project| project.format.ecosystem();
    let other = others.iter().find(|it| ecosystem(it) != ecosystem(first));
    let mut by_name: BTreeMap<&PackageName, &Project> = BTreeMap::new();
    let mut named = projects.iter();
    let same_name = named.find_map(|it| Some((by_name.insert(it.name(), it)?, it)));
    let path = |project: &Project| Escaped::path(&project.manifest).to_string();
    let reason = match (other, same_name) {
        (Some(other), _) => format!(
            "{} is a project of {}, and {} of {}",
            path(first),
            ecosystem(first).id(),
            path(other),
            ecosystem(other).id()
        ),
        (None, Some((one, other))) => {
            let (name, one, other) = (one.name(), path(one), path(other));
            format!("{one} and {other} are both the root `{name}`")
        }
        (None, None) => return Ok(()),
    };
    let message = format!("these projects cannot be solved together: {reason}");
    let hint = "leave out `one-solve`, or give one of them a pkgres.toml of its own";
    Err(Diagnostic::error(Code::Usage, message).hint(hint).into())
}

/// Several projects as one task.
struct JointTask {
    task: SolveTask,
    roots: Vec<Arc<Package>>,
}

impl JointTask {
    fn new(manifests: &[PathBuf], context: &Context) -> Result<Self> {
        let projects = manifests.iter().map(|path| Project::open(path, context));
        let projects = projects.collect::<Result<Vec<Project>>>()?;
        let mut task = match projects.first() {
            Some(first) => SolveTask::for_projects_like(first, context)?,
            None => SolveTask::in_folder(Path::new(""), context)?,
        };
        require_joinable(&projects)?;
        for project in &projects {
            task.add_root(project, context)?;
        }
        let roots: Vec<Arc<Package>> = projects
            .iter()
            .filter_map(|project| project.package().cloned())
            .collect();
        Ok(Self { task, roots })
    }

    /// Prefers the releases in the lockfiles of the projects.
    fn prefer_locked(&mut self, manifests: &[PathBuf], context: &Context) -> Result<()> {
        let locked = locked_releases(manifests, context)?;
        self.task.request.locked = Locked::preferring(locked);
        Ok(())
    }

    fn solve(self, context: &Context, output: &mut Output) -> Result<Agreement> {
        let searched = self.task.searched.clone();
        let resolution = self.task.solve(context, output)?;
        let releases = resolution.owners().filter_map(ResolvedOwner::release);
        let releases = releases.map(|(name, version)| Release::new(name.clone(), version.clone()));
        Ok(Agreement {
            releases: releases.collect(),
            resolution,
            roots: self.roots,
            searched,
        })
    }
}

/// The changes that a lockfile needs so that all projects agree.
#[derive(Debug, Default)]
pub(super) struct Disagreement {
    lines: Vec<ChangeLine>,
}

impl Disagreement {
    /// Compares the lockfile of a project with the one it would get.
    pub(super) fn of_lockfile(
        manifest: &Path,
        agreed: &AgreedReleases,
        options: &LockOptions,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let project = Project::open(manifest, context)?;
        let mut task = SolveTask::of_project(&project, context)?;
        task.warnings.clear();
        allow_only(agreed, &mut task);
        let proposal = propose(&project, task, options, Some(agreed), context, output)?;
        let lines = show::changes(&proposal.previous.diff(&proposal.lock));
        Ok(Self { lines })
    }

    /// Whether the lockfile has the agreed releases.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The disagreement as an error; `mode` is the end of its first line.
    pub(super) fn finding(&self, mode: &str, context: &Context) -> Diagnostic {
        let mut text = format!("the lockfile differs from what the projects agree on{mode}");
        for line in &self.lines {
            text.push('\n');
            text.push_str(&line.to_string());
        }
        let command = context.invocation.command("lock");
        Diagnostic::error(Code::LockStale, text).hint(format!("`{command}` makes them agree"))
    }

    /// Each change as JSON.
    pub(super) fn to_json(&self) -> impl Iterator<Item = Value> {
        self.lines
            .iter()
            .map(|line| json!({"kind": "not_agreed", "package": line.package, "text": line.text}))
    }
}
