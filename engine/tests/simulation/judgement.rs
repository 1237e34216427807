//! Whether a run that has ended left the machine as it should.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_engine::{NodeStatus, SimulatedFiles, Status};

use crate::plans::{Plan, Wanted};
use crate::resources::source_content;
use crate::simulation::Simulation;

impl Simulation {
    /// Compares the end of a run with the machine.
    pub(crate) fn judge(&self, status: Status) -> Result<(), String> {
        let files = self.machine.files();
        let statuses: BTreeMap<_, _> = self.runner.nodes().collect();
        let mut has_failed = false;
        let mut unfinished = BTreeSet::new();
        for id in self.reversals() {
            match statuses.get(&id) {
                Some(NodeStatus::InOrder) => {}
                Some(NodeStatus::Blocked(_)) => drop(unfinished.insert(id)),
                Some(NodeStatus::Failed(_)) if self.disturbed.contains(&id) => {
                    has_failed = true;
                    unfinished.insert(id);
                }
                status => return Err(format!("the reversal of {id} is left as {status:?}")),
            }
        }
        // It receives a value of a source that could not be read, which waits for a change that nothing may make.
        let lacks_value = |plan: &Plan| {
            let from = plan.receives_from.map(|from| &self.plans[from].id);
            let sender = from.and_then(|from| statuses.get(from));
            matches!(sender, Some(NodeStatus::Deferred(..)))
        };
        let touched_at = &self.world.lock().expect("no panic holds it").touched_at;
        self.restorations
            .judge(&self.plans, &unfinished, &files, touched_at)?;
        for (node, plan) in self.plans.iter().enumerate() {
            let id = &plan.id;
            let status = statuses.get(id).ok_or_else(|| format!("{id} is gone"))?;
            match status {
                NodeStatus::Failed(_) => {
                    has_failed = true;
                    if !self.disturbed.contains(id) {
                        return Err(format!("{id} failed without a cause: {status:?}"));
                    }
                }
                NodeStatus::Blocked(by) => {
                    let is_before = self
                        .all_before(node)
                        .iter()
                        .any(|before| self.plans[*before].id == *by)
                        || self.reversals().any(|reversal| reversal == *by);
                    if !is_before || !matches!(statuses.get(by), Some(NodeStatus::Failed(_))) {
                        return Err(format!("{id} waits for {by} without a cause"));
                    }
                }
                NodeStatus::InOrder => {
                    let has_failed_before = self.all_before(node).iter().any(|before| {
                        let status = statuses.get(&self.plans[*before].id);
                        matches!(
                            status,
                            Some(NodeStatus::Failed(_) | NodeStatus::Deferred(..))
                        )
                    });
                    // It is in order as far as is known: what failed before it, or waits, may have sent another value.
                    if !has_failed_before {
                        self.judge_node(node, &files)?;
                    }
                }
                NodeStatus::Pending(_) if plan.meta.noop => {}
                NodeStatus::Deferred(by, _) => {
                    let is_before = self
                        .all_before(node)
                        .iter()
                        .any(|before| self.plans[*before].id == *by);
                    if !is_before || !(self.disturbed.contains(id) || lacks_value(plan)) {
                        return Err(format!("{id} waits for {by} without a cause"));
                    }
                }
                NodeStatus::Unknown(_) if lacks_value(plan) => {}
                _ => return Err(format!("{id} is left as {status:?}")),
            }
        }
        if has_failed == (status == Status::Converged) {
            return Err(format!("the run ended as {status:?}"));
        }
        Ok(())
    }

    /// Whether a node that the runner takes for being in order is.
    fn judge_node(&self, node: usize, files: &SimulatedFiles) -> Result<(), String> {
        let plan = &self.plans[node];
        let id = &plan.id;
        let is = files.get(&plan.path);
        let wanted = match &plan.wanted {
            Wanted::Source => return Ok(()),
            Wanted::Unit => {
                if is.is_none() {
                    return Err(format!("{id} is not started"));
                }
                return self.judge_refresh(plan);
            }
            Wanted::File(content) => content.clone(),
            Wanted::Received => {
                let from = plan.receives_from.ok_or("it receives from nothing")?;
                source_content(files.get(&self.plans[from].path))
            }
        };
        if plan.meta.noop {
            return Ok(());
        }
        if is != Some(&wanted.clone().into_bytes()) {
            return Err(format!("{id} has {is:?} in place of {wanted:?}"));
        }
        Ok(())
    }

    fn judge_refresh(&self, unit: &Plan) -> Result<(), String> {
        if unit.meta.noop {
            return Ok(());
        }
        for (before, notifies) in &unit.after {
            let changed = self.changed_at.get(&self.plans[*before].id);
            if *notifies && changed > self.changed_at.get(&unit.id) {
                let before = &self.plans[*before].id;
                return Err(format!("{} was not refreshed by {before}", unit.id));
            }
        }
        Ok(())
    }
}
