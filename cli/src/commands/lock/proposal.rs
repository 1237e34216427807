//! The lockfile that a project would get.

use std::collections::BTreeSet;

use pkgres_manifest::{Lockfile, Release};
use pkgres_resolver::{Locked, Resolution};

use crate::capabilities::lock_with_capabilities;
use crate::context::Context;
use crate::failure::Result;
use crate::lock_owner::require_own_lock;
use crate::lockfile::PreviousLock;
use crate::output::Output;
use crate::project::Project;
use crate::solve_task::SolveTask;
use crate::yank_reasons::YankReasons;

/// The releases that several projects agreed on.
pub(crate) type AgreedReleases = BTreeSet<Release>;

/// The options for keeping and replacing the existing lockfile.
#[derive(Debug, Default)]
pub(crate) struct LockOptions {
    /// Whether versions are chosen afresh.
    pub(crate) ignore_lock: bool,
    /// Whether releases may have different digests than the locked ones.
    pub(crate) accept_changed: bool,
}

/// Allows no other versions of the packages that several projects agreed on. One version of each package is preferred to
/// several, so that a project that can do with one would otherwise have another version than the others.
pub(super) fn allow_only(agreed: &AgreedReleases, task: &mut SolveTask) {
    let allowed = &mut task.request.options.allowed_versions;
    for Release { name, version } in agreed {
        let versions = allowed.entry(name.clone()).or_default();
        versions.insert(version.clone());
    }
}

/// A lockfile that was not written yet.
pub(super) struct Proposal {
    /// The lockfile that it replaces.
    pub(super) previous: PreviousLock,
    pub(super) resolution: Box<Resolution>,
    /// The lockfile of the resolution.
    pub(super) lock: Lockfile,
    pub(super) yank_reasons: YankReasons,
}

/// Solves for the lockfile of a project. `agreed` are the releases that several projects agreed on, if they were solved
/// together.
pub(super) fn propose(
    project: &Project,
    mut task: SolveTask,
    options: &LockOptions,
    agreed: Option<&AgreedReleases>,
    context: &Context,
    output: &mut Output,
) -> Result<Proposal> {
    let path = project.lock_path();
    let (previous, note) = if options.ignore_lock {
        PreviousLock::read_to_discard(&path, context)?
    } else {
        let previous = PreviousLock::read(&path, context)?;
        let note = previous.note();
        (previous, note)
    };
    require_own_lock(project, previous.roots(), context)?;
    output.remarks(note);
    task.accept_changed = options.accept_changed;
    let locked = previous.locked();
    task.request.locked = match agreed {
        Some(agreed) => Locked::preferring(agreed.clone()).with_artifacts(locked.artifacts),
        // Versions are chosen afresh, but a version that is chosen again must have the same content.
        None if options.ignore_lock => Locked::default().with_artifacts(locked.artifacts),
        None => locked,
    };
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    let lock = lock_with_capabilities(&resolution, project.package(), &registries, context)?;
    let yank_reasons = YankReasons::of_resolution(&resolution, &registries);
    Ok(Proposal {
        previous,
        resolution,
        lock,
        yank_reasons,
    })
}
