//! One run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pkgres_engine::{
    AppliedState, Event, Input, Kinds, NodeKey, Outcome, Resource, RunOptions, Runner,
    SimulatedMachine, StateLocation, Status, attempt,
};
use pkgres_manifest::ResourceId;

use crate::plans::{Plan, graph_of, random_plans};
use crate::random::Random;
use crate::restoration::{Restorations, STATE};
use crate::world::World;

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
    /// What was there before is not kept before it is changed.
    Reversal,
    /// What was owed a refresh before a crash is forgotten.
    Owed,
}

impl Defect {
    pub(crate) const ALL: [Self; 7] = [
        Self::Order,
        Self::Refresh,
        Self::Swap,
        Self::Drift,
        Self::Failure,
        Self::Reversal,
        Self::Owed,
    ];
}

/// The most steps of a run. One that needs more hangs.
const MOST_STEPS: usize = 5_000;

/// An attempt that the runner asked for.
pub(crate) struct Pending {
    pub(crate) key: NodeKey,
    pub(crate) id: ResourceId,
    pub(crate) work: Work,
}

pub(crate) enum Work {
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
    pub(crate) random: Random,
    pub(crate) defect: Option<Defect>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) machine: SimulatedMachine,
    pub(crate) runner: Runner,
    pub(crate) now: Duration,
    pub(crate) step: usize,
    pub(crate) pending: Vec<Pending>,
    pub(crate) watched: BTreeMap<NodeKey, PathBuf>,
    /// Notifications that are on their way.
    pub(crate) queued: Vec<NodeKey>,
    /// Whether notifications were lost, which the system will say.
    pub(crate) is_lost: bool,
    /// The nodes that are in order as far as the runner was told.
    pub(crate) good: BTreeSet<ResourceId>,
    /// The nodes that may have changed while they were checked.
    pub(crate) again: BTreeSet<ResourceId>,
    /// When each node was changed last.
    pub(crate) changed_at: BTreeMap<ResourceId, usize>,
    /// Since when each node is notified by those that notify it now.
    pub(crate) notified_since: BTreeMap<ResourceId, usize>,
    /// The nodes whose last attempt was hit by a fault or a change by others, and that had no other chance since.
    pub(crate) disturbed: BTreeSet<ResourceId>,
    /// The error of the last attempt at each node, if it failed.
    pub(crate) errors: BTreeMap<ResourceId, String>,
    /// What each source sent last.
    pub(crate) sent: BTreeMap<ResourceId, String>,
    pub(crate) swaps_left: usize,
    /// The plans of a graph that will replace the one that runs.
    pub(crate) next_plans: Option<Vec<Plan>>,
    interrupts_left: usize,
    pub(crate) state: Arc<AppliedState>,
    pub(crate) restorations: Restorations,
}

