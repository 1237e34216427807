//! One run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pkgres_engine::{
    Action, Effect, Event, Fault, Input, NodeKey, NodeStatus, Outcome, Resource, RunOptions,
    Runner, SimulatedFiles, SimulatedMachine, Status, attempt,
};
use pkgres_manifest::ResourceId;

use crate::plans::{Plan, Wanted, changed_plans, graph_of, random_plans};
use crate::random::Random;
use crate::resources::source_content;

/// A way in which the engine could be wrong, made around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// A resource counts as in order before it is.
    Order,
    /// Nothing is refreshed.
    Refresh,
    /// Another graph is ignored.
    Swap,
    /// What happens while a resource is checked is lost.
    Drift,
    /// What failed counts as in order.
    Failure,
}

impl Defect {
    pub(crate) const ALL: [Self; 5] = [
        Self::Order,
        Self::Refresh,
        Self::Swap,
        Self::Drift,
        Self::Failure,
    ];
}

/// The most steps of a run. One that needs more hangs.
const MOST_STEPS: usize = 5_000;

/// What others and faults do, shared with the machine.
struct World {
    random: Random,
    paths: Vec<PathBuf>,
    faults_left: usize,
    changes_left: usize,
    /// Paths that were changed since the last look.
    touched: Vec<PathBuf>,
    /// Whether a fault or a change by others hit the running attempt.
    is_disturbed: bool,
    junk: usize,
}

impl World {
    fn before(&mut self, effect: &Effect<'_>, files: &mut SimulatedFiles) -> Fault {
        if self.changes_left > 0 && self.random.chance(4) {
            self.is_disturbed = true;
            self.change(files);
        }
        if self.faults_left > 0 && self.random.chance(5) {
            self.faults_left -= 1;
            self.is_disturbed = true;
            return if self.random.chance(25) {
                Fault::Crash
            } else {
                Fault::Fail
            };
        }
        if let Effect::Write(path) = effect {
            self.touched.push(path.to_path_buf());
        }
        Fault::None
    }

    /// Others change a file.
    fn change(&mut self, files: &mut SimulatedFiles) {
        self.changes_left -= 1;
        let path = self.paths[self.random.below(self.paths.len())].clone();
        self.junk += 1;
        if self.random.chance(30) {
            files.remove(&path);
        } else {
            files.insert(path.clone(), format!("junk {}", self.junk).into_bytes());
        }
        self.touched.push(path);
    }
}

/// An attempt that the runner asked for.
struct Pending {
    key: NodeKey,
    node: usize,
    work: Work,
}

enum Work {
    Asked {
        resource: Arc<dyn Resource>,
        input: Input,
        noop: bool,
    },
    Done(Outcome),
    /// It was reported before it was made: a defect.
    Reported {
        resource: Arc<dyn Resource>,
        input: Input,
        noop: bool,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Converged,
    Failed,
    Interrupted,
}

pub(crate) struct Simulation {
    random: Random,
    defect: Option<Defect>,
    plans: Vec<Plan>,
    world: Arc<Mutex<World>>,
    machine: SimulatedMachine,
    runner: Runner,
    now: Duration,
    step: usize,
    pending: Vec<Pending>,
    watched: BTreeMap<NodeKey, PathBuf>,
    /// Notifications that are on their way.
    queued: Vec<NodeKey>,
    /// Whether notifications were lost, which the system will say.
    is_lost: bool,
    /// The nodes that are in order as far as the runner was told.
    good: BTreeSet<usize>,
    /// The nodes that may have changed while they were checked.
    again: BTreeSet<usize>,
    /// When each node was changed last.
    changed_at: BTreeMap<ResourceId, usize>,
    /// Nodes whose last attempt was hit by a fault or a change by others.
    disturbed: BTreeSet<ResourceId>,
    swaps_left: usize,
    /// The plans of a graph that will replace the one that runs.
    next_plans: Option<Vec<Plan>>,
    interrupts_left: usize,
}

impl Simulation {
    pub(crate) fn new(seed: u64, defect: Option<Defect>) -> Self {
        let mut random = Random(seed);
        let plans = random_plans(&mut random);
        let world = Arc::new(Mutex::new(World {
            random: Random(random.next()),
            paths: plans.iter().map(|plan| plan.path.clone()).collect(),
            faults_left: [0, 0, 1, 3][random.below(4)],
            changes_left: random.below(5),
            touched: Vec::new(),
            is_disturbed: false,
            junk: 0,
        }));
        let of_machine = Arc::clone(&world);
        let machine = SimulatedMachine::new(move |effect, files| {
            let mut world = of_machine.lock().expect("no panic holds it");
            world.before(effect, files)
        });
        let options = RunOptions {
            jobs: 1 + random.below(3),
            watch: true,
            converged_timeout: Duration::from_millis([0, 50][random.below(2)]),
            ..RunOptions::default()
        };
        let swaps_left = if random.chance(30) {
            1 + random.below(2)
        } else {
            0
        };
        let interrupts_left = if random.chance(10) {
            1 + random.below(3)
        } else {
            0
        };
        Self {
            runner: Runner::new(graph_of(&plans), options),
            random,
            defect,
            plans,
            world,
            machine,
            now: Duration::ZERO,
            step: 0,
            pending: Vec::new(),
            watched: BTreeMap::new(),
            queued: Vec::new(),
            is_lost: false,
            good: BTreeSet::new(),
            again: BTreeSet::new(),
            changed_at: BTreeMap::new(),
            disturbed: BTreeSet::new(),
            swaps_left,
            next_plans: None,
            interrupts_left,
        }
    }

