//! The loop that joins a runner with a machine: threads for the attempts, a clock, and a watcher.

mod deadlines;
mod workers;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use pkgres_manifest::ResourceId;

use crate::graph::Graph;
use crate::resource::{Difference, ResourceError, Watching};
use crate::runner::{
    Action, CancelMode, Cause, Event, NodeKey, NodeStatus, Outcome, RunOptions, Runner, Status,
    SwapReport, Verdict,
};
use crate::state::{AppliedState, StateError};
use crate::target::{Cancellation, Target};
use crate::watch::{Noticed, SharedWatches, Watcher};
use deadlines::Deadlines;
use workers::{Work, Workers};

/// Options for driving a graph.
#[derive(Debug, Clone, Default)]
pub struct DriveOptions {
    /// Options of the runner.
    pub run: RunOptions,
    /// Whether the run ends once the graph is converged, or nothing else can be done. Without
    /// [`RunOptions::watch`] it always does.
    pub exit_when_settled: bool,
    /// The longest time of the run. After it, nothing new starts, running commands are asked to end, and ten seconds
    /// later they are killed.
    pub max_runtime: Option<Duration>,
    /// The state that the graph was [begun](AppliedState::begin) with. It adds its reversals to a graph that replaces
    /// this one, and records the refreshes that are owed.
    pub state: Option<Arc<AppliedState>>,
    /// What watches files. Runs that get clones of one share an inotify instance, of which a user may have few.
    pub watches: SharedWatches,
}

/// A request to a run that goes on.
#[derive(Debug)]
pub enum Control {
    /// To end: see [`Event::Interrupt`].
    Interrupt,
    /// Another graph.
    Replace(Graph),
}

/// Something that happened in a run.
#[derive(Debug)]
pub struct Progress {
    /// When, since the start of the run.
    pub at: Duration,
    /// What.
    pub step: Step,
}

/// A step of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// A resource is being checked.
    Started(ResourceId, Cause),
    /// A resource was in order.
    InOrder(ResourceId),
    /// A resource differed, and was changed.
    Changed(ResourceId, Vec<Difference>),
    /// A resource differs, and nothing may be changed.
    Pending(ResourceId, Vec<Difference>),
    /// The part of the resource that could be checked is in order; the text says why the rest could not.
    Unknown(ResourceId, String),
    /// A change of a resource was begun and did not succeed, so that some of it may have been done. That the attempt
    /// failed is the next step.
    Unfinished(ResourceId, Vec<Difference>),
    /// An attempt failed.
    Failed(ResourceId, String),
    /// A resource cannot be in order before the other one, which this run does not change; with the reason.
    Deferred(ResourceId, ResourceId, String),
    /// The user ended an attempt.
    Cancelled(ResourceId),
    /// The user asked the run to end: nothing starts any more, and the run ends when the attempts at these resources have
    /// ended.
    Ending(Vec<ResourceId>),
    /// A resource cannot be watched, so that it is checked from time to time.
    NotWatched(ResourceId, String),
    /// Another graph has replaced the one before.
    Replaced(SwapReport),
    /// Another graph could not replace the one before, which goes on.
    NotReplaced(String),
    /// Every resource is in order; the run may go on.
    Converged,
}

/// The result of a run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// The state of the run: not [`Status::Working`].
    pub status: Status,
    /// Whether the run ended because of its longest time.
    pub is_out_of_time: bool,
    /// The state of every resource, in an order in which they can be brought into order.
    pub nodes: Vec<(ResourceId, NodeStatus)>,
    /// The resources that have to be refreshed after a change, and were not.
    pub owed: BTreeSet<ResourceId>,
}

/// A message to the loop.
enum Message {
    Finished(NodeKey, Outcome),
    Noticed(Noticed),
    Control(Control),
}

