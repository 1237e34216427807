//! The members of a group, after an attempt with different results for them: each has its own result, and only what waits
//! for one that failed is blocked.

use std::collections::{BTreeSet, HashMap};

use pkgres_manifest::ResourceId;

use super::attempt::Outcome;
use super::node_state::{MemberResult, Verdict};
use super::{NodeStatus, Runner};
use crate::resource::{Difference, ResourceError};

impl Runner {
    /// Records the results of a group whose attempt failed for some of its members.
    pub(super) fn record_members(
        &mut self,
        node: usize,
        outcomes: Vec<Outcome>,
        is_timed_out: bool,
    ) {
        let mut has_changed = false;
        let mut found = Vec::new();
        for (number, outcome) in outcomes.into_iter().enumerate() {
            if outcome.is_change() {
                has_changed = true;
                self.note_changed_member(node, number);
            }
            found.push(match outcome {
                Outcome::Pending(differences) => Ok(MemberResult::Pending(differences)),
                Outcome::Impossible(differences, error)
                    if self.remedy_before(node, &error).is_some() =>
                {
                    Ok(MemberResult::Pending(differences))
                }
                Outcome::Impossible(_, error)
                | Outcome::Unfinished(_, error)
                | Outcome::Failed(error) => Err(error),
                _ => Ok(MemberResult::InOrder),
            });
        }
        if has_changed {
            self.nodes[node].is_changed = true;
            self.note_change_in_part(node);
        }
        let is_unfinished = self.nodes[node].is_changed;
        let mut worst: Option<Verdict> = None;
        let mut members = Vec::new();
        for result in found {
            members.push(result.unwrap_or_else(|error| {
                let verdict = self.judge(node, &error, is_timed_out, is_unfinished);
                let result = self.result_of_member(&verdict, &error);
                let before = worst.as_ref().map(Verdict::severity);
                if before.is_none_or(|before| before < verdict.severity()) {
                    worst = Some(verdict);
                }
                result
            }));
        }
        let Some(verdict) = worst else {
            let pending = members.into_iter().filter_map(|member| match member {
                MemberResult::Pending(differences) => Some(differences),
                _ => None,
            });
            self.record_pending(node, pending.flatten().collect());
            return;
        };
        let is_unknown = matches!(verdict, Verdict::Unknown(_));
        let is_over = is_unknown || matches!(verdict, Verdict::Failed(_));
        self.follow(node, verdict);
        let state = &mut self.nodes[node];
        state.members = members;
        if !is_over {
            return;
        }
        if is_unknown {
            // What could be changed was.
            state.is_changed = false;
        }
        // A node that only needs members that have not failed does not wait for the others.
        let not_held = self.not_held(node);
        for number in 0..self.graph.successors(node).len() {
            let edge = self.graph.successors(node)[number];
            if (is_unknown || not_held.contains(&edge.to))
                && self.nodes[node].unnotified.remove(&edge.to)
            {
                self.give_chance_after(edge);
                self.refresh_after(edge);
            }
        }
    }

    /// Records what the change of a member of a group concerns.
    fn note_changed_member(&mut self, group: usize, member: usize) {
        let next = self.graph.successors(group).iter().map(|edge| edge.to);
        let concerned = next.filter(|next| {
            let senders = self.graph.senders(group, *next);
            senders.is_none_or(|senders| senders.contains(&member))
        });
        self.nodes[group].unnotified.extend(concerned);
    }

    /// The nodes after a group that failed which only need members of it that have not failed.
    pub(super) fn not_held(&self, node: usize) -> BTreeSet<usize> {
        let state = &self.nodes[node];
        if state.members.is_empty() || !state.has_failed() || state.blocked > 0 {
            return BTreeSet::new();
        }
        let next = self.graph.successors(node).iter().map(|edge| edge.to);
        next.filter(|next| self.failed_member(node, *next).is_none())
            .collect()
    }

    /// The member of a failed group that another node waits for, by its number. `None` if those that it needs have not
    /// failed.
    pub(super) fn failed_member(&self, group: usize, next: usize) -> Option<usize> {
        let needed = self.graph.senders(group, next);
        let mut members = self.nodes[group].members.iter().enumerate();
        let failed = members.find(|(number, member)| {
            member.has_failed() && needed.is_none_or(|needed| needed.contains(number))
        });
        failed.map(|(number, _)| number)
    }

    /// The state of every resource, those of groups among them, in an order in which they can be brought into order.
    pub(crate) fn resources(&self) -> Vec<(ResourceId, NodeStatus)> {
        let mut numbers: HashMap<&ResourceId, (usize, NodeStatus)> = self
            .nodes()
            .enumerate()
            .map(|(number, (id, status))| (id, (number, status)))
            .collect();
        let mut resources = Vec::new();
        for node in self.graph.order() {
            let Some((number, status)) = numbers.remove(&node.id) else {
                continue;
            };
            for (member, id) in node.ids().iter().enumerate() {
                let status = match (&status, self.nodes[number].members.get(member)) {
                    // Of a group, only those that differ are to be changed.
                    (NodeStatus::Pending(differences), _) => {
                        pending(node.differences_of(id, differences))
                    }
                    (
                        NodeStatus::Failed(_)
                        | NodeStatus::Retrying(_)
                        | NodeStatus::Deferred(..)
                        | NodeStatus::Unknown(_),
                        Some(result),
                    ) => status_of_member(result, &status),
                    (status, _) => status.clone(),
                };
                resources.push((id.clone(), status));
            }
        }
        resources
    }

    /// The result of a member whose attempt ended with an error.
    fn result_of_member(&self, verdict: &Verdict, error: &ResourceError) -> MemberResult {
        match verdict {
            Verdict::Unknown(reason) => MemberResult::Unknown(reason.clone()),
            Verdict::Deferred(before, reason) => {
                let before = self.graph.nodes()[*before].id.clone();
                MemberResult::Deferred(before, reason.clone())
            }
            Verdict::Retried(message) | Verdict::Failed(message) => {
                MemberResult::Failed(message.clone())
            }
            Verdict::Cancelled => MemberResult::Failed(error.to_string()),
        }
    }
}

/// The state of a resource that may not be changed; one that does not differ is in order.
fn pending(differences: Vec<Difference>) -> NodeStatus {
    if differences.is_empty() {
        NodeStatus::InOrder
    } else {
        NodeStatus::Pending(differences)
    }
}

/// The state of a member of a group whose state is `group`.
fn status_of_member(result: &MemberResult, group: &NodeStatus) -> NodeStatus {
    match result {
        MemberResult::InOrder => NodeStatus::InOrder,
        MemberResult::Pending(differences) => NodeStatus::Pending(differences.clone()),
        MemberResult::Unknown(reason) => NodeStatus::Unknown(reason.clone()),
        MemberResult::Deferred(before, reason) => {
            NodeStatus::Deferred(before.clone(), reason.clone())
        }
        MemberResult::Failed(message) => match group {
            NodeStatus::Retrying(_) => NodeStatus::Retrying(message.clone()),
            _ => NodeStatus::Failed(message.clone()),
        },
    }
}

#[cfg(test)]
mod tests;
