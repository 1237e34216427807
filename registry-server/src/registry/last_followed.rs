//! When a node last was up to date with the other nodes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;

/// For how many seconds a node may fail to follow the others. It looks for changes every few seconds, and connects again
/// after an error.
const FOLLOWED_SECONDS: i64 = 30;

/// When this node last was up to date with the others, in seconds since 1970. None if it does not follow them.
#[derive(Default)]
pub(super) struct LastFollowed(Mutex<Option<i64>>);

impl LastFollowed {
    /// Counts the state that the registry was opened with, unless there is a later one.
    pub(super) fn begin(&self, now: i64) {
        self.lock().get_or_insert(now);
    }

    pub(super) fn set(&self, now: i64) {
        *self.lock() = Some(now);
    }

    /// An error if it was too long ago.
    pub(super) fn check(&self, now: i64) -> Result<(), Problem> {
        let at = *self.lock();
        match at {
            Some(at) if now.saturating_sub(at) > FOLLOWED_SECONDS => {
                Err(Problem::unavailable(format!(
                    "the changes of other nodes could not be read for {FOLLOWED_SECONDS} seconds"
                )))
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
