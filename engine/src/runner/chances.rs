//! Handling of resources that fail again, or are changed again, because of changes by the run itself.
//!
//! An attempt can trigger the very events that start the next one: a command writes a file that it watches and then fails, or
//! two resources keep undoing each other's changes. Retrying at once would loop forever. So a failed resource is retried
//! with exponential backoff, and after several failures in a row ([`setbacks`](super::setbacks)) the run stops waiting for
//! it: it can end as failed, but keeps retrying as long as it goes on. A resource that is changed again and again, each time
//! soon after the same other resource, counts as failed.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::node_state::{Cause, NodeState, Phase};
use super::setbacks::Failures;
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

impl NodeState {
    /// It is in order, so that what failed before does not count.
    pub(super) fn forgive(&mut self) {
        // That two resources undo each other's changes is only seen after some time.
        if !self.undone.is_proved() {
            self.failures = Failures::default();
        }
    }
}

impl Runner {
    /// An event says that a node may have changed.
    pub(super) fn may_have_changed(&mut self, node: usize) {
        if self.graph.nodes()[node].meta.hidden {
            return;
        }
        let state = &mut self.nodes[node];
        if state.failure.is_some() {
            if self.options.watch {
                let at = state.failures.next_chance();
                self.give_chance(node, Cause::Noticed, at);
            }
            return;
        }
        match &mut state.phase {
            Phase::Running { again, .. } => *again = true,
            Phase::Dirty => {}
            Phase::Clean => {
                if let Some(bucket) = &mut state.bucket {
                    state.not_before = state.not_before.max(bucket.take(self.now));
                }
                self.make_dirty(node, Cause::Noticed);
            }
        }
    }

    /// Something before a node that has failed for good was changed, which may have been the reason. The first time, it
    /// is tried again at once.
    pub(super) fn give_chance_behind_change(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        let failures = &state.failures;
        if state.failure.is_none() {
            if state.has_delayed_chance && failures.times <= 1 {
                // It waits for a pause that the change makes needless.
                state.has_delayed_chance = false;
                state.not_before = self.now;
                self.delayed.remove(&node);
                self.update_open(node);
            }
            return;
        }
        let at = if failures.times > 1 && self.options.watch {
            failures.next_chance()
        } else {
            self.now
        };
        self.give_chance(node, Cause::Noticed, at);
    }

    /// Gives a node that has failed for good another chance at a time.
    fn give_chance(&mut self, node: usize, cause: Cause, at: Duration) {
        let state = &mut self.nodes[node];
        if state.failures.is_hopeless() && at > self.now {
            // It counts as failed until then.
            let at = state.chance_at.map_or(at, |(before, _)| before.min(at));
            state.chance_at = Some((at, cause));
            self.alarms.insert((at, node));
            return;
        }
        self.try_again(node, cause, at);
    }

    /// Tries a node that has failed for good again.
    pub(super) fn try_again(&mut self, node: usize, cause: Cause, not_before: Duration) {
        let now = self.now;
        let state = &mut self.nodes[node];
        state.chance_at = None;
        state.has_delayed_chance = not_before > now;
        state.last_error = state.failure.take();
        state.attempts = 0;
        state.phase = Phase::Dirty;
        state.cause = cause;
        state.not_before = state.not_before.max(not_before);
        self.update_open(node);
    }

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
