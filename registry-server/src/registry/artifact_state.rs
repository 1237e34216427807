//! What a node knows about the artifacts of its registry: the last check, and how many reads have failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::problem::Problem;

/// How long the outcome of a check counts, in seconds: anybody may probe, and a bucket costs.
const VALID_SECONDS: i64 = 5;

/// What is known about the artifacts.
#[derive(Default)]
pub(super) struct ArtifactState {
    /// The time of the last check in seconds since 1970, and its outcome.
    last: Mutex<Option<(i64, Result<(), Problem>)>>,
    /// Held by the only check that runs.
    running: Mutex<()>,
    /// How many reads of an artifact of a release have failed.
    failed_reads: AtomicU64,
}

impl ArtifactState {
    /// The outcome of a check, or of the last one if it still counts at a time, in seconds since 1970.
    pub(super) fn checked(
        &self,
        now: i64,
        check: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let last = self.last().clone();
        // The clock may have been set back.
        let counts = |at: i64| (0..VALID_SECONDS).contains(&now.saturating_sub(at));
        if let Some((_, outcome)) = last.clone().filter(|(at, _)| counts(*at)) {
            return outcome;
        }
        let _running = match self.running.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Probes do not pile up behind a slow bucket.
            Err(TryLockError::WouldBlock) => return last.map_or(Ok(()), |(_, outcome)| outcome),
        };
        let outcome = check();
        *self.last() = Some((now, outcome.clone()));
        outcome
    }

    fn last(&self) -> MutexGuard<'_, Option<(i64, Result<(), Problem>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many reads of an artifact have failed. Does not block.
    pub(super) fn failed_reads(&self) -> u64 {
        self.failed_reads.load(Ordering::Relaxed)
    }

    /// Counts a read of an artifact that failed.
    pub(super) fn count_failed_read(&self) {
        self.failed_reads.fetch_add(1, Ordering::Relaxed);
    }
}
