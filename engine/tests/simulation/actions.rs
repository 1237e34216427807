//! What a runner is told, and what it asks for: events, some of which are lost or come twice, and actions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pkgres_engine::{Action, Event, Input, NodeKey, NodeStatus, Outcome, Resource, Watching};
use pkgres_manifest::ResourceId;

use crate::plans::{Plan, Wanted, changed_plans, graph_of};
use crate::simulation::{Defect, Pending, Simulation, Work};

impl Simulation {
    /// Lets time pass: to the next alarm, a bit, or a lot.
    pub(crate) fn pass_time(&mut self) -> Result<(), String> {
        // What was noticed is not on its way for long.
        let is_noticed = !self.queued.is_empty() || self.is_lost;
        let alarm = self.runner.next_alarm().filter(|_| !is_noticed);
        self.now = match (alarm, self.random.below(4)) {
            (Some(alarm), 0..=2) => self.now.max(alarm),
            (_, 3) if self.random.chance(10) => self.now + Duration::from_secs(100),
            _ => self.now + Duration::from_millis(1),
        };
        self.tell(Event::Time)
    }

    /// Another graph replaces the one that runs.
    pub(crate) fn replace(&mut self) -> Result<(), String> {
        self.swaps_left -= 1;
        let plans = changed_plans(&mut self.random, &self.plans);
        let graph = if self.defect == Some(Defect::Swap) {
            graph_of(&self.plans)
        } else {
            graph_of(&plans)
        };
        let running = self.runner.graph();
        let replaced = self.state.replace(&self.machine, graph, running);
        self.queue_notifications();
        let graph = match replaced {
            Ok(graph) => graph,
            Err(_) if self.machine.is_crashed() => return self.restart(),
            // The graph that runs goes on.
            Err(_) => return Ok(()),
        };
        self.next_plans = Some(plans);
        self.tell(Event::Replace(graph))
    }

    /// Other plans are what is wanted from now on.
    pub(crate) fn adopt(&mut self, plans: Vec<Plan>) {
        // A resource that was none that can be refreshed before was not notified either.
        let notifying = |plans: &[Plan], plan: &Plan| -> BTreeSet<ResourceId> {
            let is_refreshable = matches!(
                plan.wanted,
                Wanted::Unit | Wanted::Meddler { fails: false, .. }
            );
            let notifying = plan.after.iter();
            let notifying = notifying.filter(|(_, notifies)| *notifies && is_refreshable);
            notifying.map(|(node, _)| plans[*node].id.clone()).collect()
        };
        for plan in &plans {
            let before = self.plans.iter().find(|before| before.id == plan.id);
            let before = before.map(|before| notifying(&self.plans, before));
            if before != Some(notifying(&plans, plan)) {
                self.notified_since.insert(plan.id.clone(), self.step);
            }
            if !plan.meta.reverse {
                self.restorations.forget(&plan.id);
            }
        }
        self.plans = plans;
    }

    /// Turns changes of files into notifications, some of which are lost or come twice.
    pub(crate) fn queue_notifications(&mut self) {
        let mut world = self.world.lock().expect("no panic holds it");
        for path in std::mem::take(&mut world.touched) {
            for (key, watched) in &self.watched {
                if *watched == path {
                    match self.random.below(20) {
                        0 => self.is_lost = true,
                        1 => self.queued.extend([*key, *key]),
                        _ => self.queued.push(*key),
                    }
                }
            }
        }
    }

    pub(crate) fn deliver(&mut self) -> Result<(), String> {
        if self.is_lost && self.random.chance(50) {
            self.is_lost = false;
            self.good.clear();
            let nodes = self.runner.graph().nodes().iter();
            let all: Vec<_> = nodes.map(|node| node.id.clone()).collect();
            for id in &all {
                self.give_chance(id);
            }
            return self.tell(Event::AllChanged);
        }
        let mut batch = Vec::new();
        while !self.queued.is_empty() && (batch.is_empty() || self.random.chance(70)) {
            let number = self.random.below(self.queued.len());
            batch.push(self.queued.swap_remove(number));
        }
        if self.defect == Some(Defect::Drift) {
            batch.retain(|key| self.pending.iter().all(|pending| pending.key != *key));
        }
        for key in &batch {
            if let Some(id) = self.runner.id_of(*key).cloned() {
                self.good.remove(&id);
                self.give_chance(&id);
            }
        }
        self.tell(Event::Changed(batch))
    }

    /// Something happened that may repair a resource: the runner has to look at it once more, after the attempt that
    /// runs, if any. This is a notification about it, a change of a resource right before it, or another graph in which
    /// it is new or has the parameter `rewatch`.
    pub(crate) fn give_chance(&mut self, id: &ResourceId) {
        if self.pending.iter().any(|pending| pending.id == *id) {
            self.again.insert(id.clone());
        } else {
            self.disturbed.remove(id);
        }
    }

