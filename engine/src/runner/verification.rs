//! Verification: before a run ends, what was in order before the last change is checked once more.
//!
//! A change can undo an earlier one of the same run: a command overwrites a file that is a resource as well. A run that
//! goes on notices this, as it watches the file. One that ends would say that everything is in order. So resources that
//! were checked before others were changed are checked again, once, without changing anything: what differs by then has
//! failed. Changing it again would only start the quarrel anew.

use std::collections::BTreeSet;

use pkgres_manifest::ResourceId;

use super::attempt::Outcome;
use super::node_state::{Cause, LastResult, MemberResult, NodeState, Phase, Timeout};
use super::{Interruption, NodeKey, Runner};
use crate::resource::{Difference, ResourceError, listed};

/// The most resources that a message lists as changed later.
const MOST_LISTED: usize = 3;

/// The progress of the verification.
#[derive(Debug, Default)]
pub(super) struct Verification {
    has_begun: bool,
    /// The nodes that are still to be checked.
    open: BTreeSet<usize>,
}

impl Verification {
    pub(super) fn is_going_on(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Runner {
    /// Whether an attempt that runs is one of the verification.
    pub(crate) fn is_verification(&self, key: NodeKey) -> bool {
        let state = self.by_key.get(&key).map(|node| &self.nodes[*node]);
        state.is_some_and(|state| state.cause == Cause::Verified)
    }

    /// The resources of a node that have failed, and why.
    pub(crate) fn failures_of(&self, key: NodeKey) -> Vec<(ResourceId, String)> {
        let Some(node) = self.by_key.get(&key).copied() else {
            return Vec::new();
        };
        let state = &self.nodes[node];
        let Some(failure) = state.failure() else {
            return Vec::new();
        };
        let ids = self.graph.nodes()[node].ids().iter().enumerate();
        let failed = ids.filter_map(|(number, id)| match state.members.get(number) {
            None => Some((id.clone(), failure.to_owned())),
            Some(MemberResult::Failed(failure)) => Some((id.clone(), failure.clone())),
            Some(_) => None,
        });
        failed.collect()
    }

    /// Begins the verification once everything is in order, and starts what can start.
    pub(super) fn verify(&mut self) {
        let is_single =
            !self.options.watch && !self.options.noop && self.interruption == Interruption::None;
        if is_single && self.is_settled && !self.verification.has_begun {
            self.verification.has_begun = true;
            self.verification.open = self.checked_before_last_change();
        }
        if self.interruption > Interruption::None {
            self.verification.open.clear();
        }
        let mut next = 0;
        while self.running < self.options.jobs.max(1)
            && let Some(node) = self.verification.open.range(next..).next().copied()
        {
            next = node + 1;
            // What waits for a semaphore stays in the set.
            if self
                .semaphores
                .take(&self.graph.nodes()[node].meta.semaphores)
            {
                self.verification.open.remove(&node);
                self.nodes[node].cause = Cause::Verified;
                self.start(node);
            }
        }
        self.note_settled();
    }

    /// The nodes in order that were checked before others were changed. There are none if something has failed: then
    /// nobody says that all is in order. What a reversal restored may be changed by what is new: that comes after it.
    fn checked_before_last_change(&self) -> BTreeSet<usize> {
        if self.nodes.iter().any(NodeState::has_failed) {
            return BTreeSet::new();
        }
        let last = self.nodes.iter().map(|state| state.changed_at).max();
        let last = last.unwrap_or_default();
        let nodes = self.nodes.iter().enumerate().filter(|(node, state)| {
            let in_graph = &self.graph.nodes()[*node];
            state.checked_at < last
                && state.phase == Phase::Clean
                && !state.is_unchanged()
                && !matches!(state.result, LastResult::Unknown(_))
                && !in_graph.meta.noop
                && !in_graph.meta.hidden
                && !in_graph.is_reversal
        });
        nodes.map(|(node, _)| node).collect()
    }

    /// A check of the verification has ended.
    pub(super) fn on_verification_end(&mut self, node: usize, outcome: &Outcome) {
        let state = &mut self.nodes[node];
        state.timers.timeout = Timeout::None;
        state.phase = Phase::Clean;
        let in_graph = &self.graph.nodes()[node];
        let of_members: Vec<Option<String>> = match outcome {
            Outcome::Members(members) => {
                let members = members.iter();
                members.map(|member| self.undone(node, member)).collect()
            }
            Outcome::Pending(differences)
            | Outcome::Impossible(differences, _)
            | Outcome::Unfinished(differences, _) => {
                let ids = in_graph.members.iter();
                let own = ids.map(|id| in_graph.differences_of(id, differences));
                own.map(|own| (!own.is_empty()).then(|| self.describe_undone(node, &own)))
                    .collect()
            }
            _ => Vec::new(),
        };
        // It is one failure, whatever number of its members differs.
        let failure = self.undone(node, outcome);
        let failure = failure.or_else(|| of_members.iter().flatten().next().cloned());
        if let Some(message) = failure {
            self.fail_for_good(node, message);
            let results = of_members.into_iter().map(|failure| match failure {
                Some(message) => MemberResult::Failed(message),
                None => MemberResult::InOrder,
            });
            self.nodes[node].members = results.collect();
        }
        self.update_open(node);
    }

    /// Why a node, or a member of it, has failed according to its check; `None` if it has not.
    fn undone(&self, node: usize, outcome: &Outcome) -> Option<String> {
        match outcome {
            Outcome::Pending(differences)
            | Outcome::Impossible(differences, _)
            | Outcome::Unfinished(differences, _) => Some(self.describe_undone(node, differences)),
            Outcome::Failed(ResourceError::Unknown(_)) => None,
            Outcome::Failed(error) => {
                (self.interruption == Interruption::None).then(|| error.to_string())
            }
            Outcome::InOrder(_) | Outcome::Kept(_) | Outcome::Changed(..) | Outcome::Members(_) => {
                None
            }
        }
    }

    /// What was undone of a node, and what was changed after it was in order.
    fn describe_undone(&self, node: usize, differences: &[Difference]) -> String {
        let checked_at = self.nodes[node].checked_at;
        let later = self.nodes.iter().enumerate();
        let later = later.filter(|(_, state)| state.changed_at > checked_at);
        let mut names: Vec<String> = later
            .map(|(node, _)| self.graph.nodes()[node].id.to_string())
            .collect();
        if names.len() > MOST_LISTED {
            names.truncate(MOST_LISTED);
            names.push("...".to_owned());
        }
        let (differences, names) = (listed(differences), names.join(", "));
        format!("it is no longer up to date: {differences}; changed after it: {names}")
    }
}
