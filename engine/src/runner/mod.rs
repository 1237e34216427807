//! The state machine that brings a graph into order: it decides what is checked when, and never touches a machine.
//!
//! A [`Runner`] is told what happened ([`Event`]) and when, and answers with what to do ([`Action`]). It starts a
//! resource once everything before it is in order, starts it again when it may have changed, retries failed attempts,
//! and reports when there is nothing left to do ([`Status`]). Time is a duration since a moment that the caller
//! chooses, so a whole run can be repeated from its events.

mod attempt;
mod flapping;
mod foreseen_changes;
mod members;
mod node_state;
mod rate_limit;
mod retries;
mod schedule;
mod semaphores;
mod swap;
mod verification;

pub use attempt::{Outcome, attempt};
pub(crate) use attempt::{attempt_node, verify_node};
pub use node_state::Cause;
pub(crate) use node_state::Verdict;
pub use swap::SwapReport;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pkgres_manifest::ResourceId;

use crate::graph::{Graph, Node};
use crate::resource::{Difference, Input, Resource, ResourceError};
use flapping::LatestChanges;
use node_state::{LastResult, NodeState, Observed, Phase, Timeout};
use semaphores::Semaphores;
use verification::Verification;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The number of resources that are checked or changed at once; at least 1.
    pub jobs: usize,
    /// Whether nothing is changed.
    pub noop: bool,
    /// The time without events after which the graph counts as converged. A check that finds a resource still in order
    /// is no event.
    pub converged_timeout: Duration,
    /// The pause after which a resource is checked again if it cannot be watched.
    pub polling: Duration,
    /// Whether resources are checked again at all.
    pub watch: bool,
    /// The resources to refresh at the start, because an earlier run owed it to them.
    pub owed: BTreeSet<ResourceId>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            jobs: 4,
            noop: false,
            converged_timeout: Duration::ZERO,
            polling: Duration::from_secs(30),
            watch: false,
            owed: BTreeSet::new(),
        }
    }
}

/// A node of the graph that runs. Nodes that a new graph keeps keep their key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey(u64);

/// Input of the runner: something that happened outside of it.
#[derive(Debug)]
pub enum Event {
    /// An attempt that an action asked for ended.
    Finished(NodeKey, Outcome),
    /// Resources may have changed. Changes that were noticed together are reported together, so that the right
    /// resources go first.
    Changed(Vec<NodeKey>),
    /// Every resource may have changed: notifications were lost.
    AllChanged,
    /// A resource that was to be watched cannot be watched, so it is checked from time to time.
    NotWatched(NodeKey),
    /// A resource can only be watched as a whole once it is in order: it is also checked from time to time until then,
    /// and has to be watched again.
    WatchedInPart(NodeKey),
    /// The user wants to end the run: the first time when everything that runs has ended, the second time by
    /// asking it to end, and the third time at once.
    Interrupt,
    /// Another graph replaces this one as soon as nothing runs.
    Replace(Graph),
    /// Time has passed.
    Time,
}

/// An action that the runner asks for.
pub enum Action {
    /// Watch a resource; before an attempt, so that no change is missed.
    Watch(NodeKey, Arc<dyn Resource>),
    /// Stop watching a resource.
    Unwatch(NodeKey),
    /// Check a resource, and change it unless `noop` is set: call [`attempt()`] and report [`Event::Finished`].
    Attempt {
        /// The node.
        node: NodeKey,
        /// The identity of its resource.
        id: ResourceId,
        /// Its resource.
        resource: Arc<dyn Resource>,
        /// What the check depends on.
        input: Input,
        /// Whether the resource is only checked.
        noop: bool,
        /// Why it is checked.
        cause: Cause,
    },
    /// End a running attempt: ask its commands to end, or kill them.
    Cancel {
        /// The node.
        node: NodeKey,
        /// How.
        how: CancelMode,
    },
    /// Another graph has replaced the one before.
    Replaced(SwapReport),
}

/// How a running attempt is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelMode {
    /// Its commands are asked to end.
    Interrupt,
    /// Its commands are killed.
    Kill,
}

/// How far the user has interrupted a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Interruption {
    None,
    /// The run waits for what is running.
    Waiting,
    /// Running attempts are asked to end.
    Ending,
    /// What is running is killed.
    Killing,
}

