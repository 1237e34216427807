//! Removing artifacts that no release has.
//!
//! Writers wait for each other, so none of them may wait for a bucket as well: artifacts are put and
//! removed outside of transactions. A removal is therefore written down twice, before the artifact
//! goes and after. Whoever publishes looks for one before the artifact is put, waits until it is over,
//! and in the transaction that makes the release looks again: unless it is the same as before, the
//! artifact may be gone, and is put once more. As all transactions that write come one after the
//! other, either that sees the removal or the removal sees the release, and does not begin.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pkgres_registry_client::protocol::Digest;

use super::RegistryBackend;
use crate::problem::Problem;
use crate::store::releases;
use crate::store::removals::{self, Removal};

/// After how many seconds a removal that did not end is taken for one that a node left when it was
/// killed. Longer than a bucket is waited for, and than clocks of nodes differ.
const LEFT: i64 = 15 * 60;

/// For how many seconds a removal is remembered that ended: longer than any publish takes.
const REMEMBERED: i64 = 24 * 3600;

/// How often a publish looks whether the removal of its artifact is over.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl RegistryBackend {
    /// Removes artifacts that no release has and that are old enough for that to stay so; says how
    /// many. A publish writes its artifact before the release, so that a young one may get one.
    pub fn sweep(&self) -> Result<usize, Problem> {
        let now = self.seconds();
        self.database
            .write(|transaction| removals::forget(transaction, now - REMEMBERED))?;
        // In a database of one process alone, what another one began was left.
        let left = if self.is_shared() { now - LEFT } else { now };
        let left = self
            .database
            .read(|transaction| removals::left_open(transaction, left))?;
        let age = self.settings.orphan_seconds;
        let old = (self.blobs).older_than(age, self.environment.now().into());
        let mut unused: BTreeSet<Digest> = old.map_err(Problem::unavailable)?.into_iter().collect();
        for text in left {
            unused.insert(Digest::parse(&text)?);
        }
        let mut removed = 0;
        for digest in unused {
            removed += usize::from(self.remove_unused(&digest)?);
        }
        Ok(removed)
    }

    /// Removes an artifact unless a release has it or somebody is at it already. Says whether it did.
    fn remove_unused(&self, digest: &Digest) -> Result<bool, Problem> {
        let text = digest.to_string();
        // Nearly all of them have a release, and a writer would keep others waiting for each.
        if self
            .database
            .read(|transaction| releases::has_artifact(transaction, &text))?
        {
            return Ok(false);
        }
        let removal = Removal {
            id: self.environment.uuid(),
            node: self.process.clone(),
            at: self.seconds(),
            is_over: false,
        };
        let has_begun = self.database.write(|transaction| {
            let last = removals::last(transaction, &text)?;
            if last.is_some_and(|last| self.is_going_on(&last))
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
        // If that fails it is not known what became of it, and the removal stays open until it is
        // done again.
        self.blobs.remove(digest).map_err(Problem::unavailable)?;
        let now = self.seconds();
        self.database
            .write(|transaction| removals::end(transaction, &text, &removal.id, now))?;
        Ok(true)
    }

    /// Whether an artifact may go at any moment because of a removal.
    fn is_going_on(&self, removal: &Removal) -> bool {
        let may_run = self.is_shared() || removal.node == self.process;
        !removal.is_over && may_run && removal.at + LEFT > self.seconds()
    }

    /// Waits until an artifact is not being removed, `last` being the last removal that is known;
    /// gives the last one there was. Finishes one that was left.
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
                Some(_) if begun.elapsed() > self.settings.removal_timeout => {
                    let cause = format!("the artifact {digest} is still being removed");
                    return Err(Problem::unavailable(cause));
                }
                Some(removal) if self.is_going_on(removal) => std::thread::sleep(POLL_INTERVAL),
                Some(_) => {
                    self.remove_unused(digest)?;
                }
            }
            last = self
                .database
                .read(|transaction| removals::last(transaction, &text))?;
        }
    }

    fn seconds(&self) -> i64 {
        self.environment.now().as_second()
    }
}