/// The state of the engine, and the runner of a graph, on a machine that may fail and crash meanwhile.
fn begin(
    machine: &SimulatedMachine,
    plans: &[Plan],
    options: &RunOptions,
    keeps_owed: bool,
) -> (Arc<AppliedState>, Runner) {
    let location = || StateLocation::new("simulation").in_folder(STATE);
    loop {
        let begun = AppliedState::lock(machine, location(), Kinds::default());
        let begun = begun.and_then(|state| Ok((state.begin(machine, graph_of(plans))?, state)));
        match begun {
            Ok((graph, state)) => {
                let owed = if keeps_owed {
                    state.owed()
                } else {
                    BTreeSet::new()
                };
                return (
                    state,
                    Runner::new(
                        graph,
                        RunOptions {
                            owed,
                            ..options.clone()
                        },
                    ),
                );
            }
            // Faults are few.
            Err(_) if machine.is_crashed() => machine.restart(),
            Err(_) => {}
        }
    }
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
            touched_at: BTreeMap::new(),
            step: 0,
            written: BTreeSet::new(),
            touched_meanwhile: BTreeSet::new(),
            is_disturbed: false,
            junk: 0,
        }));
        let of_machine = Arc::clone(&world);
        let machine = SimulatedMachine::new(move |effect, files| {
            let mut world = of_machine.lock().expect("no panic holds it");
            world.before(effect, files)
        });
        for plan in &plans {
            if random.chance(40) {
                let original = format!("original {}", plan.id).into_bytes();
                machine.change(|files| drop(files.insert(plan.path.clone(), original)));
            }
        }
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
        let (state, runner) = begin(&machine, &plans, &options, true);
        Self {
            runner,
            state,
            restorations: Restorations::default(),
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
            notified_since: BTreeMap::new(),
            disturbed: BTreeSet::new(),
            errors: BTreeMap::new(),
            sent: BTreeMap::new(),
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
            self.world.lock().expect("no panic holds it").step = self.step;
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

    /// Makes an attempt, or reports one that was made.
    fn work(&mut self) -> Result<(), String> {
        let number = self.random.below(self.pending.len());
        let Pending { key, id, work } = self.pending.swap_remove(number);
        match work {
            Work::Done(outcome) => self.report(key, &id, outcome),
            Work::Asked {
                resource,
                input,
                noop,
            } => {
                let outcome = self.make(&id, resource.as_ref(), &input, noop);
                if self.machine.is_crashed() {
                    return self.restart();
                }
                let work = Work::Done(outcome);
                self.pending.push(Pending { key, id, work });
                Ok(())
            }
            Work::Reported {
                resource,
                input,
                noop,
            } => {
                self.make(&id, resource.as_ref(), &input, noop);
                if self.machine.is_crashed() {
                    return self.restart();
                }
                self.good.insert(id);
                Ok(())
            }
        }
    }

    fn make(
        &mut self,
        id: &ResourceId,
        resource: &dyn Resource,
        input: &Input,
        noop: bool,
    ) -> Outcome {
        let path = self.plan_of(id).map(|plan| plan.path.clone());
        let before = path
            .as_ref()
            .and_then(|path| self.machine.files().remove(path));
        {
            let mut world = self.world.lock().expect("no panic holds it");
            world.is_disturbed = false;
            world.written.clear();
            world.touched_meanwhile.clear();
        }
        if self.defect == Some(Defect::Reversal) && !noop && self.plan_of(id).is_some() {
            // The resource itself, without what the state does around it.
            let graph = graph_of(&self.plans);
            if let Some(node) = graph.nodes().iter().find(|node| node.id == *id) {
                attempt(node.resource.as_ref(), &self.machine, input, noop);
            }
        }
        let outcome = attempt(resource, &self.machine, input, noop);
        let other = self.plan_of(id).and_then(|plan| plan.wanted.meddles_with());
        let meddled = other.map(|other| self.plans[other].path.clone());
        let mut world = self.world.lock().expect("no panic holds it");
        if let Some(path) = meddled.filter(|path| world.written.contains(path)) {
            world.touched_at.insert(path, self.step);
        }
        if world.is_disturbed {
            self.disturbed.insert(id.clone());
        } else {
            self.disturbed.remove(id);
        }
        if let Some(path) = &path {
            let changes = (
                world.written.contains(path),
                world.touched_meanwhile.contains(path),
            );
            let now = (&self.machine.files(), self.step);
            self.restorations
                .attempted(&self.plans, id, before, changes, now);
        }
        drop(world);
        if matches!(outcome, Outcome::Changed(..)) {
            self.changed_at.insert(id.clone(), self.step);
        }
        let is_in_order = matches!(outcome, Outcome::Changed(..) | Outcome::InOrder(_));
        if path.is_none() && is_in_order {
            self.restorations.restored(id, self.step);
        }
        self.queue_notifications();
        outcome
    }

    fn plan_of(&self, id: &ResourceId) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.id == *id)
    }

    fn report(&mut self, key: NodeKey, id: &ResourceId, outcome: Outcome) -> Result<(), String> {
        let outcome = match outcome {
            Outcome::Failed(_) if self.defect == Some(Defect::Failure) => {
                Outcome::InOrder(BTreeMap::new())
            }
            outcome => outcome,
        };
        let error = match &outcome {
            Outcome::Failed(error)
            | Outcome::Unfinished(_, error)
            | Outcome::Impossible(_, error) => Some(error.to_string()),
            Outcome::InOrder(values) | Outcome::Changed(_, values) => {
                let sent = values.get("content").map(ToString::to_string);
                self.sent.extend(sent.map(|sent| (id.clone(), sent)));
                None
            }
            // Only `drive` tries members by themselves.
            Outcome::Pending(_) | Outcome::Kept(_) | Outcome::Members(_) => None,
        };
        let has_failed = error.is_some();
        match error {
            Some(error) => drop(self.errors.insert(id.clone(), error)),
            None => drop(self.errors.remove(id)),
        }
        if self.again.remove(id) {
            self.disturbed.remove(id);
        } else if !has_failed {
            self.good.insert(id.clone());
        }
        if matches!(outcome, Outcome::Changed(..)) {
            self.give_chance_behind(id);
        }
        if let Some(again) = self.pending.iter().position(|pending| pending.key == key) {
            return Err(format!("{again}: two attempts at once"));
        }
        self.tell(Event::Finished(key, outcome))?;
        let owed = || self.runner.owed();
        self.state.settle(&self.machine, id, owed);
        // Others may have changed something meanwhile.
        self.queue_notifications();
        if self.machine.is_crashed() {
            return self.restart();
        }
        Ok(())
    }

    /// The machine crashed, and the engine with it. Both start anew.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.machine.restart();
        if let Some(plans) = self.next_plans.take() {
            self.adopt(plans);
        }
        self.pending.clear();
        self.watched.clear();
        self.queued.clear();
        self.is_lost = false;
        self.good.clear();
        self.again.clear();
        self.disturbed.clear();
        self.errors.clear();
        self.sent.clear();
        let options = RunOptions {
            watch: true,
            ..RunOptions::default()
        };
        let keeps_owed = self.defect != Some(Defect::Owed);
        (self.state, self.runner) = begin(&self.machine, &self.plans, &options, keeps_owed);
        self.world
            .lock()
            .expect("no panic holds it")
            .touched
            .clear();
        self.tell(Event::Time)
    }
}
