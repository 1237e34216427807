//! `pkgres lock`

use std::path::Path;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, Lockfile, ReadOptions};
use pkgres_resolver::{Locked, Resolution};
use serde_json::json;

use crate::args::LockArgs;
use crate::commands::agreement::Agreed;
use crate::commands::lock_check;
use crate::commands::solve::{Problem, Solved};
use crate::commands::workspace;
use crate::earlier_lock::EarlierLock;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::{Found, Project};
use crate::registries;
use crate::settings;
use crate::show::{self, counted};

/// A lockfile that was written, or would have been.
pub(crate) struct Written {
    /// The lockfile.
    pub(crate) file: String,
    /// Whether it holds something else than before.
    pub(crate) is_new: bool,
    /// Whether it was written.
    pub(crate) on_disk: bool,
}

impl Written {
    /// What happened, as one word.
    pub(crate) fn status(&self) -> &'static str {
        if self.is_new && !self.on_disk {
            "would_lock"
        } else {
            "locked"
        }
    }

    /// What happened, as one line.
    pub(crate) fn summary(&self, packages: usize, changes: usize) -> String {
        let packages = counted(packages, "package");
        let suffix = match changes {
            0 => String::new(),
            count => format!(" ({})", counted(count, "change")),
        };
        match (self.is_new, self.on_disk) {
            (false, _) => format!("The lockfile is up to date: {packages}"),
            (true, true) => format!("Locked {packages}{suffix}"),
            (true, false) => format!("Would lock {packages}{suffix}; nothing was written"),
        }
    }
}

/// The text of a lockfile that can be read again once it is written.
pub(crate) struct LockText(String);

impl LockText {
    /// The text of a lockfile. One that no command could read afterwards is refused.
    pub(crate) fn of(lock: &Lockfile, options: &ReadOptions) -> Result<Self> {
        let text = lock.to_text();
        let (length, limit) = (text.len(), options.limits.lock_bytes);
        if length as u64 > limit {
            let packages = counted(lock.packages.len(), "package");
            let message = format!(
                "{LOCK_FILE} would have {length} bytes for {packages}, more than the limit of {limit} bytes"
            );
            return Err(Diagnostic::error(Code::Limit, message)
                .hint("nothing was written; `pkgres resolve` needs no lockfile")
                .into());
        }
        Ok(Self(text))
    }
}

/// Writes a lockfile, unless it would stay as it is or nothing is to be written.
pub(crate) fn write_lock(
    project: &Project,
    LockText(text): &LockText,
    before: Option<&[u8]>,
    dry_run: bool,
    options: &ReadOptions,
) -> Result<Written> {
    let path = project.lock_path();
    let is_new =
        !before.is_some_and(|bytes| bytes == text.as_bytes() || say_the_same(bytes, text, options));
    let is_written = is_new && !dry_run;
    if is_written {
        write_file(&RealFileSystem, &path, text.as_bytes())?;
    }
    Ok(Written {
        file: path.to_string_lossy().into_owned(),
        is_new,
        on_disk: is_written,
    })
}

/// Whether a lockfile as it is written says the same as another one, though its bytes differ: build
/// metadata does not tell releases apart.
fn say_the_same(bytes: &[u8], text: &str, options: &ReadOptions) -> bool {
    let read = |bytes| Lockfile::read(LOCK_FILE, bytes, &options.limits).into_result();
    let (Ok((before, _)), Ok((now, _))) = (read(bytes), read(text.as_bytes())) else {
        return false;
    };
    before == now && before.to_text().as_bytes() == bytes
}

pub(crate) fn run(args: &LockArgs, output: &mut Output) -> Result<Exit> {
    if args.frozen {
        let from = settings::current().from("frozen");
        return Err(Failure::usage(format!(
            "`--frozen` is set{from}: the lockfile is to be taken as it is"
        )));
    }
    if args.locked && (args.dry_run || args.ignore_lock || args.accept_changed) {
        let from = settings::current().from("locked");
        return Err(Failure::usage(format!(
            "`--locked` is set{from}: the lockfile is not to change"
        )));
    }
    if let [manifest] = args.manifest.as_slice()
        && !args.workspace
    {
        return lock_one(args, manifest, None, output);
    }
    workspace::lock_all(args, output)
}

