//! Flapping: resources that are changed again and again, because they undo each other's changes.
//!
//! Each change triggers the next one, so the run would never end. A resource that is changed again and again, each time
//! soon after the same other resource, counts as failed; and what a flapping resource does says nothing about whether the
//! rest of the graph has settled.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::node_state::{Cause, NodeState, Phase};
use super::{NodeKey, Runner};

/// How soon after another change one has to be noticed for the other one to be suspected. The longest pause is shorter.
const SOON: Duration = Duration::from_secs(40);
/// From which change on it is looked for what undoes them. Most nodes never get there.
const FIRST_SUSPICION: u32 = 3;

/// The latest changes of any node.
#[derive(Debug, Default)]
pub(super) struct LatestChanges(VecDeque<(Duration, NodeKey)>);

impl LatestChanges {
    fn add(&mut self, key: NodeKey, now: Duration) {
        while self.0.front().is_some_and(|(at, _)| *at + SOON < now) {
            self.0.pop_front();
        }
        self.0.push_back((now, key));
    }

    /// The other nodes that were changed since a node was.
    fn since(&self, key: NodeKey) -> BTreeSet<NodeKey> {
        let latest = self.0.iter().rev().map(|(_, other)| *other);
        latest.take_while(|other| *other != key).collect()
    }
}

/// What was known of a node before an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct BeforeAttempt {
    has_failed: bool,
    is_unchanged: bool,
}

impl BeforeAttempt {
    pub(super) fn of(state: &NodeState) -> Self {
        Self {
            has_failed: state.failures.any(),
            is_unchanged: state.is_unchanged(),
        }
    }
}

impl Runner {
    /// Takes note of a change of a node. What undoes its changes, if they were undone too often.
    pub(super) fn note_change(&mut self, node: usize) -> Option<String> {
        let now = self.now;
        let state = &mut self.nodes[node];
        let undone = &mut state.undone;
        let before = std::mem::replace(&mut undone.last, now);
        if state.cause == Cause::Noticed && (now <= before + SOON || undone.is_proved()) {
            undone.times = undone.times.saturating_add(1);
        } else {
            undone.times = 0;
        }
        if undone.times >= FIRST_SUSPICION {
            self.suspect(node);
        }
        self.note_change_in_part(node);
        let undone = &self.nodes[node].undone;
        if !undone.is_proved() {
            return None;
        }
        let suspects = undone.suspects.keys().filter_map(|key| self.id_of(*key));
        let suspects: Vec<_> = suspects.map(ToString::to_string).collect();
        let suspects = suspects.join(", ");
        let times = undone.times;
        Some(format!(
            "it was changed {times} times in a row, each time soon after a change of {suspects}: they undo each other's changes"
        ))
    }

    /// Looks for what may have undone the last change of a node, as all those before it.
    fn suspect(&mut self, node: usize) {
        let changed = self.latest_changes.since(self.nodes[node].key);
        let states = self.nodes.iter();
        let running = states.filter(|state| matches!(state.phase, Phase::Running { .. }));
        let mut possible: BTreeSet<_> = running.map(|state| state.key).collect();
        possible.extend(&changed);
        let undone = &mut self.nodes[node].undone;
        if undone.times == FIRST_SUSPICION {
            undone.suspects.clear();
        }
        for key in possible {
            let (seen, times) = undone.suspects.entry(key).or_default();
            *seen += 1;
            *times += u32::from(changed.contains(&key));
        }
        if undone.is_proved() {
            let rounds = undone.times - FIRST_SUSPICION + 1;
            // Others may have changed something once, and what ran all the time did not do it.
            undone
                .suspects
                .retain(|_, (seen, times)| *seen * 4 >= rounds * 3 && *times * 3 >= rounds);
            if undone.suspects.is_empty() {
                undone.times = 0;
            }
        }
    }

    /// Takes note of a change of a node that may have changed what others look at.
    pub(super) fn note_change_in_part(&mut self, node: usize) {
        self.latest_changes.add(self.nodes[node].key, self.now);
    }

    /// Takes note of when something happened that counts: not that what was in order is so again, and not that what
    /// failed fails again.
    pub(super) fn note_end(&mut self, node: usize, before: BeforeAttempt, is_change: bool) {
        let state = &self.nodes[node];
        self.is_endless |= state.undone.is_proved() && state.failures.is_hopeless();
        let is_nothing_new = if before.has_failed {
            state.failures.any() && !state.is_in_order()
        } else {
            !is_change
                && matches!(state.cause, Cause::Noticed | Cause::Polled)
                && state.is_in_order()
                && state.is_unchanged() == before.is_unchanged
        };
        if !is_nothing_new && !self.is_endless {
            self.quiet_since = self.now;
        }
    }
}
