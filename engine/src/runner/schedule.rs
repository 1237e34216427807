//! Decides when a resource is checked, and what the result means for the resources after it.

use std::collections::BTreeMap;
use std::time::Duration;

use pkgres_manifest::{Polling, Retries};

use super::attempt::Outcome;
use super::flapping::BeforeAttempt;
use super::node_state::{Cause, LastResult, NodeState, Observed, Phase, Timeout, Verdict};
use super::{Action, CancelMode, Interruption, NodeKey, Runner};
use crate::graph::Edge;
use crate::resource::{Awaited, Difference, Input, ResourceError, Values};
use crate::target::TargetError;

impl Runner {
    /// The node that runs with a key.
    pub(super) fn running_node(&self, key: NodeKey) -> Option<usize> {
        let node = *self.by_key.get(&key)?;
        matches!(self.nodes[node].phase, Phase::Running { .. }).then_some(node)
    }

    /// A node has to be checked.
    pub(super) fn make_dirty(&mut self, node: usize, cause: Cause) {
        let state = &mut self.nodes[node];
        if self.graph.nodes()[node].meta.hidden || state.has_failed() {
            return;
        }
        match &mut state.phase {
            Phase::Running { again, .. } => *again = true,
            Phase::Dirty => {}
            Phase::Clean => {
                state.phase = Phase::Dirty;
                state.cause = cause;
            }
        }
        self.update_open(node);
    }

