//! Whether a node reaches its database and the artifacts of its registry, for probes.

use std::time::Duration;

use pkgres_registry_client::protocol::Digest;

use super::backend::RegistryBackend;
use crate::blobs::BlobError;
use crate::problem::Problem;
use crate::store::{changes, releases};

/// How long a bucket may take to answer a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

impl RegistryBackend {
    /// An error unless the database can be reached, the artifacts are those of the registry, and this node has followed
    /// the others lately, if it does.
    ///
    /// The artifacts are checked by their mark, at most every few seconds.
    pub fn check(&self) -> Result<(), Problem> {
        self.database
            .read(|transaction| changes::current_serial(transaction))?;
        let now = self.seconds();
        self.last_followed.check(now)?;
        self.artifacts.checked(now, || self.check_artifacts())
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

    /// How many reads of an artifact of a release have failed since the start. Does not block.
    pub fn failed_reads(&self) -> u64 {
        self.artifacts.failed_reads()
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
            self.artifacts.count_failed_read();
        }
        read.map_err(Problem::unavailable)
    }
}
