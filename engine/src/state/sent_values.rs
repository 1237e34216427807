//! Values that resources send only after their change, such as the output of a command: no later check finds them. They
//! are kept on the machine until all that receive them are in order, so that a run which ends in between can be
//! continued.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::{Hexadecimal, ResourceId, sha256};

use super::record::{Applied, Sent};
use super::record_before_change::{Prepared, ValueKeeper};
use super::{AppliedState, Memory, Purpose};
use crate::graph::Graph;
use crate::resource::{Checked, Input, Resource, Values};
use crate::runner::NodeStatus;
use crate::target::Target;

/// Where the values of a resource are kept.
struct KeptValues {
    state: Arc<AppliedState>,
    id: ResourceId,
    definition: String,
    purpose: Purpose,
}

impl ValueKeeper for KeptValues {
    fn or_kept(&self, values: Values) -> Values {
        if !values.is_empty() {
            return values;
        }
        let memory = self.state.memory();
        let kept = memory.applied.sent.get(&self.id);
        let kept = kept.filter(|kept| kept.definition == self.definition);
        kept.map_or(values, |kept| kept.values.clone())
    }

    fn keep(&self, resource: &dyn Resource, target: &dyn Target, input: &Input) {
        let input = Input {
            refresh: false,
            ..input.clone()
        };
        // The attempt checks it again, and reports what is wrong.
        let Ok(Checked::InOrder(values)) = resource.check(target, &input) else {
            return;
        };
        if self.purpose == Purpose::Plan || values.is_empty() {
            return;
        }
        let mut memory = self.state.memory();
        let mut applied = memory.applied.clone();
        let sent = Sent {
            definition: self.definition.clone(),
            values,
        };
        applied.sent.insert(self.id.clone(), sent);
        // The change is made: if this fails, the others still get the values in this run.
        if self.state.location.write_applied(target, &applied).is_ok() {
            memory.applied = applied;
        }
    }
}

impl AppliedState {
    /// The graph with senders that keep their values, as far as something receives them.
    pub(super) fn with_sent_values(self: &Arc<Self>, mut graph: Graph, purpose: Purpose) -> Graph {
        let mut receivers: BTreeMap<ResourceId, BTreeSet<ResourceId>> = BTreeMap::new();
        for node in graph.nodes() {
            if node.meta.hidden || node.meta.noop {
                continue;
            }
            for receipt in &node.receives {
                let of_sender = receivers.entry(receipt.from.clone()).or_default();
                of_sender.extend(node.ids().iter().cloned());
            }
        }
        for node in graph.nodes_mut() {
            if receivers.contains_key(&node.id) {
                let definition = node.resource.definition();
                let kept = KeptValues {
                    state: Arc::clone(self),
                    id: node.id.clone(),
                    definition: Hexadecimal(&sha256(definition.as_bytes())).to_string(),
                    purpose,
                };
                let prepared = Prepared::new(Arc::clone(&node.resource), |_, _| Ok(()));
                node.resource = Arc::new(prepared.keeping(kept));
            }
        }
        self.memory().receivers = receivers;
        graph
    }
}

impl Memory {
    /// What is still kept after a run: what resources did not get that are not in order, or that the graph lacks.
    pub(super) fn still_sent(
        &self,
        nodes: &[(ResourceId, NodeStatus)],
    ) -> BTreeMap<ResourceId, Sent> {
        let in_order: BTreeSet<&ResourceId> = nodes
            .iter()
            .filter(|(_, status)| matches!(status, NodeStatus::InOrder))
            .map(|(id, _)| id)
            .collect();
        let Applied { sent, .. } = &self.applied;
        let needed = sent.iter().filter(|(id, _)| {
            let receivers = self.receivers.get(*id);
            let waits = |receivers: &BTreeSet<ResourceId>| {
                !receivers.iter().all(|receiver| in_order.contains(receiver))
            };
            receivers.is_some_and(waits) || self.is_left_out(id)
        });
        needed
            .map(|(id, sent)| (id.clone(), sent.clone()))
            .collect()
    }
}
