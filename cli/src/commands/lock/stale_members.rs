//! Members of a workspace whose lockfiles a changed member leaves out of date.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Escaped, sentence_list};
use pkgres_registry_client::check_lock;
use pkgres_resolver::LockCheck;

use crate::commands::several_projects::own_settings;
use crate::context::Context;
use crate::failure::Result;
use crate::paths::canonical;
use crate::project::Project;
use crate::read_manifest::folder_of;
use crate::solve_task::SolveTask;
use crate::workspace::{MAX_NAMED_MEMBERS, Member};

/// The folders of the projects that a run locks.
#[derive(Default)]
pub(in crate::commands) struct LockedFolders(BTreeSet<PathBuf>);

impl LockedFolders {
    /// The folders of projects, by their manifests or folders.
    pub(in crate::commands) fn of(projects: &[PathBuf]) -> Self {
        let folders = projects
            .iter()
            .map(|project| canonical(&folder_of(project)));
        Self(folders.collect())
    }
}

/// A note that names the members that require a member and whose lockfiles no longer fit it. `locked` has the projects
/// that the run locks, and `is_written` says whether it writes.
pub(in crate::commands) fn stale_members(
    project: &Project,
    locked: &LockedFolders,
    is_written: bool,
    context: &Context,
) -> Result<Option<String>> {
    let Some(workspace) = context.workspace()? else {
        return Ok(None);
    };
    if !workspace.has_folder(&project.folder) {
        return Ok(None);
    }
    let mut stale = Vec::new();
    for Member {
        folder, canonical, ..
    } in workspace.requirers_of(project.name())
    {
        if !locked.0.contains(canonical)
            && own_settings(folder, context)?.is_none()
            && is_stale(folder, context)
        {
            stale.push(Escaped::path(folder).to_string());
        }
    }
    if stale.is_empty() {
        return Ok(None);
    }
    let count = stale.len();
    if let Some(more @ 1..) = count.checked_sub(MAX_NAMED_MEMBERS) {
        stale.truncate(MAX_NAMED_MEMBERS);
        stale.push(format!("{more} more"));
    }
    let (lockfiles, are, require, them) = match count {
        1 => ("lockfile", "is", "requires", "it"),
        _ => ("lockfiles", "are", "require", "them"),
    };
    let are = if is_written { are } else { "would be" };
    let command = context.invocation.command_for_none("lock --workspace");
    Ok(Some(format!(
        "The {lockfiles} of {}, which {require} {}, {are} out of date: `{command}` updates {them}",
        sentence_list(&stale, "and"),
        project.name(),
    )))
}

/// Whether a member has a lockfile that is out of date. What is wrong with the member itself is reported for that one.
fn is_stale(folder: &Path, context: &Context) -> bool {
    let Ok(project) = Project::open(folder, context) else {
        return false;
    };
    let Ok(Some(lock)) = project.lockfile(context) else {
        return false;
    };
    let Ok(task) = SolveTask::of_project(&project, context) else {
        return false;
    };
    let report = check_lock(
        LockCheck::new(task.request, lock),
        &task.registries,
        &context.read_options,
    );
    report.is_ok_and(|report| !report.stale.is_empty())
}
