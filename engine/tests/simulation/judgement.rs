//! Whether a run that has ended left the machine as it should.
//!
//! Nothing but these excuses is accepted:
//! - A resource is *pending* if nothing may change it (`noop`), and it differs or is owed a refresh.
//! - It has *failed* if the last attempt failed with the error that is reported, a fault or a change by others hit that
//!   attempt, and nothing gave it another chance since: see [`Simulation::give_chance`]. A resource that always fails has
//!   no other excuse, and one whose changes another resource undoes has failed if it names that one.
//! - It is *blocked* by a resource before it that has failed.
//! - It is *deferred* by one before it that is pending, or deferred itself, if its last attempt failed as above or it
//!   lacks a value. It is *unknown* if it lacks a value. Only a sender that is deferred may lack to send one.
//!
//! Whatever else happened before it, a resource that is in order is: it has the content that was asked for, or was sent
//! last, and was refreshed since what notifies it changed. A run is converged unless a resource has failed, so that only
//! `noop` and what waits for it keep resources of a converged run from being in order.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_engine::{NodeStatus, SimulatedFiles, Status};
use pkgres_manifest::ResourceId;

use crate::plans::{Plan, Wanted};
use crate::resources::source_content;
use crate::simulation::Simulation;

type Statuses<'run> = BTreeMap<&'run ResourceId, NodeStatus>;

impl Simulation {
    /// Compares the end of a run with the machine.
    pub(crate) fn judge(&self, status: Status) -> Result<(), String> {
        let files = self.machine.files();
        let statuses: Statuses<'_> = self.runner.nodes().collect();
        self.judge_reversals(&statuses, &files)?;
        for (node, plan) in self.plans.iter().enumerate() {
            let id = &plan.id;
            let status = statuses.get(id).ok_or_else(|| format!("{id} is gone"))?;
            self.judge_status(node, status, &statuses, &files)?;
        }
        let has_failed = statuses
            .values()
            .any(|status| matches!(status, NodeStatus::Failed(_)));
        let wanted = if has_failed {
            Status::Failed
        } else {
            Status::Converged
        };
        if status != wanted {
            return Err(format!("the run ended as {status:?}"));
        }
        Ok(())
    }

    fn judge_reversals(
        &self,
        statuses: &Statuses<'_>,
        files: &SimulatedFiles,
    ) -> Result<(), String> {
        let reversals: BTreeSet<_> = self.reversals().collect();
        let mut unfinished = BTreeSet::new();
        for id in &reversals {
            match statuses.get(id) {
                Some(NodeStatus::InOrder) => {}
                Some(NodeStatus::Blocked(by))
                    if reversals.contains(by)
                        && matches!(statuses.get(by), Some(NodeStatus::Failed(_))) =>
                {
                    unfinished.insert(id.clone());
                }
                Some(NodeStatus::Failed(message)) => {
                    self.judge_failure(id, message)?;
                    unfinished.insert(id.clone());
                }
                status => return Err(format!("the reversal of {id} is left as {status:?}")),
            }
        }
        let touched_at = &self.world.lock().expect("no panic holds it").touched_at;
        self.restorations
            .judge(&self.plans, &unfinished, files, touched_at)
    }

    /// Whether a resource is what its status says.
    fn judge_status(
        &self,
        node: usize,
        status: &NodeStatus,
        statuses: &Statuses<'_>,
        files: &SimulatedFiles,
    ) -> Result<(), String> {
        let plan = &self.plans[node];
        let id = &plan.id;
        let is_before = |other: &ResourceId| {
            let before = self.all_before(node);
            before.iter().any(|before| self.plans[*before].id == *other)
        };
        match status {
            NodeStatus::InOrder => self.difference(plan, statuses, files).map_or(Ok(()), Err),
            NodeStatus::Pending(_) if plan.meta.noop => {
                if self.runner.owed().contains(id)
                    || self.lacks_value(plan, statuses)
                    || self.difference(plan, statuses, files).is_some()
                {
                    return Ok(());
                }
                Err(format!("{id} is pending, and is in order"))
            }
            NodeStatus::Failed(message) => self.judge_failure(id, message),
            NodeStatus::Blocked(by) => {
                let is_before = is_before(by) || self.reversals().any(|reversal| reversal == *by);
                if is_before && matches!(statuses.get(by), Some(NodeStatus::Failed(_))) {
                    return Ok(());
                }
                Err(format!("{id} is blocked by {by} without a cause"))
            }
            NodeStatus::Deferred(by, message) => {
                let is_unchanged = matches!(
                    statuses.get(by),
                    Some(NodeStatus::Pending(_) | NodeStatus::Deferred(..))
                );
                if !is_before(by) || !is_unchanged {
                    let by_status = statuses.get(by);
                    return Err(format!("{id} waits for {by}, which is {by_status:?}"));
                }
                if self.lacks_value(plan, statuses) {
                    return Ok(());
                }
                self.judge_failure(id, message)
            }
            NodeStatus::Unknown(_) if self.lacks_value(plan, statuses) => Ok(()),
            _ => Err(format!("{id} is left as {status:?}")),
        }
    }