/// Locks a project, or checks its lockfile. Where several projects were solved together, `agreed` is
/// what they agreed on.
pub(crate) fn lock_one(
    args: &LockArgs,
    manifest: &Path,
    agreed: Option<&Agreed>,
    output: &mut Output,
) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let found = Found::at(manifest, &options)?;
    if args.check || args.locked {
        return lock_check::check(args, manifest, found, agreed, &options, output);
    }
    let project = found.read(&options, |_, _| {})?;
    let problem = Problem::of_project(&project, &args.registry, &args.policy, &options)?;
    write(&project, problem, args, agreed, &options, output)
}

/// A lockfile that was not written yet, with what it was made from.
pub(crate) struct Proposal {
    /// The bytes of the lockfile that is there, if there is one.
    pub(crate) before: Option<Vec<u8>>,
    /// What they say.
    pub(crate) earlier: EarlierLock,
    /// What was found.
    pub(crate) resolution: Box<Resolution>,
    /// The lockfile of that.
    pub(crate) lock: Lockfile,
}

/// Solves, and says what would be locked, or how the run ends if there is no solution. Where several projects
/// were solved together, `agreed` is what they agreed on.
pub(crate) fn propose(
    project: &Project,
    mut problem: Problem,
    args: &LockArgs,
    agreed: Option<&Agreed>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<std::result::Result<Proposal, Exit>> {
    let path = project.lock_path();
    let before = if args.ignore_lock {
        let (before, note) = project.lock_to_replace(options)?;
        output.notes(note);
        before
    } else {
        project.lock_bytes(options)?
    };
    let earlier = if args.ignore_lock {
        EarlierLock::to_replace(&path, before.as_deref(), options)
    } else {
        let earlier = EarlierLock::read(&path, before.as_deref(), options)?;
        output.notes(earlier.note());
        earlier
    };
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
        before,
        earlier,
        resolution,
        lock,
    }))
}

/// Solves and writes the lockfile, unless it would stay as it is.
fn write(
    project: &Project,
    problem: Problem,
    args: &LockArgs,
    agreed: Option<&Agreed>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    let proposal = match propose(project, problem, args, agreed, options, output)? {
        Ok(proposal) => proposal,
        Err(exit) => return Ok(exit),
    };
    let Proposal {
        before,
        earlier,
        resolution,
        lock,
    } = proposal;
    let text = LockText::of(&lock, options)?;
    let written = write_lock(project, &text, before.as_deref(), args.dry_run, options)?;
    let diff = earlier.diff(&lock);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": written.status(),
            "file": written.file,
            "written": written.on_disk,
            "changes": show::changes_json(&diff),
            "notes": show::notes(&resolution),
        }));
        return Ok(Exit::Done);
    }
    output.notes(show::changes(&earlier.news(&diff)));
    output.notes(show::notes(&resolution));
    output.note(&written.summary(resolution.len(), 0));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockfile_that_could_not_be_read_again_is_not_written() {
        let lock = Lockfile::default();
        let mut options = ReadOptions::default();
        let length = lock.to_text().len() as u64;
        options.limits.lock_bytes = length;
        assert!(LockText::of(&lock, &options).is_ok());
        options.limits.lock_bytes = length - 1;
        let failure = LockText::of(&lock, &options).err();
        let failure = failure.expect("it is larger than the limit");
        let finding = &failure.findings[0];
        assert_eq!(finding.code, Code::Limit);
        let expected = format!("pkgres.lock would have {length} bytes for 0 packages, more than");
        assert!(finding.message.starts_with(&expected), "{finding:?}");
    }
}
