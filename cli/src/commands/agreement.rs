//! What several projects agree on that are solved together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, Lockfile, PackageName, ReadOptions, Version};
use pkgres_resolver::{Locked, ResolvedOwner};
use serde_json::{Value, json};

use crate::args::LockArgs;
use crate::commands::lock::{Proposal, propose};
use crate::commands::solve::{Problem, Solved};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::project::{Project, locked_for_update};
use crate::{given, registries, show};

/// Releases that several projects agreed on.
pub(crate) type Agreed = BTreeSet<(PackageName, Version)>;

/// Solves all projects together; gives what they agree on, or how the run ends if they cannot.
pub(crate) fn agree(
    args: &LockArgs,
    manifests: &[PathBuf],
    output: &mut Output,
) -> Result<std::result::Result<Agreed, Exit>> {
    let options: ReadOptions = registries::read_options(&args.registry)?;
    let mut joint: Option<Problem> = None;
    let mut preferred = Agreed::new();
    for manifest in manifests {
        let project = Project::open(manifest, &options)?;
        if !args.ignore_lock
            && let Some(bytes) = project.lock_bytes(&options)?
        {
            let (locked, _) = locked_for_update(&project.lock_path(), &bytes, &options)?;
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
        return Ok(Ok(Agreed::new()));
    };
    joint.request.locked = Locked::preferring(preferred);
    Ok(match joint.solve(output)? {
        Solved::Yes(resolution, _) => {
            let releases = resolution.owners().filter_map(ResolvedOwner::release);
            let releases = releases.map(|(name, version)| (name.clone(), version.clone()));
            Ok(releases.collect())
        }
        Solved::No(exit) => Err(exit),
    })
}

/// What a lockfile that fits its project has to change so that all projects agree.
#[derive(Debug, Default)]
pub(crate) struct Disagreement {
    /// A line for each change, with a mark, and the package that it is about, if it is one.
    changes: Vec<(Option<PackageName>, String)>,
}

/// Compares a lockfile with what it would be if it were written anew.
pub(crate) fn disagreement(
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
    let Proposal {
        before,
        old,
        resolution,
        lock,
    } = &proposal;
    let before = before.as_ref().and_then(|bytes| {
        let read = Lockfile::read(LOCK_FILE, bytes, &options.limits);
        read.into_result().ok()
    });
    // What was read has other spellings than what was not written yet.
    if before.is_some_and(|(before, _)| before.to_text() == lock.to_text()) {
        return Ok(Ok(Disagreement::default()));
    }
    let changes = show::lock_changes(old, lock, resolution);
    let mut changes: Vec<_> = changes
        .iter()
        .map(|change| (Some(change.package().clone()), change.to_string()))
        .collect();
    if changes.is_empty() {
        // The releases are the same, and somebody is bound to another one of them.
        changes.push((None, "  ~ the requirements are bound otherwise".to_owned()));
    }
    Ok(Ok(Disagreement { changes }))
}

impl Disagreement {
    /// Whether all projects agree.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The disagreement as an error; `mode` says why it is one.
    pub(crate) fn finding(&self, mode: &str) -> Diagnostic {
        let mut text = format!("the lockfile is not what the projects agree on{mode}");
        for (_, line) in &self.changes {
            text.push('\n');
            text.push_str(line);
        }
        Diagnostic::error(Code::LockStale, text)
            .hint(format!("`{}` makes them agree", given::command("lock")))
    }

    /// Each change as JSON.
    pub(crate) fn to_json(&self) -> impl Iterator<Item = Value> {
        self.changes.iter().map(|(package, line)| {
            let text = line.trim_start_matches([' ', '+', '-', '~']);
            json!({"kind": "not_agreed", "package": package, "text": text})
        })
    }
}
