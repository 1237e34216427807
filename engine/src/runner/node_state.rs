//! The state of one resource in a run: what has to be done next, what it received, and its failures so far.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pkgres_manifest::ResourceId;

use super::NodeKey;
use super::rate_limit::Bucket;
use crate::graph::Node;
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
    /// It cannot be watched, so it is checked from time to time.
    Polled,
    /// Only part of it can be watched until it is in order: until then it is also checked from time to time, and then it
    /// is watched again.
    UntilInOrder,
    /// It was in order when it was watched the second time.
    WatchedAgain,
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

/// What the last attempt at a node found.
#[derive(Debug)]
pub(super) enum LastResult {
    /// There was no attempt, or its result does not count any more.
    None,
    InOrder,
    /// What differs; it may not be changed.
    Pending(Vec<Difference>),
    /// Why it is not known whether all of it is in order.
    Unknown(String),
    /// Why it cannot be in order without a node before it, which is not changed in this run.
    Deferred {
        before: usize,
        reason: String,
    },
    /// The user ended it.
    Cancelled,
    /// Why it failed, while other attempts are left.
    Retrying(String),
    /// Why it failed for good.
    Failed(String),
}

/// What the last attempt at a group found of a member.
#[derive(Debug)]
pub(super) enum MemberResult {
    InOrder,
    /// What differs; it may not be changed.
    Pending(Vec<Difference>),
    /// Why it is not known whether all of it is in order.
    Unknown(String),
    /// Why it cannot be in order without this resource before it, which is not changed in this run.
    Deferred(ResourceId, String),
    /// Why it failed.
    Failed(String),
}

impl MemberResult {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// What an error of an attempt says about a node.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Not all of it could be checked, for this reason.
    Unknown(String),
    /// The user ended the attempt.
    Cancelled,
    /// It failed, and another attempt is left.
    Retried(String),
    /// It waits for another node, which this run does not change.
    Deferred(usize, String),
    /// It failed for good.
    Failed(String),
}

impl Verdict {
    /// Which of several verdicts counts for a group: the greatest. An attempt that failed says more than one that found
    /// nothing out.
    pub(super) fn severity(&self) -> u8 {
        match self {
            Self::Unknown(_) => 0,
            Self::Deferred(..) => 1,
            Self::Cancelled => 2,
            Self::Retried(_) => 3,
            Self::Failed(_) => 4,
        }
    }
}

/// The time limit of the running attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    None,
    At(Duration),
    /// The attempt was cancelled because it took too long.
    Passed,
}

/// When something happens to a node without an event.
#[derive(Debug)]
pub(super) struct Timers {
    /// The time before which it does not start.
    pub(super) not_before: Duration,
    /// Whether `not_before` is the pause before another chance after it failed for good.
    pub(super) delays_chance: bool,
    /// The time at which it has to be checked again.
    pub(super) poll_at: Option<Duration>,
    pub(super) timeout: Timeout,
    /// When it is tried again although it has failed for good, and why.
    pub(super) chance_at: Option<(Duration, Cause)>,
}

/// The state of a node.
#[derive(Debug)]
pub(super) struct NodeState {
    pub(super) key: NodeKey,
    pub(super) phase: Phase,
    pub(super) result: LastResult,
    /// What the last attempt, or the verification, found of each member of a group, unless all have the result of the group.
    pub(super) members: Vec<MemberResult>,
    /// The nodes after a group that do not know yet of the change of a member that goes before them.
    pub(super) unnotified: BTreeSet<usize>,
    pub(super) timers: Timers,
    pub(super) observed: Observed,
    /// Why it has to be checked.
    pub(super) cause: Cause,
    /// Whether a change was begun that those which it notifies do not know of yet.
    pub(super) is_changed: bool,
    /// Whether a resource that notifies it was changed.
    pub(super) refresh: bool,
    /// How often it has failed for good since it was in order.
    pub(super) failures: Failures,
    /// Its changes in a row that were undone.
    pub(super) undone: Undone,
    /// The failed attempts so far.
    pub(super) attempts: u32,
    /// The values that it received, by property.
    pub(super) received: Values,
    /// The values that it sent last.
    pub(super) sent: Values,
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
    /// Those that it goes before and for which it counts as in order all the same: they only need members of a group that
    /// have not failed.
    pub(super) not_held: BTreeSet<usize>,
}

impl NodeState {
    /// The state of a node that was not checked. What is hidden is never checked.
    pub(super) fn new(key: NodeKey, node: &Node, now: Duration) -> Self {
        let phase = if node.meta.hidden {
            Phase::Clean
        } else {
            Phase::Dirty
        };
        Self {
            key,
            phase,
            result: LastResult::None,
            members: Vec::new(),
            timers: Timers {
                not_before: now,
                delays_chance: false,
                poll_at: None,
                timeout: Timeout::None,
                chance_at: None,
            },
            observed: Observed::Never,
            cause: Cause::First,
            is_changed: false,
            unnotified: BTreeSet::new(),
            refresh: false,
            failures: Failures::default(),
            undone: Undone::default(),
            attempts: 0,
            received: Values::new(),
            sent: Values::new(),
            checked_at: 0,
            changed_at: 0,
            bucket: node.meta.limit.map(|limit| Bucket::new(limit, now)),
            blocked: 0,
            is_open: false,
            not_held: BTreeSet::new(),
        }
    }

    /// Why it failed for good.
    pub(super) fn failure(&self) -> Option<&str> {
        match &self.result {
            LastResult::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    /// What differs, if it may not be changed.
    pub(super) fn pending(&self) -> Option<&[Difference]> {
        match &self.result {
            LastResult::Pending(differences) => Some(differences),
            _ => None,
        }
    }

    /// The node before it without which it cannot be in order, and which is not changed in this run.
    pub(super) fn deferred_behind(&self) -> Option<usize> {
        match self.result {
            LastResult::Deferred { before, .. } => Some(before),
            _ => None,
        }
    }

    /// Whether it is not in the wanted state, because this run does not change it, or something before it.
    pub(super) fn is_unchanged(&self) -> bool {
        let mut members = self.members.iter();
        self.pending().is_some()
            || self.deferred_behind().is_some()
            || members.any(|member| {
                matches!(
                    member,
                    MemberResult::Pending(_) | MemberResult::Deferred(..)
                )
            })
    }

    /// Whether the node itself is in order, as far as is known.
    pub(super) fn is_in_order(&self) -> bool {
        self.phase == Phase::Clean && !self.has_failed()
    }
}
