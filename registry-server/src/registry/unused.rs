//! Ending a transaction without using what it took.

use crate::database::DatabaseError;
use crate::problem::Problem;

/// Why a transaction that took a serial does not use it. It ends with this as its error, which gives
/// the serial back.
pub(super) enum Unused<Reason> {
    /// All is well, and there is nothing to write.
    Because(Reason),
    /// Something is wrong.
    Problem(Problem),
}

impl<Reason> From<Problem> for Unused<Reason> {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<Reason> From<DatabaseError> for Unused<Reason> {
    fn from(error: DatabaseError) -> Self {
        Self::Problem(error.into())
    }
}
