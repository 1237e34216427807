//! Writes the lockfiles of projects that agreed on releases: all of them, or none.

use std::path::Path;

use super::{Agreement, lock_agreed};
use crate::commands::several_projects::{Batch, BatchResult, Change};
use crate::context::Context;
use crate::failure::Result;
use crate::output::Output;
use crate::write_together::{ChangedFile, Writing};

/// What is written with the releases that projects agreed on.
pub(in crate::commands) struct AgreedLocks<'a> {
    pub(in crate::commands) batch: &'a Batch,
    pub(in crate::commands) agreement: &'a Agreement,
    pub(in crate::commands) dry_run: bool,
}

impl AgreedLocks<'_> {
    /// Writes the files and the lockfiles of all projects, or nothing if a project cannot be locked. `announce` reports
    /// the files after they were written, or in a dry run.
    pub(in crate::commands) fn write(
        &self,
        files: &[ChangedFile],
        announce: impl FnOnce(&mut Output),
        context: &Context,
        output: &mut Output,
    ) -> Result<BatchResult> {
        let change = Change {
            is_dry_run: self.dry_run,
            needs_all: true,
        };
        let lock = |manifest: &Path, writing: Writing<'_>, output: &mut Output| {
            lock_agreed(manifest, self.agreement, writing, context, output)
        };
        let outcomes = self.batch.write("Locking", &change, files, lock, output)?;
        if outcomes.are_all_done() {
            announce(output);
        }
        Ok(self.batch.report(outcomes, output))
    }
}
