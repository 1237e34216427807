//! How the command ends.

use std::process::ExitCode;

/// The exit codes. They are part of the interface: scripts and CI jobs tell them apart. Where
/// several would do, the largest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// No solution, a check failed, or the lock is stale.
    Failed = 1,
    /// Wrong usage or bad input.
    Usage = 2,
    /// A registry or the network.
    Registry = 3,
    /// Something has another digest than recorded.
    Integrity = 4,
    /// The solver gave up.
    GaveUp = 5,
    /// There are changes, where it was asked for that this be told.
    Pending = 10,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