    /// Whether a node is in order may have changed: so may what waits for it.
    pub(super) fn update_open(&mut self, node: usize) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let state = &mut self.nodes[node];
            let is_open = !state.is_in_order() || state.blocked > 0;
            if state.phase == Phase::Dirty && !state.has_failed() && state.blocked == 0 {
                self.ready.insert(node);
            }
            let not_held = self.not_held(node);
            let state = &mut self.nodes[node];
            if is_open == state.is_open && not_held == state.not_held {
                continue;
            }
            let was_open = std::mem::replace(&mut state.is_open, is_open);
            let was_not_held = std::mem::replace(&mut state.not_held, not_held);
            for number in 0..self.graph.successors(node).len() {
                let next = self.graph.successors(node)[number].to;
                let was_held = was_open && !was_not_held.contains(&next);
                let is_held = is_open && !self.nodes[node].not_held.contains(&next);
                let blocked = &mut self.nodes[next].blocked;
                match (was_held, is_held) {
                    (false, true) => *blocked += 1,
                    (true, false) => *blocked -= 1,
                    _ => continue,
                }
                stack.push(next);
            }
        }
    }

    /// Starts what can start.
    pub(super) fn start_ready(&mut self) {
        if self.interruption > Interruption::None || self.next_graph.is_some() {
            return;
        }
        let mut next = 0;
        while self.running < self.options.jobs.max(1)
            && let Some(node) = self.ready.range(next..).next().copied()
        {
            next = node + 1;
            let state = &self.nodes[node];
            let waits = state.phase != Phase::Dirty || state.has_failed() || state.blocked > 0;
            if waits {
                self.ready.remove(&node);
                continue;
            }
            if state.timers.not_before > self.now {
                self.alarms.insert((state.timers.not_before, node));
                self.ready.remove(&node);
                self.delayed.insert(node);
                continue;
            }
            let meta = &self.graph.nodes()[node].meta;
            // What waits for a semaphore stays in the set.
            if self.semaphores.take(&meta.semaphores) {
                self.ready.remove(&node);
                self.start(node);
            }
        }
    }

    pub(super) fn start(&mut self, node: usize) {
        let now = self.now;
        let in_graph = &self.graph.nodes()[node];
        let state = &mut self.nodes[node];
        // A notification that comes while it runs is for the next time.
        let refresh = std::mem::take(&mut state.refresh);
        state.phase = Phase::Running {
            again: false,
            refresh,
        };
        state.timers.poll_at = None;
        if matches!(state.result, LastResult::Cancelled) {
            state.result = LastResult::None;
        }
        state.timers.delays_chance = false;
        state.timers.timeout = Timeout::None;
        if let Some(timeout) = in_graph.meta.timeout {
            state.timers.timeout = Timeout::At(now + timeout);
            self.alarms.insert((now + timeout, node));
        }
        let watches = self.options.watch && in_graph.meta.poll == Polling::Watch;
        if watches && state.observed == Observed::Never {
            state.observed = Observed::Watched;
            let resource = in_graph.resource.clone();
            self.actions.push_back(Action::Watch(state.key, resource));
        }
        let received = state.received.clone();
        let awaited = self.awaited(node);
        let foreseen = self.foreseen(node);
        let in_graph = &self.graph.nodes()[node];
        let state = &self.nodes[node];
        self.actions.push_back(Action::Attempt {
            node: state.key,
            id: in_graph.id.clone(),
            resource: in_graph.resource.clone(),
            input: Input {
                received,
                awaited,
                refresh: refresh && in_graph.resource.is_refreshable(),
                foreseen,
            },
            noop: self.is_noop(node) || state.cause == Cause::Verified,
            cause: state.cause,
        });
        self.running += 1;
        self.update_open(node);
    }

    /// The values that a node would receive, but that were not sent.
    fn awaited(&self, node: usize) -> BTreeMap<String, Awaited> {
        let in_graph = &self.graph.nodes()[node];
        let is_noop = self.is_noop(node);
        let missing = in_graph
            .receives
            .iter()
            .filter(|receipt| !self.nodes[node].received.contains_key(&receipt.property));
        let awaited = missing.map(|receipt| {
            let sender = self.graph.number_of(&receipt.from);
            let sender = sender.map(|sender| &self.nodes[sender]);
            let is_pending = sender.is_some_and(NodeState::is_unchanged);
            let awaited = Awaited {
                from: receipt.from.clone(),
                value: receipt.value.clone(),
                is_pending: is_noop && is_pending,
            };
            (receipt.property.clone(), awaited)
        });
        awaited.collect()
    }

    /// Whether nothing may be changed for a node.
    pub(super) fn is_noop(&self, node: usize) -> bool {
        self.options.noop || self.graph.nodes()[node].meta.noop
    }

    /// A running attempt has ended.
    pub(super) fn on_attempt_end(&mut self, node: usize, outcome: Outcome) {
        self.running -= 1;
        self.semaphores
            .give_back(&self.graph.nodes()[node].meta.semaphores);
        let state = &mut self.nodes[node];
        let (again, refresh) = match state.phase {
            Phase::Running { again, refresh } => (again, refresh),
            Phase::Dirty | Phase::Clean => (false, false),
        };
        // What is owed stays owed until an attempt succeeds.
        let is_success = matches!(
            outcome,
            Outcome::InOrder(_) | Outcome::Kept(_) | Outcome::Changed(..)
        );
        state.refresh |= refresh && !is_success;
        if state.cause == Cause::Verified {
            self.on_verification_end(node, &outcome);
            return;
        }
        let before = BeforeAttempt::of(state);
        let is_change = outcome.is_change();
        let was_unchanged = state.is_unchanged();
        self.ended += 1;
        state.checked_at = self.ended;
        if is_change {
            state.changed_at = self.ended;
        }
        let is_timed_out = state.timers.timeout == Timeout::Passed;
        state.timers.timeout = Timeout::None;
        state.phase = Phase::Clean;
        self.record_outcome(node, outcome, is_timed_out);
        if was_unchanged && !self.nodes[node].is_unchanged() {
            self.wake_deferred(node);
        }
        self.note_end(node, before, is_change);
        if is_success {
            self.watch_again(node);
        }
        if again && self.nodes[node].has_failed() {
            self.may_have_changed(node);
        } else if again {
            self.make_dirty(node, Cause::Noticed);
        }
        self.set_poll(node);
        self.update_open(node);
    }

    /// Records what an attempt found or did.
    fn record_outcome(&mut self, node: usize, outcome: Outcome, is_timed_out: bool) {
        let state = &mut self.nodes[node];
        state.members.clear();
        match outcome {
            Outcome::InOrder(values) => {
                // A change that was begun before is finished now.
                let is_changed = std::mem::take(&mut state.is_changed);
                state.unnotified.clear();
                self.mark_in_order(node, &values);
                if is_changed {
                    self.notify_successors(node);
                }
            }
            Outcome::Kept(reason) => {
                if self.unchanged_before(node).is_some() {
                    self.handle_error(node, &ResourceError::Unknown(reason), is_timed_out);
                } else {
                    self.mark_in_order(node, &Values::new());
                }
            }
            Outcome::Changed(_, values) => {
                state.is_changed = false;
                state.unnotified.clear();
                self.mark_in_order(node, &values);
                self.notify_successors(node);
                if let Some(reason) = self.note_change(node) {
                    self.fail_for_good(node, reason);
                }
            }
            Outcome::Pending(differences) => self.record_pending(node, differences),
            Outcome::Impossible(differences, error) => {
                // What comes before it may make it possible.
                if self.remedy_before(node, &error).is_some() {
                    self.record_pending(node, differences);
                } else {
                    self.handle_error(node, &error, is_timed_out);
                }
            }
            Outcome::Unfinished(_, error) => {
                state.is_changed = true;
                self.note_change_in_part(node);
                self.handle_error(node, &error, is_timed_out);
            }
            Outcome::Failed(error) => self.handle_error(node, &error, is_timed_out),
            Outcome::Members(outcomes) => self.record_members(node, outcomes, is_timed_out),
        }
    }

    pub(super) fn record_pending(&mut self, node: usize, differences: Vec<Difference>) {
        let state = &mut self.nodes[node];
        state.result = LastResult::Pending(differences);
        state.forgive();
        self.note_pending_account(node);
        if self.options.noop {
            // It would be changed, and would refresh them.
            self.refresh_successors(node);
        }
    }

    fn mark_in_order(&mut self, node: usize, values: &Values) {
        let state = &mut self.nodes[node];
        state.result = LastResult::InOrder;
        state.forgive();
        if self.graph.nodes()[node].meta.retry_reset {
            state.attempts = 0;
        }
        self.send(node, values);
        self.nodes[node].sent.clone_from(values);
    }

    /// A node is changed now, or fails, so that those which wait for that have to be looked at.
    fn wake_deferred(&mut self, node: usize) {
        for other in 0..self.nodes.len() {
            if self.nodes[other].deferred_behind() == Some(node) {
                self.make_dirty(other, Cause::Noticed);
            }
        }
    }

    /// Gives the values of a node to those that receive them. Who gets a different value than before has to be checked.
    fn send(&mut self, node: usize, values: &Values) {
        for number in 0..self.graph.successors(node).len() {
            let next = self.graph.successors(node)[number].to;
            let receipts = &self.graph.nodes()[next].receives;
            let mut is_new = false;
            for receipt in receipts {
                if self.graph.number_of(&receipt.from) != Some(node) {
                    continue;
                }
                if let Some(value) = values.get(&receipt.value) {
                    let received = &mut self.nodes[next].received;
                    let before = received.insert(receipt.property.clone(), value.clone());
                    is_new |= before.as_ref() != Some(value);
                }
            }
            if is_new {
                self.make_dirty(next, Cause::Received);
            }
        }
    }

    /// A node was changed: this refreshes what it notifies, and gives what failed or was deferred behind it another
    /// chance, as what was wrong may have been the reason. So does an attempt that runs: it may have been too early.
    fn notify_successors(&mut self, node: usize) {
        for number in 0..self.graph.successors(node).len() {
            let edge = self.graph.successors(node)[number];
            self.give_chance_after(edge);
        }
        self.refresh_successors(node);
    }

    pub(super) fn give_chance_after(&mut self, edge: Edge) {
        let state = &self.nodes[edge.to];
        if state.has_failed() || state.timers.delays_chance {
            self.give_chance_behind_change(edge.to);
        } else if state.deferred_behind().is_some() || matches!(state.phase, Phase::Running { .. })
        {
            self.make_dirty(edge.to, Cause::Noticed);
        }
    }

    fn refresh_successors(&mut self, node: usize) {
        for number in 0..self.graph.successors(node).len() {
            let edge = self.graph.successors(node)[number];
            self.refresh_after(edge);
        }
    }

    pub(super) fn refresh_after(&mut self, edge: Edge) {
        if edge.notifies() && self.graph.nodes()[edge.to].resource.is_refreshable() {
            self.nodes[edge.to].refresh = true;
            self.make_dirty(edge.to, Cause::Refreshed);
        }
    }

    /// An attempt ended with an error: another one is made, if there is one left, unless this says something else about
    /// the node.
    pub(super) fn handle_error(&mut self, node: usize, error: &ResourceError, is_timed_out: bool) {
        let is_unfinished = self.nodes[node].is_changed;
        let verdict = self.judge(node, error, is_timed_out, is_unfinished);
        self.follow(node, verdict);
    }

    /// Records what an error of an attempt says about the node, and makes another attempt if that is to be done.
    pub(super) fn follow(&mut self, node: usize, verdict: Verdict) {
        let delay = self.graph.nodes()[node].meta.delay;
        let state = &mut self.nodes[node];
        match verdict {
            Verdict::Unknown(reason) => state.result = LastResult::Unknown(reason),
            Verdict::Cancelled => {
                state.retry();
                // Why an earlier attempt failed says more.
                if !matches!(state.result, LastResult::Retrying(_)) {
                    state.result = LastResult::Cancelled;
                }
            }
            Verdict::Retried(message) => {
                state.retry();
                state.attempts = state.attempts.saturating_add(1);
                state.result = LastResult::Retrying(message);
                let timers = &mut state.timers;
                timers.not_before = timers.not_before.max(self.now + delay);
            }
            Verdict::Deferred(before, reason) => {
                state.attempts = state.attempts.saturating_add(1);
                state.cause = Cause::Retried;
                state.phase = Phase::Clean;
                state.result = LastResult::Deferred { before, reason };
            }
            Verdict::Failed(message) => {
                state.attempts = state.attempts.saturating_add(1);
                self.fail_for_good(node, message);
            }
        }
    }

    /// What an error of an attempt says about the node. `is_unfinished` says whether a change was begun.
    pub(super) fn judge(
        &self,
        node: usize,
        error: &ResourceError,
        is_timed_out: bool,
        is_unfinished: bool,
    ) -> Verdict {
        let in_graph = &self.graph.nodes()[node];
        let message = match error {
            ResourceError::Unknown(reason) => return Verdict::Unknown(reason.clone()),
            _ if is_timed_out => {
                let timeout = in_graph.meta.timeout.unwrap_or_default().as_secs_f64();
                format!("it did not end in {timeout} s")
            }
            // What the user ended has not failed.
            ResourceError::Target(TargetError::Cancelled) => return Verdict::Cancelled,
            error => error.to_string(),
        };
        let is_last = match in_graph.meta.retry {
            Retries::Times(times) => self.nodes[node].attempts >= times,
            Retries::Forever => false,
        };
        if !is_last {
            return Verdict::Retried(message);
        }
        // What is reversed comes before anything new, so that nothing goes on without it. What was changed in part has
        // failed, whatever it would wait for.
        let is_final = in_graph.is_reversal || is_unfinished;
        match self.remedy_before(node, error).filter(|_| !is_final) {
            Some(before) => Verdict::Deferred(before, message),
            None => Verdict::Failed(message),
        }
    }

    /// A node has failed for good.
    pub(super) fn fail_for_good(&mut self, node: usize, message: String) {
        let state = &mut self.nodes[node];
        state.retry();
        state.result = LastResult::Failed(message);
        state.failures.add(self.now);
    }

    /// A node is not watched as a whole.
    pub(super) fn set_observed(&mut self, key: NodeKey, observed: Observed) {
        if let Some(node) = self.by_key.get(&key).copied() {
            let state = &mut self.nodes[node];
            // What is in order and still does not say what to watch never will.
            state.observed = match state.observed {
                Observed::WatchedAgain | Observed::Polled => Observed::Polled,
                Observed::Never | Observed::Watched | Observed::UntilInOrder => observed,
            };
            self.set_poll(node);
        }
    }

    /// Watches a node that is in order, if only part of it could be watched before. It is checked again, because it may
    /// have changed before that.
    fn watch_again(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        if state.observed == Observed::UntilInOrder {
            state.observed = Observed::WatchedAgain;
            let resource = self.graph.nodes()[node].resource.clone();
            self.actions.push_back(Action::Watch(state.key, resource));
            self.make_dirty(node, Cause::Noticed);
        }
    }

    /// Decides when a node that was checked is checked again.
    pub(super) fn set_poll(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        let is_settled = state.phase == Phase::Clean || state.has_failed();
        if !is_settled || !self.options.watch || self.graph.nodes()[node].meta.hidden {
            return;
        }
        let pause = match self.graph.nodes()[node].meta.poll {
            Polling::Every(pause) => Some(pause),
            Polling::Watch if state.observed.is_polled() => Some(self.options.polling),
            Polling::Watch | Polling::Once => None,
        };
        // A pause of zero would never let the graph converge.
        let pause = pause.map(|pause| pause.max(Duration::from_millis(1)));
        state.timers.poll_at = pause.map(|pause| self.now + pause);
        if let Some(at) = state.timers.poll_at {
            self.alarms.insert((at, node));
        }
    }

    /// Looks at the nodes whose time has come.
    pub(super) fn ring_alarms(&mut self) {
        while let Some((at, node)) = self.alarms.first().copied()
            && at <= self.now
        {
            self.alarms.remove(&(at, node));
            self.delayed.remove(&node);
            let Some(state) = self.nodes.get_mut(node) else {
                continue;
            };
            if state.timers.poll_at.is_some_and(|at| at <= self.now) {
                state.timers.poll_at = None;
                if state.has_failed() {
                    self.try_again(node, Cause::Polled, self.now);
                } else {
                    self.make_dirty(node, Cause::Polled);
                }
                continue;
            }
            if let Some((at, cause)) = state.timers.chance_at
                && at <= self.now
            {
                self.try_again(node, cause, self.now);
                continue;
            }
            if let Timeout::At(at) = state.timers.timeout
                && at <= self.now
            {
                state.timers.timeout = Timeout::Passed;
                let (node, how) = (state.key, CancelMode::Kill);
                self.actions.push_back(Action::Cancel { node, how });
                continue;
            }
            self.update_open(node);
        }
    }

    pub(super) fn interrupt(&mut self) {
        let (interruption, how) = match self.interruption {
            Interruption::None => (Interruption::Waiting, None),
            Interruption::Waiting => (Interruption::Ending, Some(CancelMode::Interrupt)),
            Interruption::Ending | Interruption::Killing => {
                (Interruption::Killing, Some(CancelMode::Kill))
            }
        };
        self.interruption = interruption;
        let Some(how) = how else {
            return;
        };
        for state in &self.nodes {
            if matches!(state.phase, Phase::Running { .. }) {
                let node = state.key;
                self.actions.push_back(Action::Cancel { node, how });
            }
        }
    }

    /// Notes whether something is left to do.
    pub(super) fn note_settled(&mut self) {
        let waits = self.running > 0
            || self.next_graph.is_some()
            || !self.ready.is_empty()
            || !self.delayed.is_empty()
            || self.verification.is_going_on();
        self.is_settled = !waits;
    }
}