    /// A resource was changed.
    pub(crate) fn give_chance_behind(&mut self, id: &ResourceId) {
        let is_behind = |plan: &&Plan| {
            let mut before = plan.after.iter();
            before.any(|(before, _)| self.plans[*before].id == *id)
        };
        let behind: Vec<_> = self.plans.iter().filter(is_behind).collect();
        let behind: Vec<_> = behind.into_iter().map(|plan| plan.id.clone()).collect();
        for id in behind {
            self.give_chance(&id);
        }
    }

    /// Tells the runner something, and does what it asks for.
    pub(crate) fn tell(&mut self, event: Event) -> Result<(), String> {
        self.runner.handle(event, self.now);
        while let Some(action) = self.runner.next_action() {
            match action {
                Action::Watch(key, resource) => {
                    let (paths, unwatched) = match resource.watching(&self.machine) {
                        Watching::Paths(paths) => (paths, None),
                        Watching::PathsAndPolling(paths) => (paths, Some(Event::NotWatched(key))),
                        Watching::UntilInOrder(paths) => (paths, Some(Event::WatchedInPart(key))),
                        watching => return Err(format!("{watching:?}")),
                    };
                    self.watched
                        .extend(paths.into_iter().next().map(|path| (key, path)));
                    if let Some(unwatched) = unwatched {
                        self.runner.handle(unwatched, self.now);
                    }
                }
                Action::Unwatch(key) => {
                    self.watched.remove(&key);
                    self.queued.retain(|queued| *queued != key);
                }
                Action::Replaced(report) => {
                    if let Some(plans) = self.next_plans.take() {
                        let kept: BTreeSet<_> = report.kept.into_iter().collect();
                        self.good.retain(|id| kept.contains(id));
                        for plan in &plans {
                            // What failed or waited before is tried again.
                            if !kept.contains(&plan.id) || plan.meta.rewatch {
                                self.disturbed.remove(&plan.id);
                            }
                        }
                        self.adopt(plans);
                    }
                }
                Action::Cancel { .. } => {}
                Action::Attempt {
                    node: key,
                    id,
                    resource,
                    input,
                    noop,
                    ..
                } => self.start(key, &id, resource, input, noop)?,
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        key: NodeKey,
        id: &ResourceId,
        resource: Arc<dyn Resource>,
        mut input: Input,
        noop: bool,
    ) -> Result<(), String> {
        let before = match self.plans.iter().position(|plan| plan.id == *id) {
            Some(node) => {
                let before = self.all_before(node).into_iter();
                let before = before.map(|before| self.plans[before].id.clone());
                // Whatever is reversed is reversed before anything new.
                before.chain(self.reversals()).collect()
            }
            None if self.reversals().any(|reversal| reversal == *id) => {
                let first = self.restorations.first(id).into_iter().cloned();
                let reversals: BTreeSet<_> = self.reversals().collect();
                first.filter(|first| reversals.contains(first)).collect()
            }
            None => return Err("an attempt at a resource that is gone".to_owned()),
        };
        let before: Vec<ResourceId> = before;
        for before in before {
            if !self.good.contains(&before) && !self.is_deferred(&before) {
                return Err(format!("{id} is checked before {before} is in order"));
            }
        }
        if self.defect == Some(Defect::Refresh) {
            input.refresh = false;
        }
        self.good.remove(id);
        let id = id.clone();
        if self.defect == Some(Defect::Order) {
            let work = Work::Reported {
                resource,
                input,
                noop,
            };
            self.pending.push(Pending { key, id, work });
            self.runner.handle(
                Event::Finished(key, Outcome::InOrder(BTreeMap::new())),
                self.now,
            );
            return Ok(());
        }
        let work = Work::Asked {
            resource,
            input,
            noop,
        };
        self.pending.push(Pending { key, id, work });
        Ok(())
    }

    /// The resources that are gone and are reversed by the graph that runs.
    pub(crate) fn reversals(&self) -> impl Iterator<Item = ResourceId> {
        let nodes = self.runner.graph().nodes().iter();
        let reversals = nodes.filter(|node| node.is_reversal);
        reversals.map(|node| node.id.clone())
    }

    /// Whether a resource waits for a change that this run does not make, or for a value of one that does: then those
    /// behind it go on.
    fn is_deferred(&self, id: &ResourceId) -> bool {
        let mut statuses = self.runner.nodes();
        statuses.any(|(other, status)| {
            let waits = matches!(
                status,
                NodeStatus::Pending(_) | NodeStatus::Deferred(..) | NodeStatus::Unknown(_)
            );
            other == id && waits
        })
    }

    /// The nodes before a node, directly or not.
    pub(crate) fn all_before(&self, node: usize) -> BTreeSet<usize> {
        let mut before = BTreeSet::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for (next, _) in &self.plans[node].after {
                if before.insert(*next) {
                    open.push(*next);
                }
            }
        }
        before
    }
}
