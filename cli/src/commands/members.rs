//! The projects of a command that only reads: the one of its manifest, or members of the workspace.

use std::path::{Path, PathBuf};

use super::several_projects::Batch;
use crate::args::MemberArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;

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
                let result = batch.run(doing, each, output);
                batch.report_left_out(context, output);
                let exit = result.exit;
                let summary = result.summary_of_reading(done);
                if output.is_json() {
                    output.json(&result.into_json());
                }
                output.note(&summary);
                Ok(exit)
            }
        }
    }
}
