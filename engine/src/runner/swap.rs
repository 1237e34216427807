//! Replaces the running graph by another one. Resources that are in both keep their state.

use std::collections::HashMap;

use pkgres_manifest::{Polling, ResourceId};

use super::node_state::{Cause, Failures, LastResult, NodeState, Observed, Phase, Undone};
use super::{Action, NodeKey, Runner};
use crate::graph::Graph;

/// The differences between the resources of a graph and those of the graph that it replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SwapReport {
    /// The resources that stay as they were.
    pub kept: Vec<ResourceId>,
    /// The resources that are new, or do something else than before.
    pub added: Vec<ResourceId>,
    /// The resources that are gone, or did something else before.
    pub removed: Vec<ResourceId>,
}

impl Runner {
    /// Replaces the graph. Nothing may be running.
    pub(super) fn load(&mut self, graph: Graph) {
        let is_first = self.graph.nodes().is_empty();
        // A refresh is owed to a resource, whatever it is replaced by.
        let mut owed = self.owed();
        owed.append(&mut self.options.owed);
        let before = std::mem::replace(&mut self.graph, graph);
        let mut states: HashMap<usize, NodeState> = std::mem::take(&mut self.nodes)
            .into_iter()
            .enumerate()
            .collect();
        let mut report = SwapReport::default();
        let mut nodes = Vec::with_capacity(self.graph.nodes().len());
        for node in self.graph.nodes() {
            let same = before
                .number_of(&node.id)
                .filter(|number| before.nodes()[*number].is_same(node));
            let kept = same.and_then(|number| states.remove(&number));
            if let Some(mut state) = kept {
                report.kept.push(node.id.clone());
                if node.meta.reset {
                    state.attempts = 0;
                }
                // These are numbers of the replaced graph. The nodes that had them are owed a refresh.
                state.unnotified.clear();
                if state.deferred_behind().is_some() {
                    state.result = LastResult::None;
                    state.members.clear();
                    state.phase = Phase::Dirty;
                }
                if owed.contains(&node.id) && !state.refresh {
                    state.refresh = true;
                    state.phase = Phase::Dirty;
                }
                // What undid its changes may be gone.
                state.undone = Undone::default();
                if node.meta.rewatch && state.has_failed() {
                    state.result = LastResult::None;
                    state.members.clear();
                    state.failures = Failures::default();
                    state.timers.chance_at = None;
                    state.attempts = 0;
                    state.phase = Phase::Dirty;
                    state.cause = Cause::Retried;
                }
                nodes.push(state);
            } else {
                report.added.push(node.id.clone());
                let key = NodeKey(self.next_key);
                self.next_key += 1;
                let mut state = NodeState::new(key, node, self.now);
                state.refresh = owed.contains(&node.id);
                nodes.push(state);
            }
        }
        let mut removed: Vec<_> = states.into_iter().collect();
        removed.sort_by_key(|(number, _)| *number);
        for (number, state) in removed {
            report.removed.push(before.nodes()[number].id.clone());
            if state.observed != Observed::Never {
                self.actions.push_back(Action::Unwatch(state.key));
            }
        }
        self.nodes = nodes;
        self.send_again();
        self.by_key = (self.nodes.iter().enumerate())
            .map(|(number, state)| (state.key, number))
            .collect();
        self.find_pending_accounts();
        self.restore_order();
        if !is_first {
            self.actions.push_back(Action::Replaced(report));
        }
    }

    /// Gives new nodes the values that others sent before.
    fn send_again(&mut self) {
        for (number, node) in self.graph.nodes().iter().enumerate() {
            for receipt in &node.receives {
                let from = self.graph.number_of(&receipt.from);
                let sent = from.and_then(|from| self.nodes[from].sent.get(&receipt.value));
                let Some(value) = sent.cloned() else {
                    continue;
                };
                let received = &mut self.nodes[number].received;
                received.entry(receipt.property.clone()).or_insert(value);
            }
        }
    }

    /// Works out what waits for what, and when to look at each node.
    fn restore_order(&mut self) {
        self.ready.clear();
        self.delayed.clear();
        self.alarms.clear();
        self.is_settled = false;
        self.is_endless = false;
        self.quiet_since = self.now;
        for state in &mut self.nodes {
            state.blocked = 0;
            state.is_open = false;
            state.not_held.clear();
        }
        for node in 0..self.nodes.len() {
            let state = &self.nodes[node];
            if let Some(at) = state.timers.poll_at
                && self.graph.nodes()[node].meta.poll != Polling::Once
            {
                self.alarms.insert((at, node));
            }
            if let Some((at, _)) = state.timers.chance_at {
                self.alarms.insert((at, node));
            }
            self.update_open(node);
        }
    }
}
