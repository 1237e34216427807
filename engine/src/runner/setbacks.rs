//! Setbacks: how often a resource failed for good, and how often its changes were undone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::NodeKey;

/// The pause after which an event gives a node that has failed for good another chance. It is doubled each time, up to
/// about half a minute.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How often the pause is doubled at most.
const LAST_DOUBLING: u32 = 6;
/// After how many failures for good in a row the run does not wait for another chance.
const MOST_CHANCES: u32 = 5;
/// After how many changes in a row, each of which was undone, a node has failed.
const MOST_UNDONE: u32 = 10;

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
