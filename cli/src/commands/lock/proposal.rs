//! What would be locked.

use std::collections::BTreeSet;

use pkgres_manifest::{Lockfile, PackageName, ReadOptions, Version};
use pkgres_resolver::{Locked, Resolution};

use crate::args::LockArgs;
use crate::earlier_lock::EarlierLock;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::Project;

/// Releases that several projects agreed on.
pub(crate) type Agreed = BTreeSet<(PackageName, Version)>;

/// A lockfile that was not written yet, with what it was made from.
pub(super) struct Proposal {
    /// The lockfile that there is.
    pub(super) earlier: EarlierLock,
    /// What was found.
    pub(super) resolution: Box<Resolution>,
    /// The lockfile of that.
    pub(super) lock: Lockfile,
}

/// Solves, and says what would be locked, or how the run ends if there is no solution. Where several projects
/// were solved together, `agreed` is what they agreed on.
pub(super) fn propose(
    project: &Project,
    mut problem: Problem,
    args: &LockArgs,
    agreed: Option<&Agreed>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<std::result::Result<Proposal, Exit>> {
    let (earlier, note) = if args.ignore_lock {
        EarlierLock::to_replace(project, options)?
    } else {
        let earlier = EarlierLock::read(project, options)?;
        let note = earlier.note();
        (earlier, note)
    };
    output.notes(note);
    problem.accept_changed = args.accept_changed;
    let locked = earlier.locked();
    problem.request.locked = match agreed {
        Some(agreed) => Locked {
            artifacts: locked.artifacts,
            ..Locked::preferring(agreed.clone())
        },
        // The versions are chosen afresh. What a version holds is not a matter of choice.
        None if args.ignore_lock => Locked {
            artifacts: locked.artifacts,
            ..Locked::default()
        },
        None => locked,
    };
    let resolution = match problem.solve(output)? {
        Solved::Yes(resolution, _) => resolution,
        Solved::No(exit) => return Ok(Err(exit)),
    };
    let lock = resolution.to_lockfile().expect("the roots are packages");
    Ok(Ok(Proposal {
        earlier,
        resolution,
        lock,
    }))
}
