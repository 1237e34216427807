//! What several projects agree on that are solved together.

use std::path::{Path, PathBuf};

use pkgres_manifest::ReadOptions;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_resolver::{Locked, Resolution, ResolvedOwner};
use serde_json::{Value, json};

use super::proposal::{Agreed, propose};
use crate::args::LockArgs;
use crate::earlier_lock::EarlierLock;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::Project;
use crate::show::{self, ChangeLine};
use crate::{given, registries};

/// How several projects that are solved together come to agree.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// The releases.
    pub(super) releases: Agreed,
    /// All of them together, of which each lockfile has a part; `None` if there is no project.
    pub(super) resolution: Option<Box<Resolution>>,
}

/// Solves all projects together; gives what they agree on, or how the run ends if they cannot.
pub(super) fn agree(
    args: &LockArgs,
    manifests: &[PathBuf],
    output: &mut Output,
) -> Result<std::result::Result<Agreement, Exit>> {
    let options: ReadOptions = registries::read_options(&args.registry)?;
    let mut joint: Option<Problem> = None;
    let mut preferred = Agreed::new();
    for manifest in manifests {
        let project = Project::open(manifest, &options)?;
        if !args.ignore_lock {
            let locked = EarlierLock::read(&project, &options)?.locked();
            let releases = locked.releases();
            preferred.extend(releases.map(|(name, version)| (name.clone(), version.clone())));
        }
        match &mut joint {
            None => {
                joint = Some(Problem::of_project(
                    &project,
                    &args.registry,
                    &args.policy,
                    &options,
                )?);
            }
            Some(joint) => joint.add_root(&project, &options)?,
        }
    }
    let Some(mut joint) = joint else {
        return Ok(Ok(Agreement::default()));
    };
    joint.request.locked = Locked::preferring(preferred);
    Ok(match joint.solve(output)? {
        Solved::Yes(resolution, _) => {
            let releases = resolution.owners().filter_map(ResolvedOwner::release);
            let releases = releases.map(|(name, version)| (name.clone(), version.clone()));
            Ok(Agreement {
                releases: releases.collect(),
                resolution: Some(resolution),
            })
        }
        Solved::No(exit) => Err(exit),
    })
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
    let problem = Problem::of_project(&project, &args.registry, &args.policy, options)?;
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