    /// Runs to the end; an error is what went wrong.
    pub(crate) fn run(mut self) -> Result<Ending, String> {
        self.tell(Event::Time)?;
        loop {
            self.step += 1;
            if self.step > MOST_STEPS {
                return Err("it does not end".to_owned());
            }
            let status = self.runner.status();
            let is_quiet = self.pending.is_empty() && self.queued.is_empty() && !self.is_lost;
            match status {
                Status::Interrupted => return Ok(Ending::Interrupted),
                Status::Converged | Status::Failed if is_quiet && self.next_plans.is_none() => {
                    // Polling may still find something; so do others.
                    if !self.go_on_after_settling()? {
                        self.judge(status)?;
                        return Ok(match status {
                            Status::Converged => Ending::Converged,
                            _ => Ending::Failed,
                        });
                    }
                }
                _ => self.one_step()?,
            }
        }
    }

    /// Lets something happen after the run has settled; returns whether anything did.
    fn go_on_after_settling(&mut self) -> Result<bool, String> {
        let mut world = self.world.lock().expect("no panic holds it");
        let has_changes = world.changes_left > 0;
        if has_changes {
            self.machine.change(|files| world.change(files));
        }
        drop(world);
        self.queue_notifications();
        if has_changes {
            // What nobody sees is found by polling.
            self.pass_time()?;
        }
        Ok(has_changes)
    }

    fn one_step(&mut self) -> Result<(), String> {
        match self.random.below(12) {
            0 => {
                let mut world = self.world.lock().expect("no panic holds it");
                if world.changes_left > 0 {
                    self.machine.change(|files| world.change(files));
                }
                drop(world);
                self.queue_notifications();
                Ok(())
            }
            1 | 2 => self.deliver(),
            3 => self.pass_time(),
            4 if self.interrupts_left > 0 && self.random.chance(20) => {
                self.interrupts_left -= 1;
                self.tell(Event::Interrupt)
            }
            5 if self.swaps_left > 0 && self.next_plans.is_none() => self.replace(),
            _ if self.pending.is_empty() => {
                self.deliver()?;
                self.pass_time()
            }
            _ => self.work(),
        }
    }

    /// Lets time pass: to the next alarm, a bit, or a lot.
    fn pass_time(&mut self) -> Result<(), String> {
        let alarm = self.runner.next_alarm();
        self.now = match (alarm, self.random.below(4)) {
            (Some(alarm), 0..=2) => self.now.max(alarm),
            (_, 3) if self.random.chance(10) => self.now + Duration::from_secs(100),
            _ => self.now + Duration::from_millis(1),
        };
        self.tell(Event::Time)
    }

    /// Makes an attempt, or reports one that was made.
    fn work(&mut self) -> Result<(), String> {
        let number = self.random.below(self.pending.len());
        let Pending { key, node, work } = self.pending.swap_remove(number);
        match work {
            Work::Done(outcome) => self.report(key, node, outcome),
            Work::Asked {
                resource,
                input,
                noop,
            } => {
                let outcome = self.make(node, resource.as_ref(), &input, noop);
                if self.machine.is_crashed() {
                    return self.restart();
                }
                let work = Work::Done(outcome);
                self.pending.push(Pending { key, node, work });
                Ok(())
            }
            Work::Reported {
                resource,
                input,
                noop,
            } => {
                self.make(node, resource.as_ref(), &input, noop);
                if self.machine.is_crashed() {
                    return self.restart();
                }
                self.good.insert(node);
                Ok(())
            }
        }
    }

    fn make(&mut self, node: usize, resource: &dyn Resource, input: &Input, noop: bool) -> Outcome {
        self.world.lock().expect("no panic holds it").is_disturbed = false;
        let outcome = attempt(resource, &self.machine, input, noop);
        let id = self.plans[node].id.clone();
        if self.world.lock().expect("no panic holds it").is_disturbed {
            self.disturbed.insert(id.clone());
        } else {
            self.disturbed.remove(&id);
        }
        if matches!(outcome, Outcome::Changed(..)) {
            self.changed_at.insert(id, self.step);
        }
        self.queue_notifications();
        outcome
    }

    fn report(&mut self, key: NodeKey, node: usize, outcome: Outcome) -> Result<(), String> {
        let outcome = match outcome {
            Outcome::Failed(_) if self.defect == Some(Defect::Failure) => {
                Outcome::InOrder(BTreeMap::new())
            }
            outcome => outcome,
        };
        if !self.again.remove(&node) && !matches!(outcome, Outcome::Failed(_)) {
            self.good.insert(node);
        }
        if let Some(again) = self.pending.iter().position(|pending| pending.key == key) {
            return Err(format!("{again}: two attempts at once"));
        }
        self.tell(Event::Finished(key, outcome))
    }

