//! Removes artifacts that no release has, while others publish.
//!
//! Writers wait for each other, so none of them may wait for a bucket as well: artifacts are put and
//! removed outside of transactions. The race between the two is solved by records of removals in the
//! database:
//!
//! - A removal is recorded before the artifact is removed, unless a release has it, and again when it
//!   is gone.
//! - A publish reads the last removal of its artifact, waits until that is over, puts the artifact, and
//!   reads the last removal again in the transaction that adds the release. If it is another one, the
//!   artifact may be gone, and is put again.
//!
//! Transactions that write come one after the other. So either the publish sees the removal, or the
//! removal sees the release and does not begin.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pkgres_registry_client::protocol::Digest;

use super::backend::RegistryBackend;
use crate::problem::Problem;
use crate::store::releases;
use crate::store::removals::{self, Removal};

/// After how many seconds a removal that has not ended counts as abandoned by a node that was killed:
/// longer than the timeout of a bucket, and than the clocks of nodes differ.
const ABANDONED_SECONDS: i64 = 15 * 60;

/// For how many seconds a removal that ended stays on record: longer than any publish takes.
const RECORD_SECONDS: i64 = 24 * 3600;

/// How often a publish looks whether the removal of its artifact is over.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How many digests of releases are read at once.
const PAGE: usize = 1000;

impl RegistryBackend {
    /// Removes artifacts without a release. Returns how many. Young artifacts stay: a publish writes
    /// its artifact before its release. Nothing is removed if the artifacts belong to another registry.
    pub fn sweep(&self) -> Result<usize, Problem> {
        let now = self.seconds();
        self.database
            .write(|transaction| removals::forget(transaction, now - RECORD_SECONDS))?;
        // If no other process has the database, every removal that has not ended is abandoned.
        let latest = if self.is_shared() {
            now - ABANDONED_SECONDS
        } else {
            now
        };
        let abandoned = self
            .database
            .read(|transaction| removals::unfinished(transaction, latest))?;
        let age = self.options.orphan_seconds;
        let old = (self.blobs).older_than(age, self.environment.now().into());
        let mut orphans: BTreeSet<Digest> =
            old.map_err(Problem::unavailable)?.into_iter().collect();
        for text in abandoned {
            orphans.insert(Digest::parse(&text)?);
        }
        self.retain_without_release(&mut orphans, PAGE)?;
        let mut removed = 0;
        for digest in orphans {
            removed += usize::from(self.remove_orphan(&digest)?);
        }
        Ok(removed)
    }

    /// Keeps the artifacts that no release has. Nearly all have one, so the digests of releases are read in pages
    /// instead of asking for each artifact. A release that is added meanwhile may be missed: a removal looks for one
    /// again.
    fn retain_without_release(
        &self,
        artifacts: &mut BTreeSet<Digest>,
        page: usize,
    ) -> Result<(), Problem> {
        let mut last = String::new();
        while !artifacts.is_empty() {
            let digests = self
                .database
                .read(|transaction| releases::digests_after(transaction, &last, page))?;
            for text in &digests {
                artifacts.remove(&Digest::parse(text)?);
            }
            match digests.into_iter().next_back() {
                Some(digest) => last = digest,
                None => break,
            }
        }
        Ok(())
    }

    /// Removes an artifact, unless a release has it or another removal is running. Returns whether it
    /// did.
    fn remove_orphan(&self, digest: &Digest) -> Result<bool, Problem> {
        let text = digest.to_string();
        self.require_own_artifacts()?;
        let removal = Removal {
            id: self.environment.uuid(),
            node: self.process.clone(),
            at: self.seconds(),
            is_over: false,
        };
        let has_begun = self.database.write(|transaction| {
            let last = removals::last(transaction, &text)?;
            if last.is_some_and(|last| self.is_running(&last))
                || releases::has_artifact(transaction, &text)?
            {
                return Ok(false);
            }
            removals::begin(transaction, &text, &removal)?;
            Ok::<_, Problem>(true)
        })?;
        if !has_begun {
            return Ok(false);
        }
        // If that fails, the artifact may be gone or not. The removal stays unfinished until it is done
        // again.
        self.blobs.remove(digest).map_err(Problem::unavailable)?;
        let now = self.seconds();
        self.database
            .write(|transaction| removals::end(transaction, &text, &removal.id, now))?;
        Ok(true)
    }

    /// An error unless the artifacts belong to this registry: only then may any be removed.
    fn require_own_artifacts(&self) -> Result<(), Problem> {
        let owner = self.blobs.owner().map_err(Problem::unavailable)?;
        if owner.as_deref() == Some(self.identity()) {
            return Ok(());
        }
        let cause = format!(
            "no artifact is removed: {} does not name this registry, {}",
            self.blobs.mark_place(),
            self.identity()
        );
        Err(Problem::unavailable(cause))
    }

    /// Whether a removal may remove its artifact at any moment.
    fn is_running(&self, removal: &Removal) -> bool {
        let may_run = self.is_shared() || removal.node == self.process;
        !removal.is_over && may_run && removal.at + ABANDONED_SECONDS > self.seconds()
    }

    /// Waits until an artifact is not being removed, from the `last` removal that is known. Returns the
    /// last one that there was. Finishes a removal that is abandoned.
    pub(super) fn after_removal(
        &self,
        digest: &Digest,
        mut last: Option<Removal>,
    ) -> Result<Option<Removal>, Problem> {
        let text = digest.to_string();
        let begun = Instant::now();
        loop {
            match &last {
                None => return Ok(None),
                Some(removal) if removal.is_over => return Ok(last),
                Some(_) if begun.elapsed() > self.options.removal_timeout => {
                    let cause = format!("the artifact {digest} is still being removed");
                    return Err(Problem::unavailable(cause));
                }
                Some(removal) if self.is_running(removal) => std::thread::sleep(POLL_INTERVAL),
                Some(_) => {
                    self.remove_orphan(digest)?;
                }
            }
            last = self
                .database
                .read(|transaction| removals::last(transaction, &text))?;
        }
    }

    /// The time, in seconds since 1970.
    pub(super) fn seconds(&self) -> i64 {
        self.environment.now().as_second()
    }
}
