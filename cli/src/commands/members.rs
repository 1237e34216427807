//! The projects of a command that only reads: the one of its manifest, or members of the workspace.

use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::Diagnostic;
use serde_json::json;

use super::several_projects::Batch;
use crate::args::MemberArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::diagnostics_json;

/// The projects of a command.
pub(super) enum Projects {
    One(PathBuf),
    Several(Batch),
}

impl Projects {
    /// The projects that the arguments name; `manifest` counts if no members are named.
    pub(super) fn of(args: &MemberArgs, manifest: &Path, context: &Context) -> Result<Self> {
        Ok(match context.members.as_slice() {
            _ if args.workspace => Self::Several(Batch::of_workspace(context)?),
            [] => Self::One(manifest.to_owned()),
            [member] => Self::One(member.clone()),
            members => Self::Several(Batch::new(members, false, context)?),
        })
    }

    /// Runs `each` on every project. The results of several are printed one after the other, or are one JSON document.
    /// `doing` is for the spinner, `done` for the summary of several.
    pub(super) fn run(
        &self,
        (doing, done): (&str, &str),
        context: &Context,
        output: &mut Output,
        each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
    ) -> Result<Exit> {
        match self {
            Self::One(manifest) => each(manifest, output),
            Self::Several(batch) => {
                let no_error = || None;
                Ok(run_batch(
                    batch,
                    (doing, done),
                    context,
                    output,
                    each,
                    no_error,
                ))
            }
        }
    }
}

/// Runs `each` on every project of a batch. The results are printed one after the other, or are one JSON document.
/// `error` is what is wrong with all results together, if anything is.
pub(super) fn run_batch(
    batch: &Batch,
    (doing, done): (&str, &str),
    context: &Context,
    output: &mut Output,
    each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
    error: impl FnOnce() -> Option<Diagnostic>,
) -> Exit {
    let result = batch.run(doing, each, output);
    batch.report_left_out(context, output);
    let mut exit = result.exit;
    let summary = result.summary_of_reading(done);
    let error = error();
    if error.is_some() {
        exit = exit.max(Exit::Failed);
    }
    if output.is_json() {
        let mut document = result.into_json();
        if let Some(error) = &error {
            document["status"] = json!("failed");
            let error = output.with_folder(std::slice::from_ref(error));
            document["diagnostics"] = diagnostics_json(&error);
        }
        output.json(&document);
    }
    output.note(&summary);
    if !output.is_json() {
        output.findings(error.as_slice());
    }
    exit
}