    /// Whether a resource has failed with the true cause.
    fn judge_failure(&self, id: &ResourceId, message: &String) -> Result<(), String> {
        if message.ends_with("undo each other's changes") {
            return self.judge_quarrel(id, message);
        }
        let plan = self.plans.iter().find(|plan| plan.id == *id);
        let meddles = plan.is_some_and(|plan| plan.wanted.always_fails());
        if meddles && self.errors.get(id) == Some(message) {
            return Ok(());
        }
        if !self.disturbed.contains(id) {
            return Err(format!("{id} failed without a cause: {message}"));
        }
        let last = self.errors.get(id);
        if last != Some(message) {
            return Err(format!("{id} failed with {last:?}, and says {message}"));
        }
        Ok(())
    }

    /// Checks a failure that blames other resources for undoing a change. Of two resources that really undo each other's
    /// changes, one must have failed or be blamed. If it is blamed, the other one must have failed or be blamed, too.
    fn judge_quarrel(&self, id: &ResourceId, message: &str) -> Result<(), String> {
        let is_named = |other: &ResourceId| other == id || message.contains(&other.to_string());
        let mut plans = self.plans.iter();
        let is_true = plans.any(|plan| {
            let undone = plan.wanted.meddles_with().map(|node| &self.plans[node].id);
            let is_about = |undone| plan.id == *id || is_named(undone);
            is_named(&plan.id) && undone.is_some_and(is_about)
        });
        if is_true {
            Ok(())
        } else {
            Err(format!("nothing undoes {id}: {message}"))
        }
    }

    /// Whether a resource receives a value that was never sent, because its sender is deferred.
    fn lacks_value(&self, plan: &Plan, statuses: &Statuses<'_>) -> bool {
        let from = plan.receives_from.map(|from| &self.plans[from].id);
        from.is_some_and(|from| {
            !self.sent.contains_key(from)
                && matches!(statuses.get(from), Some(NodeStatus::Deferred(..)))
        })
    }

    /// What keeps a resource from being in order, as seen from outside.
    fn difference(
        &self,
        plan: &Plan,
        statuses: &Statuses<'_>,
        files: &SimulatedFiles,
    ) -> Option<String> {
        let id = &plan.id;
        let is = files.get(&plan.path);
        let wanted = match &plan.wanted {
            Wanted::Source => {
                let (is, sent) = (source_content(is), self.sent.get(id));
                return (sent != Some(&is)).then(|| format!("{id} is {is:?}, and sent {sent:?}"));
            }
            Wanted::Unit if is.is_none() => return Some(format!("{id} is not started")),
            Wanted::Unit | Wanted::Meddler { fails: false, .. } => {
                return self.missing_refresh(plan);
            }
            Wanted::Meddler { fails: true, .. } => return Some(format!("{id} cannot succeed")),
            Wanted::File(content) => content,
            Wanted::Received => {
                let from = &self.plans[plan.receives_from?].id;
                let Some(sent) = self.sent.get(from) else {
                    let sender = statuses.get(from);
                    return Some(format!("{from}, which is {sender:?}, sent nothing to {id}"));
                };
                sent
            }
        };
        let is = is.map(|bytes| String::from_utf8_lossy(bytes));
        (is.as_deref() != Some(wanted)).then(|| format!("{id} has {is:?} in place of {wanted:?}"))
    }

    fn missing_refresh(&self, unit: &Plan) -> Option<String> {
        let mut notifying = unit.after.iter().filter(|(_, notifies)| *notifies);
        notifying.find_map(|(before, _)| {
            let before = &self.plans[*before].id;
            let changed = self.changed_at.get(before);
            let is_missing = changed > self.changed_at.get(&unit.id)
                && changed > self.notified_since.get(&unit.id);
            is_missing.then(|| format!("{} was not refreshed by {before}", unit.id))
        })
    }
}
