//! Writes the lockfiles of projects that agreed on releases: all of them, or none.

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_manifest::PackageName;

use super::{Agreement, LockOptions, lock_agreed};
use crate::commands::several_projects::{Batch, BatchResult};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::write_together::{ChangedFile, write_together};

/// What is written with the releases that projects agreed on.
pub(in crate::commands) struct AgreedLocks<'a> {
    pub(in crate::commands) batch: &'a Batch,
    pub(in crate::commands) agreement: &'a Agreement,
    /// The packages that are named to the command, and must be at agreed releases.
    pub(in crate::commands) named: &'a BTreeSet<PackageName>,
    /// The command with its own arguments.
    pub(in crate::commands) words: &'a str,
    pub(in crate::commands) dry_run: bool,
}

impl AgreedLocks<'_> {
    /// Writes the files and the lockfiles of all projects, or nothing if a project cannot be locked. `announce` reports the
    /// files once it is known that all can be written.
    pub(in crate::commands) fn write(
        &self,
        files: &[ChangedFile],
        announce: impl FnOnce(&mut Output),
        context: &Context,
        output: &mut Output,
    ) -> Result<BatchResult> {
        let mut can_be_written = false;
        Output::capture(&output.style(), |output| {
            can_be_written = self.lock(true, context, output).exit == Exit::Done;
        });
        if !can_be_written {
            return Ok(self.lock(true, context, output));
        }
        let mut result = None;
        let files = if self.dry_run { &[] } else { files };
        let written = write_together(files, || {
            announce(output);
            let locked = result.insert(self.lock(self.dry_run, context, output));
            match locked.exit {
                Exit::Done => Ok(()),
                exit => Err(Failure::reported(exit)),
            }
        });
        match (written, result) {
            // Files that could not be restored.
            (Err(failure), _) if !failure.findings.is_empty() => Err(failure),
            (_, Some(result)) => Ok(result),
            (Err(failure), None) => Err(failure),
            (Ok(()), None) => unreachable!("the lockfiles were written"),
        }
    }

    fn lock(&self, dry_run: bool, context: &Context, output: &mut Output) -> BatchResult {
        let options = LockOptions {
            dry_run,
            ..LockOptions::default()
        };
        let lock = |manifest: &Path, output: &mut Output| {
            let (named, words) = (self.named, self.words);
            lock_agreed(
                manifest,
                self.agreement,
                named,
                words,
                &options,
                context,
                output,
            )
        };
        self.batch.run("Locking", lock, output)
    }
}
