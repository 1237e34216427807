//! Lockfiles on the disk: reading, replacing and writing them.

mod previous;
mod write;

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{LOCK_FILE, Lockfile};
use pkgres_resolver::Resolution;

pub(crate) use self::previous::PreviousLock;
pub(crate) use self::write::{LockText, WriteOutcome, changes_lock, write_lock};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// The bytes of a lockfile, if there is one. Links are not followed: what is read here is the file that `lock`
/// would replace.
pub(crate) fn read_lock_bytes(path: &Path, context: &Context) -> Result<Option<Vec<u8>>> {
    let limit = context.read_options.limits.lock_bytes;
    match read_file(path, limit, Follow::Nothing) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => {
            let mut finding = error.to_diagnostic();
            if error.is_too_large() {
                let command = context.invocation.command("lock --ignore-lock");
                finding = finding.hint(format!("`{command}` replaces it"));
            }
            Err(finding.into())
        }
    }
}

/// The lockfile of a resolution of projects.
pub(crate) fn lock_of(resolution: &Resolution) -> Lockfile {
    let lock = resolution.to_lockfile();
    lock.expect("the roots are packages, and not an object model")
}

/// Parses a lockfile, which must be complete and not an unresolved merge.
pub(crate) fn parse_lock(path: &Path, bytes: &[u8], context: &Context) -> Result<Lockfile> {
    let shown = path.to_string_lossy();
    let (lock, _) = Lockfile::read_of_ecosystems(
        &shown,
        bytes,
        &context.read_options.limits,
        pkgres_formats::ECOSYSTEMS,
    )
    .into_result()
    .map_err(|findings| with_commands(findings, context))?;
    let problems = lock.merge_problems();
    if problems.is_empty() {
        return Ok(lock);
    }
    let findings: Vec<Diagnostic> = problems
        .into_iter()
        .map(|problem| {
            let message = format!("{}: {problem}", Escaped::path(path));
            Diagnostic::error(Code::LockConflict, message)
                .hint(format!("`{}` fixes it", context.invocation.command("lock")))
        })
        .collect();
    Err(findings.into())
}

/// Parses the lockfile that a command checks: a damaged or unmerged one fails the check, and is no bad input.
pub(crate) fn parse_checked_lock(path: &Path, bytes: &[u8], context: &Context) -> Result<Lockfile> {
    parse_lock(path, bytes, context).map_err(|failure| Failure {
        exit: Exit::Failed,
        ..failure
    })
}

/// Findings of the lockfile reader, whose hints now name the project as this invocation does.
fn with_commands(mut findings: Vec<Diagnostic>, context: &Context) -> Vec<Diagnostic> {
    let hints = findings.iter_mut().flat_map(|finding| &mut finding.hints);
    for hint in hints {
        if let Some(rest) = hint.strip_prefix("`pkgres lock`") {
            *hint = format!("`{}`{rest}", context.invocation.command("lock"));
        }
    }
    findings
}

/// The error for a manifest without a lockfile.
pub(crate) fn lock_missing_beside(manifest: &Path, context: &Context) -> Failure {
    lock_missing(&beside(manifest), context)
}

/// Where the lockfile of a manifest has to be.
fn beside(manifest: &Path) -> String {
    let shown = manifest.strip_prefix(".").unwrap_or(manifest);
    format!("beside {}", Escaped::path(&shown))
}

/// The error for a missing lockfile; `rest` continues "there is no pkgres.lock".
pub(crate) fn lock_missing(rest: &str, context: &Context) -> Failure {
    let message = format!("there is no {LOCK_FILE} {rest}");
    let hint = format!("`{}` writes it", context.invocation.command("lock"));
    Failure {
        findings: vec![Diagnostic::error(Code::LockMissing, message).hint(hint)],
        exit: Exit::Failed,
    }
}

/// The error for a missing lockfile that `--locked` or `--frozen` needs.
pub(crate) fn lock_missing_in_mode(mode: &str, manifest: &Path, context: &Context) -> Failure {
    let from = context.settings.from(mode);
    let rest = format!("{}, and `--{mode}` is set{from}", beside(manifest));
    lock_missing(&rest, context)
}