/// Runs a graph on a machine until nothing is left to do or, if it is watched, until `control` ends it. Calls
/// `observe` with each step.
///
/// ```
/// use std::sync::Arc;
/// use pkgres_engine::{DriveOptions, File, GraphBuilder, Machine, Status, drive};
///
/// # let folder = tempfile::tempdir()?;
/// let machine = Arc::new(Machine::root_folder(folder.path())?);
/// let mut builder = GraphBuilder::new();
/// builder.add("file:/motd".parse()?, File::new("/motd").with_content("hi\n"), Default::default());
/// let graph = builder.build().expect("no cycle");
///
/// let (_control, controlled) = std::sync::mpsc::channel();
/// let ending = drive(graph, machine, &DriveOptions::default(), controlled, |_| {});
/// assert_eq!(ending.status, Status::Converged);
/// assert_eq!(std::fs::read_to_string(folder.path().join("motd"))?, "hi\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn drive(
    graph: Graph,
    target: Arc<dyn Target>,
    options: &DriveOptions,
    control: Receiver<Control>,
    observe: impl FnMut(&Progress),
) -> Ending {
    let (sender, messages) = channel();
    forward_control(control, sender.clone());
    let mut driver = Driver {
        runner: Runner::new(graph, options.run.clone()),
        workers: Workers::start(options.run.jobs, &sender),
        watcher: None,
        watches: options.watches.clone(),
        target,
        state: options.state.clone(),
        sender,
        cancellations: HashMap::new(),
        start: Instant::now(),
        observe,
    };
    driver.run(options, &messages)
}

/// Passes messages of the user on. Its thread ends with the senders of the user, or with the loop.
fn forward_control(control: Receiver<Control>, sender: Sender<Message>) {
    std::thread::spawn(move || {
        for control in control {
            if sender.send(Message::Control(control)).is_err() {
                return;
            }
        }
    });
}

struct Driver<Observe> {
    runner: Runner,
    workers: Workers,
    /// Started when the first resource is watched; an error says why it could not be.
    watcher: Option<Result<Watcher, String>>,
    watches: SharedWatches,
    target: Arc<dyn Target>,
    state: Option<Arc<AppliedState>>,
    sender: Sender<Message>,
    cancellations: HashMap<NodeKey, Cancellation>,
    start: Instant,
    observe: Observe,
}

impl<Observe: FnMut(&Progress)> Driver<Observe> {
    fn run(&mut self, options: &DriveOptions, messages: &Receiver<Message>) -> Ending {
        let mut deadlines = Deadlines::new(options.max_runtime);
        let mut was_converged = false;
        let mut is_ending = false;
        self.runner.handle(Event::Time, self.now());
        loop {
            while let Some(action) = self.runner.next_action() {
                self.act(action);
            }
            let status = self.runner.status();
            let is_end = match status {
                Status::Working => false,
                // What was killed must not go on when the lock is free.
                Status::Interrupted => {
                    deadlines.gives_up(self.now()) || self.cancellations.is_empty()
                }
                Status::Converged | Status::Failed => {
                    !options.run.watch || options.exit_when_settled
                }
            };
            if status == Status::Converged && !was_converged {
                self.report(Step::Converged);
            }
            was_converged = status == Status::Converged;
            if is_end {
                // A change that was killed may have been made.
                let killed = self.state.iter().flat_map(|state| state.noted());
                return Ending {
                    status,
                    is_out_of_time: deadlines.is_out_of_time(),
                    nodes: self.runner.resources(),
                    owed: killed.chain(self.runner.owed()).collect(),
                };
            }
            let alarm = self.runner.next_alarm();
            let wake = alarm.into_iter().chain(deadlines.next()).min();
            let pause = wake.map(|at| at.saturating_sub(self.now()));
            let message = messages.recv_timeout(pause.unwrap_or(Duration::from_hours(1)));
            let finished = match &message {
                Ok(Message::Finished(node, _)) => Some((*node, self.runner.is_verification(*node))),
                _ => None,
            };
            let is_interrupt = matches!(message, Ok(Message::Control(Control::Interrupt)));
            let event = match message {
                Ok(message) => self.event(message),
                // This holds a sender itself.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Event::Time,
            };
            self.runner.handle(event, self.now());
            if let Some((node, is_verification)) = finished {
                self.settle(node, is_verification);
            }
            if is_interrupt && !is_ending {
                is_ending = true;
                self.report_ending();
            }
            for _ in 0..deadlines.due_interrupts(self.now()) {
                self.runner.handle(Event::Interrupt, self.now());
            }
        }
    }

