//! Whether a node reaches its database and the artifacts of its registry, for probes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

use pkgres_registry_client::protocol::Digest;

use super::backend::RegistryBackend;
use crate::blobs::BlobError;
use crate::problem::Problem;
use crate::store::{changes, releases};

/// How long the outcome of a check of the artifacts counts, in seconds: anybody may probe, and a bucket costs.
const VALID_SECONDS: i64 = 5;

/// How long a bucket may take to answer a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

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

impl RegistryBackend {
    /// An error unless the database can be reached, and the artifacts are those of the registry.
    ///
    /// The artifacts are checked by their mark, at most every few seconds.
    pub fn check(&self) -> Result<(), Problem> {
        self.database
            .read(|transaction| changes::current_serial(transaction))?;
        let now = self.environment.now().as_second();
        if let Some(outcome) = self.known_outcome(now) {
            return outcome;
        }
        let _running = match self.artifacts.running.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Probes do not pile up behind a slow bucket.
            Err(TryLockError::WouldBlock) => return self.known_outcome(i64::MIN).unwrap_or(Ok(())),
        };
        let outcome = self.check_artifacts();
        *self.last_check() = Some((now, outcome.clone()));
        outcome
    }

    fn check_artifacts(&self) -> Result<(), Problem> {
        let owner = self.blobs.owner_within(CHECK_TIMEOUT);
        if owner.map_err(Problem::unavailable)?.as_deref() == Some(self.identity()) {
            return Ok(());
        }
        let cause = format!(
            "the archives are missing: {} does not name this registry, {}",
            self.blobs.mark_place(),
            self.identity()
        );
        Err(Problem::unavailable(cause))
    }

    /// The outcome of the last check, if it still counts at a time.
    fn known_outcome(&self, now: i64) -> Option<Result<(), Problem>> {
        let last = self.last_check();
        let (_, outcome) =
            (last.as_ref()).filter(|(at, _)| now < at.saturating_add(VALID_SECONDS))?;
        Some(outcome.clone())
    }

    fn last_check(&self) -> std::sync::MutexGuard<'_, Option<(i64, Result<(), Problem>)>> {
        let last = self.artifacts.last.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    /// How many reads of an artifact of a release have failed since the start. Does not block.
    pub fn failed_reads(&self) -> u64 {
        self.artifacts.failed_reads.load(Ordering::Relaxed)
    }

    /// What was read of an artifact. Counts a failure, unless no release has the artifact.
    pub(super) fn counted<T>(
        &self,
        digest: &Digest,
        read: Result<Option<T>, BlobError>,
    ) -> Result<Option<T>, Problem> {
        let is_failure = match &read {
            Ok(Some(_)) => false,
            Ok(None) => {
                let text = digest.to_string();
                self.database
                    .read(|transaction| releases::has_artifact(transaction, &text))?
            }
            Err(_) => true,
        };
        if is_failure {
            tracing::error!(%digest, "the artifact of a release cannot be read");
            self.artifacts.failed_reads.fetch_add(1, Ordering::Relaxed);
        }
        read.map_err(Problem::unavailable)
    }
}