    /// The machine crashed, and the engine with it. Both start anew.
    fn restart(&mut self) -> Result<(), String> {
        self.machine.restart();
        if let Some(plans) = self.next_plans.take() {
            self.plans = plans;
        }
        self.pending.clear();
        self.watched.clear();
        self.queued.clear();
        self.is_lost = false;
        self.good.clear();
        self.again.clear();
        // What a change that was made before the crash should have refreshed is not known any more.
        self.changed_at.clear();
        self.disturbed.clear();
        let options = RunOptions {
            watch: true,
            ..RunOptions::default()
        };
        self.runner = Runner::new(graph_of(&self.plans), options);
        self.world
            .lock()
            .expect("no panic holds it")
            .touched
            .clear();
        self.tell(Event::Time)
    }

    /// Another graph replaces the one that runs.
    fn replace(&mut self) -> Result<(), String> {
        self.swaps_left -= 1;
        let plans = changed_plans(&mut self.random, &self.plans);
        let graph = if self.defect == Some(Defect::Swap) {
            graph_of(&self.plans)
        } else {
            graph_of(&plans)
        };
        self.next_plans = Some(plans);
        self.tell(Event::Replace(graph))
    }

    /// Turns changes of files into notifications, some of which are lost or come twice.
    fn queue_notifications(&mut self) {
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

    fn deliver(&mut self) -> Result<(), String> {
        if self.is_lost && self.random.chance(50) {
            self.is_lost = false;
            self.good.clear();
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
            if let Some(node) = self.node_of(*key) {
                self.good.remove(&node);
                if self.pending.iter().any(|pending| pending.key == *key) {
                    self.again.insert(node);
                }
            }
        }
        self.tell(Event::Changed(batch))
    }

    fn node_of(&self, key: NodeKey) -> Option<usize> {
        let id = self.runner.id_of(key)?;
        self.plans.iter().position(|plan| plan.id == *id)
    }

    /// Tells the runner something, and does what it asks for.
    fn tell(&mut self, event: Event) -> Result<(), String> {
        self.runner.handle(event, self.now);
        while let Some(action) = self.runner.next_action() {
            match action {
                Action::Watch(key, resource) => {
                    if let pkgres_engine::Watching::Paths(paths) = resource.watching(&self.machine)
                    {
                        self.watched.insert(key, paths[0].clone());
                    }
                }
                Action::Unwatch(key) => {
                    self.watched.remove(&key);
                    self.queued.retain(|queued| *queued != key);
                }
                Action::Replaced(report) => {
                    if let Some(plans) = self.next_plans.take() {
                        let kept: BTreeSet<_> = report.kept.into_iter().collect();
                        let good = self.good.iter().map(|node| self.plans[*node].id.clone());
                        let good: BTreeSet<_> = good.filter(|id| kept.contains(id)).collect();
                        self.changed_at.retain(|id, _| kept.contains(id));
                        self.plans = plans;
                        self.good = (0..self.plans.len())
                            .filter(|node| good.contains(&self.plans[*node].id))
                            .collect();
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
        let node = self.plans.iter().position(|plan| plan.id == *id);
        let node = node.ok_or("an attempt at a resource that is gone")?;
        for before in self.all_before(node) {
            if !self.good.contains(&before) {
                let before = &self.plans[before].id;
                return Err(format!("{id} is checked before {before} is in order"));
            }
        }
        if self.defect == Some(Defect::Refresh) {
            input.refresh = false;
        }
        self.good.remove(&node);
        if self.defect == Some(Defect::Order) {
            let work = Work::Reported {
                resource,
                input,
                noop,
            };
            self.pending.push(Pending { key, node, work });
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
        self.pending.push(Pending { key, node, work });
        Ok(())
    }

    /// The nodes before a node, directly or not.
    fn all_before(&self, node: usize) -> BTreeSet<usize> {
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

    /// Compares the end of a run with the machine.
    fn judge(&self, status: Status) -> Result<(), String> {
        let files = self.machine.files();
        let statuses: BTreeMap<_, _> = self.runner.nodes().collect();
        let mut has_failed = false;
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
                        .any(|before| self.plans[*before].id == *by);
                    if !is_before || !matches!(statuses.get(by), Some(NodeStatus::Failed(_))) {
                        return Err(format!("{id} waits for {by} without a cause"));
                    }
                }
                NodeStatus::InOrder => {
                    let has_failed_before = self.all_before(node).iter().any(|before| {
                        let status = statuses.get(&self.plans[*before].id);
                        matches!(status, Some(NodeStatus::Failed(_)))
                    });
                    // It is in order as far as is known: what failed before it may have sent another value.
                    if !has_failed_before {
                        self.judge_node(node, &files)?;
                    }
                }
                NodeStatus::Pending(_) if plan.meta.noop => {}
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