    /// Records what an attempt that has ended leaves to do, and reports what was undone after it.
    fn settle(&mut self, node: NodeKey, is_verification: bool) {
        let Some(in_graph) = self.runner.node(node).cloned() else {
            return;
        };
        if let Some(state) = &self.state {
            state.settle(&*self.target, &in_graph.id, || self.runner.owed());
        }
        if is_verification {
            for (id, reason) in self.runner.failures_of(node) {
                self.report(Step::Failed(id, reason));
            }
        }
    }

    /// Reports which attempts the end of the run waits for, if there are any.
    fn report_ending(&mut self) {
        let nodes = self.runner.nodes();
        let running = nodes.filter(|(_, status)| *status == NodeStatus::Running);
        let running: Vec<ResourceId> = running.map(|(id, _)| id.clone()).collect();
        if !running.is_empty() {
            self.report(Step::Ending(running));
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn report(&mut self, step: Step) {
        let at = self.now();
        (self.observe)(&Progress { at, step });
    }

    fn event(&mut self, message: Message) -> Event {
        match message {
            Message::Finished(node, outcome) => {
                self.cancellations.remove(&node);
                if !self.runner.is_verification(node) {
                    self.report_outcome(node, &outcome);
                }
                Event::Finished(node, outcome)
            }
            Message::Noticed(Noticed::Changed(nodes)) => Event::Changed(nodes),
            Message::Noticed(Noticed::Lost) => Event::AllChanged,
            Message::Noticed(Noticed::NotWatched(node, reason)) => {
                self.report_not_watched(node, reason);
                Event::NotWatched(node)
            }
            Message::Control(Control::Interrupt) => Event::Interrupt,
            Message::Control(Control::Replace(graph)) => match self.prepared(graph) {
                Ok(graph) => Event::Replace(graph),
                Err(error) => {
                    self.report(Step::NotReplaced(error.to_string()));
                    Event::Time
                }
            },
        }
    }

    /// A graph with the reversals of what it lacks.
    fn prepared(&self, graph: Graph) -> Result<Graph, StateError> {
        match &self.state {
            Some(state) => state.replace(&*self.target, graph, self.runner.graph()),
            None => Ok(graph),
        }
    }

    /// Reports how an attempt ended, for each resource of a group.
    fn report_outcome(&mut self, node: NodeKey, outcome: &Outcome) {
        let Some(in_graph) = self.runner.node(node).cloned() else {
            return;
        };
        for (number, id) in in_graph.ids().iter().enumerate() {
            let of_member = match outcome {
                Outcome::Members(members) => members.get(number),
                _ => None,
            };
            let own = |differences: &[Difference]| match of_member {
                Some(_) => differences.to_vec(),
                None => in_graph.differences_of(id, differences),
            };
            let id = id.clone();
            let step = match of_member.unwrap_or(outcome) {
                Outcome::Kept(reason) if self.runner.has_unchanged_before(node) => {
                    Step::Unknown(id, reason.clone())
                }
                Outcome::InOrder(_) | Outcome::Kept(_) => Step::InOrder(id),
                Outcome::Changed(differences, _) => match own(differences) {
                    own if own.is_empty() => Step::InOrder(id),
                    own => Step::Changed(id, own),
                },
                Outcome::Pending(differences) => pending(id, own(differences)),
                Outcome::Impossible(differences, error) => {
                    if self.runner.may_become_possible(node, error) {
                        pending(id, own(differences))
                    } else {
                        self.step_of(node, id, error, false)
                    }
                }
                Outcome::Unfinished(differences, error) => {
                    let own = own(differences);
                    if !own.is_empty() {
                        self.report(Step::Unfinished(id.clone(), own));
                    }
                    self.step_of(node, id, error, true)
                }
                Outcome::Failed(error) => self.step_of(node, id, error, false),
                // Groups have no groups as members.
                Outcome::Members(_) => continue,
            };
            self.report(step);
        }
    }

    fn report_not_watched(&mut self, node: NodeKey, reason: String) {
        if let Some(id) = self.runner.id_of(node).cloned() {
            self.report(Step::NotWatched(id, reason));
        }
    }

    /// What an error of an attempt means for a resource.
    fn step_of(
        &self,
        node: NodeKey,
        id: ResourceId,
        error: &ResourceError,
        is_unfinished: bool,
    ) -> Step {
        match self.runner.verdict_on(node, error, is_unfinished) {
            Some(Verdict::Unknown(reason)) => Step::Unknown(id, reason),
            Some(Verdict::Cancelled) => Step::Cancelled(id),
            Some(Verdict::Deferred(before, reason)) => {
                let before = self.runner.graph().nodes()[before].id.clone();
                Step::Deferred(id, before, reason)
            }
            Some(Verdict::Retried(message) | Verdict::Failed(message)) => Step::Failed(id, message),
            None => Step::Failed(id, error.to_string()),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Watch(node, resource) => {
                if let Err(reason) = self.watch(node, resource.watching(&*self.target)) {
                    self.report_not_watched(node, reason);
                    let now = self.now();
                    self.runner.handle(Event::NotWatched(node), now);
                }
            }
            Action::Unwatch(node) => {
                if let Some(Ok(watcher)) = &self.watcher {
                    watcher.unwatch(node);
                }
            }
            Action::Attempt {
                node,
                id,
                input,
                noop,
                cause,
                ..
            } => {
                if cause != Cause::Verified {
                    let members = self
                        .runner
                        .node(node)
                        .map_or(vec![id], |node| node.ids().to_vec());
                    for member in members {
                        self.report(Step::Started(member, cause));
                    }
                }
                let Some(in_graph) = self.runner.node(node).cloned() else {
                    return;
                };
                let cancellation = Cancellation::default();
                self.cancellations.insert(node, cancellation.clone());
                self.workers.give(Work {
                    node,
                    target: Arc::clone(&self.target),
                    in_graph,
                    cause,
                    input,
                    noop,
                    cancellation,
                });
            }
            Action::Cancel { node, how } => {
                if let Some(cancellation) = self.cancellations.get(&node) {
                    match how {
                        CancelMode::Interrupt => cancellation.interrupt(),
                        CancelMode::Kill => cancellation.kill(),
                    }
                }
            }
            Action::Replaced(report) => self.report(Step::Replaced(report)),
        }
    }

    /// Watches a resource; an error is the reason why it has to be polled.
    fn watch(&mut self, node: NodeKey, watching: Watching) -> Result<(), String> {
        let (paths, unwatched) = match watching {
            Watching::Nothing => return Ok(()),
            Watching::Polling => return Err("changes of it cannot be seen".to_owned()),
            Watching::Paths(paths) => (paths, None),
            Watching::PathsAndPolling(paths) => (paths, Some(Event::NotWatched(node))),
            Watching::UntilInOrder(paths) => (paths, Some(Event::WatchedInPart(node))),
        };
        let watcher = self.watcher.get_or_insert_with(|| {
            let root = self.target.watchable();
            let root = root.ok_or_else(|| "changes on this target cannot be seen".to_owned())?;
            let sender = self.sender.clone();
            let notice = move |noticed| {
                // At the end of a run nobody listens.
                let _ = sender.send(Message::Noticed(noticed));
            };
            Watcher::start(&self.watches, &root, notice).map_err(|error| error.to_string())
        });
        match watcher {
            Ok(watcher) => watcher
                .watch(node, paths)
                .map_err(|error| error.to_string())?,
            Err(reason) => return Err(reason.clone()),
        }
        if let Some(unwatched) = unwatched {
            let now = self.now();
            self.runner.handle(unwatched, now);
        }
        Ok(())
    }
}

/// A resource of a group that may not be changed; those that do not differ are in order.
fn pending(id: ResourceId, differences: Vec<Difference>) -> Step {
    if differences.is_empty() {
        Step::InOrder(id)
    } else {
        Step::Pending(id, differences)
    }
}
