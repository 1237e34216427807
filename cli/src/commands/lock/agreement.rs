//! What several projects agree on that are solved together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Package, ReadOptions};
use pkgres_resolver::{Locked, Resolution, ResolvedOwner, Update};
use serde_json::{Value, json};

use super::proposal::{Agreed, propose};
use crate::args::LockArgs;
use crate::earlier_lock::EarlierLock;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::parse::folder_of;
use crate::problem::{Problem, Solved};
use crate::project::Project;
use crate::show::{self, ChangeLine};
use crate::{given, registries};

/// How often projects are solved again until that changes nothing: mostly once will do.
const ROUNDS: usize = 8;

/// How several projects that are solved together come to agree.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// The releases.
    pub(crate) releases: Agreed,
    /// All of them together, of which each lockfile has a part.
    pub(crate) resolution: Box<Resolution>,
    /// The projects.
    pub(crate) roots: Vec<Arc<Package>>,
}

impl Agreement {
    /// Whether a package has several releases.
    fn is_side_by_side(&self) -> bool {
        let names = self.releases.iter().map(|(name, _)| name);
        let next = names.clone().skip(1);
        names.zip(next).any(|(one, next)| one == next)
    }
}

/// Solves all projects together; gives what they agree on, or how the run ends if they cannot.
pub(crate) fn agree(
    args: &LockArgs,
    manifests: &[PathBuf],
    output: &mut Output,
) -> Result<std::result::Result<Agreement, Exit>> {
    let options = registries::read_options(&args.registry)?;
    let mut preferred = Agreed::new();
    if !args.ignore_lock {
        for manifest in manifests {
            let project = Project::open(manifest, &options)?;
            let locked = EarlierLock::read(&project, &options)?.locked();
            let releases = locked.releases();
            preferred.extend(releases.map(|(name, version)| (name.clone(), version.clone())));
        }
    }
    let mut joint = Joint::of(args, manifests, &options)?;
    joint.problem.request.locked = Locked::preferring(preferred);
    match joint.solve(output)? {
        Ok(agreement) => settle(args, manifests, agreement, output),
        Err(exit) => Ok(Err(exit)),
    }
}

/// What projects agree on once lockfiles hold what they agree on now.
///
/// Where a package has several releases side by side, a project by itself may do with others than what all
/// agree on, and what is locked does not say which release is for whom, so that others may be chosen when
/// it is preferred. What is locked should stay.
pub(crate) fn settle(
    args: &LockArgs,
    manifests: &[PathBuf],
    mut agreement: Agreement,
    output: &mut Output,
) -> Result<std::result::Result<Agreement, Exit>> {
    for _ in 0..ROUNDS {
        if !agreement.is_side_by_side() {
            break;
        }
        let Some(kept) = taken(args, manifests, &agreement.releases, output)? else {
            break;
        };
        let kept = Locked::preferring(kept);
        let next = match agree_otherwise(args, manifests, kept, None, output)? {
            Ok(next) => next,
            Err(exit) => return Ok(Err(exit)),
        };
        let is_settled = next.releases == agreement.releases;
        agreement = next;
        if is_settled {
            break;
        }
    }
    Ok(Ok(agreement))
}

/// The releases that the projects take, each by itself, where these are agreed on; `None` if one of them
/// takes none.
fn taken(
    args: &LockArgs,
    manifests: &[PathBuf],
    agreed: &Agreed,
    output: &Output,
) -> Result<Option<Agreed>> {
    let options = registries::read_options(&args.registry)?;
    let mut taken = Agreed::new();
    for manifest in manifests {
        let project = Project::open(manifest, &options)?;
        let problem = Problem::of_project(&project, &args.registry, &args.policy, &options)?;
        let mut proposal = Ok(Err(Exit::Failed));
        // Whatever there is to say is said when it is locked.
        Output::keep(output.manner(), |output| {
            proposal = propose(&project, problem, args, Some(agreed), &options, output);
        });
        let Ok(Ok(proposal)) = proposal else {
            return Ok(None);
        };
        taken.extend(proposal.lock.packages.into_keys());
    }
    Ok(Some(taken))
}

/// Solves all projects together with something else in place of what is in the lockfiles, once they
/// [agreed](agree).
pub(crate) fn agree_otherwise(
    args: &LockArgs,
    manifests: &[PathBuf],
    locked: Locked,
    update: Option<Update>,
    output: &mut Output,
) -> Result<std::result::Result<Agreement, Exit>> {
    let options = registries::read_options(&args.registry)?;
    let mut joint = Joint::of(args, manifests, &options)?;
    joint.problem.request.locked = locked;
    joint.problem.request.update = update;
    // The projects were told of before.
    joint.problem.warnings.clear();
    joint.solve(output)
}

/// Several projects as one problem.
struct Joint {
    problem: Problem,
    roots: Vec<Arc<Package>>,
}

impl Joint {
    fn of(args: &LockArgs, manifests: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let folder = manifests.first().map(|first| folder_of(first));
        let folder = folder.unwrap_or_default();
        let mut problem = Problem::in_folder(&folder, &args.registry, &args.policy, options)?;
        let mut roots = Vec::new();
        for manifest in manifests {
            let project = Project::open(manifest, options)?;
            problem.add_root(&project, options)?;
            roots.push(project.package);
        }
        problem.root = roots.first().cloned();
        Ok(Self { problem, roots })
    }

    fn solve(self, output: &mut Output) -> Result<std::result::Result<Agreement, Exit>> {
        let resolution = match self.problem.solve(output)? {
            Solved::Yes(resolution, _) => resolution,
            Solved::No(exit) => return Ok(Err(exit)),
        };
        let releases = resolution.owners().filter_map(ResolvedOwner::release);
        let releases = releases.map(|(name, version)| (name.clone(), version.clone()));
        Ok(Ok(Agreement {
            releases: releases.collect(),
            resolution,
            roots: self.roots,
        }))
    }
}

/// What a lockfile that fits its project has to change so that all projects agree.
#[derive(Debug, Default)]
pub(super) struct Disagreement {
    lines: Vec<ChangeLine>,
}

/// Compares a lockfile with what it would be if it were written anew.
pub(super) fn disagreement(
    args: &LockArgs,
    manifest: &Path,
    agreed: &Agreed,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<std::result::Result<Disagreement, Exit>> {
    let project = Project::open(manifest, options)?;
    let mut problem = Problem::of_project(&project, &args.registry, &args.policy, options)?;
    problem.warnings.clear();
    let proposal = match propose(&project, problem, args, Some(agreed), options, output)? {
        Ok(proposal) => proposal,
        Err(exit) => return Ok(Err(exit)),
    };
    let lines = show::changes(&proposal.earlier.diff(&proposal.lock));
    Ok(Ok(Disagreement { lines }))
}

impl Disagreement {
    /// Whether all projects agree.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The disagreement as an error; `mode` says why it is one.
    pub(super) fn finding(&self, mode: &str) -> Diagnostic {
        let mut text = format!("the lockfile is not what the projects agree on{mode}");
        for line in &self.lines {
            text.push('\n');
            text.push_str(&line.to_string());
        }
        Diagnostic::error(Code::LockStale, text)
            .hint(format!("`{}` makes them agree", given::command("lock")))
    }

    /// Each change as JSON.
    pub(super) fn to_json(&self) -> impl Iterator<Item = Value> {
        self.lines
            .iter()
            .map(|line| json!({"kind": "not_agreed", "package": line.package, "text": line.text}))
    }
}
