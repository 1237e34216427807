//! An edit of the requirements of a member that is solved together with others: all of them are locked again.

use serde_json::{Value, json};

use super::{ManifestEdit, edited_context};
use crate::commands::lock::{AgreedLocks, Agreement, LockOptions, agree};
use crate::commands::several_projects::Batch;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::lockfile::changes_lock;
use crate::output::Output;
use crate::project::Project;
use crate::show;

/// The versions that all members agree on when one of them has edited requirements.
pub(super) struct Together {
    batch: Batch,
    pub(super) agreement: Agreement,
}

impl Together {
    /// Solves the members together, of which one is edited.
    pub(super) fn solve(
        batch: Batch,
        edited: &Project,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let context = edited_context(edited, context)?;
        let agreement = agree(&batch.manifests, &LockOptions::default(), &context, output)?;
        Ok(Self { batch, agreement })
    }

    /// Writes the manifest and the lockfiles of all members.
    pub(super) fn finish(
        &self,
        change: &ManifestEdit<'_>,
        context: &Context,
        output: &mut Output,
    ) -> Result<Exit> {
        let context = edited_context(change.edited, context)?;
        let dry_run = change.write.dry_run;
        let locks = AgreedLocks {
            batch: &self.batch,
            agreement: &self.agreement,
            dry_run,
        };
        let announce = |output: &mut Output| {
            if !output.is_json() {
                change.report_edits(output);
            }
        };
        let files = change.changed_files()?;
        let result = locks.write(&files, announce, &context, output)?;
        let exit = result.exit;
        if output.is_json() {
            let mut document = result.into_json();
            let side_by_side = show::side_by_side_json(&self.agreement.resolution);
            if exit == Exit::Done {
                let projects = document["projects"].take();
                document = self.document(change, projects);
            }
            document["side_by_side"] = json!(side_by_side);
            output.json(&document);
            return Ok(exit);
        }
        if exit == Exit::Done {
            output.notes(show::side_by_side(&self.agreement.resolution, &context));
        }
        output.note(&if dry_run || exit != Exit::Done {
            result.summary_of_reading("Looked at")
        } else {
            result.summary_of_writing("Locked")
        });
        Ok(exit)
    }

    /// The report as JSON: that of the edited member, with the documents of all members.
    fn document(&self, change: &ManifestEdit<'_>, projects: Value) -> Value {
        let own = self.batch.document_of(&projects, &change.before.folder);
        let notes = own["notes"].as_array().into_iter().flatten();
        let notes: Vec<String> = notes.filter_map(Value::as_str).map(str::to_owned).collect();
        let mut all = projects.as_array().into_iter().flatten();
        let is_changed = all.any(|one| changes_lock(&one["result"]));
        let is_changed = is_changed || change.changes_manifest();
        let mut document = change.document_with(is_changed, &own["changes"], &notes);
        document["projects"] = projects;
        document
    }
}
