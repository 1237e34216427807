//! Retries of resources that failed for good, because something changed that may have been the reason.
//!
//! An attempt can trigger the very event that starts the next one: a command writes a file that it watches, and then
//! fails. Retrying at once would loop forever. So a failed resource is retried with exponential backoff, and after
//! several failures in a row the run stops waiting for it: it can end as failed, but keeps retrying as long as it goes
//! on.

use std::time::Duration;

use super::Runner;
use super::node_state::{Cause, Failures, LastResult, NodeState, Phase};

impl NodeState {
    /// Another attempt is to be made, because of the last one.
    pub(super) fn retry(&mut self) {
        self.phase = Phase::Dirty;
        self.cause = Cause::Retried;
    }

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
        if state.has_failed() {
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
                    state.timers.not_before = state.timers.not_before.max(bucket.take(self.now));
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
        if !state.has_failed() {
            if state.timers.delays_chance && failures.times <= 1 {
                // It waits for a pause that the change makes needless.
                state.timers.delays_chance = false;
                state.timers.not_before = self.now;
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
            let at = state
                .timers
                .chance_at
                .map_or(at, |(before, _)| before.min(at));
            state.timers.chance_at = Some((at, cause));
            self.alarms.insert((at, node));
            return;
        }
        self.try_again(node, cause, at);
    }

    /// Tries a node that has failed for good again.
    pub(super) fn try_again(&mut self, node: usize, cause: Cause, not_before: Duration) {
        let now = self.now;
        let state = &mut self.nodes[node];
        state.timers.chance_at = None;
        state.timers.delays_chance = not_before > now;
        state.result = match std::mem::replace(&mut state.result, LastResult::None) {
            LastResult::Failed(error) => LastResult::Retrying(error),
            result => result,
        };
        state.attempts = 0;
        state.phase = Phase::Dirty;
        state.cause = cause;
        state.timers.not_before = state.timers.not_before.max(not_before);
        self.update_open(node);
    }
}
