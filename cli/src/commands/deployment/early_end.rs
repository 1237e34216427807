//! Runs that end before they are done: by Ctrl-C, or because their time is up.

use pkgres_manifest::diagnostic::Diagnostic;

use super::machines::MachineState;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::RunInterrupts;

/// Why a run ended before it was done.
#[derive(Clone, Copy)]
pub(super) enum EarlyEnd {
    Interrupted,
    OutOfTime,
}

impl EarlyEnd {
    /// Why a run ended that was cancelled.
    pub(super) fn of(interrupts: &RunInterrupts) -> Self {
        if interrupts.cancellation.is_cancelled() {
            Self::Interrupted
        } else {
            Self::OutOfTime
        }
    }

    /// What happened, for a run that should have done something first.
    pub(super) fn message(self, target: &str, undone: &str) -> String {
        match self {
            Self::Interrupted => format!("The run on {target} was interrupted before {undone}"),
            Self::OutOfTime => {
                format!("The run on {target} ended before {undone}, because its time was up")
            }
        }
    }

    pub(super) fn state(self) -> MachineState {
        match self {
            Self::Interrupted => MachineState::Interrupted,
            Self::OutOfTime => MachineState::OutOfTime,
        }
    }

    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::OutOfTime => "out_of_time",
        }
    }

    pub(super) fn exit(self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::OutOfTime => Exit::Failed,
        }
    }
}

/// Why it is not known whether the machine passes the validations after the changes.
pub(super) enum Unvalidated {
    Ended(EarlyEnd),
    Failed(Failure),
}

impl Unvalidated {
    pub(super) fn report(&self, target: &str, output: &mut Output) {
        match self {
            Self::Ended(early) => output.note(&early.message(target, "the last validation ended")),
            Self::Failed(failure) => output.findings(&failure.findings),
        }
    }

    /// The errors of validations that could not run.
    pub(super) fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Ended(_) => &[],
            Self::Failed(failure) => &failure.findings,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Ended(early) => early.exit(),
            Self::Failed(failure) => failure.exit,
        }
    }
}
