//! What a node knows about the artifacts of its registry: the last check, and how many reads have failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;

/// How long the outcome of a check counts, in seconds: anybody may probe, and a bucket costs.
const VALID_SECONDS: i64 = 5;

/// What is known about the artifacts.
#[derive(Default)]
pub(super) struct ArtifactState {
    checks: Mutex<Checks>,
    /// How many reads of an artifact of a release have failed.
    failed_reads: AtomicU64,
}

/// Checks of the artifacts. Times are in seconds since 1970.
#[derive(Default)]
struct Checks {
    /// The time of the last check, and its outcome.
    last: Option<(i64, Result<(), Problem>)>,
    /// When the only check that runs began.
    running_since: Option<i64>,
}

/// A check that runs.
struct RunningCheck<'state>(&'state ArtifactState);

impl Drop for RunningCheck<'_> {
    fn drop(&mut self) {
        self.0.checks().running_since = None;
    }
}

impl ArtifactState {
    /// The outcome of a check, or of the last one if it still counts at a time, in seconds since 1970.
    pub(super) fn checked(
        &self,
        now: i64,
        check: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        // The clock may have been set back.
        let counts = |at: i64| (0..VALID_SECONDS).contains(&now.saturating_sub(at));
        let mut checks = self.checks();
        if let Some((_, outcome)) = checks.last.as_ref().filter(|(at, _)| counts(*at)) {
            return outcome.clone();
        }
        if let Some(since) = checks.running_since {
            // Probes do not pile up behind a slow bucket, or a folder on the network that hangs.
            if counts(since) {
                return checks
                    .last
                    .as_ref()
                    .map_or(Ok(()), |(_, outcome)| outcome.clone());
            }
            return Err(Problem::unavailable("the archives do not answer"));
        }
        checks.running_since = Some(now);
        drop(checks);
        let running = RunningCheck(self);
        let outcome = check();
        self.checks().last = Some((now, outcome.clone()));
        drop(running);
        outcome
    }

    fn checks(&self) -> MutexGuard<'_, Checks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_hangs_is_an_error() {
        let state = ArtifactState::default();
        let outcome = state.checked(0, || {
            assert!(state.checked(1, || unreachable!("one check runs")).is_ok());
            assert!(
                state
                    .checked(VALID_SECONDS, || unreachable!("one check runs"))
                    .is_err()
            );
            Ok(())
        });
        assert!(outcome.is_ok());
        assert!(
            state
                .checked(1, || unreachable!("the outcome counts"))
                .is_ok()
        );
        let failure = || Err(Problem::unavailable("it is gone"));
        assert!(state.checked(VALID_SECONDS, failure).is_err());
        assert!(state.checked(2 * VALID_SECONDS, || Ok(())).is_ok());
    }
}
