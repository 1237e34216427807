//! The members of a group, after an attempt that failed for some of them: each has its own result, and only what waits
//! for one that failed is blocked.

use std::collections::{BTreeSet, HashMap};

use pkgres_manifest::ResourceId;

use super::attempt::Outcome;
use super::node_state::{LastResult, MemberResult};
use super::{NodeStatus, Runner};
use crate::resource::Difference;

impl Runner {
    /// Records the results of a group whose attempt failed for some of its members.
    pub(super) fn record_members(
        &mut self,
        node: usize,
        outcomes: Vec<Outcome>,
        is_timed_out: bool,
    ) {
        let mut changed = BTreeSet::new();
        let mut members = Vec::new();
        let mut first_error = None;
        for (number, outcome) in outcomes.into_iter().enumerate() {
            if outcome.is_change() {
                changed.insert(number);
            }
            members.push(match outcome {
                Outcome::Pending(differences) => MemberResult::Pending(differences),
                Outcome::Impossible(differences, error)
                    if self.remedy_before(node, &error).is_some() =>
                {
                    MemberResult::Pending(differences)
                }
                Outcome::Impossible(_, error)
                | Outcome::Unfinished(_, error)
                | Outcome::Failed(error) => {
                    let message = error.to_string();
                    first_error.get_or_insert(error);
                    MemberResult::Failed(message)
                }
                _ => MemberResult::InOrder,
            });
        }
        let Some(error) = first_error else {
            let pending = members.into_iter().filter_map(|member| match member {
                MemberResult::Pending(differences) => Some(differences),
                _ => None,
            });
            self.record_pending(node, pending.flatten().collect());
            return;
        };
        if !changed.is_empty() {
            self.nodes[node].is_changed = true;
            self.note_change_in_part(node);
        }
        self.handle_error(node, &error, is_timed_out);
        if !self.nodes[node].has_failed()
            && !matches!(self.nodes[node].result, LastResult::Retrying(_))
        {
            return;
        }
        self.nodes[node].members = members;
        // What only needs members that have not failed need not wait for the others.
        for next in self.not_held(node) {
            let senders = self.graph.senders(node, next);
            let mut changed = changed.iter();
            if changed.any(|member| senders.is_none_or(|senders| senders.contains(member))) {
                let mut edges = self.graph.successors(node).iter();
                if let Some(edge) = edges.find(|edge| edge.to == next).copied() {
                    self.give_chance_after(edge);
                    self.refresh_after(edge);
                }
            }
        }
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
                    (NodeStatus::Failed(_) | NodeStatus::Retrying(_), Some(result)) => {
                        match (result, &status) {
                            (MemberResult::InOrder, _) => NodeStatus::InOrder,
                            (MemberResult::Pending(differences), _) => {
                                NodeStatus::Pending(differences.clone())
                            }
                            (MemberResult::Failed(message), NodeStatus::Retrying(_)) => {
                                NodeStatus::Retrying(message.clone())
                            }
                            (MemberResult::Failed(message), _) => {
                                NodeStatus::Failed(message.clone())
                            }
                        }
                    }
                    (status, _) => status.clone(),
                };
                resources.push((id.clone(), status));
            }
        }
        resources
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