/// The state of a run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There is something left to do.
    Working,
    /// Every resource is in order.
    Converged,
    /// Nothing is left to do, and resources have failed, or wait for some that have.
    Failed,
    /// The user ended the run.
    Interrupted,
}

/// The state of a resource.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeStatus {
    /// It waits for its turn.
    Waiting,
    /// It is being checked or changed.
    Running,
    /// It is in order.
    InOrder,
    /// It differs, and nothing may be changed.
    Pending(Vec<Difference>),
    /// What is known about it is in order; the text says why the rest is not known.
    Unknown(String),
    /// It cannot be in order before the other resource, which this run does not change; with the reason.
    Deferred(ResourceId, String),
    /// The user ended its attempt, which may have changed something.
    Cancelled,
    /// It failed, and will be tried again.
    Retrying(String),
    /// It failed.
    Failed(String),
    /// It waits for a resource that has failed.
    Blocked(ResourceId),
    /// It is neither checked nor changed, as the parameter `hidden` asks for.
    Hidden,
}

/// Runs a graph.
///
/// ```
/// use std::time::Duration;
/// use pkgres_engine::{
///     Action, Event, File, GraphBuilder, Machine, RunOptions, Runner, Status, attempt,
/// };
///
/// # let folder = tempfile::tempdir()?;
/// let machine = Machine::root_folder(folder.path())?;
/// let mut builder = GraphBuilder::new();
/// builder.add("file:/motd".parse()?, File::new("/motd").with_content("hi\n"), Default::default());
/// let mut runner = Runner::new(builder.build().expect("no cycle"), RunOptions::default());
///
/// let now = Duration::ZERO;
/// runner.handle(Event::Time, now);
/// while let Some(action) = runner.next_action() {
///     if let Action::Attempt { node, resource, input, noop, .. } = action {
///         let outcome = attempt(resource.as_ref(), &machine, &input, noop);
///         runner.handle(Event::Finished(node, outcome), now);
///     }
/// }
/// assert_eq!(runner.status(), Status::Converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runner {
    graph: Graph,
    options: RunOptions,
    nodes: Vec<NodeState>,
    by_key: HashMap<NodeKey, usize>,
    next_key: u64,
    now: Duration,
    /// Nodes to look at, as they may be able to start.
    ready: BTreeSet<usize>,
    /// Nodes that start at a later time.
    delayed: BTreeSet<usize>,
    running: usize,
    /// The users and groups that would get another number, if they could be changed.
    pending_accounts: BTreeSet<usize>,
    semaphores: Semaphores,
    actions: VecDeque<Action>,
    interruption: Interruption,
    next_graph: Option<Graph>,
    /// The times at which nodes have to be looked at again.
    alarms: BTreeSet<(Duration, usize)>,
    /// Whether nothing is left to do.
    is_settled: bool,
    /// When something happened last that counts.
    quiet_since: Duration,
    /// Whether resources undo each other's changes, so that the run need not wait until nothing happens.
    is_endless: bool,
    latest_changes: LatestChanges,
    /// The number of attempts that have ended.
    ended: u64,
    verification: Verification,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Runner")
            .field("nodes", &self.nodes.len())
            .field("running", &self.running)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner of a graph that has not started.
    pub fn new(graph: Graph, options: RunOptions) -> Self {
        let mut runner = Self {
            graph: Graph::default(),
            options,
            nodes: Vec::new(),
            by_key: HashMap::new(),
            next_key: 0,
            now: Duration::ZERO,
            ready: BTreeSet::new(),
            delayed: BTreeSet::new(),
            running: 0,
            pending_accounts: BTreeSet::new(),
            semaphores: Semaphores::default(),
            actions: VecDeque::new(),
            interruption: Interruption::None,
            next_graph: None,
            alarms: BTreeSet::new(),
            is_settled: false,
            quiet_since: Duration::ZERO,
            is_endless: false,
            latest_changes: LatestChanges::default(),
            ended: 0,
            verification: Verification::default(),
        };
        runner.load(graph);
        runner
    }

    /// Takes note of what happened, and when. Time that runs backwards stands still.
    pub fn handle(&mut self, event: Event, now: Duration) {
        self.now = self.now.max(now);
        match event {
            Event::Finished(key, outcome) => {
                if let Some(node) = self.running_node(key) {
                    self.on_attempt_end(node, outcome);
                }
            }
            Event::Changed(keys) => {
                for key in keys {
                    if let Some(node) = self.by_key.get(&key).copied() {
                        self.may_have_changed(node);
                    }
                }
            }
            Event::AllChanged => {
                for node in 0..self.nodes.len() {
                    self.may_have_changed(node);
                }
            }
            Event::NotWatched(key) => self.set_observed(key, Observed::Polled),
            Event::WatchedInPart(key) => self.set_observed(key, Observed::UntilInOrder),
            Event::Interrupt => self.interrupt(),
            Event::Replace(graph) => self.next_graph = Some(graph),
            Event::Time => {}
        }
        self.ring_alarms();
        if self.running == 0
            && let Some(graph) = self.next_graph.take()
        {
            self.load(graph);
        }
        self.start_ready();
        self.note_settled();
        self.verify();
    }

    /// The next action; `None` if there is none before the next event.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When [`Event::Time`] has to be reported at the latest.
    pub fn next_alarm(&self) -> Option<Duration> {
        let alarm = self.alarms.first().map(|(time, _)| *time);
        let settled = (self.is_settled)
            .then(|| self.quiet_since + self.options.converged_timeout)
            .filter(|time| *time > self.now);
        alarm.into_iter().chain(settled).min()
    }

    /// The state of the run.
    pub fn status(&self) -> Status {
        let is_over = match self.interruption {
            Interruption::None => false,
            Interruption::Waiting | Interruption::Ending => self.running == 0,
            Interruption::Killing => true,
        };
        if is_over {
            return Status::Interrupted;
        }
        if !self.is_settled || self.now < self.quiet_since + self.options.converged_timeout {
            return Status::Working;
        }
        if self.nodes.iter().all(|node| !node.has_failed()) {
            Status::Converged
        } else {
            Status::Failed
        }
    }

    /// The graph that runs.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The state of every resource or group, in the order of the graph.
    pub fn nodes(&self) -> impl Iterator<Item = (&ResourceId, NodeStatus)> {
        let failed_before = self.failed_before();
        self.nodes.iter().enumerate().map(move |(number, node)| {
            let id_of = |number: usize| self.graph.nodes()[number].id.clone();
            let blocked = failed_before[number].cloned().map(NodeStatus::Blocked);
            // Once the run ends, what was found last is all that will be known.
            let is_final = self.interruption > Interruption::None
                && blocked.is_none()
                && matches!(
                    node.result,
                    LastResult::InOrder
                        | LastResult::Pending(_)
                        | LastResult::Unknown(_)
                        | LastResult::Deferred { .. }
                );
            let phase = match node.phase {
                Phase::Dirty if is_final => Phase::Clean,
                phase => phase,
            };
            let status = match (&phase, &node.result) {
                _ if self.graph.nodes()[number].meta.hidden => NodeStatus::Hidden,
                (_, LastResult::Failed(failure)) => NodeStatus::Failed(failure.clone()),
                (Phase::Running { .. }, _) => NodeStatus::Running,
                (Phase::Dirty, result) => blocked.unwrap_or_else(|| match result {
                    LastResult::Retrying(error) => NodeStatus::Retrying(error.clone()),
                    LastResult::Cancelled => NodeStatus::Cancelled,
                    _ => NodeStatus::Waiting,
                }),
                (Phase::Clean, LastResult::Pending(differences)) => {
                    NodeStatus::Pending(differences.clone())
                }
                // What it waits for has to be checked again, which it may never be.
                (Phase::Clean, LastResult::Deferred { before, reason }) => blocked
                    .filter(|_| self.nodes[*before].phase == Phase::Dirty)
                    .unwrap_or_else(|| NodeStatus::Deferred(id_of(*before), reason.clone())),
                (Phase::Clean, LastResult::Unknown(reason)) => NodeStatus::Unknown(reason.clone()),
                (
                    Phase::Clean,
                    LastResult::None
                    | LastResult::InOrder
                    | LastResult::Cancelled
                    | LastResult::Retrying(_),
                ) => NodeStatus::InOrder,
            };
            (&self.graph.nodes()[number].id, status)
        })
    }

    /// The resources that have to be refreshed after a change, and were not yet.
    pub fn owed(&self) -> BTreeSet<ResourceId> {
        let mut owed = BTreeSet::new();
        for (number, state) in self.nodes.iter().enumerate() {
            let is_refreshing = matches!(state.phase, Phase::Running { refresh: true, .. });
            if (state.refresh || is_refreshing) && self.is_refreshable(number) {
                owed.insert(self.graph.nodes()[number].id.clone());
            }
            if !state.is_changed {
                continue;
            }
            // The nodes that it notifies do not know yet of a change in part.
            let notified = self.graph.successors(number).iter();
            let notified = notified.filter(|edge| {
                edge.notifies()
                    && self.is_refreshable(edge.to)
                    && !state.not_held.contains(&edge.to)
            });
            owed.extend(notified.map(|edge| self.graph.nodes()[edge.to].id.clone()));
        }
        owed
    }

    fn is_refreshable(&self, node: usize) -> bool {
        self.graph.nodes()[node].resource.is_refreshable()
    }

    /// The resource of a node.
    pub fn id_of(&self, key: NodeKey) -> Option<&ResourceId> {
        let node = self.by_key.get(&key)?;
        Some(&self.graph.nodes()[*node].id)
    }

    /// The node with a key.
    pub(crate) fn node(&self, key: NodeKey) -> Option<&Node> {
        let node = self.by_key.get(&key)?;
        Some(&self.graph.nodes()[*node])
    }

    /// Whether something before a node is not in the wanted state, because this run does not change it.
    pub(crate) fn has_unchanged_before(&self, key: NodeKey) -> bool {
        let node = self.by_key.get(&key);
        node.is_some_and(|node| self.unchanged_before(*node).is_some())
    }

    /// Whether something before a node that this run does not change may remove the reason why the node cannot be
    /// changed.
    pub(crate) fn may_become_possible(&self, key: NodeKey, error: &ResourceError) -> bool {
        let node = self.by_key.get(&key);
        node.is_some_and(|node| self.remedy_before(*node, error).is_some())
    }

    /// The verdict on a node whose attempt has just ended with an error; `None` if the node is gone.
    pub(crate) fn verdict_on(
        &self,
        key: NodeKey,
        error: &ResourceError,
        is_unfinished: bool,
    ) -> Option<Verdict> {
        let node = *self.by_key.get(&key)?;
        let state = &self.nodes[node];
        let is_timed_out = state.timers.timeout == Timeout::Passed;
        let is_unfinished = is_unfinished || state.is_changed;
        Some(self.judge(node, error, is_timed_out, is_unfinished))
    }

    /// A node before another one that this run does not change, and whose change may remove a reason of the other one.
    fn remedy_before(&self, node: usize, error: &ResourceError) -> Option<usize> {
        self.all_unchanged_before(node)
            .find(|before| self.graph.nodes()[*before].resource.may_remedy(error))
    }

    /// A node before another one, directly or not, that is not in the wanted state, because this run does not change
    /// it.
    fn unchanged_before(&self, node: usize) -> Option<usize> {
        self.all_unchanged_before(node).next()
    }

    fn all_unchanged_before(&self, node: usize) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |before| {
            let state = &self.nodes[*before];
            // A plan cannot foresee the result of such a node, which may be what a later node needs.
            let is_unforeseen =
                self.is_noop(*before) && matches!(state.result, LastResult::Unknown(_));
            let is_hidden = self.graph.nodes()[*before].meta.hidden;
            let is_unchanged = state.is_unchanged() || is_unforeseen || is_hidden;
            is_unchanged && self.graph.is_before(*before, node)
        })
    }

    /// A failed resource before each node, directly or not.
    fn failed_before(&self) -> Vec<Option<&ResourceId>> {
        let mut before = vec![None; self.nodes.len()];
        let failed = (0..self.nodes.len()).filter(|node| self.nodes[*node].has_failed());
        for first in failed {
            let mut open: Vec<(usize, &ResourceId)> = Vec::new();
            let in_graph = &self.graph.nodes()[first];
            for edge in self.graph.successors(first) {
                if self.nodes[first].not_held.contains(&edge.to) {
                    continue;
                }
                let member = self.failed_member(first, edge.to);
                let id = member.map_or(&in_graph.id, |member| &in_graph.ids()[member]);
                open.push((edge.to, id));
            }
            while let Some((node, id)) = open.pop() {
                if before[node].is_none() {
                    before[node] = Some(id);
                    let next = self.graph.successors(node).iter();
                    open.extend(next.map(|edge| (edge.to, id)));
                }
            }
        }
        before
    }
}
