//! The state of one resource in a run: what has to be done next, what it received, and its failures so far.

use std::collections::BTreeMap;
use std::time::Duration;

use super::NodeKey;
use super::rate_limit::Bucket;
use crate::resource::{Difference, Values};

/// The pause after which an event gives a node that has failed for good another chance. It is doubled each time, up to
/// about half a minute.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How often the pause is doubled at most.
const LAST_DOUBLING: u32 = 6;
/// After how many failures for good in a row the run does not wait for another chance.
const MOST_CHANCES: u32 = 5;
/// After how many changes in a row, each of which was undone, a node has failed.
const MOST_UNDONE: u32 = 10;

/// Where a node is between two checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has to be checked.
    Dirty,
    /// It is being checked or changed. If something happens meanwhile, it has to be checked again.
    Running {
        /// Whether something happened meanwhile.
        again: bool,
        /// Whether it is being refreshed.
        refresh: bool,
    },
    /// It was checked, and nothing has happened since.
    Clean,
}

/// How it is found out that a node may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Observed {
    /// Not yet.
    Never,
    /// It is watched.
    Watched,
    /// It cannot be watched, so that it is checked from time to time.
    Polled,
    /// It is also checked from time to time until it is in order, and will be watched anew then.
    UntilInOrder,
}

impl Observed {
    pub(super) fn is_polled(self) -> bool {
        matches!(self, Self::Polled | Self::UntilInOrder)
    }
}

/// Why a resource is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// It was not checked before.
    First,
    /// It may have changed.
    Noticed,
    /// It received a different value than before.
    Received,
    /// A resource that notifies it was changed.
    Refreshed,
    /// It is checked from time to time.
    Polled,
    /// The last attempt failed.
    Retried,
    /// Others were changed after it was in order, and the run is about to end.
    Verified,
}

/// The failures for good of a node since it was in order last.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub(super) times: u32,
    pub(super) last: Duration,
}

impl Failures {
    pub(super) fn add(&mut self, now: Duration) {
        self.times = self.times.saturating_add(1);
        self.last = now;
    }

    pub(super) fn any(&self) -> bool {
        self.times > 0
    }

    /// Whether the run does not wait for the node any more.
    pub(super) fn is_hopeless(&self) -> bool {
        self.times >= MOST_CHANCES
    }

    /// When an event that says that the node may have changed lets it be tried again.
    pub(super) fn next_chance(&self) -> Duration {
        let doublings = self.times.saturating_sub(1).min(LAST_DOUBLING);
        self.last + FIRST_PAUSE.saturating_mul(1 << doublings)
    }
}

/// The changes of a node in a row that were undone.
#[derive(Debug, Default)]
pub(super) struct Undone {
    pub(super) times: u32,
    pub(super) last: Duration,
    /// The nodes that were changed, or were running, before the last changes: before how many, and before how many they
    /// were changed.
    pub(super) suspects: BTreeMap<NodeKey, (u32, u32)>,
}

impl Undone {
    pub(super) fn is_proved(&self) -> bool {
        self.times >= MOST_UNDONE
    }
}

/// The state of a node.
// They are independent facts about it.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug)]
pub(super) struct NodeState {
    pub(super) key: NodeKey,
    pub(super) phase: Phase,
    /// Why it failed for good.
    pub(super) failure: Option<String>,
    /// Why the last attempt failed, while others are left.
    pub(super) last_error: Option<String>,
    /// What differs, if it may not be changed.
    pub(super) pending: Option<Vec<Difference>>,
    /// Why it is not known whether all of it is in order.
    pub(super) unknown: Option<String>,
    /// A node before it that is not changed in this run, and why it cannot be in order without that.
    pub(super) deferred: Option<(usize, String)>,
    /// Whether a change was begun that those which it notifies do not know of yet.
    pub(super) is_changed: bool,
    /// Whether its last attempt was cancelled by the user.
    pub(super) is_cancelled: bool,
    /// How often it has failed for good since it was in order.
    pub(super) failures: Failures,
    /// When it is tried again although it has failed for good, and why.
    pub(super) chance_at: Option<(Duration, Cause)>,
    /// Whether it waits for a pause before another chance.
    pub(super) has_delayed_chance: bool,
    /// Its changes in a row that were undone.
    pub(super) undone: Undone,
    /// Whether a resource that notifies it was changed.
    pub(super) refresh: bool,
    /// The values that it received, by property.
    pub(super) received: Values,
    /// The values that it sent last.
    pub(super) sent: Values,
    /// The failed attempts so far.
    pub(super) attempts: u32,
    /// The time before which it does not start.
    pub(super) not_before: Duration,
    /// The time at which it has to be checked again.
    pub(super) poll_at: Option<Duration>,
    /// The time at which a running attempt is cancelled.
    pub(super) timeout_at: Option<Duration>,
    /// Whether the running attempt was cancelled because it took too long.
    pub(super) is_timed_out: bool,
    /// How it is found out that it may have changed.
    pub(super) observed: Observed,
    /// Whether it was watched once more since it was in order.
    pub(super) is_watched_anew: bool,
    /// Why it has to be checked.
    pub(super) cause: Cause,
    /// The number of its last attempt, in the order in which attempts of the run ended.
    pub(super) checked_at: u64,
    /// The number of the last attempt that changed it; 0 if none did.
    pub(super) changed_at: u64,
    /// How many more events may lead to a check.
    pub(super) bucket: Option<Bucket>,
    /// The direct predecessors that are not in order, or behind one that is not.
    pub(super) blocked: usize,
    /// Whether it counts as not in order for those that it goes before.
    pub(super) is_open: bool,
}

impl NodeState {
    /// Whether it is not in the wanted state, because this run does not change it, or something before it.
    pub(super) fn is_unchanged(&self) -> bool {
        self.pending.is_some() || self.deferred.is_some()
    }

    /// Whether the node itself is in order, as far as is known.
    pub(super) fn is_in_order(&self) -> bool {
        self.phase == Phase::Clean && self.failure.is_none()
    }
}
